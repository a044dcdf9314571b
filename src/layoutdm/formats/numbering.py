"""Names for things that a format wants numbered or kept in files of their own.

>>> numbers = Numbers()
>>> [numbers.take(id) for id in ("7", "cover", "7")]
[7, 1, 2]
>>> names = FileNames()
>>> [names.take(id) for id in ("p1", "a/b", "P1", "")]
['p1', 'layout_000002', 'layout_000003', 'layout_000004']
"""

from __future__ import annotations

import re

_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}")


class Numbers:
    """Gives each layout a whole number: its own id where that is one, else the next free."""

    def __init__(self) -> None:
        self._used: set[int] = set()
        self._next = 1

    def take(self, id: str) -> int:
        own = int(id) if _WHOLE.fullmatch(id) else None
        if own is None or own in self._used:
            while self._next in self._used:
                self._next += 1
            own = self._next
        self._used.add(own)
        return own


class FileNames:
    """Gives each layout a file name: its own id where that is safe and new, else a number.

    Names that differ only in case count as the same, as they do on some file systems.
    """

    def __init__(self, reserved: tuple[str, ...] = ()) -> None:
        self._used = {name.lower() for name in reserved}
        self._count = 0

    def take(self, id: str) -> str:
        self._count += 1
        name = id if _SAFE.fullmatch(id) and not id.endswith(".") else ""
        number = self._count
        while not name or name.lower() in self._used:
            name = f"layout_{number:06d}"
            number += 1
        self._used.add(name.lower())
        return name

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
_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,17})", re.DOTALL)
_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".gif", ".bmp")
_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}")


def picture_name(id: object) -> str:
    """What the picture of a layout is called in formats that must name one.

    >>> picture_name("p1"), picture_name("scan.jpg")
    ('p1.png', 'scan.jpg')
    """
    name = str(id)
    return name if name.lower().endswith(_PICTURES) else f"{name}.png"


class _Taken:
    """A set of whole numbers; a run that grows at its end takes no memory, however long."""

    def __init__(self) -> None:
        self._run = range(0)
        self._others: set[int] = set()

    def __contains__(self, number: int) -> bool:
        return number in self._run or number in self._others

    def add(self, number: int) -> None:
        if not self._run:
            self._run = range(number, number + 1)
        elif number == self._run.stop:
            stop = number + 1
            while stop in self._others:
                self._others.remove(stop)
                stop += 1
            self._run = range(self._run.start, stop)
        elif number not in self._run:
            self._others.add(number)


class Numbers:
    """Gives each layout a whole number: its own id where that is one, else the next free."""

    def __init__(self) -> None:
        self._used = _Taken()
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

    Names that differ only in case count as the same, as they do on some file systems. Names that
    end in rising numbers, as those of a large job do, take no memory.
    """

    def __init__(self, reserved: tuple[str, ...] = ()) -> None:
        self._plain: set[str] = set()
        self._numbered: dict[str, _Taken] = {}
        self._count = 0
        for name in reserved:
            self._add(name)

    def take(self, id: str) -> str:
        self._count += 1
        name = id if _SAFE.fullmatch(id) and not id.endswith(".") else ""
        number = self._count
        while not name or name in self:
            name = f"layout_{number:06d}"
            number += 1
        self._add(name)
        return name

    def __contains__(self, name: str) -> bool:
        start, number = _split(name)
        if number is None:
            return start in self._plain
        return start in self._numbered and number in self._numbered[start]

    def _add(self, name: str) -> None:
        start, number = _split(name)
        if number is None:
            self._plain.add(start)
        else:
            self._numbered.setdefault(start, _Taken()).add(number)


def _split(name: str) -> tuple[str, int | None]:
    """A name without case, its last number apart; together they are the name again.

    >>> _split("Page-012"), _split("cover")
    (('page-0', 12), ('cover', None))
    """
    found = _NUMBERED.fullmatch(name.lower())
    return (found[1], int(found[2])) if found else (name.lower(), None)

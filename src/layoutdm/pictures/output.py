"""What the picture formats share: one file, one contact sheet, or a folder of files.

>>> file_name("a/b", 3)
'a-b'
>>> file_name("", 3)
'0003'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from layoutdm.atomic import replacing
from layoutdm.errors import LayoutdmError
from layoutdm.folders import replacing_folder
from layoutdm.layout import Layout
from layoutdm.pictures.palette import PLAIN, Scheme

# More than this on one sheet is neither viewable nor drawn in reasonable time.
SHEET_LIMIT = 1000
LONGEST_NAME = 100  # bytes


def write_pictures(
    layouts: Iterable[Layout],
    path: Path,
    suffix: str,
    one: Callable[[Layout, Path, Scheme], None],
    many: Callable[[list[Layout], Path], None],
) -> Path:
    """A path that is a folder, or has no suffix, gets one file per layout (streaming);
    any other path gets the picture of the only layout or a contact sheet of all."""
    path = Path(path)
    if path.is_dir() or not path.suffix:
        scheme = PLAIN
        with replacing_folder(path) as folder:
            for layout, name in _named(layouts):
                scheme = scheme.extended(layout.labels)  # a label looks the same in all files
                one(layout, folder / f"{name}{suffix}", scheme)
        return path
    chosen = limited(layouts, path)
    with replacing(path) as part:
        if len(chosen) == 1:
            one(chosen[0], part, PLAIN.extended(chosen[0].labels))
        else:
            many(chosen, part)
    return path


def _named(layouts: Iterable[Layout]) -> Iterator[tuple[Layout, str]]:
    used: set[str] = set()
    for index, layout in enumerate(layouts):
        name = file_name(layout.id, index)
        while name.casefold() in used:  # two ids may give the same file name
            name = f"{name}-{index:04d}"
        used.add(name.casefold())
        yield layout, name


def limited(layouts: Iterable[Layout], path: Path) -> list[Layout]:
    """All layouts, if one file can hold them."""
    chosen = list(islice(layouts, SHEET_LIMIT + 1))
    if len(chosen) > SHEET_LIMIT:
        raise LayoutdmError(
            f"{path}: one picture file holds at most {SHEET_LIMIT} layouts, but there are more; "
            "choose some (`layoutdm render --count N`), or give a folder for one picture each"
        )
    return chosen


def file_name(id: str, index: int) -> str:
    """A safe file name from a layout's id, or its number when it has none."""
    safe = re.sub(r"[^\w.-]+", "-", id).strip("-.")
    # A name may have 255 bytes, of which an ending and a number must find room.
    return safe.encode()[:LONGEST_NAME].decode(errors="ignore").strip("-.") or f"{index:04d}"

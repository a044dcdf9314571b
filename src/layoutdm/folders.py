"""Folders that a command writes and may replace: it keeps a list of what it wrote there.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "pictures"
>>> with replacing_folder(path) as part:
...     _ = (part / "p1.svg").write_text("<svg/>")
>>> _ = (path / "mine.svg").write_text("<svg/>")
>>> with replacing_folder(path):
...     pass
Traceback (most recent call last):
layoutdm.errors.LayoutdmError: ...: holds mine.svg, which layoutdm did not write and which would ...

The list is the hidden file `.layoutdm.json` with the name and the checksum of every file. A folder
that holds anything else, or one of these files changed since, is left as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from layoutdm.atomic import swapping
from layoutdm.errors import LayoutdmError

LIST = ".layoutdm.json"


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Give a new folder to fill; it takes the place of `path` only when the block ends well.

    An older folder there is replaced only if all it holds was written this way.
    """
    path = Path(path)
    with swapping(path, may_go=refuse_foreign) as part:
        yield part
        found = {name: _checksum(part / name) for name in _files(part)}
        (part / LIST).write_text(json.dumps({"files": found}, indent=0) + "\n", encoding="utf-8")


def refuse_foreign(path: Path) -> None:
    """Raise one sentence if the folder holds anything that `replacing_folder` did not write."""
    if not path.is_dir():
        return
    wrote = _written(path)
    for name in _files(path):
        if name not in wrote:
            raise LayoutdmError(
                f"{path}: holds {name}, which layoutdm did not write and which would be lost; "
                "give a new or empty folder"
            )
        if _checksum(path / name) != wrote[name]:
            raise LayoutdmError(
                f"{path}: holds {name}, which was changed after layoutdm wrote it; "
                "give a new or empty folder, or delete that file"
            )


def refuse_taken(folder: Path, names: Iterable[str]) -> None:
    """Raise one sentence if a run that begins in this folder would write over one of these.

    `names` may be patterns, such as *.onnx; hidden files are nobody's results.
    """
    for name in names:
        found = sorted(path for path in folder.glob(name) if not path.name.startswith("."))
        if found:
            raise LayoutdmError(
                f"{folder}: already holds {found[0].relative_to(folder).as_posix()}, which is not "
                "of this run and would be lost; give a new or empty folder"
            )


def _written(path: Path) -> dict[str, str]:
    """What the folder's own list says; nothing when there is none or it is damaged."""
    try:
        found = json.loads((path / LIST).read_text(encoding="utf-8"))["files"]
        return {str(name): str(checksum) for name, checksum in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _files(folder: Path) -> list[str]:
    """The relative names of all files, links and devices in a folder, but for its own list."""
    files = (entry for entry in folder.rglob("*") if entry.is_symlink() or not entry.is_dir())
    names = sorted(entry.relative_to(folder).as_posix() for entry in files)
    return [name for name in names if name != LIST]


def _checksum(file: Path) -> str:
    if file.is_symlink() or not file.is_file():
        return "not a file"
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]

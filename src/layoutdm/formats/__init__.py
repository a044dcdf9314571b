"""Read and write layouts in any format; each format is one module, imported when it is needed.

>>> import tempfile
>>> from layoutdm import Layout
>>> path = Path(tempfile.mkdtemp()) / "a.jsonl"
>>> _ = write([Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]], id="p1")], path)
>>> [layout.labels for layout in read(path)]
[('text',)]
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layoutdm.errors import LayoutdmError, shown
from layoutdm.formats.detect import detect, detect_target
from layoutdm.formats.files import Progress, silent
from layoutdm.formats.problems import Problem, Problems
from layoutdm.formats.table import FORMATS, PICTURES, READ, WRITE, Format, by_name

if TYPE_CHECKING:
    from layoutdm.layout import Layout

__all__ = [
    "FORMATS",
    "PICTURES",
    "READ",
    "WRITE",
    "Format",
    "Problem",
    "Problems",
    "detect",
    "detect_target",
    "read",
    "write",
]


def read(
    path: str | Path,
    format: str | None = None,
    problems: Problems | None = None,
    progress: Progress = silent,
) -> Iterator[Layout]:
    """Stream the layouts of a file or folder; the format is recognised unless given.

    A bad record raises LayoutdmError, or is left out and listed with `Problems(skip=True)`.
    """
    source = Path(path)
    if problems is None:
        problems = Problems()
    with _one_sentence(source):
        if not source.exists():
            raise LayoutdmError(f"{path}: no such file or folder; check the path")
        name = format or detect(source)
        reader = by_name(name, READ, "read").load().read
        # Readers of plain folders have nothing to tell while they read.
        more = {"progress": progress} if "progress" in inspect.signature(reader).parameters else {}
        yield from reader(source, problems, **more)


def write(
    layouts: Iterable[Layout], path: str | Path, format: str | None = None, **options: Any
) -> Path:
    """Write layouts as they come; the format follows from the name unless given.

    The file or folder appears, or replaces an older one, only when all layouts are written.
    """
    target = Path(path)
    name = format or detect_target(target)
    writer = by_name(name, WRITE, "written").load().write
    known = inspect.signature(writer).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in known.values())
    for option in options:
        if option not in known and not takes_all:
            raise LayoutdmError(f"{path}: format {name} has no option {option!r}")
    with _one_sentence(target):
        result: Path = writer(layouts, target, **options)
    return result


@contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    """What the operating system refuses is bad input too, not a traceback."""
    try:
        yield
    except OSError as error:
        name = error.filename or path
        raise LayoutdmError(
            f"{name}: {error.strerror or error}; check the path and its permissions"
        ) from None
    except UnicodeEncodeError as error:
        raise LayoutdmError(
            f"{path}: {shown(error.object)} holds half a character and cannot be written; "
            "labels and ids must be whole texts"
        ) from None

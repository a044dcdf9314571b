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
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.formats.detect import detect, detect_target
from layoutdm.formats.files import Progress, silent
from layoutdm.formats.problems import Problem, Problems
from layoutdm.layout import Layout

__all__ = ["READ", "WRITE", "Problem", "Problems", "detect", "detect_target", "read", "write"]

_BOTH = ("jsonl", "coco", "yolo", "voc", "labelstudio", "csv", "parquet")
READ = (*_BOTH, "rico", "publaynet")
WRITE = (*_BOTH, "svg", "png", "html", "pptx")

# Module names that differ from the format's: `csv` would hide the standard library's.
_MODULES = {"csv": "csv_file"}


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
        reader = _module(name, READ, "read").read
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
    writer = _module(name, WRITE, "written").write
    known = inspect.signature(writer).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in known.values())
    for option in options:
        if option not in known and not takes_all:
            raise LayoutdmError(f"{path}: format {name} has no option {option!r}")
    with _one_sentence(target):
        result: Path = writer(layouts, target, **options)
    return result


def _module(name: str, allowed: tuple[str, ...], verb: str) -> ModuleType:
    if name not in allowed:
        raise LayoutdmError(
            f"format {name!r} cannot be {verb}; it should be one of {', '.join(allowed)}"
        )
    return import_module(f"layoutdm.formats.{_MODULES.get(name, name)}")


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
            f"{path}: {error.object!r} holds half a character and cannot be written; "
            "labels and ids must be whole texts"
        ) from None

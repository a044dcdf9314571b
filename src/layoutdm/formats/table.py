"""Every format as one declared record: to add a format, write its module and its record here.

>>> [format.name for format in FORMATS if format.extra]
['parquet', 'pptx']
>>> by_name("coco").suffixes
('.json',)

A record's module is imported on first use; its functions are called `read(path, problems)` and
`write(layouts, path)`. The order of the records is the order in which they are tried on content.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from layoutdm.errors import LayoutdmError
from layoutdm.formats import signs
from layoutdm.formats.signs import Look


@dataclass(frozen=True)
class Format:
    """What the rest of the program knows about a format."""

    name: str
    module: str
    reads: bool = True
    writes: bool = True
    # A picture can be looked at and not be read back.
    picture: bool = False
    # Names that end so are written in this format; read so where the content says nothing.
    suffixes: tuple[str, ...] = ()
    # Whether a file or folder is of this format, from its content; None: only when asked for.
    sign: Callable[[Look], bool] | None = None
    # What a job's folder calls it; a name without a suffix is a folder.
    target: str = ""
    # The writer takes `labels`, the list of all labels in their order.
    labels: bool = False
    # The package it needs, and the extra of layoutdm that brings it.
    package: str = ""
    extra: str = ""

    def load(self) -> ModuleType:
        """The module with `read` or `write`; one sentence when its package is missing."""
        if self.package and find_spec(self.package) is None:
            raise LayoutdmError(
                f"format {self.name} needs the package {self.package}, which is not installed; "
                f"run: pip install 'layoutdm[{self.extra}]'"
            )
        return import_module(self.module)


def _data(name: str, *suffixes: str, module: str = "", **more: object) -> Format:
    path = f"layoutdm.formats.{module or name}"
    return Format(name, path, suffixes=suffixes, **more)  # type: ignore[arg-type]


def _picture(name: str, *suffixes: str, **more: object) -> Format:
    path = f"layoutdm.pictures.{name}"
    return Format(name, path, False, True, True, suffixes, **more)  # type: ignore[arg-type]


FORMATS: tuple[Format, ...] = (
    _data("jsonl", ".jsonl", ".ndjson", sign=signs.jsonl, target="layouts.jsonl"),
    _data("coco", ".json", sign=signs.coco, target="coco.json", labels=True),
    _data("voc", ".xml", sign=signs.voc, target="voc"),
    _data("yolo", sign=signs.yolo, target="yolo", labels=True),
    _data("labelstudio", sign=signs.labelstudio, target="labelstudio.json"),
    # The module is not called `csv`, which would hide the standard library's.
    _data("csv", ".csv", ".tsv", module="csv_file", sign=signs.csv, target="layouts.csv"),
    _data(
        "parquet",
        ".parquet",
        ".pq",
        sign=signs.parquet,
        target="layouts.parquet",
        labels=True,
        package="pyarrow",
        extra="parquet",
    ),
    _data("rico", sign=signs.rico, writes=False),
    _data("publaynet", writes=False),
    _picture("png", ".png", target="png"),
    _picture("jpg", ".jpg", ".jpeg", target="jpg"),
    _picture("svg", ".svg", target="svg"),
    _picture("pdf", ".pdf", target="layouts.pdf"),
    _picture("html", ".html", ".htm", target="html"),
    _picture("pptx", ".pptx", target="layouts.pptx", package="pptx", extra="pptx"),
)

READ = tuple(format.name for format in FORMATS if format.reads)
WRITE = tuple(format.name for format in FORMATS if format.writes)
PICTURES = tuple(format.name for format in FORMATS if format.picture)


def by_name(name: str, allowed: tuple[str, ...] = (), verb: str = "used") -> Format:
    """The record of this name, which should be one of the allowed."""
    for format in FORMATS:
        if format.name == name and (not allowed or name in allowed):
            return format
    choices = ", ".join(allowed or (format.name for format in FORMATS))
    raise LayoutdmError(f"format {name!r} cannot be {verb}; it should be one of {choices}")


def by_suffix(suffix: str) -> Format | None:
    """The record whose files end so."""
    found = (format for format in FORMATS if suffix in format.suffixes)
    return next(found, None)


def listed(names: tuple[str, ...]) -> str:
    """Names as a sentence lists them.

    >>> listed(("png", "svg", "html"))
    'png, svg or html'
    """
    return " or ".join([", ".join(names[:-1]), names[-1]])

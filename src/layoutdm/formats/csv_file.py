"""CSV: one row an element, rows of one layout together; exact to the last bit.

    layout,id,width,height,label,x,y,w,h
    1,p1,600,800,text,0.5,0.25,0.8,0.1
    2,p2,600,800,,,,,                       (a layout without elements)

`x,y,w,h` is a centre box in 0..1. Also read are the tables of detection tools with the columns
`filename,width,height,class,xmin,ymin,xmax,ymax` (pixels). `layout` may be missing: then rows
with the same id are one layout. Commas, semicolons and tabs are recognised from the first line.
Labels and ids that a spreadsheet would run as formulas get a quote in front, which reading removes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from layoutdm.atomic import replacing
from layoutdm.boxes import canvas_scale, from_corners
from layoutdm.errors import LayoutdmError, shown
from layoutdm.formats import records
from layoutdm.formats.cells import from_cell, to_cell
from layoutdm.formats.detect import suffix
from layoutdm.formats.files import Progress, Source, silent, text_sink
from layoutdm.formats.lines import BLANK, HOPELESS, hopeless, numbered
from layoutdm.formats.problems import Problems
from layoutdm.layout import Layout

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

COLUMNS = ("layout", "id", "width", "height", "label", "x", "y", "w", "h")
CENTRE = ("x", "y", "w", "h")
CORNERS = ("xmin", "ymin", "xmax", "ymax")
ALIASES = {"filename": "id", "file_name": "id", "image_id": "id", "image": "id", "class": "label"}


@dataclass
class _Group:
    """The rows of one layout, as they come in."""

    key: str
    id: str
    width: float
    height: float
    labels: list[str] = field(default_factory=list)
    boxes: list[list[float]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def read(path: Path, problems: Problems, progress: Progress = silent) -> Iterator[Layout]:
    """Layouts in the order of their first rows."""
    with Source(path, progress) as source:
        lines = _lines(source)
        first = next(lines, "")
        columns, delimiter = _header(first, path)
        corners = "xmin" in columns
        rows = csv.reader(lines, delimiter=delimiter)
        group: _Group | None = None
        done: set[tuple[str, str]] = set()
        bad = 0
        for row in _rows(rows, path, problems):
            line = rows.line_num + 1
            try:
                group, finished = _row(row, columns, line, group, done)
                bad = 0
            except LayoutdmError as error:
                problems.report(f"{path}, line {line}", str(error))
                bad += 1
                if bad >= HOPELESS:
                    raise hopeless(path, line, problems) from None
                continue
            if finished:
                yield _layout(finished, corners, path, problems)
        if group:
            yield _layout(group, corners, path, problems)


def _rows(rows: CsvReader, path: Path, problems: Problems) -> Iterator[list[str]]:
    """The rows that hold anything; what is no CSV is reported and passed over."""
    empty = 0
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            problems.report(f"{path}, line {rows.line_num + 1}", f"not readable CSV: {error}")
            continue
        if row is None:
            return
        empty = 0 if any(row) else empty + 1
        if empty > BLANK:
            where = f"{path}, line {rows.line_num + 1}"
            raise LayoutdmError(f"{where}: the {BLANK:,} rows before it are empty; delete them")
        if not empty:
            yield row


def _lines(source: Source) -> Iterator[str]:
    for number, line in numbered(source, "a table has one row a line"):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise LayoutdmError(
                f"{source.path}, line {number}: is not UTF-8 text; save the table as UTF-8"
            ) from None


def _header(line: str, path: Path) -> tuple[dict[str, int], str]:
    """Where each column stands, and what separates them."""
    if not line.strip():
        raise LayoutdmError(f"{path}: is empty or starts with an empty line; it needs a header")
    for delimiter in ",;\t":
        try:
            cells = next(csv.reader([line], delimiter=delimiter))
        except csv.Error:
            continue
        names = [cell.strip().lower() for cell in cells]
        columns = {ALIASES.get(name, name): index for index, name in enumerate(names)}
        box = CENTRE if set(CENTRE) <= set(columns) else CORNERS
        if {"width", "height", "label", *box} <= set(columns):
            if not {"id", "layout"} & set(columns):
                raise LayoutdmError(f"{path}, line 1: lacks a column id, which tells layouts apart")
            return columns, delimiter
    raise LayoutdmError(
        f"{path}, line 1: the header should have the columns {','.join(COLUMNS)}, "
        f"got {shown(line.strip())}"
    )


def _row(
    row: list[str],
    columns: Mapping[str, int],
    line: int,
    group: _Group | None,
    done: set[tuple[str, str]],
) -> tuple[_Group, _Group | None]:
    """Add a row to its group; the group before it, if that is finished now."""
    if len(row) <= max(columns.values()):
        raise LayoutdmError(f"has {len(row)} values; the header has {max(columns.values()) + 1}")
    cells = {name: row[index] for name, index in columns.items()}
    id = from_cell(cells.get("id", ""))
    if id:
        records.text(id, "id")
    key = cells.get("layout", id)
    sides = [_side(cells[name], name) for name in ("width", "height")]
    names = CENTRE if "x" in cells else CORNERS
    box = [cells[name] for name in names]
    empty = not cells["label"] and not any(box)
    label = "" if empty else records.text(from_cell(cells["label"]), "label")
    values = [] if empty else [records.parsed(v, n) for v, n in zip(box, names, strict=True)]
    finished = None
    if group is None or key != group.key:
        if ("layout", key) in done:
            raise LayoutdmError(
                f"the rows of layout {shown(key)} ended before; rows of one layout must stand "
                "together"
            )
        if id and ("id", id) in done:
            raise LayoutdmError(
                f"id {shown(id)} is that of an earlier layout; each layout needs an id of its own, "
                "or none"
            )
        finished, group = group, _Group(key, id, sides[0], sides[1])
        done |= {("layout", key), ("id", id)}
    if (group.id, group.width, group.height) != (id, *sides):
        raise LayoutdmError(f"id, width and height differ from those above, of layout {shown(key)}")
    if not empty:
        group.labels.append(label)
        group.boxes.append(values)
        group.lines.append(line)
    return group, finished


@lru_cache(maxsize=64)  # every row repeats the canvas size
def _side(text: str, name: str) -> float:
    return records.side(records.parsed(text, name), name)


def _layout(group: _Group, corners: bool, path: Path, problems: Problems) -> Layout:
    boxes = np.array(group.boxes, dtype=np.float64).reshape(-1, 4)
    if corners:
        boxes = records.to_centre(from_corners, boxes, canvas_scale(group.width, group.height))
    labels, centre = records.keep_good(
        group.labels, boxes, lambda index: f"{path}, line {group.lines[index]}", problems
    )
    return Layout(tuple(labels), centre, group.width, group.height, group.id)


def write(layouts: Iterable[Layout], path: Path) -> Path:
    """Write one row an element; a .tsv is separated by tabs."""
    delimiter = "\t" if suffix(path) == ".tsv" else ","
    with replacing(path) as part, text_sink(part, path) as file:
        rows = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        rows.writerow(COLUMNS)
        for number, layout in enumerate(layouts, start=1):
            sides = [repr(records.plain(side)) for side in (layout.width, layout.height)]
            start = [number, to_cell(layout.id), *sides]
            if not len(layout):
                rows.writerow([*start, "", "", "", "", ""])
            for label, box in zip(layout.labels, layout.boxes.tolist(), strict=True):
                rows.writerow([*start, to_cell(label), *map(repr, box)])
    return path

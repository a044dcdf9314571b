"""The native format: one JSON object a line, plain or gzip, exact to the last bit.

>>> record = {"id": "p1", "width": 600, "height": 800,
...           "labels": ["text"], "boxes": [[0.5, 0.5, 0.8, 0.2]]}
>>> to_record(from_record(record)) == record
True

`id`, `width` and `height` may be missing (no id, a canvas of 1 by 1). Further keys of a record
are kept as metadata and written back under the key `metadata`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.errors import LayoutdmError
from layoutdm.formats import records
from layoutdm.formats.files import Progress, Source, replacing, silent, text_sink
from layoutdm.formats.problems import Problems
from layoutdm.layout import Layout

KNOWN = {"id", "width", "height", "labels", "boxes", "metadata"}
LONGEST_LINE = 64 * 2**20
TICK = 500  # lines between two looks at the progress


def from_record(record: Mapping[str, Any]) -> Layout:
    """A native record as a Layout."""
    if not isinstance(record, Mapping):
        raise LayoutdmError(
            'a layout is a JSON object with the keys "labels" and "boxes", '
            f"got {records.shown(record)}"
        )
    id = records.identifier(record.get("id", ""))
    name = f"layout {id!r}" if id else "layout"
    labels = records.required(record, "labels", name)
    rows = records.required(record, "boxes", name)
    if not isinstance(labels, (list, tuple)):
        raise LayoutdmError(f"{name}: labels must be a list of names, got {records.shown(labels)}")
    for index, label in enumerate(labels):
        records.text(label, f"{name}: element {index}: label")
    width = records.side(record.get("width", 1), f"{name}: canvas width")
    height = records.side(record.get("height", 1), f"{name}: canvas height")
    metadata = record.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise LayoutdmError(
            f"{name}: metadata must be a JSON object, got {records.shown(metadata)}"
        )
    extra = {key: value for key, value in record.items() if key not in KNOWN}
    return Layout(tuple(labels), _boxes(rows, name), width, height, id, {**extra, **metadata})


def _boxes(rows: object, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    if isinstance(rows, np.ndarray):
        rows = rows.tolist()
    if not isinstance(rows, (list, tuple)):
        raise LayoutdmError(
            f"{name}: boxes must be a list of [centre x, centre y, width, height], "
            f"got {records.shown(rows)}"
        )
    for index, row in enumerate(rows):
        if not isinstance(row, (list, tuple)) or len(row) != 4:
            raise LayoutdmError(
                f"{name}: element {index}: box must be four numbers (centre x, centre y, width, "
                f"height), got {records.shown(row)}"
            )
        for value in row:
            if type(value) is not float:
                records.number(value, f"{name}: element {index}: box value")
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def to_record(layout: Layout) -> dict[str, Any]:
    """A Layout as a native record, ready for json.dumps."""
    record: dict[str, Any] = {
        "id": layout.id,
        "width": records.plain(layout.width),
        "height": records.plain(layout.height),
        "labels": list(layout.labels),
        "boxes": layout.boxes.tolist(),
    }
    if layout.metadata:
        record["metadata"] = dict(layout.metadata)
    return record


def read(path: Path, problems: Problems, progress: Progress = silent) -> Iterator[Layout]:
    """Layouts of a .jsonl or .jsonl.gz file, one line at a time; blank lines are passed over."""
    seen: dict[str, int] = {}
    line_number = 0
    blank = True
    with Source(path, progress) as source:
        while True:
            try:
                line = source.readline(LONGEST_LINE)
            except LayoutdmError as error:  # damaged gzip: what came before it is still good
                problems.report(f"{path}, after line {line_number}", _tail(str(error), path))
                return
            if not line:
                break
            line_number += 1
            if line_number % TICK == 0:
                source.tick()
            if len(line) >= LONGEST_LINE:
                raise LayoutdmError(
                    f"{path}, line {line_number}: longer than 64 MiB; a .jsonl file holds one "
                    "layout a line"
                )
            if line_number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.strip():
                continue
            blank = False
            layout = _line(line, f"{path}, line {line_number}", line_number, seen, problems)
            if layout is not None:
                yield layout
        source.tick()
    if blank:
        raise LayoutdmError(f"{path}: is empty; it should hold one JSON object a line")


def _tail(message: str, path: Path) -> str:
    return message.removeprefix(f"{path}: ")


def _line(
    line: bytes, where: str, line_number: int, seen: dict[str, int], problems: Problems
) -> Layout | None:
    try:
        layout = from_record(_parse(line))
        if layout.id and layout.id in seen:
            raise LayoutdmError(
                f"id {layout.id!r} was used in line {seen[layout.id]} already; "
                "each layout needs an id of its own, or none"
            )
    except LayoutdmError as error:
        problems.report(where, str(error))
        return None
    if layout.id:
        seen[layout.id] = line_number
    return layout


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line.rstrip(b"\r\n"))
    except json.JSONDecodeError as error:
        raise LayoutdmError(
            f"not valid JSON at column {error.colno} ({error.msg}); "
            "a .jsonl file holds one JSON object a line"
        ) from None
    except UnicodeDecodeError:
        raise LayoutdmError("not UTF-8 text; a .jsonl file holds one JSON object a line") from None
    except (ValueError, RecursionError):
        raise LayoutdmError("a number is too long or the nesting too deep for JSON") from None


def write(layouts: Iterable[Layout], path: Path) -> Path:
    """Write one record a line; gzip when the name ends in .gz."""
    with replacing(path) as part, text_sink(part, path) as file:
        for layout in layouts:
            file.write(dumps(layout) + "\n")
    return path


def dumps(layout: Layout) -> str:
    """One line of the native format, without the line's end."""
    try:
        return json.dumps(to_record(layout), separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise LayoutdmError(
            f"layout {layout.id!r}: metadata cannot be written as JSON ({error}); "
            "keep it to texts, finite numbers, lists and dictionaries"
        ) from None

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

from layoutdm.atomic import replacing
from layoutdm.errors import LayoutdmError, shown
from layoutdm.formats import limits, records
from layoutdm.formats.files import Progress, Source, silent, text_sink
from layoutdm.formats.lines import HOPELESS, hopeless, numbered
from layoutdm.formats.problems import Problems
from layoutdm.formats.signs import JOB_FILES
from layoutdm.layout import Layout

KNOWN = {"id", "width", "height", "labels", "boxes", "metadata"}
LINES = "a .jsonl file holds one layout a line"


def from_record(record: Mapping[str, Any]) -> Layout:
    """A native record as a Layout."""
    if not isinstance(record, Mapping):
        raise LayoutdmError(
            f'a layout is a JSON object with the keys "labels" and "boxes", got {shown(record)}'
        )
    id = records.identifier(record.get("id", ""))
    name = f"layout {shown(id)}" if id else "layout"
    labels = records.required(record, "labels", name)
    rows = records.required(record, "boxes", name)
    if not isinstance(labels, (list, tuple)):
        raise LayoutdmError(f"{name}: labels must be a list of names, got {shown(labels)}")
    for index, label in enumerate(labels):
        records.text(label, f"{name}: element {index}: label")
    width = records.side(record.get("width", 1), f"{name}: canvas width")
    height = records.side(record.get("height", 1), f"{name}: canvas height")
    metadata = record.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise LayoutdmError(f"{name}: metadata must be a JSON object, got {shown(metadata)}")
    boxes = _boxes(rows, name)
    if len(boxes) and 2 < float(boxes.max()) < 1e6 and bool((boxes >= 0).all()):
        raise LayoutdmError(
            f"{name}: the boxes look like pixels, up to {boxes.max():g}; divide them by the "
            "canvas's width and height, or give the layout as a COCO file, which is in pixels"
        )
    extra = {key: value for key, value in record.items() if key not in KNOWN}
    return Layout(tuple(labels), boxes, width, height, id, {**extra, **metadata})


def _boxes(rows: object, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    if isinstance(rows, np.ndarray):
        rows = rows.tolist()
    if not isinstance(rows, (list, tuple)):
        raise LayoutdmError(
            f"{name}: boxes must be a list of [centre x, centre y, width, height], "
            f"got {shown(rows)}"
        )
    for index, row in enumerate(rows):
        if not isinstance(row, (list, tuple)) or len(row) != 4:
            raise LayoutdmError(
                f"{name}: element {index}: box must be four numbers (centre x, centre y, width, "
                f"height), got {shown(row)}"
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
    """Layouts of a .jsonl or .jsonl.gz file, one line at a time; blank lines are passed over.

    A single layout may also be spread over several lines, as people and editors write JSON.
    """
    path = _inside(path)
    seen: dict[str, str] = {}
    bad, before = 0, problems.count
    empty = True
    with Source(path, progress) as source:
        for number, line in _whole_lines(source, problems):
            if not line.strip():
                continue
            if empty and _breaks_off(line) and (spread := _spread(path)):
                for index, record in enumerate(spread, start=1):
                    layout = _checked(record, f"{path}, layout {index}", seen, problems)
                    if layout is not None:
                        yield layout
                return
            empty = False
            layout = _checked(line, f"{path}, line {number}", seen, problems)
            bad = bad + 1 if layout is None else 0
            if layout is not None:
                yield layout
            elif bad >= HOPELESS:
                raise hopeless(path, number, problems)
    if empty and problems.count == before:
        raise LayoutdmError(f"{path}: is empty; it should hold one JSON object a line")


def _whole_lines(source: Source, problems: Problems) -> Iterator[tuple[int, bytes]]:
    """The lines up to where the file is damaged, which is reported; those before it are good."""
    number, lines = 0, numbered(source, LINES)
    while True:
        try:
            number, line = next(lines)
        except StopIteration:
            return
        except LayoutdmError as error:
            message = str(error).removeprefix(f"{source.path}: ")
            problems.report(f"{source.path}, after line {number}", message)
            return
        yield number, line


def _breaks_off(line: bytes) -> bool:
    """Whether a line starts a JSON object that does not end on it."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return line.lstrip().startswith(b"{") and error.pos >= len(error.doc.rstrip())
    except (ValueError, RecursionError):
        return False
    return False


def _spread(path: Path) -> list[Any]:
    """The records of a file that spreads them over several lines; none when it is no such file."""
    if not path.is_file():  # a pipe cannot be read twice
        return []
    found, at = [], 0
    try:
        with Source(path) as source:
            text = source.read(limits.record_size()).decode("utf-8-sig")
        while at < len(text):
            record, end = json.JSONDecoder().raw_decode(text, at)
            found.append(record)
            at = end + len(text[end:]) - len(text[end:].lstrip())
    except (ValueError, RecursionError, LayoutdmError):
        return []
    return found


def _inside(path: Path) -> Path:
    """The file itself, or the layouts of a job's folder."""
    if not path.is_dir():
        return path
    for name in JOB_FILES:
        if (path / name).is_file():
            return path / name
    raise LayoutdmError(f"{path}: is a folder without {JOB_FILES[0]}; give the file of layouts")


def _checked(record: Any, where: str, seen: dict[str, str], problems: Problems) -> Layout | None:
    """One line or parsed record as a layout; None when it was bad and reported."""
    try:
        layout = from_record(_parse(record) if isinstance(record, bytes) else record)
        if layout.id and layout.id in seen:
            raise LayoutdmError(
                f"id {shown(layout.id)} was used in {seen[layout.id]} already; "
                "each layout needs an id of its own, or none"
            )
    except LayoutdmError as error:
        problems.report(where, str(error))
        return None
    if layout.id:
        seen[layout.id] = where.rpartition(", ")[2]
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
    except (TypeError, ValueError, RecursionError) as error:
        raise LayoutdmError(
            f"layout {shown(layout.id)}: metadata cannot be written as JSON ({error}); "
            "keep it to texts, finite numbers, lists and dictionaries"
        ) from None

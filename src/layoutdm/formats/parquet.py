"""Parquet with the columns that Hugging Face data sets use; needs the extra `parquet`.

    id      string          width, height   float64
    bbox    list of [centre x, centre y, width, height] in 0..1 (float64)
    label   list of class indices; their names are in the schema's metadata
    mask    list of true: every element is real (false marks padding, which is passed over)

The names are stored twice: under `layoutdm.labels` as a JSON list, and under `huggingface` as
ClassLabel features, so that `datasets.load_dataset("parquet", ...)` shows them. A folder of
.parquet files is read as one set, in the order of the names. Rows travel in groups, so that a file
need not fit into memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from layoutdm.atomic import replacing
from layoutdm.errors import LayoutdmError, shown
from layoutdm.formats import limits, parquet_footer, records
from layoutdm.formats.jsonl import from_record
from layoutdm.formats.problems import Problems
from layoutdm.layout import Layout

ROWS = 10_000  # layouts in a row group
CHUNK = 250  # layouts held as Python objects, which take ten times the memory of columns
LABELS_KEY = b"layoutdm.labels"
REQUIRED = ("bbox", "label")
KNOWN = frozenset({"id", "width", "height", "bbox", "label", "mask", "metadata"})
TOGETHER = 32 * 2**20  # bytes of text that may be unpacked at once


def _pyarrow() -> tuple[Any, Any]:
    import pyarrow
    import pyarrow.parquet

    return pyarrow, pyarrow.parquet


def read(path: Path, problems: Problems) -> Iterator[Layout]:
    """Layouts of a file, or of a folder of files."""
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise LayoutdmError(f"{path}: holds no .parquet files; it should hold at least one")
    seen: set[str] = set()
    for file in files:
        yield from _file(file, seen, problems)


def _file(path: Path, seen: set[str], problems: Problems) -> Iterator[Layout]:
    pyarrow, parquet = _pyarrow()
    if path.stat().st_size == 0:
        raise LayoutdmError(f"{path}: is empty; it should be a Parquet file")
    rows = _rows_at_once(path)
    try:
        with parquet.ParquetFile(path) as file:
            names = _names(file.schema_arrow, path)
            columns = [name for name in file.schema_arrow.names if name in KNOWN]
            row = 0
            for batch in file.iter_batches(batch_size=rows, columns=columns):
                for record in batch.to_pylist():
                    row += 1
                    layout = _row(record, names, f"{path}, row {row}", seen, problems)
                    if layout is not None:
                        yield layout
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise LayoutdmError(
            f"{path}: is not a readable Parquet file ({reason}); copy or write it again"
        ) from None


def _rows_at_once(path: Path) -> int:
    """How many rows can be unpacked together; one sentence if the file unpacks to too much.

    Equal values take next to no room in a file, so values are counted as well as bytes. A long
    text can stand for every row, so that rows with long texts are unpacked few at a time.
    """
    packed = path.stat().st_size
    unpacked, longest = parquet_footer.sizes(path, KNOWN)
    if unpacked > limits.allowed(packed):
        raise limits.too_much(path, packed)
    return max(1, min(1000, TOGETHER // longest))


def _names(schema: Any, path: Path) -> Sequence[str] | None:
    """The label names of a file; None when its labels are texts already."""
    for column in REQUIRED:
        if column not in schema.names:
            raise LayoutdmError(
                f"{path}: lacks the column {column!r}; it has {', '.join(schema.names) or 'none'}"
            )
    metadata = schema.metadata or {}
    try:
        if LABELS_KEY in metadata:
            found = json.loads(metadata[LABELS_KEY])
        elif b"huggingface" in metadata:
            feature = json.loads(metadata[b"huggingface"])["info"]["features"]["label"]
            feature = feature.get("feature", feature) if isinstance(feature, dict) else feature[0]
            found = feature.get("names")
        else:
            found = None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        found = None
    if isinstance(found, list) and all(isinstance(name, str) for name in found):
        return found
    if "string" in str(schema.field("label").type):
        return None
    raise LayoutdmError(
        f"{path}: label holds numbers, but the schema's metadata names no labels; store the names "
        "under layoutdm.labels as a JSON list"
    )


def _row(
    record: Mapping[str, Any],
    names: Sequence[str] | None,
    where: str,
    seen: set[str],
    problems: Problems,
) -> Layout | None:
    try:
        layout = from_record(_native(record, names))
        if layout.id and layout.id in seen:
            raise LayoutdmError(
                f"id {shown(layout.id)} came before; each layout needs its own, or none"
            )
    except LayoutdmError as error:
        problems.report(where, str(error))
        return None
    seen.add(layout.id)
    return layout


def _native(record: Mapping[str, Any], names: Sequence[str] | None) -> dict[str, Any]:
    """A row as a native record: padding gone, labels as names."""
    boxes, labels = record["bbox"], record["label"]
    mask = record.get("mask")
    if not isinstance(boxes, list) or not isinstance(labels, list):
        raise LayoutdmError("bbox and label must be lists, one entry an element")
    if mask is not None:
        if not isinstance(mask, list) or not len(mask) == len(boxes) == len(labels):
            raise LayoutdmError("bbox, label and mask must be lists of the same length")
        boxes = [box for box, real in zip(boxes, mask, strict=True) if real]
        labels = [label for label, real in zip(labels, mask, strict=True) if real]
    if names is not None:
        for index, label in enumerate(labels):
            if not isinstance(label, int) or not 0 <= label < len(names):
                raise LayoutdmError(
                    f"element {index}: label {shown(label)} has no name; "
                    f"labels are 0 to {len(names) - 1}"
                )
        labels = [names[label] for label in labels]
    native: dict[str, Any] = {"boxes": boxes, "labels": labels}
    native |= {key: record[key] for key in ("id", "width", "height") if record.get(key) is not None}
    if isinstance(record.get("metadata"), str) and record["metadata"]:
        native["metadata"] = records.parse_json(record["metadata"])
    return native


def write(layouts: Iterable[Layout], path: Path, labels: Sequence[str] | None = None) -> Path:
    """Write row groups as layouts come; `labels` fixes the label list and its order."""
    pyarrow, parquet = _pyarrow()
    classes: dict[str, int] = {label: index for index, label in enumerate(labels or ())}
    schema = pyarrow.schema(
        [
            ("id", pyarrow.string()),
            ("width", pyarrow.float64()),
            ("height", pyarrow.float64()),
            ("bbox", pyarrow.list_(pyarrow.list_(pyarrow.float64()))),
            ("label", pyarrow.list_(pyarrow.int64())),
            ("mask", pyarrow.list_(pyarrow.bool_())),
            ("metadata", pyarrow.string()),
        ]
    )
    stream = iter(layouts)
    # The names are known only at the end, and Parquet keeps its metadata at the end of the file.
    # Without a stored Arrow schema, what is added there is also the schema's metadata when read.
    with (
        replacing(path) as part,
        parquet.ParquetWriter(part, schema, store_schema=False) as writer,
    ):
        group: list[Any] = []
        while rows := [_record(layout, classes) for layout in islice(stream, CHUNK)]:
            group.append(pyarrow.Table.from_pylist(rows, schema=schema))
            if len(group) == ROWS // CHUNK:
                writer.write_table(pyarrow.concat_tables(group))
                group = []
        if group:
            writer.write_table(pyarrow.concat_tables(group))
        names = list(classes)
        writer.add_key_value_metadata(
            {LABELS_KEY: json.dumps(names), b"huggingface": json.dumps(_features(names))}
        )
    return path


def _record(layout: Layout, classes: dict[str, int]) -> dict[str, Any]:
    return {
        "id": layout.id,
        "width": float(layout.width),
        "height": float(layout.height),
        "bbox": layout.boxes.tolist(),
        "label": [classes.setdefault(label, len(classes)) for label in layout.labels],
        "mask": [True] * len(layout),
        "metadata": _metadata(layout),
    }


def _metadata(layout: Layout) -> str:
    if not layout.metadata:
        return ""
    try:
        return json.dumps(dict(layout.metadata), default=str)
    except (TypeError, ValueError, RecursionError) as error:
        raise LayoutdmError(
            f"layout {shown(layout.id)}: metadata cannot be written as JSON ({error}); "
            "keep it to texts, finite numbers, lists and dictionaries"
        ) from None


def _features(names: list[str]) -> dict[str, Any]:
    """What the `datasets` library looks for in a Parquet file."""

    def value(kind: str) -> dict[str, Any]:
        return {"dtype": kind, "_type": "Value"}

    def many(feature: Any) -> dict[str, Any]:
        return {"feature": feature, "_type": "Sequence"}

    features = {
        "id": value("string"),
        "width": value("float64"),
        "height": value("float64"),
        "bbox": many(many(value("float64"))),
        "label": many({"names": names, "_type": "ClassLabel"}),
        "mask": many(value("bool")),
        "metadata": value("string"),
    }
    return {"info": {"features": features}}

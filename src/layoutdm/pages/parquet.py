"""A split of a set as one Parquet file: images, boxes, labels and words, as `datasets` reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError

GROUP = 64  # pages of a row group: about ten megabytes
Get = Callable[[str], bytes]  # a file of the set by its name


def write_split(
    records: Iterable[Mapping[str, Any]], get: Get, path: Path, labels: Sequence[str]
) -> None:
    """Row groups as the pages come, so that memory stays the same at any number."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise LayoutdmError(
            "parquet needs the package pyarrow; install layoutdm[parquet]"
        ) from None
    text, number = pyarrow.string(), pyarrow.float64()
    boxes = pyarrow.list_(pyarrow.list_(number))
    schema = pyarrow.schema(
        [
            ("id", text),
            ("split", text),
            ("image", pyarrow.struct([("bytes", pyarrow.binary()), ("path", text)])),
            ("width", number),
            ("height", number),
            ("bbox", boxes),
            ("label", pyarrow.list_(pyarrow.int64())),
            ("mask", pyarrow.list_(pyarrow.bool_())),
            ("words", pyarrow.list_(text)),
            ("word_boxes", boxes),
        ]
    )
    index = {label: i for i, label in enumerate(labels)}
    stream = iter(records)
    # Whoever calls writes aside and moves the whole file to its place.
    with parquet.ParquetWriter(path, schema, store_schema=False) as writer:
        while group := [_row(record, get, index) for record in islice(stream, GROUP)]:
            writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))
        writer.add_key_value_metadata(
            {"layoutdm.labels": json.dumps(list(labels)),
             "huggingface": json.dumps({"info": {"features": _features(labels)}})}
        )  # fmt: skip


def _row(record: Mapping[str, Any], get: Get, index: Mapping[str, int]) -> dict[str, Any]:
    name, split = record["metadata"]["file_name"], record["metadata"]["split"]
    words: list[Any] = []
    try:
        truth = json.loads(get(f"truth/{split}/{record['id']}.json"))
        words = [word for block in truth["blocks"] for word in block["words"]]
    except (FileNotFoundError, KeyError):  # a set without words
        pass
    return {
        "id": record["id"],
        "split": split,
        "image": {"bytes": get(name), "path": name},
        "width": float(record["width"]),
        "height": float(record["height"]),
        "bbox": record["boxes"],
        "label": [index[label] for label in record["labels"]],
        "mask": [True] * len(record["labels"]),
        "words": [word["text"] for word in words],
        "word_boxes": [[float(v) for v in word["box"]] for word in words],
    }


def _features(labels: Sequence[str]) -> dict[str, Any]:
    def value(kind: str) -> dict[str, Any]:
        return {"dtype": kind, "_type": "Value"}

    def many(feature: Any) -> dict[str, Any]:
        return {"feature": feature, "_type": "Sequence"}

    return {
        "id": value("string"),
        "split": value("string"),
        "image": {"_type": "Image"},
        "width": value("float64"),
        "height": value("float64"),
        "bbox": many(many(value("float64"))),
        "label": many({"names": list(labels), "_type": "ClassLabel"}),
        "mask": many(value("bool")),
        "words": many(value("string")),
        "word_boxes": many(many(value("float64"))),
    }

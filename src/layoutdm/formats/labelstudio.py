"""Label Studio JSON: a list of tasks whose rectangles are in percent of the picture.

>>> import tempfile
>>> from layoutdm.formats import read, write
>>> path = Path(tempfile.mkdtemp()) / "tasks.json"
>>> layout = Layout.create(["text"], [[0.5, 0.25, 0.5, 0.5]], width=100, height=200, id="7")
>>> _ = write([layout], path, format="labelstudio", kind="predictions")
>>> list(read(path)) == [layout]
True

Each annotation of a task that was not cancelled is a layout; where a task has none, each of its
predictions is. The second and later layouts of task 7 are called `7#2`, `7#3`, ... Written are
annotations, or predictions with `kind="predictions"` for people to correct.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.atomic import replacing
from layoutdm.boxes import FIELDS, from_left_top
from layoutdm.errors import LayoutdmError, shown
from layoutdm.formats import limits, records
from layoutdm.formats.files import Progress, Source, silent, text_sink
from layoutdm.formats.json_stream import JsonStream
from layoutdm.formats.numbering import Numbers
from layoutdm.formats.problems import Problems, ReportedError
from layoutdm.layout import Layout

KINDS = ("annotations", "predictions")
# Results of these kinds carry no box of their own: texts, choices and links between regions.
BOXLESS = {"choices", "textarea", "relation", "rating", "number", "labels", "datetime", "taxonomy"}
BOXES = {"rectanglelabels", "rectangle"}


def read(path: Path, problems: Problems, progress: Progress = silent) -> Iterator[Layout]:
    """The layouts of a file of tasks, one task at a time."""
    seen: set[str] = set()
    with Source(path, progress) as source:
        stream = JsonStream(source)
        for key, index, task in stream.items():
            if key:  # one task without a list around it: its own lists are not tasks
                continue
            yield from _checked(task, index, path, seen, problems)
    if "" not in stream.keys:
        yield from _checked(_single(path), 0, path, seen, problems)


def _single(path: Path) -> Any:
    with Source(path) as source:
        data = source.read(limits.record_size() + 1)
    if len(data) > limits.record_size():
        raise limits.too_long(str(path), "one task should not be")
    task = records.parse_json(data)
    if not isinstance(task, dict) or not set(KINDS) & set(task):
        raise LayoutdmError(
            f"{path}: should be a list of tasks with annotations or predictions, as Label Studio "
            "exports it under the name JSON"
        )
    return task


def _checked(
    task: object, index: int, path: Path, seen: set[str], problems: Problems
) -> Iterator[Layout]:
    id = task.get("id") if isinstance(task, dict) else None
    number = isinstance(id, (int, str)) and not isinstance(id, bool)
    where = f"{path}, task {shown(id)}" if number else f"{path}, task number {index + 1}"
    try:
        layouts = list(_layouts(records.mapping(task, "a task"), where, problems))
        for layout in layouts:
            if layout.id and layout.id in seen:
                raise LayoutdmError(f"id {shown(layout.id)} came before; each task needs its own")
            seen.add(layout.id)
    except ReportedError:
        raise
    except LayoutdmError as error:
        problems.report(where, str(error))
        return
    yield from layouts


def _layouts(task: Mapping[str, Any], where: str, problems: Problems) -> Iterator[Layout]:
    data = task.get("data") or {}
    records.mapping(data, "data")
    id = records.identifier(data.get("layout_id", task.get("id", "")))
    found: list[Mapping[str, Any]] = []
    for kind in KINDS:
        versions = task.get(kind) or []
        if not isinstance(versions, list):
            raise LayoutdmError(f"{kind} must be a list, got {shown(versions)}")
        found = [records.mapping(v, f"an entry of {kind}") for v in versions]
        found = [version for version in found if not version.get("was_cancelled")]
        if found:
            break
    else:
        raise LayoutdmError("has neither annotations nor predictions; it needs one of them")
    for count, version in enumerate(found):
        results = version.get("result")
        if not isinstance(results, list):
            raise LayoutdmError(f"result must be a list, got {shown(results)}")
        name = id if count == 0 else f"{id}#{count + 1}"
        yield _layout(results, data, name, where, problems)


def _layout(
    results: list[Any], data: Mapping[str, Any], id: str, where: str, problems: Problems
) -> Layout:
    sides: tuple[object, object] = (data.get("width", 1), data.get("height", 1))
    # In templates for reading text, box and label are two results with the same id.
    apart = {
        item.get("id"): _labels(item)
        for item in results
        if isinstance(item, dict)
        and item.get("type") == "labels"
        and isinstance(item.get("id"), str)
    }
    labels, boxes, numbers = [], [], []
    for number, item in enumerate(results, start=1):
        try:
            record = records.mapping(item, "a result")
            kind = record.get("type", "rectanglelabels")
            if isinstance(kind, str) and kind in BOXLESS:
                continue
            if not isinstance(kind, str) or kind not in BOXES:
                raise LayoutdmError(f"type is {shown(kind)}; only rectangles can be read")
            label, box = _element(record, apart)
        except LayoutdmError as error:
            problems.report(f"{where}, result {number}", str(error))
            continue
        if "original_width" in record and "original_height" in record:
            sides = (record["original_width"], record["original_height"])
        labels.append(label)
        boxes.append(box)
        numbers.append(number)
    width = records.side(sides[0], "canvas width")
    height = records.side(sides[1], "canvas height")
    percent = np.array(boxes, dtype=np.float64).reshape(-1, 4)
    labels, centre = records.keep_good(
        labels,
        records.to_centre(from_left_top, percent, 100.0),
        lambda index: f"{where}, result {numbers[index]}",
        problems,
    )
    picture = data.get("image")
    named = isinstance(picture, str) and picture not in ("", id)
    return Layout(tuple(labels), centre, width, height, id, {"file_name": picture} if named else {})


def _element(record: Mapping[str, Any], apart: Mapping[Any, list[Any]]) -> tuple[str, list[float]]:
    value = records.mapping(records.required(record, "value", "it"), "value")
    box = [records.number(records.required(value, f, "value"), f) for f in FIELDS]
    if records.number(value.get("rotation", 0) or 0, "rotation") % 360 != 0:
        raise LayoutdmError(f"is rotated by {value['rotation']:g} degrees; it should be upright")
    id = record.get("id")
    names = _labels(record) or (apart.get(id, []) if isinstance(id, str) else [])
    if len(names) != 1:
        raise LayoutdmError(f"should have one label, got {shown(names)}")
    return records.text(names[0], "label"), box


def _labels(record: Mapping[str, Any]) -> list[Any]:
    value = record.get("value")
    if not isinstance(value, dict):
        return []
    names = value.get("rectanglelabels", value.get("labels", []))
    return names if isinstance(names, list) else [names]


# Writing ---------------------------------------------------------------------------------------


def write(layouts: Iterable[Layout], path: Path, kind: str = "annotations") -> Path:
    """Write one task a layout; `kind` is annotations or predictions."""
    if kind not in KINDS:
        raise LayoutdmError(f"kind must be annotations or predictions, got {kind!r}")
    numbers = Numbers()
    with replacing(path) as part, text_sink(part, path) as file:
        file.write("[")
        for index, layout in enumerate(layouts):
            task = json.dumps(_task(layout, numbers.take(layout.id), kind))
            file.write(f"{',' if index else ''}\n{task}")
        file.write("\n]\n")
    return path


def _task(layout: Layout, number: int, kind: str) -> dict[str, Any]:
    width, height = records.plain(layout.width), records.plain(layout.height)
    percent = records.tidy_rows(layout.left_top() * 100, np.array([100.0, 100.0, 100.0, 100.0]))
    results = [
        {
            "id": f"{number}-{index}",
            "type": "rectanglelabels",
            "from_name": "label",
            "to_name": "image",
            "original_width": width,
            "original_height": height,
            "image_rotation": 0,
            "value": {
                **dict(zip(FIELDS, box, strict=True)),
                "rotation": 0,
                "rectanglelabels": [label],
            },
        }
        for index, (label, box) in enumerate(zip(layout.labels, percent, strict=True))
    ]
    picture = layout.metadata.get("file_name")
    data = {
        "image": picture if isinstance(picture, str) and picture else layout.id,
        "width": width,
        "height": height,
        "layout_id": layout.id,
    }
    version: dict[str, Any] = {"result": results}
    if kind == "predictions":
        version["model_version"] = "layoutdm"
    return {"id": number, "data": data, kind: [version]}

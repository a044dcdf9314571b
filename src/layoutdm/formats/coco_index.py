"""A COCO file in compact form: a few numbers an annotation, however long its polygon.

    contents = load(Path("train.json"), Problems())
    contents.categories, len(contents.images), len(contents.image)

Images, annotations and categories may come in any order: an annotation's image and category are
kept as numbers in the order of first mention, and matched with the declared ones at the end.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.errors import LayoutdmError, shown
from layoutdm.formats import records
from layoutdm.formats.files import Progress, Source, silent
from layoutdm.formats.json_stream import JsonStream, lists_named
from layoutdm.formats.problems import Problems

NO_ID = -(2**63)
LEFT_OUT = -1  # an image or category that was reported; its annotations go with it
UNKNOWN = -2  # an image or category that the file does not declare

Key = int | str
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Image:
    """One image as the file declares it."""

    id: Key
    file_name: str
    width: float
    height: float
    layout_id: str | None


@dataclass
class Declared:
    """What annotations refer to: known keys, and keys in the order of first mention."""

    known: dict[Key, int] = field(default_factory=dict)
    named: dict[Key, int] = field(default_factory=dict)
    column: array[int] = field(default_factory=lambda: array("q"))  # one entry an annotation

    def declare(self, key: Key, what: str) -> None:
        """Take note of a key; it counts as left out until its record has proved right."""
        if key in self.known:
            raise LayoutdmError(f"{what} with this id came before; each needs an id of its own")
        self.known[key] = LEFT_OUT

    def mention(self, key: Key) -> None:
        self.column.append(self.named.setdefault(key, len(self.named)))

    def resolve(self) -> Rows:
        """For each annotation the index of what it refers to, LEFT_OUT or UNKNOWN."""
        index = [self.known.get(key, UNKNOWN) for key in self.named]
        found: Rows = np.array(index or [UNKNOWN], dtype=np.int64)
        return np.asarray(found[np.asarray(self.column)])


@dataclass
class Contents:
    """All that is kept of a COCO file."""

    images: list[Image] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    image: Declared = field(default_factory=Declared)
    category: Declared = field(default_factory=Declared)
    ids: array[int] = field(default_factory=lambda: array("q"))
    boxes: array[float] = field(default_factory=lambda: array("d"))


def annotation_name(id: int, row: int) -> str:
    """What to call an annotation in a message."""
    return f"annotation {id}" if id != NO_ID else f"annotation number {row + 1}"


def load(path: Path, problems: Problems, progress: Progress = silent) -> Contents:
    """Read the whole file once."""
    contents = Contents()
    takers: dict[str, tuple[str, Callable[[Contents, Mapping[str, Any]], None]]] = {
        "images": ("image", _image),
        "annotations": ("annotation", _annotation),
        "categories": ("category", _category),
    }
    with Source(path, progress) as source:
        stream = JsonStream(source, forget=lists_named("segmentation"))
        for key, index, item in stream.items():
            if key not in takers:
                continue
            name, take = takers[key]
            try:
                take(contents, records.mapping(item, "it"))
            except LayoutdmError as error:
                problems.report(f"{path}, {name} {_name(item, index)}", str(error))
    for key in takers:
        if key in stream.scalars or key not in stream.keys:
            found = "is not a list" if key in stream.scalars else "is missing"
            raise LayoutdmError(
                f"{path}: {key!r} {found}; a COCO file has the lists images, annotations "
                "and categories"
            )
    return contents


def _name(item: object, index: int) -> str:
    id = item.get("id") if isinstance(item, dict) else None
    named = isinstance(id, (int, str)) and not isinstance(id, bool)
    return shown(id) if named else f"number {index + 1}"


def _key(record: Mapping[str, Any], name: str) -> Key:
    value = records.required(record, name, "it")
    if isinstance(value, str):
        return records.text(value, name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise LayoutdmError(f"{name} must be a whole number, got {shown(value)}")
    if abs(value) >= 2**63:
        raise LayoutdmError(f"{name} must fit in 64 bits, got a larger number")
    return value


def _image(contents: Contents, record: Mapping[str, Any]) -> None:
    key = _key(record, "id")
    contents.image.declare(key, "an image")
    width = records.side(records.required(record, "width", "it"), "width")
    height = records.side(records.required(record, "height", "it"), "height")
    name = record.get("file_name") or ""
    if name:
        records.text(name, "file_name")
    layout_id = record.get("layout_id")
    if layout_id is not None:
        layout_id = records.identifier(layout_id)
    contents.image.known[key] = len(contents.images)
    contents.images.append(Image(key, name, width, height, layout_id))


def _category(contents: Contents, record: Mapping[str, Any]) -> None:
    key = _key(record, "id")
    contents.category.declare(key, "a category")
    name = records.text(records.required(record, "name", "it"), "name")
    contents.category.known[key] = len(contents.categories)
    contents.categories.append(name)


def _annotation(contents: Contents, record: Mapping[str, Any]) -> None:
    image, category = _key(record, "image_id"), _key(record, "category_id")
    box = records.required(record, "bbox", "it")
    if not isinstance(box, list) or len(box) != 4:
        raise LayoutdmError(
            f"bbox must be four numbers (left, top, width, height), got {shown(box)}"
        )
    values = [records.number(value, "bbox value") for value in box]
    id = record.get("id")
    whole = isinstance(id, int) and not isinstance(id, bool) and abs(id) < 2**63
    contents.image.mention(image)
    contents.category.mention(category)
    contents.ids.append(id if whole and id is not None else NO_ID)
    contents.boxes.extend(values)


def usable(contents: Contents, path: Path, problems: Problems) -> NDArray[np.bool_]:
    """Which annotations name a known image and category and have their own id; report the rest."""
    ids = np.asarray(contents.ids)
    keep = np.ones(len(ids), dtype=bool)
    for name, many, declared in (
        ("image_id", "images", contents.image),
        ("category_id", "categories", contents.category),
    ):
        index = declared.resolve()
        mentioned = list(declared.named)
        for row in np.flatnonzero(keep & (index == UNKNOWN)).tolist():
            value = shown(mentioned[declared.column[row]])
            problems.report(
                f"{path}, {annotation_name(int(ids[row]), row)}",
                f"{name} {value} is not among the file's {many}; "
                f"it should be {_choices(declared.known)}",
            )
        keep &= index >= 0
    repeated = _repeated(ids)
    for row in repeated[keep[repeated]].tolist():
        problems.report(
            f"{path}, annotation {ids[row]}",
            "an annotation with this id came before; each needs an id of its own",
        )
    keep[repeated] = False
    return keep


def _choices(known: Mapping[Key, int]) -> str:
    names = [str(key) for key in known]
    if not names:
        return "declared there, but none are"
    return f"one of {', '.join(names[:6])}" + (", ..." if len(names) > 6 else "")


def _repeated(ids: Rows) -> Rows:
    """The rows whose id an earlier row has."""
    order = np.argsort(ids, kind="stable")
    ranked = ids[order]
    again = (ranked[1:] == ranked[:-1]) & (ranked[1:] != NO_ID)
    return np.sort(order[1:][again])

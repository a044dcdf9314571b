"""COCO object-detection JSON (or .json.gz): pixel boxes as left, top, width, height.

>>> import tempfile
>>> from layoutdm.formats import read, write
>>> path = Path(tempfile.mkdtemp()) / "a.json"
>>> layout = Layout.create(["text"], [[0.5, 0.25, 0.5, 0.5]], width=100, height=200, id="7")
>>> _ = write([layout], path, format="coco")
>>> list(read(path)) == [layout]
True

Files of gigabytes are read in one pass: each annotation is kept as a few numbers, its polygon is
dropped at once. A layout's id is the image id; what is no whole number is kept as `layout_id`
beside the number that COCO needs. The image's file name is kept in the metadata; where there is
none, the file names the PNG picture that `layoutdm render --to png` would write.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm import boxes as box_math
from layoutdm.atomic import replacing
from layoutdm.boxes import Boxes
from layoutdm.formats import coco_index, records
from layoutdm.formats.coco_index import Image, Rows
from layoutdm.formats.files import Progress, silent, text_sink
from layoutdm.formats.numbering import Numbers, picture_name
from layoutdm.formats.problems import Problems
from layoutdm.layout import Layout


@dataclass(frozen=True)
class Page:
    """One image of a COCO file with its annotations as they stand in the file."""

    path: Path
    image: Image
    labels: tuple[str, ...]
    left_top: Boxes  # pixels; may leave the page or lack a size
    ids: Rows
    rows: Rows

    @property
    def id(self) -> str:
        return str(self.image.id) if self.image.layout_id is None else self.image.layout_id

    def place(self, index: int) -> str:
        """Where the annotation at this index stands, for a message."""
        name = coco_index.annotation_name(int(self.ids[index]), int(self.rows[index]))
        return f"{self.path}, {name}"


def read(path: Path, problems: Problems, progress: Progress = silent) -> Iterator[Layout]:
    """One layout an image, in the file's order; annotations keep their order too."""
    for page in pages(path, problems, progress):
        width, height = page.image.width, page.image.height
        scale = box_math.canvas_scale(width, height)
        centre = records.to_centre(box_math.from_left_top, page.left_top, scale)
        labels, centre = records.keep_good(page.labels, centre, page.place, problems)
        name = page.image.file_name
        usual = ("", page.id, picture_name(page.id), picture_name(page.image.id))
        metadata = {"file_name": name} if name not in usual else {}
        yield Layout(tuple(labels), centre, width, height, page.id, metadata)


def pages(
    path: Path, problems: Problems, progress: Progress = silent, *, by_id: bool = False
) -> Iterator[Page]:
    """The images with their raw boxes, in the file's order or sorted by image id."""
    contents = coco_index.load(path, problems, progress)
    keep = np.flatnonzero(coco_index.usable(contents, path, problems))
    image, category = contents.image.resolve(), contents.category.resolve()
    boxes = np.asarray(contents.boxes).reshape(-1, 4)
    ids = np.asarray(contents.ids)
    order = keep[np.argsort(image[keep], kind="stable")]
    starts = np.searchsorted(image[order], np.arange(len(contents.images) + 1))
    images = list(enumerate(contents.images))
    if by_id:  # numbers before texts, as the two cannot be compared
        images.sort(key=lambda item: (isinstance(item[1].id, str), item[1].id))
    for index, entry in images:
        rows = order[starts[index] : starts[index + 1]]
        labels = tuple(contents.categories[c] for c in category[rows].tolist())
        yield Page(path, entry, labels, boxes[rows], ids[rows], rows)


def write(layouts: Iterable[Layout], path: Path, labels: Sequence[str] | None = None) -> Path:
    """Write images, annotations and categories; `labels` fixes the categories and their order."""
    categories: dict[str, int] = {label: index + 1 for index, label in enumerate(labels or ())}
    numbers = Numbers()
    count = 0
    with (
        replacing(path) as part,
        text_sink(part, path) as file,
        tempfile.TemporaryFile("w+", encoding="utf-8", dir=part.parent) as later,
    ):
        file.write('{"info":{"description":"layouts"},\n"images":[')
        for index, layout in enumerate(layouts):
            number = numbers.take(layout.id)
            file.write(("," if index else "") + "\n" + json.dumps(_image_record(layout, number)))
            for label, box in zip(layout.labels, records.pixel_rows(layout), strict=True):
                category = categories.setdefault(label, len(categories) + 1)
                count += 1
                later.write(",\n" if count > 1 else "\n")
                later.write(_annotation_text(count, number, category, box))
        file.write('\n],\n"annotations":[')
        later.seek(0)
        shutil.copyfileobj(later, file)
        file.write('\n],\n"categories":[')
        rows = [json.dumps({"id": id, "name": name}) for name, id in categories.items()]
        file.write("".join(f"\n{row}," for row in rows)[:-1] + "\n]}\n")
    return path


def _image_record(layout: Layout, number: int) -> dict[str, Any]:
    name = layout.metadata.get("file_name")
    record: dict[str, Any] = {
        "id": number,
        "width": records.plain(layout.width),
        "height": records.plain(layout.height),
        "file_name": name if isinstance(name, str) and name else picture_name(layout.id or number),
    }
    if layout.id != str(number):
        record["layout_id"] = layout.id
    return record


def _annotation_text(id: int, image: int, category: int, box: Sequence[float]) -> str:
    area = records.tidy(box[2] * box[3])
    values = ",".join(map(repr, box))
    return (
        f'{{"id":{id},"image_id":{image},"category_id":{category},'
        f'"bbox":[{values}],"area":{area!r},"iscrowd":0}}'
    )

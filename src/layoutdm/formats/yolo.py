"""A YOLO folder: one text file a layout, one `class x y width height` line an element.

    labels/p1.txt      0 0.5 0.25 0.8 0.1
    classes.txt        text
    data.yaml          the class names again, as training tools want them
    canvas.csv         what YOLO lacks: order, ids and canvas sizes; other tools ignore it

Boxes are centre boxes in 0..1, as ours, written to twelve digits. Read, a canvas size comes from
canvas.csv, else from a picture of the same name (in images/ instead of labels/, or beside the
text file), else it is 1 by 1. A sixth number (a detector's confidence) is not kept.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from layoutdm.boxes import FIELDS
from layoutdm.errors import LayoutdmError, shown
from layoutdm.folders import replacing_folder
from layoutdm.formats import records, yolo_names
from layoutdm.formats.cells import from_cell, to_cell
from layoutdm.formats.numbering import FileNames
from layoutdm.formats.problems import Problems, ReportedError
from layoutdm.formats.yolo_names import Names
from layoutdm.layout import Layout

CANVAS = "canvas.csv"
COLUMNS = ["file", "id", "width", "height"]
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif")
NOT_LABELS = {"classes.txt", "train.txt", "val.txt", "test.txt", "readme.txt", "notes.txt"}


@dataclass(frozen=True)
class Canvas:
    """A row of canvas.csv."""

    id: str
    width: float
    height: float


def read(path: Path, problems: Problems) -> Iterator[Layout]:
    """One layout a text file, in the order of canvas.csv or else of the file names."""
    if not path.is_dir():
        raise LayoutdmError(f"{path}: is a file; YOLO needs the folder with classes.txt")
    folder = path / "labels" if (path / "labels").is_dir() else path
    listed = _canvases(path, problems)
    found = {
        file.relative_to(folder).with_suffix("").as_posix(): file
        for file in sorted(folder.rglob("*.txt"))
        if (file.name.lower() not in NOT_LABELS or folder.name == "labels") and file.is_file()
    }
    if not found:
        raise LayoutdmError(f"{path}: holds no .txt label files; YOLO has one a picture")
    source = yolo_names.find(path)
    if source is None:
        raise LayoutdmError(
            f"{path}: has neither classes.txt nor data.yaml; one of them must name the classes"
        )
    names = Names(yolo_names.load(source))
    for name in listed:
        if name not in found:
            problems.report(f"{path / CANVAS}, {name}", f"there is no label file {name}.txt")
    order = [name for name in listed if name in found]
    order += [name for name in found if name not in listed]
    for name in order:
        try:
            canvas = listed.get(name) or Canvas(name, *_picture_size(path, folder, name))
            yield _layout(found[name], names, canvas, problems)
        except ReportedError:
            raise
        except LayoutdmError as error:
            problems.report(str(found[name]), str(error))


def _layout(file: Path, names: Names, canvas: Canvas, problems: Problems) -> Layout:
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise LayoutdmError(
            "is not UTF-8 text; it should hold `class x y width height` lines"
        ) from None
    labels, boxes, numbers = [], [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            label, box = _element(line, names)
        except LayoutdmError as error:
            problems.report(f"{file}, line {number}", str(error))
            continue
        labels.append(label)
        boxes.append(box)
        numbers.append(number)
    labels, centre = records.keep_good(
        labels,
        np.array(boxes, dtype=np.float64).reshape(-1, 4),
        lambda index: f"{file}, line {numbers[index]}",
        problems,
    )
    return Layout(tuple(labels), centre, canvas.width, canvas.height, canvas.id)


def _element(line: str, names: Names) -> tuple[str, list[float]]:
    cells = line.split()
    if len(cells) not in (5, 6):
        what = "a polygon, and only boxes are read" if len(cells) > 6 else f"{len(cells)} values"
        raise LayoutdmError(f"should be `class x y width height`, got {what}")
    try:
        index = int(cells[0])
    except ValueError:
        raise LayoutdmError(f"class must be a whole number, got {shown(cells[0])}") from None
    if index not in names:
        known = f"are {names.lowest} to {names.highest}" if names else "should be listed"
        raise LayoutdmError(f"class {shown(index)} has no name; the classes in data.yaml {known}")
    box = [records.parsed(cell, field) for cell, field in zip(cells[1:5], FIELDS, strict=True)]
    return records.text(names[index], "class name"), box


def _canvases(path: Path, problems: Problems) -> dict[str, Canvas]:
    file = path / CANVAS
    if not file.is_file():
        return {}
    found: dict[str, Canvas] = {}
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            rows = csv.reader(stream)
            if next(rows, None) != COLUMNS:
                raise LayoutdmError(f"{file}: the first line should be {','.join(COLUMNS)}")
            for row in rows:
                _canvas(row, f"{file}, line {rows.line_num}", found, problems)
    except (UnicodeDecodeError, csv.Error) as error:
        raise LayoutdmError(f"{file}: is not a readable CSV file ({error})") from None
    return found


def _canvas(row: list[str], where: str, found: dict[str, Canvas], problems: Problems) -> None:
    try:
        if len(row) != len(COLUMNS):
            raise LayoutdmError(f"should have {len(COLUMNS)} values, got {len(row)}")
        name, id, width, height = row
        if name in found:
            raise LayoutdmError(f"file {shown(name)} came before; each should be listed once")
        sides = [records.side(records.parsed(v, "size"), "size") for v in (width, height)]
        found[name] = Canvas(from_cell(id), *sides)
    except LayoutdmError as error:
        problems.report(where, str(error))


def _picture_size(path: Path, folder: Path, name: str) -> tuple[float, float]:
    """The size of the picture that belongs to a label file, or 1 by 1 when there is none."""
    for place in {path / "images", folder}:
        for end in PICTURES:
            picture = place / f"{name}{end}"
            if picture.is_file():
                from PIL import Image

                try:
                    with Image.open(picture) as image:
                        return float(image.width), float(image.height)
                except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
                    raise LayoutdmError(
                        f"the size of its picture {picture.name} cannot be read ({error})"
                    ) from None
    return 1.0, 1.0


def write(layouts: Iterable[Layout], path: Path, labels: Sequence[str] | None = None) -> Path:
    """Write the folder; `labels` fixes the classes and their order."""
    classes: dict[str, int] = {label: index for index, label in enumerate(labels or ())}
    names = FileNames()
    with replacing_folder(path) as part:
        (part / "labels").mkdir()
        with (part / CANVAS).open("w", encoding="utf-8", newline="") as stream:
            rows = csv.writer(stream, lineterminator="\n")
            rows.writerow(COLUMNS)
            for layout in layouts:
                name = names.take(layout.id)
                sides = [records.plain(layout.width), records.plain(layout.height)]
                rows.writerow([name, to_cell(layout.id), *sides])
                (part / "labels" / f"{name}.txt").write_text(_text(layout, classes))
        one_line = [" ".join(label.split()) or "?" for label in classes]
        (part / "classes.txt").write_text("".join(f"{n}\n" for n in one_line), encoding="utf-8")
        (part / "data.yaml").write_text(_yaml(list(classes)), encoding="utf-8")
    return path


def _text(layout: Layout, classes: dict[str, int]) -> str:
    lines = []
    for label, box in zip(layout.labels, layout.boxes.tolist(), strict=True):
        index = classes.setdefault(label, len(classes))
        lines.append(" ".join([str(index), *(f"{value:.12g}" for value in box)]))
    return "".join(f"{line}\n" for line in lines)


def _yaml(classes: list[str]) -> str:
    names = "".join(f"  {i}: {json.dumps(name)}\n" for i, name in enumerate(classes))
    return f"path: .\ntrain: images\nval: images\nnc: {len(classes)}\nnames:\n{names}"

"""A Pascal VOC folder: one XML file a layout, with corners in pixels.

    Annotations/p1.xml            <object><name>text</name><bndbox><xmin>10.5</xmin>...
    ImageSets/Main/default.txt    the names of the files, in order

Coordinates count from 0 at the canvas' left and top edge and may have fractions; they are written
to twelve digits. Files that lie directly in the folder are read too, and so is a single .xml.
A layout's id is its file's name, unless the file holds a `<layout_id>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np

from layoutdm import boxes as box_math
from layoutdm.boxes import canvas_scale
from layoutdm.errors import LayoutdmError, shown
from layoutdm.folders import replacing_folder
from layoutdm.formats import records
from layoutdm.formats.numbering import FileNames, picture_name
from layoutdm.formats.problems import Problems, ReportedError
from layoutdm.layout import Layout

CORNERS = ("xmin", "ymin", "xmax", "ymax")
ORDER = Path("ImageSets") / "Main" / "default.txt"
# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Line breaks and what surrounds them, as put around a text by programs that indent XML.
_INDENT = re.compile(r"^\s*\n\s*|\s*\n\s*$")


def read(path: Path, problems: Problems) -> Iterator[Layout]:
    """One layout an XML file, in the order of ImageSets/Main/default.txt or else by name."""
    seen: dict[str, Path] = {}
    for file in _files(path):
        try:
            layout = _layout(file, problems)
            if layout.id in seen:
                raise LayoutdmError(
                    f"id {shown(layout.id)} is that of {seen[layout.id].name} already; "
                    "each layout needs an id of its own, or none"
                )
        except ReportedError:
            raise
        except LayoutdmError as error:
            problems.report(str(file), str(error))
            continue
        if layout.id:
            seen[layout.id] = file
        yield layout


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    folder = path / "Annotations" if (path / "Annotations").is_dir() else path
    files = {file.stem: file for file in sorted(folder.glob("*.xml")) if file.is_file()}
    if not files:
        raise LayoutdmError(f"{path}: holds no .xml files; VOC has one a picture")
    listing = path / ORDER
    if not listing.is_file():
        return list(files.values())
    try:
        listed = dict.fromkeys(listing.read_text(encoding="utf-8").split("\n"))
    except UnicodeDecodeError:
        raise LayoutdmError(f"{listing}: is not UTF-8 text; it should list file names") from None
    first = [files[name] for name in listed if name in files]
    return first + [file for name, file in files.items() if name not in listed]


def _layout(file: Path, problems: Problems) -> Layout:
    try:
        root = ElementTree.fromstring(file.read_bytes())
    except ElementTree.ParseError as error:
        raise LayoutdmError(f"not valid XML ({error}); check that the file is complete") from None
    except (ValueError, LookupError) as error:  # an encoding that Python does not know
        raise LayoutdmError(f"not readable XML ({error}); save it as UTF-8") from None
    if root.tag != "annotation":
        raise LayoutdmError(f"the root is <{root.tag}>; a VOC file has <annotation>")
    width, height = (
        records.side(records.parsed(_child(root, f"size/{name}"), name), f"canvas {name}")
        for name in ("width", "height")
    )
    labels, corners, numbers = [], [], []
    for number, item in enumerate(root.findall("object"), start=1):
        try:
            label = records.text(_INDENT.sub("", _child(item, "name")), "name")
            corner = [records.parsed(_child(item, f"bndbox/{c}"), c) for c in CORNERS]
        except LayoutdmError as error:
            problems.report(f"{file}, object {number}", str(error))
            continue
        labels.append(label)
        corners.append(corner)
        numbers.append(number)
    pixels = np.array(corners, dtype=np.float64).reshape(-1, 4)
    labels, centre = records.keep_good(
        labels,
        records.to_centre(box_math.from_corners, pixels, canvas_scale(width, height)),
        lambda index: f"{file}, object {numbers[index]}",
        problems,
    )
    own = root.find("layout_id")
    id = file.stem if own is None else own.text or ""
    name = (root.findtext("filename") or "").strip()
    metadata = {"file_name": name} if name not in ("", file.stem, picture_name(file.stem)) else {}
    return Layout(tuple(labels), centre, width, height, id, metadata)


def _child(element: ElementTree.Element, path: str) -> str:
    found = element.findtext(path)
    if found is None or not found.strip():
        raise LayoutdmError(f"lacks <{path.replace('/', '><')}>, or it is empty")
    return found


def write(layouts: Iterable[Layout], path: Path) -> Path:
    """Write one XML file a layout and the list of their order."""
    names = FileNames()
    with replacing_folder(path) as part:
        (part / "Annotations").mkdir()
        (part / ORDER).parent.mkdir(parents=True)
        with (part / ORDER).open("w", encoding="utf-8") as order:
            for layout in layouts:
                name = names.take(layout.id)
                order.write(f"{name}\n")
                file = part / "Annotations" / f"{name}.xml"
                file.write_text(_xml(layout, name), encoding="utf-8")
    return path


def _xml(layout: Layout, name: str) -> str:
    own = layout.metadata.get("file_name")
    picture = own if isinstance(own, str) else picture_name(name)
    lines = [
        "<annotation>",
        f"  <filename>{_text(picture)}</filename>",
        f"  <size><width>{records.plain(layout.width)}</width>"
        f"<height>{records.plain(layout.height)}</height><depth>3</depth></size>",
        "  <segmented>0</segmented>",
    ]
    if layout.id != name:
        lines.append(f"  <layout_id>{_text(layout.id)}</layout_id>")
    scale = canvas_scale(layout.width, layout.height)
    corners = records.tidy_rows(layout.corners(pixels=True), scale)
    for label, values in zip(layout.labels, corners, strict=True):
        box = "".join(
            f"<{c}>{records.plain(v)}</{c}>" for c, v in zip(CORNERS, values, strict=True)
        )
        lines.append(
            f"  <object><name>{_text(label)}</name><pose>Unspecified</pose>"
            f"<truncated>0</truncated><difficult>0</difficult><bndbox>{box}</bndbox></object>"
        )
    return "\n".join(lines) + "\n</annotation>\n"


def _text(value: str) -> str:
    if _FORBIDDEN.search(value):
        raise LayoutdmError(
            f"{shown(value)} holds a character that XML cannot; VOC needs labels and ids without it"
        )
    return escape(value, {"\r": "&#13;"})

"""Rico's original semantic annotations: a folder of ID.json files or the authors' zip, read only.

    layoutdm convert semantic_annotations.zip rico.jsonl.gz --from rico

Each file is the tree of one screen. All labelled descendants of the root are elements, parents
as well as leaves, in depth-first pre-order. Screens come sorted by file name as text ("0", "1",
"10", "100", ...), with the paper's filters; what these remove is counted in `problems.removed`.
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.boxes import canvas_scale, from_corners
from layoutdm.errors import LayoutdmError, shown
from layoutdm.formats import limits, records
from layoutdm.formats.files import Progress, silent
from layoutdm.formats.filters import (
    LANDSCAPE,
    OTHER_LABEL,
    PAPER,
    SHIFTED,
    Filters,
    element_flaw,
    keep,
)
from layoutdm.formats.problems import Problems
from layoutdm.layout import Layout

LABELS = (
    "Text",
    "Image",
    "Icon",
    "Text Button",
    "List Item",
    "Input",
    "Background Image",
    "Card",
    "Web View",
    "Radio Button",
    "Drawer",
    "Checkbox",
    "Advertisement",
    "Modal",
    "Pager Indicator",
    "Slider",
    "On/Off Switch",
    "Button Bar",
    "Toolbar",
    "Number Stepper",
    "Multi-Tab",
    "Date Picker",
    "Map View",
    "Video",
    "Bottom Navigation",
)
_KNOWN = frozenset(LABELS)
# All that the zip module raises for damaged archives and for methods that it does not know.
_BAD_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def read(
    path: Path,
    problems: Problems,
    progress: Progress = silent,
    filters: Filters = PAPER,
) -> Iterator[Layout]:
    """The screens that stay; bad elements are dropped, their screen survives."""
    return keep(_screens(path, problems, progress, filters), filters, problems.removed)


def recognise(path: Path) -> bool:
    """Whether this is a folder or a zip whose first JSON file is the tree of a screen."""
    try:
        for _, text in _files(path, silent):
            tree = records.parse_json(text)
            return isinstance(tree, dict) and "bounds" in tree and "children" in tree
    except (OSError, LayoutdmError):
        return False
    return False


def flaw(path: Path) -> str:
    """Why a zip archive cannot be read, or "" when only what it holds is no screen of Rico."""
    try:
        for _ in _files(path, silent):
            break
    except LayoutdmError as error:
        return str(error).removeprefix(f"{path}: ").removeprefix(f"{path}, ")
    return ""


def _screens(
    path: Path, problems: Problems, progress: Progress, filters: Filters
) -> Iterator[Layout]:
    for name, text in _files(path, progress):
        try:
            layout = _screen(name, records.parse_json(text), problems, filters)
        except LayoutdmError as error:
            problems.report(f"{path}, {name}", str(error))
        else:
            if layout is not None:
                yield layout


def _screen(name: str, tree: Any, problems: Problems, filters: Filters) -> Layout | None:
    """One tree as a layout; None when its canvas is not what the paper keeps."""
    if not isinstance(tree, Mapping):
        raise LayoutdmError('a screen should be a JSON object with "bounds" and "children"')
    left, top, width, height = _bounds(tree, "the root")
    if left != 0 or top != 0:
        problems.removed[SHIFTED] += 1
        return None
    if width <= 0 or height <= 0:
        raise LayoutdmError(f"the root's bounds end at ({width:g}, {height:g}), not beyond (0, 0)")
    if filters.portrait and height < width:  # said here too, so as not to count its elements
        problems.removed[LANDSCAPE] += 1
        return None
    labels, corners = [], []
    for node in _descendants(tree):
        label = node.get("componentLabel")
        if not isinstance(label, str) or label not in _KNOWN:
            problems.removed[OTHER_LABEL] += 1
            continue
        bounds = _bounds(node, f"an element ({label})")
        flaw = element_flaw(bounds, width, height)
        if flaw:
            problems.removed[flaw] += 1
            continue
        labels.append(label)
        corners.append(bounds)
    boxes = from_corners(np.array(corners, dtype=np.float64).reshape(-1, 4))
    return Layout.create(
        labels,
        boxes / canvas_scale(width, height),
        width=width,
        height=height,
        id=name.rsplit("/", 1)[-1].removesuffix(".json"),
    )


def _descendants(root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every node below the root, parents before children (a stack: trees may be very deep)."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node is not root:
            yield node
        children = node.get("children") or []
        if not isinstance(children, list) or not all(isinstance(c, Mapping) for c in children):
            raise LayoutdmError('"children" should be a list of JSON objects')
        waiting.extend(reversed(children))


def _bounds(node: Mapping[str, Any], what: str) -> tuple[float, float, float, float]:
    values = node.get("bounds")
    if not isinstance(values, list) or len(values) != 4:
        raise LayoutdmError(
            f"{what} has bounds {shown(values)}; they should be four numbers: "
            "left, top, right, bottom"
        )
    left, top, right, bottom = (records.number(value, f"a bound of {what}") for value in values)
    return (left, top, right, bottom)


def _files(path: Path, progress: Progress) -> Iterator[tuple[str, bytes]]:
    """(name, content) of each JSON file, sorted by name as text; progress counts files."""
    if path.is_dir():
        files = (file for file in path.iterdir() if _is_screen(file.name) and file.is_file())
        names = sorted(file.name for file in files)
        nested = path / "semantic_annotations"  # the folder's name inside the archive
        if not names and nested.is_dir():
            yield from _files(nested, progress)
            return
        for done, name in enumerate(names, 1):
            yield name, (path / name).read_bytes()
            progress(done, len(names))
        return
    try:
        with zipfile.ZipFile(path) as archive:
            screens = sorted(_members(archive, path), key=lambda member: member.filename)
            for done, member in enumerate(screens, 1):
                yield member.filename, archive.read(member)
                progress(done, len(screens))
    except LayoutdmError:
        raise
    except _BAD_ZIP as error:
        raise LayoutdmError(
            f"{path}: is no readable zip archive ({error}); it should be the authors' archive "
            "of semantic annotations, or a folder of its files"
        ) from None


def _members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    """The screens of an archive, if they can be read without a password and unpack to little."""
    found = [member for member in archive.infolist() if _is_screen(member.filename)]
    packed = path.stat().st_size
    for member in found:
        if member.flag_bits & 1:
            raise LayoutdmError(
                f"{path}: {member.filename} is encrypted; unpack the archive with its password and "
                "give the folder"
            )
        if member.file_size > limits.record_size():
            raise limits.too_long(f"{path}, {member.filename}", "no screen of Rico is")
    if sum(member.file_size for member in found) > limits.allowed(packed):
        raise limits.too_much(path, packed)
    return found


def _is_screen(name: str) -> bool:
    last = name.rsplit("/", 1)[-1]
    return last.endswith(".json") and not last.startswith(".")

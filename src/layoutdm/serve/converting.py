"""Layouts from a client to a file's bytes; the server chooses every name and path.

>>> file = convert([{"labels": ["text"], "boxes": [[0.5, 0.5, 0.8, 0.2]]}], "svg")
>>> file.media_type, file.data[:4]
('image/svg+xml', b'<svg')
"""

from __future__ import annotations

import io
import json
import math
import tempfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.formats import WRITE, write
from layoutdm.formats.jsonl import from_record
from layoutdm.layout import Layout
from layoutdm.serve.failures import ServeError, refused
from layoutdm.serve.limits import Limits
from layoutdm.settle import tidy
from layoutdm.spec import Problem
from layoutdm.spec.problems import suggestion

# Media type and the ending of the file's name; a folder becomes a zip archive.
MEDIA = {
    "json": ("application/json", "json"),
    "jsonl": ("application/x-ndjson", "jsonl"),
    "coco": ("application/json", "json"),
    "labelstudio": ("application/json", "json"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "parquet": ("application/vnd.apache.parquet", "parquet"),
    "svg": ("image/svg+xml", "svg"),
    "png": ("image/png", "png"),
    "html": ("text/html; charset=utf-8", "html"),
    "pptx": (
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "pptx",
    ),
    "yolo": ("application/zip", "zip"),
    "voc": ("application/zip", "zip"),
}
FOLDERS = ("yolo", "voc")
PICTURES = ("svg", "png", "html", "pptx")  # where the place of every tag is searched
TARGETS = tuple(name for name in MEDIA if name == "json" or name in WRITE)


@dataclass(frozen=True)
class File:
    """What a client gets: bytes, what they are, and a name to save them under."""

    data: bytes
    media_type: str
    name: str


def layouts_of(records: Sequence[Mapping[str, Any]], limits: Limits | None = None) -> list[Layout]:
    """Native records as layouts, or a ServeError that names every bad one."""
    limits = limits or Limits()
    if len(records) > limits.convert_layouts:
        most = limits.convert_layouts
        text = f"{len(records):,} layouts; this server takes at most {most:,} at once"
        raise refused([Problem("layouts", text)])
    layouts, problems = [], []
    for index, record in enumerate(records):
        boxes = record.get("boxes")
        if isinstance(boxes, list) and len(boxes) > limits.elements:
            text = f"{len(boxes):,} elements; this server takes at most {limits.elements:,}"
            problems.append(Problem(f"layouts[{index}].boxes", text))
            continue
        try:
            # The report of a result says nothing about a file; formats have no place for it.
            kept = {key: value for key, value in record.items() if key not in ("report", "trace")}
            layouts.append(from_record(kept))
        except LayoutdmError as error:
            problems.append(Problem(f"layouts[{index}]", str(error)))
    if problems:
        raise refused(problems)
    return layouts


def convert(records: Sequence[Mapping[str, Any]], to: str, limits: Limits | None = None) -> File:
    """Layouts in a format; several in one picture are a contact sheet."""
    if to not in TARGETS:
        hint = suggestion(to, TARGETS, "formats")
        raise refused([Problem("to", f"unknown format {to!r:.60}; {hint}")])
    layouts = layouts_of(records, limits)
    _check_elements(layouts, to, limits or Limits())
    media, ending = MEDIA[to]
    name = f"layout.{ending}" if len(layouts) == 1 else f"layouts.{ending}"
    if to == "json":
        whole = [layout.as_dict() for layout in layouts]
        text = json.dumps(whole[0] if len(whole) == 1 else whole, allow_nan=False)
        return File(text.encode(), media, name)
    with tempfile.TemporaryDirectory(prefix="layoutdm-") as folder:
        target = Path(folder) / ("out" if to in FOLDERS else f"out.{ending}")
        try:
            write(layouts, target, to)
        except LayoutdmError as error:  # its place is ours, and none of the client's business
            message = str(error).replace(f"{target}: ", "").replace(str(target), "the file")
            raise refused([Problem("layouts", message)]) from None
        data = packed(target) if target.is_dir() else target.read_bytes()
    return File(data, media, name)


def _check_elements(layouts: Sequence[Layout], to: str, limits: Limits) -> None:
    most, found = limits.drawn_elements, sum(len(layout) for layout in layouts)
    if to in PICTURES and found > most:
        text = f"{found:,} elements in all; this server draws at most {most:,} into one {to}"
        raise refused([Problem("layouts", text)])


def tidied(
    records: Sequence[Mapping[str, Any]], limits: Limits, until: float = math.inf
) -> list[dict[str, Any]]:
    """Tidy layouts, or a ServeError: one is too large, or the monotonic clock passed `until`."""
    layouts, most = layouts_of(records, limits), limits.tidy_elements
    problems = [
        Problem(
            f"layouts[{index}].boxes",
            f"{len(layout):,} elements; this server tidies at most {most:,} together",
        )
        for index, layout in enumerate(layouts)
        if len(layout) > most
    ]
    if problems:
        raise refused(problems)
    done = []
    for layout in layouts:
        if time.monotonic() > until:
            raise too_slow(limits.seconds)
        done.append(tidy(layout).as_dict())
    return done


def too_slow(seconds: int) -> ServeError:
    return ServeError(
        503,
        f"this was not done within {seconds} seconds; ask for less at once, or try again later",
        retry_after=5,
    )


def packed(folder: Path) -> bytes:
    """A folder as a zip archive that is the same for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            info = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, path.read_bytes())
    return buffer.getvalue()

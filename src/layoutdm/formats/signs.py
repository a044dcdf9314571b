"""How each format is known by its content: one small function a format.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "data.txt"
>>> _ = path.write_text('{"images": [], "annotations": [], "categories": []}')
>>> coco(look(path)), csv(look(path))
(True, False)
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from layoutdm.formats.files import head

# A folder that a job wrote: its layouts, and the note about the job.
JOB_FILES = ("layouts.jsonl", "layouts.jsonl.gz")
JOB_NOTE = "job.json"
SINGLE = frozenset({".jsonl", ".gz", ".json", ".csv"})  # files that are read one by one

_KEYS = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:')


@dataclass(frozen=True)
class Look:
    """A first look at a path: the names in a folder, or the first bytes of a file."""

    path: Path
    names: frozenset[str] | None  # None: it is a file
    start: bytes = b""

    @cached_property
    def ends(self) -> frozenset[str]:
        names = self.names or ()
        return frozenset(Path(n).suffix.lower() for n in names if not n.startswith("."))

    @cached_property
    def text(self) -> bytes:
        return self.start.removeprefix(b"\xef\xbb\xbf").lstrip()

    @cached_property
    def record(self) -> dict[str, Any] | None:
        """The JSON object of the first line, when that holds a whole one of moderate size."""
        try:
            found = json.loads(self.text.split(b"\n", 1)[0])
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) and len(found) < 100 else None

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the first record, else all that occur near the start."""
        if self.record is not None:
            return frozenset(self.record)
        return frozenset(key.decode("utf-8", "replace") for key in _KEYS.findall(self.text))

    @property
    def is_object(self) -> bool:
        return self.names is None and self.text.startswith(b"{")

    @property
    def is_list(self) -> bool:
        return self.names is None and self.text.startswith(b"[")


def look(path: Path) -> Look:
    """List a folder or open a file."""
    if path.is_dir():
        return Look(path, frozenset(entry.name for entry in path.iterdir()))
    return Look(path, None, head(path))


def is_unfinished_job(found: Look) -> bool:
    """Whether this is a job's folder whose layouts are still being written."""
    names = found.names or frozenset()
    return {JOB_NOTE, f"{JOB_FILES[0]}.part"} <= names


def jsonl(found: Look) -> bool:
    if found.names is not None:
        return JOB_NOTE in found.names and bool(found.names & set(JOB_FILES))
    if not found.is_object or "images" in found.keys:
        return False
    if found.record is not None:
        return bool(found.keys & {"labels", "boxes"})
    return {"labels", "boxes"} <= found.keys


def coco(found: Look) -> bool:
    keys = found.keys if found.is_object else frozenset[str]()
    return bool(keys & {"images", "categories"}) or {"annotations", "info"} <= keys


def labelstudio(found: Look) -> bool:
    if found.is_object:
        return "data" in found.keys and bool(found.keys & {"annotations", "predictions"})
    empty = not found.keys and found.text[1:].lstrip().startswith(b"]")
    return found.is_list and (bool(found.keys & {"annotations", "predictions", "data"}) or empty)


def voc(found: Look) -> bool:
    if found.names is not None:
        return "Annotations" in found.names or ".xml" in found.ends
    return found.text.startswith(b"<") and b"<annotation" in found.text[:4096].lower()


def yolo(found: Look) -> bool:
    if found.names is None:
        return False
    if found.names & {"classes.txt", "data.yaml", "obj.names"}:
        return True
    lists = ".txt" in found.ends and not found.ends & {*SINGLE, ".parquet"}
    return lists or (found.path / "labels").is_dir()


def csv(found: Look) -> bool:
    if found.names is not None or found.text[:1] in (b"{", b"[", b"<"):
        return False
    line = found.text.split(b"\n", 1)[0].lower()
    cells = {cell.strip(b' "\r') for cell in re.split(rb"[,;\t]", line)}
    return {b"width", b"height"} <= cells and bool(cells & {b"label", b"class"})


def parquet(found: Look) -> bool:
    return ".parquet" in found.ends if found.names is not None else found.start[:4] == b"PAR1"


def rico(found: Look) -> bool:
    if found.names is None and not found.start.startswith(b"PK\x03\x04"):
        return False
    if found.names is not None and not (
        ".json" in found.ends or "semantic_annotations" in found.names
    ):
        return False
    from layoutdm.formats import rico as module

    return module.recognise(found.path)

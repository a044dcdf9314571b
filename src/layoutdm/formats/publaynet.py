"""PubLayNet's original COCO files (train.json, val.json), read only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from layoutdm.errors import LayoutdmError
from layoutdm.formats.filters import PAPER, Filters
from layoutdm.formats.problems import Problems
from layoutdm.layout import Layout

LABELS = ("text", "title", "list", "table", "figure")


def recognise(path: Path) -> bool:
    """Whether this is a COCO file, or a folder of them, with PubLayNet's categories."""
    return False


def read(path: Path, problems: Problems, filters: Filters = PAPER) -> Iterator[Layout]:
    raise LayoutdmError(f"{path}: this format is not readable yet")

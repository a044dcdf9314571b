"""What is known about a page exactly: its elements, their words and cells, the order to read them.

Boxes here are (left, top, right, bottom) in pixels; right and bottom are the first pixel after.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from layoutdm.boxes import from_corners
from layoutdm.layout import Layout

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Word:
    text: str
    box: Box
    line: int  # counted within the element


@dataclass(frozen=True)
class Cell:
    """A cell of a table; rows and columns count from 0."""

    row: int
    column: int
    rows: int
    columns: int
    header: bool
    text: str
    box: Box


@dataclass(frozen=True)
class Block:
    """One element: `box` is tight around its ink, `place` is the box that the layout gave it."""

    label: str
    role: str
    box: Box
    place: Box
    words: tuple[Word, ...] = ()
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Truth:
    """All of one page; the blocks stand in the order in which they are read."""

    id: str
    width: int
    height: int
    blocks: tuple[Block, ...]

    def layout(self, *, boxes: str = "ink", file_name: str = "", split: str = "") -> Layout:
        """The page as a layout, its boxes around the ink or as they were asked for."""
        rows = [block.box if boxes == "ink" else block.place for block in self.blocks]
        corners = np.array(rows, dtype=np.float64).reshape(-1, 4)
        corners /= (self.width, self.height, self.width, self.height)
        metadata = {"file_name": file_name, "split": split} if file_name else {}
        return Layout(
            tuple(block.label for block in self.blocks),
            from_corners(corners),
            self.width,
            self.height,
            self.id,
            metadata,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, boxes rounded to a hundredth of a pixel."""
        blocks = [
            {
                "label": block.label,
                "role": block.role,
                "box": _round(block.box),
                "place": _round(block.place),
                "words": [
                    {"text": word.text, "box": _round(word.box), "line": word.line}
                    for word in block.words
                ],
                **({"cells": [_cell(cell) for cell in block.cells]} if block.cells else {}),
            }
            for block in self.blocks
        ]
        return {"id": self.id, "width": self.width, "height": self.height, "blocks": blocks}


def _round(box: Box) -> list[float]:
    """
    >>> _round((1, 2.0, 3.14159, 4))
    [1, 2, 3.14, 4]
    """
    return [int(v) if v == int(v) else round(v, 2) for v in box]


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "row": cell.row, "column": cell.column, "rows": cell.rows, "columns": cell.columns,
        "header": cell.header, "text": cell.text, "box": _round(cell.box),
    }  # fmt: skip


def around(boxes: Iterable[Box]) -> Box | None:
    """The smallest box that holds them all.

    >>> around([(0, 0, 2, 2), (1, 1, 5, 3)])
    (0, 0, 5, 3)
    """
    rows = list(boxes)
    if not rows:
        return None
    left, top, right, bottom = zip(*rows, strict=True)
    return (min(left), min(top), max(right), max(bottom))

"""Layouts for tests of pages: a page of each label that documents use, and how to see ink."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from layoutdm import Layout


def article(id: str = "") -> Layout:
    """A page of two columns with everything that a paper has."""
    rows = [
        ("Page-header", 0.10, 0.030, 0.90, 0.045),
        ("Title", 0.10, 0.07, 0.90, 0.13),
        ("Text", 0.10, 0.15, 0.48, 0.30),
        ("Section-header", 0.10, 0.32, 0.40, 0.338),
        ("List-item", 0.10, 0.35, 0.48, 0.40),
        ("list", 0.10, 0.41, 0.48, 0.53),
        ("Formula", 0.10, 0.55, 0.48, 0.61),
        ("Text", 0.10, 0.63, 0.48, 0.92),
        ("Picture", 0.52, 0.15, 0.90, 0.40),
        ("Caption", 0.52, 0.41, 0.90, 0.445),
        ("Table", 0.52, 0.47, 0.90, 0.70),
        ("Text", 0.52, 0.72, 0.90, 0.88),
        ("Footnote", 0.52, 0.895, 0.90, 0.92),
        ("Page-footer", 0.45, 0.95, 0.55, 0.965),
    ]
    boxes = [[(x + r) / 2, (y + b) / 2, r - x, b - y] for _, x, y, r, b in rows]
    return Layout.create([row[0] for row in rows], boxes, width=612, height=792, id=id)


def ink(image: Image.Image, paper: tuple[int, int, int], least: int = 50) -> NDArray[np.bool_]:
    """Where a page differs from its paper, clearly enough to be seen."""
    values = np.asarray(image.convert("RGB"), dtype=np.int16)
    return np.asarray(np.abs(values - np.array(paper)).max(axis=2) > least)


def box_of(mask: NDArray[np.bool_]) -> tuple[int, int, int, int] | None:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)


def iou(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    wide = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    tall = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    both = wide * tall
    areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return both / (areas - both)

"""The rules that detect relations between boxes.

>>> import numpy as np
>>> bar, hero = np.array([0.5, 0.05, 1.0, 0.1]), np.array([0.5, 0.4, 0.8, 0.3])
>>> Relation(int(detect_location(hero, bar))).name
'BELOW'

All functions broadcast: boxes are (..., 4) arrays of centre x, centre y, width, height.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm.boxes import to_corners
from layoutdm.relations.codes import CANVAS_BOX, SIZE_TOLERANCE, Relation

Codes = NDArray[np.int8]


def detect_size(box_j: ArrayLike, box_i: ArrayLike) -> Codes:
    """The size relation of box j to box i: equal within 10 % of the area of i, else by area."""
    j, i = np.asarray(box_j, np.float64), np.asarray(box_i, np.float64)
    area_j, area_i = j[..., 2] * j[..., 3], i[..., 2] * i[..., 3]
    equal = ((1 - SIZE_TOLERANCE) * area_i < area_j) & (area_j < (1 + SIZE_TOLERANCE) * area_i)
    unequal = np.where(area_j > area_i, Relation.LARGER, Relation.SMALLER)
    return np.where(equal, Relation.EQUAL_SIZE, unequal).astype(np.int8)


def detect_location(box_j: ArrayLike, box_i: ArrayLike) -> Codes:
    """Where box j lies relative to box i; the first of above, below, left, right that holds."""
    left_j, top_j, right_j, bottom_j = np.moveaxis(to_corners(np.asarray(box_j, np.float64)), -1, 0)
    left_i, top_i, right_i, bottom_i = np.moveaxis(to_corners(np.asarray(box_i, np.float64)), -1, 0)
    return np.select(
        [bottom_j <= top_i, bottom_i <= top_j, right_j <= left_i, right_i <= left_j],
        [Relation.ABOVE, Relation.BELOW, Relation.LEFT_OF, Relation.RIGHT_OF],
        Relation.OVERLAPPING,
    ).astype(np.int8)


def detect_canvas_location(centre_y: ArrayLike) -> Codes:
    """Which third of the canvas a centre lies in: top, middle or bottom."""
    y = np.asarray(centre_y, np.float64)
    middle = np.where(y < 2 / 3, Relation.OVERLAPPING, Relation.BELOW)
    return np.where(y < 1 / 3, Relation.ABOVE, middle).astype(np.int8)


def detect(box_j: ArrayLike, box_i: ArrayLike, canvas: ArrayLike = False) -> tuple[Codes, Codes]:
    """(size, location) of j relative to i; where `canvas` is True, i is the canvas."""
    j = np.asarray(box_j, np.float64)
    to_canvas = np.asarray(canvas, bool)
    i = np.where(to_canvas[..., None], np.array(CANVAS_BOX), np.asarray(box_i, np.float64))
    location = np.where(to_canvas, detect_canvas_location(j[..., 1]), detect_location(j, i))
    return detect_size(j, i), location.astype(np.int8)


def detect_all(boxes: ArrayLike) -> tuple[Codes, Codes]:
    """(size, location) of every element j to every i, shape (elements, elements + 1).

    Column 0 is the canvas, column 1 + i is element i.
    """
    elements = np.asarray(boxes, np.float64).reshape(-1, 4)
    others = np.concatenate([np.array([CANVAS_BOX]), elements])
    canvas = np.arange(len(others)) == 0
    return detect(elements[:, None], others[None], canvas[None])

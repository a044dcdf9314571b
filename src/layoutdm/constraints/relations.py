"""Relations between boxes: their names, their numbers, and the rules that detect them.

>>> import numpy as np
>>> bar, hero = np.array([0.5, 0.05, 1.0, 0.1]), np.array([0.5, 0.4, 0.8, 0.3])
>>> relation_name(int(detect_location(hero, bar)))
'below'
>>> relation_name(int(detect_canvas_location(hero[1])), canvas=True)
'middle'

A relation describes element j ("of") relative to element i ("to"): "hero below bar" has
j = hero and i = bar. Against the canvas only the height of the centre counts.
All functions broadcast: boxes are (..., 4) arrays of centre x, centre y, width, height.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm.boxes import to_corners

Floats = NDArray[np.float64]
Codes = NDArray[np.int8]

CANVAS = -1  # the number of the canvas wherever an element's number stands
CANVAS_NAME = "canvas"
CANVAS_BOX: tuple[float, float, float, float] = (0.5, 0.5, 1.0, 1.0)
SIZE_TOLERANCE = 0.1  # the paper's gamma: areas that differ by less count as equal


class Relation(IntEnum):
    """The relations, numbered as the flags of the published code (0 and 4 mean unknown there)."""

    SMALLER = 1
    EQUAL_SIZE = 2  # the paper's "equal"
    LARGER = 3
    LEFT_OF = 5  # the paper's "left"
    ABOVE = 6  # the paper's "top"; against the canvas: its upper third
    RIGHT_OF = 7  # the paper's "right"
    BELOW = 8  # the paper's "bottom"; against the canvas: its lower third
    OVERLAPPING = 9  # the paper's "center"; against the canvas: its middle third


SIZES = (Relation.SMALLER, Relation.EQUAL_SIZE, Relation.LARGER)

ELEMENT_NAMES: dict[str, Relation] = {relation.name.lower(): relation for relation in Relation}
CANVAS_NAMES: dict[str, Relation] = {
    "top": Relation.ABOVE,
    "middle": Relation.OVERLAPPING,
    "bottom": Relation.BELOW,
    **{relation.name.lower(): relation for relation in SIZES},
}
PAPER_NAMES: dict[Relation, str] = {
    Relation.SMALLER: "smaller",
    Relation.EQUAL_SIZE: "equal",
    Relation.LARGER: "larger",
    Relation.LEFT_OF: "left",
    Relation.ABOVE: "top",
    Relation.RIGHT_OF: "right",
    Relation.BELOW: "bottom",
    Relation.OVERLAPPING: "center",
}

_NAMES = {
    canvas: {code: name for name, code in names.items()}
    for canvas, names in ((False, ELEMENT_NAMES), (True, CANVAS_NAMES))
}


def relation_name(code: int, canvas: bool = False) -> str:
    """The name of a relation in a request; `canvas` says that it is one against the canvas."""
    return _NAMES[canvas][Relation(code)]


def paper_name(code: int) -> str:
    """The paper's name of a relation."""
    return PAPER_NAMES[Relation(code)]


def is_size(code: int) -> bool:
    """Whether a relation compares sizes (the others compare places)."""
    return code <= Relation.LARGER


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

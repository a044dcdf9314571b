"""Conversions between box conventions, and what is wrong with a box.

>>> import numpy as np
>>> to_corners(np.array([[0.5, 0.5, 1.0, 0.5]]))
array([[0.  , 0.25, 1.  , 0.75]])

Centre boxes are (centre x, centre y, width, height); corner boxes (left, top, right, bottom);
left-top boxes (left, top, width, height). All functions are pure; the conversions work on
(..., 4) arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]

FIELDS = ("x", "y", "width", "height")

# Files round coordinates: a box may stick out of the canvas by this much and still count as inside.
EDGE_TOLERANCE = 1e-4


def to_corners(centre: Boxes) -> Boxes:
    """(cx, cy, w, h) to (left, top, right, bottom)."""
    half = centre[..., 2:] / 2
    return np.concatenate([centre[..., :2] - half, centre[..., :2] + half], axis=-1)


def from_corners(corners: Boxes) -> Boxes:
    """(left, top, right, bottom) to (cx, cy, w, h)."""
    low, high = corners[..., :2], corners[..., 2:]
    return np.concatenate([(low + high) / 2, high - low], axis=-1)


def to_left_top(centre: Boxes) -> Boxes:
    """(cx, cy, w, h) to (left, top, w, h)."""
    size = centre[..., 2:]
    return np.concatenate([centre[..., :2] - size / 2, size], axis=-1)


def from_left_top(left_top: Boxes) -> Boxes:
    """(left, top, w, h) to (cx, cy, w, h)."""
    size = left_top[..., 2:]
    return np.concatenate([left_top[..., :2] + size / 2, size], axis=-1)


def canvas_scale(width: float, height: float) -> Boxes:
    """What a normalised box is multiplied with to give pixels."""
    return np.array([width, height, width, height], dtype=np.float64)


def all_right(boxes: Boxes) -> bool:
    """Whether no row has a `box_problem`, in one look: data sets hold millions of them."""
    with np.errstate(invalid="ignore", over="ignore"):  # what comes of it fails the test below
        half = boxes[:, 2:] / 2
        low, high = boxes[:, :2] - half, boxes[:, :2] + half
    inside = (low >= -EDGE_TOLERANCE) & (high <= 1 + EDGE_TOLERANCE) & (half > 0)
    return bool(inside.all())


def box_problem(box: Sequence[float]) -> str | None:
    """What is wrong with a normalised centre box, as half a sentence; None when it is right.

    >>> box_problem([0.5, 0.5, 0.8, -0.2])
    'height must be greater than 0, got -0.2'
    """
    for name, value in zip(FIELDS, box, strict=True):
        if not isfinite(value):
            return f"{name} must be a finite number, got {value}"
    for name, value in zip(FIELDS[2:], box[2:], strict=True):
        if value / 2 <= 0:  # half of the smallest number there is, is nothing
            return f"{name} must be greater than 0, got {value:g}"
    for name, centre, size in zip(FIELDS[:2], box[:2], box[2:], strict=True):
        low, high = centre - size / 2, centre + size / 2
        if low < -EDGE_TOLERANCE or high > 1 + EDGE_TOLERANCE:
            return (
                f"{name} spans {low:.6g} to {high:.6g}, which leaves the canvas; "
                "it should lie within 0 to 1"
            )
    return None

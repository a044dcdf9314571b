"""Conversions between box conventions.

>>> import numpy as np
>>> to_corners(np.array([[0.5, 0.5, 1.0, 0.5]]))
array([[0.  , 0.25, 1.  , 0.75]])

Centre boxes are (centre x, centre y, width, height); corner boxes (left, top, right, bottom);
left-top boxes (left, top, width, height). All functions are pure and work on (..., 4) arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]


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

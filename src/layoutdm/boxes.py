"""Conversions between box conventions, how much boxes share, and what is wrong with a box.

>>> import numpy as np
>>> to_corners(np.array([[0.5, 0.5, 1.0, 0.5]]))
array([[0.  , 0.25, 1.  , 0.75]])

Centre boxes are (centre x, centre y, width, height); corner boxes (left, top, right, bottom);
left-top boxes (left, top, width, height). All functions are pure; the conversions work on
(..., 4) arrays. What boxes share is written once for numpy arrays, torch tensors and plain numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import isfinite
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]

Numbers = TypeVar("Numbers")  # a float, a numpy array or a torch tensor

FIELDS = ("x", "y", "width", "height")
ELEMENT_FIELDS = ("label", *FIELDS)  # all five that an element has, in the order of its tokens

# Files round coordinates: a box may stick out of the canvas by this much and still count as inside.
EDGE_TOLERANCE = 1e-4
# Edges closer than this are the same edge. Files round centres and sizes to six digits, so the
# tops of two aligned boxes differ in the last one; a pixel of a 2560 screen is forty times wider.
SAME_EDGE = 1e-5


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


def shared_length(low: Numbers, high: Numbers, other_low: Numbers, other_high: Numbers) -> Numbers:
    """How much two intervals share; 0 where they are apart.

    >>> shared_length(0.0, 0.5, 0.2, 0.9)
    0.3
    >>> shared_length(np.array([0.0, 0.9]), np.array([0.5, 1.0]), np.array(0.2), np.array(0.9))
    array([0.3, 0. ])
    """
    if isinstance(low, np.ndarray):
        length: Any = np.minimum(high, other_high)  # type: ignore[call-overload]
        length -= np.maximum(low, other_low)  # type: ignore[call-overload]
        return cast(Numbers, np.maximum(length, 0, out=length if length.ndim else None))
    if isinstance(low, (float, int)):
        bounds = cast(tuple[float, ...], (low, high, other_low, other_high))
        return cast(Numbers, max(min(bounds[1], bounds[3]) - max(bounds[0], bounds[2]), 0.0))
    torch: Any = sys.modules[type(low).__module__]  # never imported here: a tensor brings it along
    length = torch.minimum(high, other_high) - torch.maximum(low, other_low)
    return cast(Numbers, length.clamp(min=0))


def shared_span(
    centre: Numbers, size: Numbers, other_centre: Numbers, other_size: Numbers
) -> Numbers:
    """`shared_length` of intervals that are given by their centres and sizes.

    >>> shared_span(0.5, 0.5, 0.75, 0.25)
    0.125
    """
    c, s, o, t = cast(tuple[Any, ...], (centre, size, other_centre, other_size))
    half, other = s / 2, t / 2
    return cast(Numbers, shared_length(c - half, c + half, o - other, o + other))


def shared_area(corners: Any, other: Any) -> Any:
    """The area that corner boxes (4, ...) share with others of a shape that fits.

    >>> shared_area((0.0, 0.0, 0.5, 0.5), (0.25, 0.0, 1.0, 1.0))
    0.125
    """
    area = shared_length(corners[0], corners[2], other[0], other[2])
    area *= shared_length(corners[1], corners[3], other[1], other[3])
    return area


def edge_ranks(edges: NDArray[Any]) -> NDArray[np.intp]:
    """The rank of each edge along the last axis; edges that differ by rounding share a rank.

    >>> edge_ranks(np.array([0.3, 0.1, 0.300001])).tolist()
    [1, 0, 1]
    """
    ascending = np.argsort(edges, axis=-1, kind="stable")
    ordered = np.take_along_axis(edges, ascending, axis=-1)
    with np.errstate(invalid="ignore"):  # inf - inf, of slots that only fill up
        steps = np.diff(ordered, axis=-1, prepend=ordered[..., :1]) > SAME_EDGE
    ranks = np.empty(edges.shape, dtype=np.intp)
    np.put_along_axis(ranks, ascending, np.cumsum(steps, axis=-1), axis=-1)
    return ranks


def reading_order(left: NDArray[Any], top: NDArray[Any], *ties: NDArray[Any]) -> NDArray[np.intp]:
    """Who is read first, along the last axis: by top edge, then left edge, then by `ties`.

    This is the one definition of reading order; training, plans and metrics all use it.

    >>> reading_order(np.array([0.6, 0.1]), np.array([0.2, 0.200001])).tolist()
    [1, 0]
    """
    return np.asarray(np.lexsort((*ties[::-1], edge_ranks(left), edge_ranks(top)), axis=-1))


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

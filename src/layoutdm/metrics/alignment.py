"""Alignment: how far each element is from sharing an edge or axis with some other element.

>>> import numpy as np
>>> bbox = np.array([[[0.3, 0.3, 0.2, 0.2], [0.7, 0.8, 0.4, 0.1]]])  # left edges 0.2, 0.5
>>> mask = np.ones((1, 2), dtype=bool)
>>> round(alignment(bbox, mask), 4)  # -100 log(1 - 0.3)
35.6675

Lower is better, 0 is perfect; a layout with fewer than two elements scores 0. Six lines count:
left, centre and right, top, middle and bottom, each against the same line of the others. Variants:

layoutgan++            mean over elements of -log(1 - d), times 100: the one that papers report
attribute-conditioned  the same summed, not divided by the number of elements
ndn                    only left, centre and right; plain distances, summed
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from layoutdm.boxes import to_corners
from layoutdm.errors import LayoutdmError
from layoutdm.metrics.pack import Bools, Floats, Ints, blocks, check_boxes, mean_of

VARIANTS = ("layoutgan++", "attribute-conditioned", "ndn")


def alignment(
    bbox: ArrayLike,
    mask: ArrayLike,
    variant: str = "layoutgan++",
    *,
    published: bool = False,
    padding: ArrayLike | None = None,
    scale: float | None = None,
) -> float:
    """Mean over layouts of `alignments`."""
    return mean_of(
        alignments(bbox, mask, variant, published=published, padding=padding, scale=scale)
    )


def alignments(
    bbox: ArrayLike,
    mask: ArrayLike,
    variant: str = "layoutgan++",
    *,
    published: bool = False,
    padding: ArrayLike | None = None,
    scale: float | None = None,
) -> Floats:
    """One figure per layout.

    `published=True` gives what LayoutDM's released code computes: slots up to `padding` (one
    number, or one per layout; the arrays' own length when left out) hold zero boxes, and elements
    may align with those. `ndn` was never affected. `scale` is 100 for layoutgan++ and 1 otherwise.
    """
    if variant not in VARIANTS:
        raise LayoutdmError(f"variant {variant!r} is unknown; it must be one of {VARIANTS}")
    boxes, valid = check_boxes(bbox, mask)
    counts = valid.sum(1)
    factor = scale if scale is not None else (100.0 if variant == "layoutgan++" else 1.0)
    to_zero = _padded(counts, padding, valid.shape[1]) if published else np.zeros(len(valid), bool)
    parts = [_distances(boxes[b], valid[b], variant, to_zero[b]) for b in blocks(valid)]
    distance = np.concatenate(parts) if parts else np.zeros(valid.shape)
    if variant == "ndn":
        return np.asarray(distance.sum(1) * factor)
    # Inside the canvas no distance reaches 1; boxes that lie outside keep a finite penalty.
    cost = -np.log1p(-np.minimum(distance, 1.0 - 1e-12)).sum(1)
    if variant == "layoutgan++":
        cost = cost / np.maximum(counts, 1)
    return np.asarray(cost * factor)


def batch_padding(mask: ArrayLike, batch: int = 512) -> Ints:
    """The padding length each layout has when batches of this size are cut in order and padded to
    their longest layout, as the released evaluation does; for `published=True`."""
    counts = np.asarray(mask, dtype=bool).sum(1)
    lengths = [
        np.full(len(c), c.max())
        for i in range(0, len(counts), batch)
        for c in [counts[i : i + batch]]
    ]
    return np.concatenate(lengths) if lengths else np.zeros(0, dtype=np.int64)


def _padded(counts: Ints, padding: ArrayLike | None, length: int) -> Bools:
    """Which layouts have at least one padded slot."""
    lengths = np.broadcast_to(np.asarray(length if padding is None else padding), counts.shape)
    if np.any(lengths < counts):
        raise LayoutdmError(
            f"padding: {int(lengths.min())} is shorter than a layout of {int(counts.max())} "
            "elements; it must be at least the number of elements"
        )
    return np.asarray(lengths > counts)


def _distances(boxes: Floats, valid: Bools, variant: str, to_zero: Bools) -> Floats:
    """(B, S): distance of each valid element to the nearest line of another one, else 0."""
    corners = to_corners(boxes)
    axes = (0,) if variant == "ndn" else (0, 1)
    pairs = valid[:, :, None] & valid[:, None, :] & ~np.eye(valid.shape[1], dtype=bool)
    nearest = np.full(pairs.shape, np.inf)
    zero = np.full(valid.shape, np.inf)
    for axis in axes:
        for line in (corners[..., axis], boxes[..., axis], corners[..., axis + 2]):
            np.minimum(nearest, np.abs(line[:, :, None] - line[:, None, :]), out=nearest)
            np.minimum(zero, np.abs(line), out=zero)
    nearest[~pairs] = np.inf
    best = nearest.min(2, initial=np.inf)
    if variant != "ndn":
        best = np.where(to_zero[:, None], np.minimum(best, zero), best)
    return np.where(valid & np.isfinite(best), best, 0.0)

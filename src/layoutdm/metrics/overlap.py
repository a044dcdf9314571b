"""Overlap: how much elements of a layout cover one another.

>>> import numpy as np
>>> bbox = np.array([[[0.5, 0.5, 0.4, 0.4], [0.5, 0.5, 0.2, 0.2]]])  # the second inside the first
>>> mask = np.ones((1, 2), dtype=bool)
>>> round(overlap(bbox, mask), 4)  # (0.04 / 0.16 + 0.04 / 0.04) / 2
0.625

0 is no overlap; whether lower is better depends on the data: Rico's elements are nested by nature.
Variants, by name:

layoutgan++            sum over ordered pairs of intersection / area of the first, over elements
attribute-conditioned  the same, not divided by the number of elements
layoutgan              sum over unordered pairs of the intersection's area
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from layoutdm.boxes import shared_area, to_corners
from layoutdm.errors import LayoutdmError
from layoutdm.metrics.pack import Bools, Floats, blocks, check_boxes, mean_of

VARIANTS = ("layoutgan++", "attribute-conditioned", "layoutgan")


def overlap(
    bbox: ArrayLike, mask: ArrayLike, variant: str = "layoutgan++", *, scale: float = 1.0
) -> float:
    """Mean over layouts of `overlaps`."""
    return mean_of(overlaps(bbox, mask, variant, scale=scale))


def overlaps(
    bbox: ArrayLike, mask: ArrayLike, variant: str = "layoutgan++", *, scale: float = 1.0
) -> Floats:
    """One figure per layout; LayoutDM reports it as it is, LayoutGAN++ with `scale=100`."""
    if variant not in VARIANTS:
        raise LayoutdmError(f"variant {variant!r} is unknown; it must be one of {VARIANTS}")
    boxes, valid = check_boxes(bbox, mask)
    parts = [_overlaps(boxes[b], valid[b], variant) for b in blocks(valid)]
    return np.concatenate(parts) * scale if parts else np.zeros(0)


def intersections(boxes: Floats, valid: Bools) -> Floats:
    """(B, S, S): shared area of each two different valid elements, 0 elsewhere."""
    corners = np.moveaxis(to_corners(boxes), -1, 0)
    area = shared_area(corners[..., None], corners[:, :, None])
    area *= valid[:, :, None] & valid[:, None, :] & ~np.eye(valid.shape[1], dtype=bool)
    return np.asarray(area)


def _overlaps(boxes: Floats, valid: Bools, variant: str) -> Floats:
    shared = intersections(boxes, valid)
    if variant == "layoutgan":
        return np.asarray(shared.sum((1, 2)) / 2)
    area = (boxes[..., 2] * boxes[..., 3])[:, :, None]
    share = np.divide(shared, area, out=np.zeros_like(shared), where=area > 0)
    total = share.sum((1, 2))
    return np.asarray(total / np.maximum(valid.sum(1), 1) if variant == "layoutgan++" else total)

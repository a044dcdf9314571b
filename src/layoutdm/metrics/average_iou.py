"""Average IoU: how strongly the elements that do overlap, overlap.

>>> import numpy as np
>>> bbox = np.array([[[0.5, 0.5, 0.4, 0.4], [0.5, 0.5, 0.4, 0.2], [0.1, 0.1, 0.1, 0.1]]])
>>> mask = np.ones((1, 3), dtype=bool)
>>> round(average_iou(bbox, mask), 6)  # only the first two overlap
0.5

Lower means less overlap, unlike any other IoU here. A layout without overlap scores 0. Variants:

vtn  mean IoU over the pairs that overlap
blt  mean over those pairs of intersection / area covered by the whole layout, that area being
     counted on a grid of 32 x 32 cells ("perceptual" IoU)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from layoutdm.boxes import to_corners
from layoutdm.errors import LayoutdmError
from layoutdm.metrics.overlap import intersections
from layoutdm.metrics.pack import Bools, Floats, blocks, check_boxes, mean_of

VARIANTS = ("vtn", "blt")
CELLS = 32
# Boxes that only touch meet in a sliver of rounding error, which is no overlap.
SLIVER = float(np.finfo(np.float32).eps)


def average_iou(bbox: ArrayLike, mask: ArrayLike, variant: str = "vtn") -> float:
    """Mean over layouts of `average_ious`."""
    return mean_of(average_ious(bbox, mask, variant))


def average_ious(bbox: ArrayLike, mask: ArrayLike, variant: str = "vtn") -> Floats:
    """One figure per layout."""
    if variant not in VARIANTS:
        raise LayoutdmError(f"variant {variant!r} is unknown; it must be one of {VARIANTS}")
    boxes, valid = check_boxes(bbox, mask)
    parts = [_average(boxes[b], valid[b], variant) for b in blocks(valid)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _average(boxes: Floats, valid: Bools, variant: str) -> Floats:
    shared = intersections(boxes, valid)
    if variant == "vtn":
        area = boxes[..., 2] * boxes[..., 3]
        whole = area[:, :, None] + area[:, None] - shared
    else:
        whole = np.broadcast_to(covered(boxes, valid)[:, None, None], shared.shape)
    iou = np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0)
    counts = (iou > SLIVER).sum((1, 2))
    total = np.where(iou > SLIVER, iou, 0.0).sum((1, 2))
    return np.asarray(total / np.maximum(counts, 1))


def covered(boxes: Floats, valid: Bools, cells: int = CELLS) -> Floats:
    """(B,): share of the canvas under any element, on a grid; edges round to the nearest line."""
    lines = np.clip(np.rint(to_corners(boxes) * cells), 0, cells)
    cell = np.arange(cells)
    # (B, S, cells): which columns and rows of cells each box spans.
    across = (lines[..., 0, None] <= cell) & (cell < lines[..., 2, None]) & valid[..., None]
    down = (lines[..., 1, None] <= cell) & (cell < lines[..., 3, None])
    hits = down.astype(np.float32).transpose(0, 2, 1) @ across.astype(np.float32)
    return np.asarray((hits > 0).sum((1, 2)) / cells**2, dtype=np.float64)

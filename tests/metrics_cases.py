"""Layout sets for the metric tests, drawn at random or by hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from layoutdm.metrics import Packed


def random_set(
    seed: int, layouts: int = 6, longest: int = 5, labels: int = 2, shortest: int = 1
) -> Packed:
    """Boxes inside the canvas, valid elements in random slots, rubbish in the padded ones."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(0.05, 0.6, (layouts, longest, 2))
    centre = size / 2 + rng.uniform(0, 1, size.shape) * (1 - size)
    bbox = np.concatenate([centre, size], axis=-1)
    counts = rng.integers(shortest, longest + 1, layouts)
    mask = np.argsort(rng.random((layouts, longest)), axis=1) < counts[:, None]
    bbox[~mask] = rng.uniform(-9, 9, (int((~mask).sum()), 4))
    label = rng.integers(0, labels, (layouts, longest))
    return Packed(bbox, label, mask)


def sets(**options: int) -> st.SearchStrategy[Packed]:
    """Random sets, one per seed."""
    return st.integers(0, 10_000).map(lambda seed: random_set(seed, **options))


def shuffled(packed: Packed, seed: int = 0) -> Packed:
    """The same layouts with slots permuted, each in its own way."""
    order = np.argsort(np.random.default_rng(seed).random(packed.mask.shape), axis=1)
    return Packed(
        np.take_along_axis(packed.bbox, order[..., None], 1),
        np.take_along_axis(packed.label, order, 1),
        np.take_along_axis(packed.mask, order, 1),
    )


def widened(packed: Packed, extra: int = 4) -> Packed:
    """The same layouts with more padding, full of boxes that must not count."""
    rng = np.random.default_rng(1)
    shape = (len(packed), extra)
    return Packed(
        np.concatenate([packed.bbox, rng.uniform(0, 1, (*shape, 4))], axis=1),
        np.concatenate([packed.label, rng.integers(0, 2, shape)], axis=1),
        np.concatenate([packed.mask, np.zeros(shape, dtype=bool)], axis=1),
    )


def mirrored(packed: Packed, axis: int) -> Packed:
    """Left for right (axis 0) or top for bottom (axis 1)."""
    bbox = packed.bbox.copy()
    bbox[..., axis] = 1 - bbox[..., axis]
    return Packed(bbox, packed.label, packed.mask)


def elements(packed: Packed, row: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Boxes and labels of one layout, without padding."""
    return packed.bbox[row][packed.mask[row]], packed.label[row][packed.mask[row]]


def corners(box: NDArray[np.float64]) -> tuple[float, float, float, float]:
    x, y, w, h = (float(v) for v in box)
    return x - w / 2, y - h / 2, x + w / 2, y + h / 2


def shared_area(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    l1, t1, r1, b1 = corners(a)
    l2, t2, r2, b2 = corners(b)
    return max(min(r1, r2) - max(l1, l2), 0.0) * max(min(b1, b2) - max(t1, t2), 0.0)


def iou(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    shared = shared_area(a, b)
    return shared / (float(a[2] * a[3]) + float(b[2] * b[3]) - shared)

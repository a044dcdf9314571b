"""Drawing tokens: temperature, top-k, top-p, and the inverse of a cumulative distribution.

All functions work on (..., K) arrays of weights >= 0 that need not sum to one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def keep_top_k(weights: Floats, k: int) -> Floats:
    """The k largest weights of each row, the others 0; ties at the edge all stay.

    >>> keep_top_k(np.array([0.5, 0.2, 0.3]), 2).tolist()
    [0.5, 0.0, 0.3]
    """
    if k >= weights.shape[-1]:
        return weights
    edge = np.partition(weights, -k, axis=-1)[..., -k, None]
    return np.where(weights >= edge, weights, 0.0)


def keep_top_p(weights: Floats, p: float, *, published: bool = False) -> Floats:
    """The largest weights that together make up the share p, the others 0.

    The weight that crosses p stays (nucleus sampling); in the published form it goes, unless it
    is the largest. Ties at the edge all stay.

    >>> keep_top_p(np.array([0.5, 0.3, 0.2]), 0.7).tolist()
    [0.5, 0.3, 0.0]
    >>> keep_top_p(np.array([0.5, 0.3, 0.2]), 0.7, published=True).tolist()
    [0.5, 0.0, 0.0]
    """
    if p >= 1:
        return weights
    falling = np.sort(weights, axis=-1)[..., ::-1]  # of values: far cheaper than of indices
    through = np.cumsum(falling, axis=-1)
    bar = p * through[..., -1:]
    stays = through <= bar if published else through - falling < bar
    # The smallest weight that stays: those before it in falling order stay as well.
    edge = falling.min(axis=-1, keepdims=True, where=stays, initial=np.inf)
    edge = np.minimum(edge, falling[..., :1])
    return np.where(weights >= edge, weights, 0.0)


def draw(weights: Floats, uniform: Floats) -> Ints:
    """One index a row, drawn by the inverse of its cumulative weights; zero weights never.

    >>> draw(np.array([[1.0, 0.0, 1.0]] * 2), np.array([0.49, 0.5])).tolist()
    [0, 2]
    """
    through = np.cumsum(weights, axis=-1)
    total = through[..., -1]
    # Rounding may carry uniform * total up to total itself, which no index would exceed.
    target = np.minimum(uniform * total, np.nextafter(total, 0.0))
    return np.asarray((through > target[..., None]).argmax(axis=-1), dtype=np.int64)

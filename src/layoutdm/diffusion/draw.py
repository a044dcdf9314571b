"""Drawing tokens: top-p, and the inverse of a cumulative distribution.

All functions work on (..., K) arrays of weights >= 0 that need not sum to one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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


def draw_mask_first(chances: Floats, uniform: Floats) -> Ints:
    """As `draw`, of rows whose last state is MASK, which small numbers draw.

    A number below the share of MASK leaves a token masked whatever the values' chances are.

    >>> draw_mask_first(np.array([[0.25, 0.25, 0.5]] * 3), np.array([0.4, 0.6, 0.8])).tolist()
    [2, 0, 1]
    """
    turned = np.concatenate([chances[..., -1:], chances[..., :-1]], axis=-1)
    drawn = draw(turned, uniform)
    return np.where(drawn == 0, chances.shape[-1] - 1, drawn - 1)

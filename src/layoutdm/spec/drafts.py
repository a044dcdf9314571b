"""How careful a draft is: its noise, read off its own regularity.

>>> rows = np.array([[0.5, 0.1, 0.8, 0.1], [0.5, 0.2, 0.8, 0.1], [0.5, 0.4, 0.8, 0.3]])
>>> draft_noise(rows)                                       # edges meet exactly
0.0
>>> moved = np.array([[0.01, 0, -0.01, 0.01], [0, -0.01, 0.01, 0.01], [-0.01, 0, 0, 0.02]])
>>> 0.005 < draft_noise(rows + moved) < 0.02
True

Real layouts are regular: boxes lie apart, touch, or lie one within the other, and none leaves the
canvas. By how much a draft's boxes cross each other, stick out of each other or leave the canvas
is about the noise that it was made with.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EXACT = 1e-6
FEW = 2  # elements of which nothing can be said unless some agree exactly
CAREFUL = 0.035  # drafts with less noise are kept, and only straightened


def draft_noise(boxes: Floats) -> float:
    """The standard deviation of a draft's values, about; NaN where it shows nothing."""
    corners = np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], 1)
    beyond = np.maximum(-corners[:, :2], corners[:, 2:] - 1).max(axis=1)
    found = np.concatenate([_crossings(corners), beyond[beyond > EXACT]])
    if len(found):
        return float(np.quantile(found, 0.75))
    if len(boxes) > FEW or _agrees(corners):
        return 0.0
    return float("nan")


def _crossings(corners: Floats) -> Floats:
    """By how much boxes cross: the least move that parts them or puts one into the other."""
    low = np.maximum(corners[:, None, :2], corners[None, :, :2])
    high = np.minimum(corners[:, None, 2:], corners[None, :, 2:])
    shared = (high - low).min(axis=2)
    out = np.maximum(
        corners[None, :, :2] - corners[:, None, :2], corners[:, None, 2:] - corners[None, :, 2:]
    ).max(axis=2)
    one, other = np.triu_indices(len(corners), 1)
    least = np.minimum(shared, np.minimum(out, out.T))[one, other]
    return np.asarray(least[least > EXACT])


def _agrees(corners: Floats) -> bool:
    """Whether some edges lie exactly on another or on the canvas's."""
    edges = np.sort(corners, axis=0)
    on_canvas = (np.abs(corners - [0, 0, 1, 1]) < EXACT).any()
    return bool(on_canvas or (np.diff(edges, axis=0) < EXACT).any())

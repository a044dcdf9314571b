"""From tokens to layouts: what the user fixed comes back as given, and every box fits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.network import Bools, Ints
from layoutdm.layout import Layout
from layoutdm.model.config import ModelConfig
from layoutdm.spec import Condition

Floats = NDArray[np.float64]

SMALLEST = 1e-3  # free sizes are at least this share of the canvas: a box must have an area


def fit_boxes(boxes: Floats, fixed: Bools) -> Floats:
    """Move and shrink free values, never fixed ones, until each box lies inside the canvas.

    >>> free = np.zeros((1, 4), dtype=bool)
    >>> fit_boxes(np.array([[0.9, 0.5, 0.4, 0.2]]), free).round(3).tolist()
    [[0.8, 0.5, 0.4, 0.2]]
    """
    centre, size = boxes[:, :2].copy(), boxes[:, 2:].copy()
    centre_fixed, size_fixed = fixed[:, :2], fixed[:, 2:]
    room = np.where(centre_fixed, 2 * np.minimum(centre, 1 - centre), 1.0)
    fitted = np.clip(size, SMALLEST, np.maximum(room, 1e-6))
    size = np.where(size_fixed, size, fitted)
    moved = np.clip(centre, size / 2, np.maximum(1 - size / 2, size / 2))
    return np.concatenate([np.where(centre_fixed, centre, moved), size], axis=1)


def decode(
    tokens: Ints, condition: Condition, config: ModelConfig, id: str = ""
) -> tuple[Layout, int]:
    """The layout of (S, 5) tokens, listed elements first; and how many slots were invalid."""
    decoded = config.tokenizer.decode(tokens)
    boxes = decoded.boxes
    fixed = np.zeros(boxes.shape, dtype=bool)
    n = len(condition)
    given = np.isfinite(condition.fixed)
    boxes[:n][given] = condition.fixed[given]
    fixed[:n] = given
    width, height = config.canvas
    metadata = {}
    if any(name is not None for name in condition.names):
        added = (None,) * (len(boxes) - n)
        metadata["names"] = [*condition.names, *added]
    layout = Layout(
        tuple(config.labels[label] for label in decoded.labels),
        fit_boxes(boxes, fixed),
        width,
        height,
        id,
        metadata,
    )
    return layout, decoded.invalid

"""From tokens to layouts: what the user fixed comes back as given, and every box fits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.network import Bools, Ints
from layoutdm.layout import Layout
from layoutdm.model.config import ModelConfig
from layoutdm.spec import Condition
from layoutdm.tokens import Bins

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


def meet_sizes(boxes: Floats, fixed: Bools, condition: Condition, bins: Bins) -> Floats:
    """Move free widths and heights inside their bins towards wished areas and aspect ratios.

    A token stands for every value nearest to its bin's centre; where nothing is wished the centre
    is the best guess, where an area is wished another value of the bin may meet it.
    """
    boxes = boxes.copy()
    wishes = zip(condition.area, condition.aspect_ratio, strict=True)
    for row, (area, aspect) in enumerate(wishes):
        if row >= len(boxes) or not (np.isfinite(area) or np.isfinite(aspect)):
            continue
        width, height = boxes[row, 2:]
        free_width, free_height = ~fixed[row, 2:]
        if np.isnan(area):  # keep the area as it is
            area = width * height
        if np.isnan(aspect):
            aspect = height / width
        if free_width:
            wished = np.sqrt(area / aspect) if free_height else _matching(area, aspect, height)
            boxes[row, 2] = _in_cell(wished, width, bins.centres[2])
        if free_height:
            width = boxes[row, 2]
            wished = area / width if np.isfinite(condition.area[row]) else aspect * width
            boxes[row, 3] = _in_cell(wished, height, bins.centres[3])
    return boxes


def _matching(area: float, aspect: float, height: float) -> float:
    """A width for a fixed height: between what the area and what the aspect ratio ask for."""
    return float(np.sqrt((area / height) * (height / aspect)))


def _in_cell(wished: float, value: float, centres: Floats) -> float:
    """The value nearest to the wished one that still belongs to the same bin."""
    bin = int(np.abs(centres - value).argmin())
    low = (centres[bin - 1] + centres[bin]) / 2 if bin else SMALLEST
    high = (centres[bin] + centres[bin + 1]) / 2 if bin + 1 < len(centres) else 1.0
    inside = 1e-6 * (high - low)  # a value on the edge might belong to the neighbour
    return float(np.clip(wished, low + inside, high - inside))


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
    boxes = meet_sizes(boxes, fixed, condition, config.tokenizer.bins)
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

"""Values inside a bin: where a wish asks for it, a drawn size moves within its bin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.spec import Condition
from layoutdm.tokens import Bins

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SMALLEST = 1e-3  # sizes are at least this share of the canvas


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

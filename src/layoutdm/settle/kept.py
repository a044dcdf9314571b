"""What a settled layout keeps of the draw: boxes inside others, sizes, and what was lined up."""

from __future__ import annotations

import numpy as np

from layoutdm.relations.measures import (
    BOTTOM,
    CENTRE_X,
    CENTRE_Y,
    HEIGHT,
    LEFT,
    LINEAR,
    RIGHT,
    TOP,
    WIDTH,
    measures,
)
from layoutdm.settle.rows import CLEAR, Floats, Rows
from layoutdm.spec import Condition

INSIDE, SLIVER, ALIKE, TOUCH = 4.0, 60.0, 2.0, 2.0  # weights
STRETCH = 2.0  # by which factor sizes change before it costs more
WITHIN = 0.005  # how far a box may stick out of one that it was drawn in
EQUAL = 1e-6  # values that differ by less were drawn equal
NEAR = 0.006  # edges that face each other at less than this distance touch
_LINED_UP = (LEFT, RIGHT, CENTRE_X, TOP, BOTTOM, CENTRE_Y, WIDTH, HEIGHT)


def inside_rows(condition: Condition, boxes: Floats) -> Rows:
    """Boxes that were drawn inside others stay there."""
    corners = np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], 1)
    low = corners[:, None, :2] >= corners[None, :, :2] - WITHIN
    high = corners[:, None, 2:] <= corners[None, :, 2:] + WITHIN
    contained = (low & high).all(axis=2) & ~np.eye(len(boxes), dtype=bool)
    areas = boxes[:, 2] * boxes[:, 3]
    contained &= areas[:, None] < 0.8 * areas[None]
    of, _, to = condition.relations.T
    contained[of[to >= 0], to[to >= 0]] = contained[to[to >= 0], of[to >= 0]] = False
    inner, outer = np.nonzero(contained)
    rows = np.zeros((4 * len(inner), 4 * len(boxes)))
    constant = np.full(len(rows), -WITHIN)
    for k, (i, j) in enumerate(zip(inner.tolist(), outer.tolist(), strict=True)):
        for side, edge in enumerate((LEFT, TOP, RIGHT, BOTTOM)):
            sign = -1.0 if side < 2 else 1.0
            rows[4 * k + side, 4 * i : 4 * i + 4] = sign * LINEAR[edge]
            rows[4 * k + side, 4 * j : 4 * j + 4] = -sign * LINEAR[edge]
    return Rows(rows, constant, np.full(len(rows), INSIDE), np.zeros(len(rows), bool))


def size_rows(boxes: Floats) -> Rows:
    """Sizes that were drawn neither halve nor double, or boxes would become slivers."""
    count = len(boxes)
    rows, constant = np.zeros((4 * count, 4 * count)), np.zeros(4 * count)
    for k in range(2 * count):
        i, side = divmod(k, 2)
        column, size = 4 * i + 2 + side, boxes[i, 2 + side]
        rows[2 * k, column], constant[2 * k] = -1.0, size / STRETCH
        rows[2 * k + 1, column], constant[2 * k + 1] = 1.0, -size * STRETCH
    weight = np.full(4 * count, SLIVER)
    return Rows(rows, constant, weight, np.zeros(4 * count, bool))


def alike_rows(boxes: Floats) -> Rows:
    """What was drawn equal stays equal: edges, centres and sizes; boxes that touched still do.

    One element that moves alone out of a column is seen at once, so its neighbours come along.
    """
    measured, parts = measures(boxes, extra=False), []
    for measure in _LINED_UP:
        order = np.argsort(measured[:, measure], kind="stable")
        same = np.flatnonzero(np.diff(measured[order, measure]) < EQUAL)
        parts += [(int(order[k]), measure, int(order[k + 1]), measure, 0.0) for k in same]
    equal = len(parts)
    for start, end, low, high in ((LEFT, RIGHT, TOP, BOTTOM), (TOP, BOTTOM, LEFT, RIGHT)):
        gap = measured[None, :, start] - measured[:, None, end]  # from i's end to j's start
        facing = np.minimum(measured[:, None, high], measured[None, :, high]) > np.maximum(
            measured[:, None, low], measured[None, :, low]
        )
        for i, j in np.argwhere((np.abs(gap) < NEAR) & facing).tolist():
            parts.append((i, end, j, start, max(float(gap[i, j]), CLEAR)))
    rows, constant = np.zeros((len(parts), 4 * len(boxes))), np.zeros(len(parts))
    for k, (i, one, j, other, gap_there) in enumerate(parts):
        rows[k, 4 * i : 4 * i + 4] += LINEAR[one]
        rows[k, 4 * j : 4 * j + 4] -= LINEAR[other]
        constant[k] = gap_there
    weight = np.where(np.arange(len(parts)) < equal, ALIKE, TOUCH)
    return Rows(rows, constant, weight, np.ones(len(parts), bool))

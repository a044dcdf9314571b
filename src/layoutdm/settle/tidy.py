"""Tidy: what is nearly equal becomes equal, and nothing moves far.

>>> from layoutdm.layout import Layout
>>> page = Layout.create(["a", "b"], [[0.301, 0.2, 0.4, 0.1], [0.299, 0.4, 0.4, 0.1]])
>>> tidied = tidy(page)
>>> len(set(tidied.boxes[:, 0].tolist()))
1

Edges, centres, sizes and gaps of neighbours that differ by less than `margin` are wished equal;
a solver that moves as little as possible (simplex.py) makes each of them equal exactly or not at
all. No edge moves by more than `most`. Boxes that are apart or touch stay so, boxes that nearly
touch do, and what overlapped does not overlap more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from layoutdm.layout import Layout
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
from layoutdm.settle.rows import Floats, Rows, bent_rows, join, linear_rows
from layoutdm.simplex import Simplex
from layoutdm.spec import Condition
from layoutdm.spec.bounds import value_bounds

MARGIN, MOST = 0.015, 0.02  # shares of the canvas
STAY, HARD = 1.0, 10_000.0  # weights
# How much it is worth that two of these are equal.
ALIKE = {LEFT: 2.0, TOP: 2.0, RIGHT: 1.5, BOTTOM: 1.5, CENTRE_X: 1.5, CENTRE_Y: 1.5,
         WIDTH: 2.5, HEIGHT: 2.5}  # fmt: skip
GAP = 2.0
EDGES = ((LEFT, RIGHT), (TOP, BOTTOM))
PASSES = 6


def tidy(
    layout: Layout,
    margin: float = MARGIN,
    most: float = MOST,
    condition: Condition | None = None,
) -> Layout:
    """The layout with what is nearly equal made equal; wishes of a condition keep holding."""
    if len(layout) < 1:
        return layout
    boxes = tidy_boxes(layout.boxes, margin, most, condition)
    return replace(layout, boxes=boxes)


def tidy_boxes(
    boxes: Floats, margin: float = MARGIN, most: float = MOST, condition: Condition | None = None
) -> Floats:
    """The same for boxes (n, 4); listed elements of the condition come first."""
    count, start = len(boxes), boxes.ravel()
    low, high = np.zeros((count, 4)), np.ones((count, 4))
    if condition is not None:
        low, high = value_bounds(condition, count)
    low, high = np.minimum(low, boxes), np.maximum(high, boxes)
    held = low == high
    room = np.tile([most, most, most, most], (count, 1))
    low, high = np.maximum(low, boxes - room), np.minimum(high, boxes + room)
    low[:, 2:] = np.maximum(low[:, 2:], np.minimum(boxes[:, 2:] / 2, boxes[:, 2:]))
    low, high = np.where(held, boxes, low), np.where(held, boxes, high)
    problem = Simplex(start, low.ravel(), high.ravel(), np.full(4 * count, STAY))
    rows = [_kept_edges(boxes, most), _alike(boxes, margin), _gaps(boxes, margin)]
    rows += _kept_pairs(boxes, margin)
    if condition is not None:
        rows.append(_scaled(linear_rows(condition, count, pulls=True)))
        rows.append(_scaled(bent_rows(condition, start)))
    whole = join(rows)
    used = np.zeros(len(whole), bool)
    values = problem.values()
    for _ in range(PASSES):
        missed = (whole.misses(values) > 1e-9) & ~used
        if not missed.any():
            break
        problem.add(
            whole.coefficients[missed], -whole.constant[missed], whole.weight[missed],
            whole.equal[missed],
        )  # fmt: skip
        used |= missed
        values = problem.values()
    settled = values.reshape(-1, 4)
    return settled if _as_good(settled, boxes, most) else boxes.copy()


def _as_good(now: Floats, before: Floats, most: float) -> bool:
    """Whether nothing left the canvas or moved too far, and no two boxes overlap that did not."""
    corners = _corners(now)
    fine = bool((corners >= -1e-6).all() and (corners <= 1 + 1e-6).all())
    far = np.abs(corners - _corners(before)).max(initial=0.0) > most + 1e-6
    return fine and not far and bool((_overlaps(now) <= _overlaps(before) + 1e-6).all())


def _corners(boxes: Floats) -> Floats:
    return np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], 1)


def _overlaps(boxes: Floats) -> Floats:
    """(n, n): by how much two boxes would have to move to be apart."""
    corners = _corners(boxes)
    low = np.maximum(corners[:, None, :2], corners[None, :, :2])
    high = np.minimum(corners[:, None, 2:], corners[None, :, 2:])
    return np.asarray(np.maximum((high - low).min(axis=2), 0.0) * (1 - np.eye(len(boxes))))


def _scaled(rows: Rows) -> Rows:
    return replace(rows, weight=np.full(len(rows), HARD))


def _rows(parts: Sequence[tuple[list[tuple[int, Floats]], float, float, bool]], count: int) -> Rows:
    table = np.zeros((len(parts), 4 * count))
    for k, (entries, _, _, _) in enumerate(parts):
        for element, coefficients in entries:
            table[k, 4 * element : 4 * element + 4] += coefficients
    return Rows(
        table,
        np.array([part[1] for part in parts], np.float64),
        np.array([part[2] for part in parts], np.float64),
        np.array([part[3] for part in parts], bool),
    )


def _kept_edges(boxes: Floats, most: float) -> Rows:
    """No edge moves by more than `most`, or off the canvas."""
    corners, parts = _corners(boxes), []
    for i in range(len(boxes)):
        for k, edge in enumerate((LEFT, TOP, RIGHT, BOTTOM)):
            at = float(corners[i, k])
            least, greatest = max(at - most, min(at, 0.0)), min(at + most, max(at, 1.0))
            parts.append(([(i, LINEAR[edge])], -greatest, HARD, False))
            parts.append(([(i, -LINEAR[edge])], least, HARD, False))
    return _rows(parts, len(boxes))


def _alike(boxes: Floats, margin: float) -> Rows:
    """Neighbours in sorted order that nearly agree: edges, centres, sizes."""
    measured, parts = measures(boxes, extra=False), []
    for measure, weight in ALIKE.items():
        order = np.argsort(measured[:, measure], kind="stable").tolist()
        for i, j in pairwise(order):
            if measured[j, measure] - measured[i, measure] < margin:
                entries = [(i, LINEAR[measure]), (j, -LINEAR[measure])]
                parts.append((entries, 0.0, weight, True))
    return _rows(parts, len(boxes))


def _neighbours(boxes: Floats, axis: int) -> list[tuple[int, int, float]]:
    """(i, j, gap): j is the next after i along an axis, among those that face it."""
    corners, found = _corners(boxes), []
    for i in range(len(boxes)):
        gaps = corners[:, axis] - corners[i, 2 + axis]
        other = 1 - axis
        shared = np.minimum(corners[:, 2 + other], corners[i, 2 + other])
        shared -= np.maximum(corners[:, other], corners[i, other])
        facing = (gaps >= -1e-6) & (shared > 1e-6) & (np.arange(len(boxes)) != i)
        if facing.any():
            j = int(np.where(facing, gaps, np.inf).argmin())
            found.append((i, j, float(gaps[j])))
    return found


def _gaps(boxes: Floats, margin: float) -> Rows:
    """Gaps between neighbours that are nearly equal."""
    parts = []
    for axis, (start, end) in enumerate(EDGES):
        gaps = sorted(_neighbours(boxes, axis), key=lambda gap: gap[2])
        for (a, b, one), (c, d, other) in pairwise(gaps):
            if other - one < margin:
                entries = [(b, LINEAR[start]), (a, -LINEAR[end]), (d, -LINEAR[start]),
                           (c, LINEAR[end])]  # fmt: skip
                parts.append((entries, 0.0, GAP, True))
    return _rows(parts, len(boxes))


def _kept_pairs(boxes: Floats, margin: float) -> list[Rows]:
    """Boxes stay apart, and those that overlap do so no more; nearly touching ones may touch."""
    corners, parts, touching = _corners(boxes), [], []
    for i in range(len(boxes)):
        for j in range(len(boxes)):
            if i == j:
                continue
            ahead = corners[i, 2:] - corners[j, :2]  # of i's end beyond j's start
            axis = int(np.argmin(ahead))
            back = corners[j, 2:] - corners[i, :2]
            if ahead[axis] > back.min():  # the other way round is nearer
                continue
            start, end = EDGES[axis]
            entries = [(i, LINEAR[end]), (j, -LINEAR[start])]
            parts.append((entries, -max(float(ahead[axis]), 0.0), HARD, False))
            if -margin / 3 < ahead[axis] < 0 and ahead[1 - axis] > 0:
                touching.append((entries, 0.0, GAP / 2, True))
    return [_rows(parts, len(boxes)), _rows(touching, len(boxes))]

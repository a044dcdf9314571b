"""The term of what is still possible: values from which a wish could no longer be met are out.

It is for requests that pin something: given values, edges, bounds, margins, gaps, lines and groups.
Relations between elements that are free leave something for almost every value, so there the term
would only bend what the network draws (bench/notes/wishes_tried.md); guidance and settling do it.

Along each axis wishes and decided values bound the differences of edges (value[u] - value[v]);
the tightest bounds that follow are kept, so that a value is ruled out as soon as something that is
still open could not fit to it. Where nothing is left all values stay: settling does the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.plan.batch import Batch
from layoutdm.relations.measures import BOTTOM, LEFT, RIGHT, TOP
from layoutdm.relations.table import kind_of
from layoutdm.settle import pins
from layoutdm.spec import Condition
from layoutdm.spec.bounds import edge_bounds, value_bounds
from layoutdm.terms.rows import Rows
from layoutdm.terms.sizes import Sizes
from layoutdm.tokens import Bins

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SLACK = 0.01  # a token stands for all values of its bin, so edges are known only about as well
SMALLEST = 0.004
# What every element is left by the others, along x and y, where the wishes allow as much: the first
# of three in a row does not take the whole width.
LEFT_FREE = ((0.12, 0.05), (0.06, 0.025), (0.02, 0.01), (SMALLEST, SMALLEST))
_EDGES = ({LEFT: 0, RIGHT: 1}, {TOP: 0, BOTTOM: 1})


class Possible:
    """Keeps what is drawn to values with which every wish can still be met.

    in_turn: boxes are decided one after the other, so what is decided narrows the rest.
    """

    def __init__(self, batch: Batch, bins: Bins, *, in_turn: bool) -> None:
        size, slots, _ = batch.tokens.shape
        self._in_turn = in_turn
        # A layout without wishes is drawn as it would be without neighbours that have some.
        self._wished = np.array([pins(condition) for condition in batch.conditions])
        self._cells = [_cells(centres) for centres in bins.centres]
        self._reach = np.zeros((size, 2, 1 + 2 * slots, 1 + 2 * slots))
        self._low, self._high = np.zeros((size, slots, 4)), np.ones((size, slots, 4))
        found: dict[int, tuple[Floats, Floats, Floats]] = {}
        for row, condition in enumerate(batch.conditions):
            if id(condition) not in found:
                low, high = value_bounds(condition, slots)
                _thirds(condition, low, high)
                found[id(condition)] = (_closed(condition, slots), low, high)
            self._reach[row], self._low[row], self._high[row] = found[id(condition)]
        self._closed = self._reach.copy()  # before anything is decided
        self._known = np.zeros((size, slots, 2), bool)  # along x and y
        self._sized = np.zeros((size, slots, 2), bool)
        self._sizes = Sizes(batch)

    def __call__(self, rows: Rows) -> None:
        wished = self._wished[rows.layout]
        if not rows.modality or not wished.any():
            return
        boxes = rows.view.state.boxes
        if self._in_turn:
            layouts = np.unique(rows.layout[wished])
            self._forget(boxes, layouts)
            self._narrow(boxes, layouts)
        low, high = self._limits(rows, boxes)
        least, most = self._cells[rows.modality - 1]
        wrong = (most[None] < low[:, None]) | (least[None] > high[:, None])
        rows.rule_out(wrong & wished[:, None])

    def _forget(self, boxes: Floats, layouts: Ints) -> None:
        """Begin anew where what was decided is open again: the layout is drawn once more."""
        open_ = np.isnan(boxes[layouts])
        sized = self._sized[layouts] & open_[..., 2:]
        placed = self._known[layouts] & open_[..., :2]
        again = layouts[(sized | placed).any(axis=(1, 2))]
        self._reach[again] = self._closed[again]
        self._sized[again] = self._known[again] = False

    def _narrow(self, boxes: Floats, layouts: Ints) -> None:
        """Take in what was decided since the last time."""
        for axis in (0, 1):
            given = ~np.isnan(boxes[layouts])
            sized = given[..., 2 + axis] & ~self._sized[layouts, :, axis]
            placed = given[..., axis] & given[..., 2 + axis] & ~self._known[layouts, :, axis]
            for which, nodes in ((sized, False), (placed, True)):
                while which.any():  # one element of each layout at a time
                    some = np.flatnonzero(which.any(axis=1))
                    slot = which[some].argmax(axis=1)
                    which[some, slot] = False
                    layout = layouts[some]
                    size = boxes[layout, slot, 2 + axis]
                    low, high = 1 + 2 * slot, 2 + 2 * slot
                    if nodes:
                        start = boxes[layout, slot, axis] - size / 2
                        self._tell(layout, axis, low, np.zeros_like(low), start)
                        self._tell(layout, axis, high, np.zeros_like(low), start + size)
                        self._known[layout, slot, axis] = True
                    else:
                        self._tell(layout, axis, high, low, size)
                        self._sized[layout, slot, axis] = True

    def _tell(self, layout: Ints, axis: int, u: Ints, v: Ints, value: Floats) -> None:
        """value[u] - value[v] is about this much."""
        for one, other, most in ((u, v, value), (v, u, -value)):
            reach = self._reach[layout, axis]
            at = np.arange(len(layout))
            through = reach[at, :, one] + (most + SLACK)[:, None]
            through = through[:, :, None] + reach[at, other][:, None, :]
            # A bound that contradicts others is left out: the value is decided all the same.
            lost = (np.diagonal(through, axis1=1, axis2=2) < -1e-9).any(axis=1)
            through[lost] = np.inf
            self._reach[layout, axis] = np.minimum(reach, through)

    def _limits(self, rows: Rows, boxes: Floats) -> tuple[Floats, Floats]:
        """(n,) each: the least and greatest value of what is drawn."""
        layout, slot, a = rows.layout, rows.slot, rows.modality - 1
        axis = a % 2
        reach, start, end = self._reach[layout, axis], 1 + 2 * slot, 2 + 2 * slot
        at, zero = np.arange(len(layout)), np.zeros_like(slot)
        first, last = -reach[at, zero, start], reach[at, start, zero]  # of the low edge
        begin, final = -reach[at, zero, end], reach[at, end, zero]  # of the high edge
        low, high = self._low[layout, slot, a], self._high[layout, slot, a]
        own = boxes[layout, slot]
        if a < 2:
            half = own[:, 2 + axis] / 2
            open_ = np.isnan(half)
            half = np.where(open_, 0.0, half)
            low = np.maximum(low, np.where(open_, first, np.maximum(first + half, begin - half)))
            high = np.minimum(high, np.where(open_, final, np.minimum(last + half, final - half)))
        else:
            least = -reach[at, start, end]
            # What others leave an element is no bound of its own size.
            least = np.where(least <= LEFT_FREE[0][axis], SMALLEST, least)
            least = np.maximum(least, begin - last)
            most = np.minimum(reach[at, end, start], final - first)
            centre = own[:, axis]
            placed = ~np.isnan(centre)
            centre = np.where(placed, centre, 0.5)
            least = np.where(placed, np.maximum(least, 2 * (centre - last)), least)
            least = np.where(placed, np.maximum(least, 2 * (begin - centre)), least)
            room = 2 * np.minimum(centre - first, final - centre)
            most = np.where(placed, np.minimum(most, room), most)
            low, high = np.maximum(low, least), np.minimum(high, most)
            low, high = self._sizes.limits(rows, boxes, low, high)
        return low - 1e-6, high + 1e-6


def _cells(centres: Floats) -> tuple[Floats, Floats]:
    """The least and greatest value that belongs to each bin."""
    middles = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[-1.0], middles]), np.concatenate([middles, [2.0]])


def _thirds(condition: Condition, low: Floats, high: Floats) -> None:
    """Thirds of the canvas bound the centre, and so do other wishes to the canvas."""
    for (of, code, to), strength in zip(
        condition.relations.tolist(), condition.relation_strength, strict=True
    ):
        if to >= 0 or not np.isnan(strength):
            continue
        for term in kind_of(code, True).terms:
            column = {8: 0, 4: 1, 9: 2, 10: 3}.get(term.of)  # centres and sizes
            if column is None:
                continue
            if term.of_weight > 0:
                high[of, column] = min(high[of, column], -term.constant)
            else:
                low[of, column] = max(low[of, column], term.constant)


def _closed(condition: Condition, slots: int) -> Floats:
    """(2, N, N): the greatest difference of every two edges that the request leaves."""
    return np.stack([_closed_axis(condition, slots, axis) for axis in (0, 1)])


def _closed_axis(condition: Condition, slots: int, axis: int) -> Floats:
    size = 1 + 2 * slots
    given = np.full((size, size), np.inf)
    np.fill_diagonal(given, 0.0)
    low, high = edge_bounds(condition, slots)
    starts, ends = np.arange(1, size, 2), np.arange(2, size, 2)
    given[0, starts], given[ends, 0] = -low[:, axis], high[:, axis]
    n = len(condition)
    for node, column in ((starts[:n], axis), (ends[:n], 2 + axis)):
        known = np.isfinite(condition.edges[:, column])
        given[node[known], 0] = condition.edges[known, column]
        given[0, node[known]] = -condition.edges[known, column]
    _relations(condition, axis, given)
    sizes = condition.fixed[:, 2 + axis]
    for least in LEFT_FREE:
        most = given.copy()
        free = np.full(slots, least[axis])
        free[:n] = np.fmin(free[:n], sizes)  # NaN: free
        most[starts, ends] = np.minimum(most[starts, ends], -free)
        for k in range(size):
            np.minimum(most, most[:, k, None] + most[None, k], out=most)
        if (np.diagonal(most) >= -1e-9).all():
            break
    return most


def _relations(condition: Condition, axis: int, most: Floats) -> None:
    for _, pairs in condition.columns if axis == 0 else ():
        for a, b in pairs:
            most[2 + 2 * a, 1 + 2 * b] = min(most[2 + 2 * a, 1 + 2 * b], 0.0)
    for (of, code, to), gap, strength in zip(
        condition.relations.tolist(), condition.gap, condition.relation_strength, strict=True
    ):
        if not np.isnan(strength):
            continue
        kind = kind_of(code, to < 0)
        for place, term in enumerate(kind.terms):
            edge = _EDGES[axis].get(term.of)
            if edge is None:
                continue
            u = 1 + 2 * of + edge
            v = 0 if to < 0 else 1 + 2 * to + _EDGES[axis][term.to]
            apart = float(gap) if kind.gap and place == 0 and np.isfinite(gap) else 0.0
            one, other = (u, v) if term.of_weight > 0 else (v, u)
            most[one, other] = min(most[one, other], -term.constant - apart)
            if apart:
                most[other, one] = min(most[other, one], term.constant + apart)

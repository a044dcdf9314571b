"""Pairs that a settled layout keeps apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.relations import Relation
from layoutdm.relations.measures import BOTTOM, LEFT, LINEAR, RIGHT, TOP
from layoutdm.settle.rows import Bools, Floats, Rows
from layoutdm.spec import Condition

Ints = NDArray[np.intp]

KEEP, DRAWN = 30.0, 3.0  # weights
TOUCH = 0.005  # of the smaller box: what boxes that were apart may share
CROSSING = 0.25  # of the smaller box: shared by boxes that cover each other
MOST = 0.2  # of the smaller box: what boxes that keep apart may share at most
SMALL = 0.04  # of the canvas
SIDES = (Relation.ABOVE, Relation.BELOW, Relation.LEFT_OF, Relation.RIGHT_OF)
# Directions: i left of j, i above j, j left of i, j above i; the edges that face each other.
_EDGES = ((RIGHT, LEFT), (BOTTOM, TOP))


@dataclass(frozen=True, eq=False)
class Pairs:
    """P pairs (i, j), i < j, with the share of the smaller box that they may have in common."""

    one: Ints
    other: Ints
    share: Floats
    weight: Floats
    # (P,): the direction in which they were apart in the draw, -1 where they were not.
    drawn: Ints

    def __len__(self) -> int:
        return len(self.one)

    def too_close(self, values: Floats) -> Ints:
        """Pairs that share more than they may, those with the most in common first."""
        common = shared(values.reshape(-1, 4), self.one, self.other)
        found = np.flatnonzero(common > self.share)
        return np.asarray(found[np.argsort(-common[found], kind="stable")])

    def named(self, some: Ints | list[int]) -> Ints:
        """(k, 2): the two elements of some pairs."""
        chosen = np.asarray(some, np.intp)
        return np.stack([self.one[chosen], self.other[chosen]], axis=1)

    def row(self, pair: int, direction: int, count: int) -> Rows:
        """The row that parts a pair in a direction."""
        i, j = int(self.one[pair]), int(self.other[pair])
        if direction >= 2:
            i, j = j, i
        end, start = _EDGES[direction % 2]
        row = np.zeros((1, 4 * count))
        row[0, 4 * i : 4 * i + 4], row[0, 4 * j : 4 * j + 4] = LINEAR[end], -LINEAR[start]
        return Rows(row, np.zeros(1), self.weight[pair : pair + 1], np.zeros(1, bool))

    def order(self, pair: int, values: Floats, movable: Bools) -> list[int]:
        """Directions, those that ask for the least movement first; impossible ones left out."""
        boxes = values.reshape(-1, 4)
        i, j = int(self.one[pair]), int(self.other[pair])
        cost = beyond(boxes[[i]], boxes[[j]])[0]
        able = movable[i] | movable[j]  # (2,): along x, along y
        ways = [d for d in np.argsort(cost, kind="stable").tolist() if able[d % 2] or cost[d] <= 0]
        return ways


def beyond(one: Floats, other: Floats) -> Floats:
    """(P, 4): by how much the edges of boxes are beyond each other, in each direction."""
    half, half_other = one[:, 2:] / 2, other[:, 2:] / 2
    ahead = one[:, :2] + half - other[:, :2] + half_other
    behind = other[:, :2] + half_other - one[:, :2] + half
    return np.concatenate([ahead, behind], axis=1)


def shared(boxes: Floats, one: Ints, other: Ints) -> Floats:
    """The share of the smaller box that two have in common."""
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    sides = np.minimum(high[one], high[other]) - np.maximum(low[one], low[other])
    np.maximum(sides, 0.0, out=sides)
    areas = boxes[:, 2] * boxes[:, 3]
    return np.asarray(sides.prod(axis=1) / np.maximum(np.minimum(areas[one], areas[other]), 1e-12))


def find_pairs(
    condition: Condition, boxes: Floats, labels: Ints, apart: Bools | None, free: float
) -> Pairs:
    """Pairs that keep apart by their labels, and those that were drawn apart."""
    one, other = np.triu_indices(len(boxes), 1)
    keep = np.zeros(len(one), bool) if apart is None else apart[labels[one], labels[other]]
    common = shared(boxes, one, other)
    if apart is not None:
        keep |= _unknown(boxes, labels, common, one, other, len(condition), apart)
    drawn = common <= TOUCH
    of, code, to = condition.relations.T
    together = np.zeros((len(boxes), len(boxes)), bool)
    some = np.isin(code, (Relation.OVERLAPPING, Relation.INSIDE)) & (to >= 0)
    together[of[some], to[some]] = together[to[some], of[some]] = True
    wished = np.zeros_like(together)
    some = (code == Relation.APART) & (to >= 0)
    wished[of[some], to[some]] = wished[to[some], of[some]] = True
    strict = wished[one, other]
    parted = np.zeros_like(together)  # by a wish that holds: it needs no second row
    some = np.isin(code, SIDES) & (to >= 0) & np.isnan(condition.relation_strength)
    parted[of[some], to[some]] = parted[to[some], of[some]] = True
    chosen = np.flatnonzero((keep | drawn | strict) & ~(together | parted)[one, other])
    one, other, keep, strict = one[chosen], other[chosen], keep[chosen], strict[chosen]
    gaps = beyond(boxes[one], boxes[other])
    way = gaps.argmin(axis=1)
    was_apart = gaps.min(axis=1) <= 1e-9
    return Pairs(
        one, other,
        np.where(strict, 1e-7, np.where(keep & ~drawn[chosen], min(free, MOST), TOUCH)),
        np.where(strict, 1000.0, np.where(keep, KEEP, DRAWN)),
        np.where(was_apart, way, -1),
    )  # fmt: skip


def _unknown(
    boxes: Floats,
    labels: Ints,
    common: Floats,
    one: Ints,
    other: Ints,
    listed: int,
    apart: Bools,
) -> Bools:
    """Small listed elements on top of each other, of labels that the data say nothing about.

    Rare labels keep apart from none as far as the data show; but two switches in one place, or a
    switch on a text, are hardly meant.
    """
    areas = boxes[:, 2] * boxes[:, 3]
    small = (areas < SMALL) & (np.arange(len(boxes)) < listed)
    others = apart & ~np.eye(len(apart), dtype=bool)
    rare = np.asarray(~others.any(axis=1))
    unknown = rare[labels[one]] | rare[labels[other]]
    return np.asarray(small[one] & small[other] & unknown & (common > CROSSING))

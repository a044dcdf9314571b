"""Make wishes hold: move what was drawn as little as possible until every wish is met.

The drawn values are weak stays of a linear problem (solver.py) whose rows are the wishes (rows.py);
rows that are missed are added until none is. Areas and reading order are not linear: their tangents
are taken anew in every round, near a point that may move less and less, or it would swing between
a wide and a tall box for ever. What is parted must not come to lie on top of each other (pairs.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from layoutdm.relations import PAPER_NAMES
from layoutdm.settle.kept import alike_rows, inside_rows, size_rows
from layoutdm.settle.pairs import Ints, Pairs, find_pairs
from layoutdm.settle.rows import WISH, Bools, Floats, Rows, bent_rows, join, linear_rows, take
from layoutdm.simplex import Effort, Simplex
from layoutdm.spec import Condition
from layoutdm.spec.bounds import edge_bounds, value_bounds

# How far a round may go from its tangents' point: sizes by a factor, places by a distance.
FACTORS = (2.5, 2.5, 2.5, 1.6, 1.4, 1.25, 1.15, 1.1, 1.06, 1.03)
STEPS = (0.5, 0.5, 0.5, 0.3, 0.2, 0.15, 0.1, 0.06, 0.04, 0.02)
PASSES = 40  # of adding rows that are missed, in a round
SMALLEST = 0.004  # sizes that are free do not become smaller
PLACE, SIZE, BORDER = 1.0, 2.0, 20_000.0  # weights
MET = 1e-7  # rows that are missed by less are met
EDGE = 1e-9  # no box leaves the canvas by more
LOOSE = tuple(int(code) for code in PAPER_NAMES)  # relations that leave a choice of values
HEAVY = 30_000_000  # cells of tables: hundreds of relations; a tenth of a second
FLIPS = 3  # directions in which a pair is parted, one after the other


@dataclass(frozen=True, eq=False)
class Stays:
    """V values that stay with a weight each, within bounds; those that are not free never move."""

    values: Floats
    low: Floats
    high: Floats
    weight: Floats
    free: Bools


@dataclass(frozen=True, eq=False)
class Settled:
    """Boxes after settling, and what it took."""

    boxes: Floats  # (n, 4)
    missed: float  # what is left of the wishes' misses
    crowded: Ints  # (pairs, 2): elements that are still on top of each other
    moves: Floats  # (n,): by how much each element was moved, weighted
    heavy: bool = False  # it took long; doing it again for little is not worth it

    @property
    def close(self) -> int:
        """How many pairs are still on top of each other."""
        return len(self.crowded)

    @property
    def moved(self) -> float:
        """By how much all elements were moved together."""
        return float(self.moves.sum())

    @property
    def key(self) -> tuple[bool, int, float]:
        """The less the better."""
        return self.missed > MET * 10, self.close, self.missed + self.moved


def has_wishes(condition: Condition) -> bool:
    """Whether anything is wished that a draw may miss."""
    hard = np.isnan(condition.relation_strength).any() if len(condition.relations) else False
    weak = np.isfinite(condition.about) & ~condition.insisted
    return bool(
        hard
        or len(condition.reading_order) > 1
        or np.isfinite(condition.area).any()
        or np.isfinite(condition.aspect_ratio).any()
        or np.isfinite(condition.edges).any()
        or condition.equal_gaps
        or any(condition.margins)
        or (weak.any() and (condition.bound.any() or not is_draft(condition)))
    )


def pins(condition: Condition) -> bool:
    """Whether a request with wishes says where or how large something is, or lines it up."""
    given = np.isfinite(condition.fixed) | np.isfinite(condition.about) & condition.bound
    return has_wishes(condition) and bool(
        given.any()
        or np.isfinite(condition.edges).any()
        or np.isfinite(condition.gap).any()
        or np.isfinite(condition.area).any()
        or np.isfinite(condition.aspect_ratio).any()
        or any(condition.margins)
        or not np.isin(condition.relations[:, 1], LOOSE).all()
        or any(path.startswith("groups") for path in condition.relation_paths)
    )


def is_draft(condition: Condition) -> bool:
    """Whether every listed box is fixed or roughly known: a draft of the layout."""
    wished = np.isfinite(condition.about)
    return bool(wished.any() and (wished | np.isfinite(condition.fixed)).all())


def settle(
    condition: Condition,
    boxes: Floats,
    labels: Ints,
    apart: Bools | None = None,
    free: float = 0.1,
) -> Settled:
    """Boxes that meet the wishes; fixed values are those of the condition already.

    apart (labels, labels): which keep apart; free: what such boxes may have in common all the same.
    """
    pairs = find_pairs(condition, boxes, labels, apart, free)
    effort = Effort()
    found = _settled(condition, boxes, pairs, effort)
    if found.missed > MET or found.close:
        # Perhaps a pair is parted in a direction that a wish does not allow: let wishes decide.
        anew = replace(pairs, drawn=np.full(len(pairs), -1))
        found = min(found, _settled(condition, boxes, anew, effort), key=lambda one: one.key)
    return replace(found, heavy=effort.spent > HEAVY)


def _settled(condition: Condition, boxes: Floats, pairs: Pairs, effort: Effort) -> Settled:
    stays = _stays(condition, boxes)
    linear = linear_rows(condition, len(boxes), pulls=not is_draft(condition))
    borders = _borders(condition, len(boxes))
    drawn = join([inside_rows(condition, boxes), size_rows(boxes), alike_rows(boxes)])
    start = boxes.ravel()
    now = np.clip(start, stays.low, stays.high)
    best: Settled | None = None
    for factor, step in zip(FACTORS, STEPS, strict=True):
        bent = bent_rows(condition, now)
        kept = best is None and bool((now == start).all())
        if kept and _met(linear, bent, borders, start) and not len(pairs.too_close(start)):
            return Settled(boxes, 0.0, pairs.named([]), np.zeros(len(boxes)))
        rows = join([linear, bent, drawn])
        near = _near(now, factor, step) if len(bent) else (stays.low, stays.high)
        now = _Round(stays, rows, borders, pairs, near, effort).run()
        rows_now = join([bent_rows(condition, now, 0.1), borders])
        found = _judged(now, start, linear, rows_now, pairs, stays)
        if best is None or found.key < best.key:
            best = found
        if best.missed <= MET or not len(bent) or effort.over:
            break
    assert best is not None
    return best


def _judged(
    now: Floats, start: Floats, linear: Rows, others: Rows, pairs: Pairs, stays: Stays
) -> Settled:
    """others: rows that are not linear as they are now, and the borders."""
    hard = linear.weight >= WISH
    misses = linear.misses(now)[hard].sum() + others.misses(now).sum()
    crowded = pairs.named(pairs.too_close(now))
    moves = (stays.weight * np.abs(now - start)).reshape(-1, 4).sum(axis=1)
    return Settled(now.reshape(-1, 4), float(misses), crowded, moves)


def _met(linear: Rows, bent: Rows, borders: Rows, values: Floats) -> bool:
    return not any((rows.misses(values) > MET).any() for rows in (linear, bent, borders))


def _stays(condition: Condition, boxes: Floats) -> Stays:
    low, high = value_bounds(condition, len(boxes))
    free = low < high
    low[:, 2:] = np.where(free[:, 2:], np.maximum(low[:, 2:], SMALLEST), low[:, 2:])
    high = np.maximum(low, high)
    weight = np.tile([PLACE, PLACE, SIZE, SIZE], (len(boxes), 1))
    values = np.where(free, boxes, low)
    return Stays(values.ravel(), low.ravel(), high.ravel(), weight.ravel(), free.ravel())


def _borders(condition: Condition, count: int) -> Rows:
    """The edges of the canvas, and its margins: four rows an element."""
    low, high = edge_bounds(condition, count)
    rows, constant = np.zeros((count, 4, 4 * count)), np.zeros((count, 4))
    for i in range(count):
        for axis in (0, 1):
            at = [4 * i + axis, 4 * i + 2 + axis]
            rows[i, axis, at], constant[i, axis] = (-1.0, 0.5), low[i, axis]
            rows[i, 2 + axis, at], constant[i, 2 + axis] = (1.0, 0.5), -high[i, axis]
    size = 4 * count
    return Rows(
        rows.reshape(size, size), constant.ravel(), np.full(size, BORDER), np.zeros(size, bool)
    )


def _near(now: Floats, factor: float, step: float) -> tuple[Floats, Floats]:
    boxes = now.reshape(-1, 4)
    low = np.concatenate([boxes[:, :2] - step, boxes[:, 2:] / factor], axis=1)
    high = np.concatenate([boxes[:, :2] + step, boxes[:, 2:] * factor], axis=1)
    return low.ravel(), high.ravel()


class _Round:
    """One linear problem, solved with ever more of its rows."""

    def __init__(
        self,
        stays: Stays,
        rows: Rows,
        borders: Rows,
        pairs: Pairs,
        near: tuple[Floats, Floats],
        effort: Effort,
    ) -> None:
        self.effort = effort
        self.stays, self.rows, self.borders, self.pairs = stays, rows, borders, pairs
        self.low, self.high = (np.clip(side, stays.low, stays.high) for side in near)
        self.count = len(stays.values) // 4
        free = stays.free.reshape(-1, 4)
        self.movable = free[:, :2] | free[:, 2:]
        self.used = np.zeros(len(rows), bool)
        self.kept = np.zeros(len(borders), bool)
        self.ways: dict[int, list[int]] = {}  # of each pair that was too close, those left
        self.parted: dict[int, Rows] = {}
        self.problem = self._begin()

    def run(self) -> Floats:
        now = self.problem.values()
        for _ in range(PASSES):
            if self.effort.over or not (self._add_missed(now) or self._part(now)):
                break
            now = self.problem.values()
        return np.clip(now, self.stays.low, self.stays.high)  # to the last digit

    def _begin(self) -> Simplex:
        stays = self.stays
        return Simplex(stays.values, self.low, self.high, stays.weight, self.effort)

    def _add(self, *parts: tuple[Rows, Ints]) -> None:
        if any(len(some) for _, some in parts):
            rows = join([take(rows, some) for rows, some in parts])
            self.problem.add(rows.coefficients, -rows.constant, rows.weight, rows.equal)

    def _add_missed(self, now: Floats) -> bool:
        """Wishes and borders that are missed now."""
        wishes = np.flatnonzero((self.rows.misses(now) > MET) & ~self.used)
        borders = np.flatnonzero((self.borders.misses(now) > EDGE) & ~self.kept)
        self._add((self.borders, borders), (self.rows, wishes))
        self.used[wishes] = self.kept[borders] = True
        return len(wishes) + len(borders) > 0

    def _part(self, now: Floats) -> bool:
        """Pairs that are on top of each other, in a direction that was not tried yet."""
        changed = again = False
        new: list[tuple[Rows, Ints]] = []
        for pair in self.pairs.too_close(now).tolist():
            if pair not in self.ways:
                ways = self.pairs.order(pair, now, self.movable)
                drawn = int(self.pairs.drawn[pair])
                if drawn >= 0:
                    ways = [drawn, *(way for way in ways if way != drawn)]
                self.ways[pair] = ways[:FLIPS]
            if not self.ways[pair]:
                continue
            changed = True
            again |= pair in self.parted
            row = self.pairs.row(pair, self.ways[pair].pop(0), self.count)
            self.parted[pair] = row
            new.append((row, np.zeros(1, np.intp)))
        if again:  # rows cannot be taken away
            self._start_again()
        else:
            self._add(*new)
        return changed

    def _start_again(self) -> None:
        self.problem = self._begin()
        one = np.zeros(1, np.intp)
        self._add(
            (self.borders, np.flatnonzero(self.kept)),
            (self.rows, np.flatnonzero(self.used)),
            *((row, one) for row in self.parted.values()),
        )


__all__ = ["Settled", "has_wishes", "is_draft", "pins", "settle"]

"""The wishes of a condition as linear rows over the values of a layout.

A row says: coefficients @ values + constant <= 0 (or = 0), values being x, y, width, height of all
elements one after the other. Areas, aspect ratios and the reading order are not linear; their rows
are those of the tangent at a point, and hold near it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from layoutdm.relations import SIZE_TOLERANCE
from layoutdm.relations.measures import (
    AREA,
    BOTTOM,
    CANVAS_MEASURES,
    LEFT,
    LINEAR,
    RIGHT,
    TOP,
    Term,
)
from layoutdm.relations.table import kind_of
from layoutdm.spec import Condition

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
LogArea = Callable[[int], tuple[Floats, float]]

WISH, BENT, PULL = 1000.0, 250.0, 3.0  # weights, against 1 for a place and 2 for a size that stays
CLEAR = 1e-5  # how far edges that should not cross stay apart, against rounding
SHARED = 0.002  # how much boxes that should share some height or width do so
NEARLY = 0.002  # in logarithms of areas: how far inside their limits sizes end
ORDER = 1e-4  # how much nearer to the corner the earlier of two elements ends


@dataclass(frozen=True, eq=False)
class Rows:
    """R rows over V values."""

    coefficients: Floats  # (R, V)
    constant: Floats  # (R,)
    weight: Floats  # (R,)
    equal: Bools  # (R,)

    def __len__(self) -> int:
        return len(self.constant)

    def misses(self, values: Floats) -> Floats:
        """By how much each row is missed."""
        at = self.coefficients @ values + self.constant
        return np.asarray(np.where(self.equal, np.abs(at), np.maximum(at, 0.0)))


def join(parts: list[Rows]) -> Rows:
    return Rows(
        np.concatenate([p.coefficients for p in parts]),
        np.concatenate([p.constant for p in parts]),
        np.concatenate([p.weight for p in parts]),
        np.concatenate([p.equal for p in parts]),
    )


def take(rows: Rows, some: NDArray[np.intp]) -> Rows:
    """Some of the rows."""
    return Rows(rows.coefficients[some], rows.constant[some], rows.weight[some], rows.equal[some])


class _List:
    """Rows as they are found."""

    def __init__(self, count: int) -> None:
        self.size = 4 * count
        self.rows: list[tuple[Floats, float, float, bool]] = []

    def add(
        self, parts: list[tuple[int, Floats]], constant: float, weight: float, equal: bool = False
    ) -> None:
        """parts: element, and the coefficients of its four values."""
        row = np.zeros(self.size)
        for element, coefficients in parts:
            row[4 * element : 4 * element + 4] += coefficients
        self.rows.append((row, constant, weight, equal))

    def done(self) -> Rows:
        if not self.rows:
            nothing = np.zeros(0)
            return Rows(np.zeros((0, self.size)), nothing, nothing, np.zeros(0, bool))
        rows, constants, weights, equal = zip(*self.rows, strict=True)
        return Rows(np.stack(rows), np.array(constants), np.array(weights), np.array(equal))


def hard_relations(condition: Condition) -> Iterator[tuple[int, int, int, float]]:
    """of, code, to and gap of the relations that hold."""
    for (of, code, to), gap, strength in zip(
        condition.relations.tolist(), condition.gap, condition.relation_strength, strict=True
    ):
        if math.isnan(strength):
            yield of, code, to, float(gap)


def linear_rows(condition: Condition, count: int, pulls: bool) -> Rows:
    """Everything that is linear; with `pulls`, weak wishes without a bound as well."""
    rows = _List(count)
    for of, code, to, gap in hard_relations(condition):
        kind = kind_of(code, to < 0)
        for place, term in enumerate(kind.terms):
            if term.of == AREA or (term.exact and term.of_weight < 0):
                continue  # bent, or the other half of an equality
            given = kind.gap and place == 0 and not math.isnan(gap)
            parts = [(of, term.of_weight * LINEAR[term.of])]
            if to >= 0:
                parts.append((to, term.to_weight * LINEAR[term.to]))
            more = SHARED if term.strict else 0.0 if term.exact else CLEAR
            constant = term.constant + (gap if given else more)
            rows.add(parts, constant, WISH, given or term.exact)
    for i, edges in enumerate(condition.edges):
        for edge, value in zip((LEFT, TOP, RIGHT, BOTTOM), edges, strict=True):
            if math.isfinite(value):
                rows.add([(i, LINEAR[edge])], -float(value), WISH, True)
    for _, axis, pairs in condition.equal_gaps:
        start, end = ((LEFT, RIGHT), (TOP, BOTTOM))[axis]
        (a, b), *others = pairs
        for c, d in others:
            parts = [(b, LINEAR[start]), (a, -LINEAR[end]), (d, -LINEAR[start]), (c, LINEAR[end])]
            rows.add(parts, 0.0, WISH, True)
    for _, pairs in condition.columns:
        for a, b in pairs:
            rows.add([(a, LINEAR[RIGHT]), (b, -LINEAR[LEFT])], CLEAR, WISH)
    for i in np.flatnonzero(np.isfinite(condition.aspect_ratio)).tolist():
        wished, within = float(condition.aspect_ratio[i]), SIZE_TOLERANCE - NEARLY
        least, most = wished * (1 - within), wished * (1 + within)
        rows.add([(i, np.array([0, 0, least, -1.0]))], 0.0, WISH)
        rows.add([(i, np.array([0, 0, -most, 1.0]))], 0.0, WISH)
    if pulls:
        _pulls(rows, condition)
    return rows.done()


def _pulls(rows: _List, condition: Condition) -> None:
    """Weak wishes whose weight the request leaves open: into their margin, if nothing objects."""
    soft = np.isfinite(condition.about) & ~condition.bound & ~condition.insisted
    for i, a in np.argwhere(soft).tolist():
        about, within = float(condition.about[i, a]), float(condition.within[i, a]) - CLEAR
        for sign in (1.0, -1.0):
            one = np.zeros(4)
            one[a] = sign
            rows.add([(i, one)], -sign * about - within, PULL)


def bent_rows(condition: Condition, values: Floats, clear: float = 1.0) -> Rows:
    """Areas and reading order, as their tangents at these values; `clear`: by which margin."""
    boxes = values.reshape(-1, 4)
    rows = _List(len(boxes))
    areas = boxes[:, 2] * boxes[:, 3]

    def log_area(i: int) -> tuple[Floats, float]:
        """log A ~ log A0 - 2 + width / width0 + height / height0."""
        width, height = boxes[i, 2:]
        return np.array([0, 0, 1 / width, 1 / height]), math.log(areas[i]) - 2

    for of, code, to, _ in hard_relations(condition):
        for term in kind_of(code, to < 0).terms:
            if term.of == AREA:
                _area_row(rows, of, to, term, log_area, clear * NEARLY)
    for i in np.flatnonzero(np.isfinite(condition.area)).tolist():
        wished, within = float(condition.area[i]), SIZE_TOLERANCE
        slope, constant = log_area(i)
        least, most = math.log(wished * (1 - within)), math.log(wished * (1 + within))
        rows.add([(i, -slope)], least - constant + clear * NEARLY, BENT)
        rows.add([(i, slope)], constant - most + clear * NEARLY, BENT)
    order = condition.reading_order.tolist()
    for first, second in pairwise(order):
        (near, here), (far, there) = _corner(boxes[first]), _corner(boxes[second])
        rows.add([(first, near), (second, -far)], here - there + clear * ORDER, BENT)
    return rows.done()


def _area_row(rows: _List, of: int, to: int, term: Term, log_area: LogArea, margin: float) -> None:
    """of_weight * A_j + to_weight * A_i <= 0 in logarithms: A_j is at most a share of A_i."""
    slope, constant = log_area(of)
    other = -term.to_weight / term.of_weight if to >= 0 else -term.constant / term.of_weight
    limit = math.log(other * (float(CANVAS_MEASURES[AREA]) if to < 0 else 1.0))
    sign = term.of_weight
    parts = [(of, sign * slope)]
    at = sign * (constant - limit)
    if to >= 0:
        slope, constant = log_area(to)
        parts.append((to, -sign * slope))
        at -= sign * constant
    rows.add(parts, at + margin, BENT)


def _corner(box: Floats) -> tuple[Floats, float]:
    """The distance of a box's corner from the canvas's: slope and constant of its tangent."""
    left, top = box[0] - box[2] / 2, box[1] - box[3] / 2
    distance = math.hypot(left, top)
    if distance < 1e-6:
        left = top = distance = 1e-6
    slope = (left * LINEAR[LEFT] + top * LINEAR[TOP]) / distance
    return np.asarray(slope), float(math.hypot(left, top) - slope @ box)

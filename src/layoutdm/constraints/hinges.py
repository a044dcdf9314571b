"""Every wish that guidance can push is a sum of hinges; this file says of which.

A hinge is max(0, a * F[u] + b * F[v] + c): F holds eight measures of each box (its edges, the
height of its centre, area, aspect ratio, distance from the top left corner), u and v say which
measures, a, b and c are numbers. With e = 1e-8 for "strictly" (j is "of", i is "to"):

- smaller: a_j - 0.9 a_i; larger: 1.1 a_i - a_j; equal_size: 0.9 a_i - a_j + e, a_j - 1.1 a_i + e
- above: bottom_j - top_i; below: bottom_i - top_j
- left_of: right_j - left_i, right_of: right_i - left_j, both with "vertical overlap", which is
  top_i - bottom_j + e, top_j - bottom_i + e
- overlapping: left_i - right_j + e, left_j - right_i + e, and vertical overlap
- canvas: top: y - 1/3; middle: 1/3 - y + e, y - 2/3 + e; bottom: 2/3 - y; sizes with a_i = 1
- area: |a - wished| is two hinges, and so is aspect ratio: |height / width - wished|
- reading order: d_i - d_j when i is read before j, d the distance of the left top corner from
  the canvas's; only neighbours in the order are compared, as the rest follows from them
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.constraints.relations import SIZE_TOLERANCE, Relation

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

LEFT, TOP, RIGHT, BOTTOM, CENTRE_Y, AREA, ASPECT, DISTANCE = range(8)
MEASURES = 8
STRICT = 1e-8
_LESS, _MORE = 1 - SIZE_TOLERANCE, 1 + SIZE_TOLERANCE


@dataclass(frozen=True)
class Term:
    """One hinge of a relation: of_weight * F_j[of] + to_weight * F_i[to] + constant."""

    of: int
    of_weight: float
    to: int
    to_weight: float
    constant: float = 0.0

    @property
    def strict(self) -> bool:
        return self.constant != 0.0


_VERTICAL_OVERLAP = (Term(BOTTOM, -1, TOP, 1, STRICT), Term(TOP, 1, BOTTOM, -1, STRICT))

ELEMENT_TERMS: dict[Relation, tuple[Term, ...]] = {
    Relation.SMALLER: (Term(AREA, 1, AREA, -_LESS),),
    Relation.EQUAL_SIZE: (
        Term(AREA, -1, AREA, _LESS, STRICT),
        Term(AREA, 1, AREA, -_MORE, STRICT),
    ),
    Relation.LARGER: (Term(AREA, -1, AREA, _MORE),),
    Relation.ABOVE: (Term(BOTTOM, 1, TOP, -1),),
    Relation.BELOW: (Term(TOP, -1, BOTTOM, 1),),
    Relation.LEFT_OF: (Term(RIGHT, 1, LEFT, -1), *_VERTICAL_OVERLAP),
    Relation.RIGHT_OF: (Term(LEFT, -1, RIGHT, 1), *_VERTICAL_OVERLAP),
    Relation.OVERLAPPING: (
        Term(RIGHT, -1, LEFT, 1, STRICT),
        Term(LEFT, 1, RIGHT, -1, STRICT),
        *_VERTICAL_OVERLAP,
    ),
}
CANVAS_TERMS: dict[Relation, tuple[Term, ...]] = {
    Relation.SMALLER: (Term(AREA, 1, AREA, 0, -_LESS),),
    Relation.EQUAL_SIZE: (
        Term(AREA, -1, AREA, 0, _LESS + STRICT),
        Term(AREA, 1, AREA, 0, -_MORE + STRICT),
    ),
    Relation.LARGER: (Term(AREA, -1, AREA, 0, _MORE),),
    Relation.ABOVE: (Term(CENTRE_Y, 1, CENTRE_Y, 0, -1 / 3),),
    Relation.OVERLAPPING: (
        Term(CENTRE_Y, -1, CENTRE_Y, 0, 1 / 3 + STRICT),
        Term(CENTRE_Y, 1, CENTRE_Y, 0, -2 / 3 + STRICT),
    ),
    Relation.BELOW: (Term(CENTRE_Y, -1, CENTRE_Y, 0, 2 / 3),),
}


@dataclass(frozen=True, eq=False)
class Hinges:
    """H hinges over rows of boxes: weights[0] * F[at[0]] + weights[1] * F[at[1]] + constant."""

    at: Ints  # (2, H): row * MEASURES + measure
    weights: Floats  # (2, H)
    constant: Floats  # (H,)
    owner: Ints  # (H,): the layout (or wish) that the hinge counts for

    def values(self, measures: Floats) -> Floats:
        """Of all hinges, before max(0, .)."""
        both = measures.take(self.at)
        both *= self.weights
        return np.asarray(both[0] + both[1] + self.constant)


def relation_hinges(owner: Ints, of: Ints, code: Ints, to: Ints, margin: float = 0.0) -> Hinges:
    """The hinges of relations between rows; a `to` below 0 is the canvas.

    `margin` asks for that much more than the relation itself, in shares of the canvas, wherever
    places are compared and one more share cannot contradict another hinge of the relation.
    """
    parts = []
    canvas = to < 0
    for against_canvas, table in ((False, ELEMENT_TERMS), (True, CANVAS_TERMS)):
        for relation, terms in table.items():
            chosen = np.flatnonzero((code == relation) & (canvas == against_canvas))
            if not len(chosen):
                continue
            for term in terms:
                place = term.of != AREA and (against_canvas or not term.strict)
                constant = term.constant + (margin if place else 0.0)
                other = of[chosen] if against_canvas else to[chosen]
                parts.append(_part(owner[chosen], of[chosen], other, term, constant))
    return join(parts)


def target_hinges(owner: Ints, row: Ints, measure: int, wished: Floats) -> Hinges:
    """|F[row, measure] - wished| as two hinges each."""
    return join(
        _part(owner, row, row, Term(measure, sign, measure, 0), -sign * wished) for sign in (1, -1)
    )


def order_hinges(owner: Ints, first: Ints, second: Ints) -> Hinges:
    """`first` is read before `second`."""
    return _part(owner, first, second, Term(DISTANCE, 1, DISTANCE, -1), 0.0)


def _part(owner: Ints, of: Ints, to: Ints, term: Term, constant: float | Floats) -> Hinges:
    n = len(owner)
    at = np.stack([of * MEASURES + term.of, to * MEASURES + term.to]).astype(np.intp)
    weights = np.repeat([[term.of_weight], [term.to_weight]], n, axis=1).astype(np.float64)
    return Hinges(at, weights, np.broadcast_to(np.float64(constant), (n,)), owner)


def join(parts: Iterator[Hinges] | list[Hinges]) -> Hinges:
    """All hinges in one."""
    pieces = list(parts)
    if not pieces:
        nothing = np.zeros(0, np.intp)
        return Hinges(np.zeros((2, 0), np.intp), np.zeros((2, 0)), np.zeros(0), nothing)
    return Hinges(
        np.concatenate([p.at for p in pieces], axis=1),
        np.concatenate([p.weights for p in pieces], axis=1),
        np.concatenate([p.constant for p in pieces]),
        np.concatenate([p.owner for p in pieces]),
    )


def measures(boxes: Floats, extra: bool = True) -> Floats:
    """The eight measures of each box, shape (rows, 8); without `extra` the last two are not set."""
    result = np.empty((len(boxes), MEASURES))
    half = boxes[:, 2:] / 2
    np.subtract(boxes[:, :2], half, out=result[:, LEFT : TOP + 1])
    np.add(boxes[:, :2], half, out=result[:, RIGHT : BOTTOM + 1])
    width, height = boxes[:, 2], boxes[:, 3]
    result[:, CENTRE_Y] = boxes[:, 1]
    np.multiply(width, height, out=result[:, AREA])
    if extra:
        np.divide(height, np.maximum(width, 1e-9), out=result[:, ASPECT])
        np.hypot(result[:, LEFT], result[:, TOP], out=result[:, DISTANCE])
    return result


def box_gradient(slopes: Floats, boxes: Floats, measured: Floats, extra: bool = True) -> Floats:
    """From dE/d(measures) to dE/d(box), shape (rows, 4)."""
    low, high = slopes[:, LEFT : TOP + 1], slopes[:, RIGHT : BOTTOM + 1]
    if extra:
        outward = slopes[:, DISTANCE] / np.maximum(measured[:, DISTANCE], 1e-9)
        low = low + outward[:, None] * measured[:, LEFT : TOP + 1]
    result = np.empty((len(boxes), 4))
    np.add(low, high, out=result[:, :2])
    result[:, 1] += slopes[:, CENTRE_Y]
    np.subtract(high, low, out=result[:, 2:])
    result[:, 2:] *= 0.5
    result[:, 2:] += slopes[:, AREA, None] * boxes[:, :1:-1]  # width by height, height by width
    if extra:
        per_width = slopes[:, ASPECT] / np.maximum(boxes[:, 2], 1e-9)
        result[:, 2] -= per_width * measured[:, ASPECT]
        result[:, 3] += per_width
    return result

"""Every wish that guidance can push is a sum of hinges; this file says of which.

A hinge is max(0, a * F[u] + b * F[v] + c): F holds the measures of each box (measures.py), u and v
say which of them, a, b and c are numbers.

- relations: their terms (table.py)
- area: |a - wished| is two hinges, and so is aspect ratio: |height / width - wished|
- reading order: d_i - d_j when i is read before j, d the distance of the left top corner from
  the canvas's; only neighbours in the order are compared, as the rest follows from them
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from layoutdm.relations.measures import (
    AREA,
    ASPECT,
    BENT,
    BOTTOM,
    CENTRE_X,
    CENTRE_Y,
    DEPENDS,
    DISTANCE,
    HEIGHT,
    LEFT,
    LINEAR,
    MEASURES,
    RIGHT,
    STRICT,
    TOP,
    WIDTH,
    Term,
    box_gradient,
    measures,
)
from layoutdm.relations.table import CANVAS_KINDS, KINDS

__all__ = [
    "AREA", "ASPECT", "BENT", "BOTTOM", "CENTRE_X", "CENTRE_Y", "DEPENDS", "DISTANCE", "HEIGHT",
    "LEFT", "LINEAR", "MEASURES", "RIGHT", "STRICT", "TOP", "WIDTH", "Hinges", "Term",
    "box_gradient", "join", "measures", "order_hinges", "relation_hinges", "target_hinges",
]  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Hinges:
    """H hinges over rows of boxes: weights[0] * F[at[0]] + weights[1] * F[at[1]] + constant."""

    at: Ints  # (2, H): row * MEASURES + measure
    weights: Floats  # (2, H)
    constant: Floats  # (H,)
    owner: Ints  # (H,): the layout (or wish) that the hinge counts for
    exact: Bools  # (H,): one half of an equality

    def values(self, measures: Floats) -> Floats:
        """Of all hinges, before max(0, .)."""
        both = measures.take(self.at)
        both *= self.weights
        return np.asarray(both[0] + both[1] + self.constant)


def relation_hinges(
    owner: Ints, of: Ints, code: Ints, to: Ints, margin: float = 0.0, gap: Floats | None = None
) -> Hinges:
    """The hinges of relations between rows; a `to` below 0 is the canvas.

    `gap` (NaN: none) is the distance that each relation asks for between the edges that face each
    other. `margin` asks for that much more than the relation itself, in shares of the canvas,
    wherever places are compared and one more share cannot contradict another hinge of it.
    """
    parts = []
    canvas = to < 0
    for against_canvas, table in ((False, KINDS), (True, CANVAS_KINDS)):
        for kind in table.values():
            chosen = np.flatnonzero((code == kind.code) & (canvas == against_canvas))
            if not len(chosen):
                continue
            other = of[chosen] if against_canvas else to[chosen]
            rows = (owner[chosen], of[chosen], other)
            given = np.zeros(len(chosen)) if gap is None else np.nan_to_num(gap[chosen])
            for place, term in enumerate(kind.terms):
                more = against_canvas or not term.strict
                extra = margin if more and term.of != AREA and not term.exact else 0.0
                constant = term.constant + STRICT * term.strict + extra
                moved = kind.gap and place == 0
                part = _part(*rows, term, constant + given if moved else constant)
                if moved and gap is not None:
                    part = replace(part, exact=np.isfinite(gap[chosen]))
                parts.append(part)
            if kind.gap and gap is not None and np.isfinite(gap[chosen]).any():
                parts.append(_no_further(rows, kind.terms[0], gap[chosen]))
    return join(parts)


def _no_further(rows: tuple[Ints, Ints, Ints], term: Term, gap: Floats) -> Hinges:
    """The other half of a given distance."""
    some = np.flatnonzero(np.isfinite(gap))
    back = Term(term.of, -term.of_weight, term.to, -term.to_weight, exact=True)
    owner, of, to = (part[some] for part in rows)
    return _part(owner, of, to, back, -term.constant - gap[some])


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
    constants = np.broadcast_to(np.float64(constant), (n,))
    return Hinges(at, weights, constants, owner, np.full(n, term.exact))


def join(parts: Iterable[Hinges]) -> Hinges:
    """All hinges in one."""
    pieces = list(parts)
    if not pieces:
        nothing = np.zeros(0, np.intp)
        none = np.zeros(0, bool)
        return Hinges(np.zeros((2, 0), np.intp), np.zeros((2, 0)), np.zeros(0), nothing, none)
    return Hinges(
        np.concatenate([p.at for p in pieces], axis=1),
        np.concatenate([p.weights for p in pieces], axis=1),
        np.concatenate([p.constant for p in pieces]),
        np.concatenate([p.owner for p in pieces]),
        np.concatenate([p.exact for p in pieces]),
    )

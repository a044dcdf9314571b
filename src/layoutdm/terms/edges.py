"""Edges: the relational wishes of a batch of different layouts, as flat arrays.

>>> edges = Edges.from_arrays(2, layout=[0, 1], of=[1, 0], code=[6, 8], to=[0, -1])
>>> edges.layouts, edges.relations.shape, edges.empty
(2, (4, 2), False)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm.relations import CANVAS, hinges

if TYPE_CHECKING:
    from layoutdm.spec.condition import Condition

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def _ints(values: ArrayLike) -> Ints:
    return np.asarray(values, np.intp).reshape(-1)


@dataclass(frozen=True, eq=False)
class Edges:
    """The relational wishes of a batch of layouts as flat arrays; elements by their slot."""

    layouts: int  # B
    relations: Ints  # (4, R): layout, of (j), code, to (i; CANVAS = -1)
    areas: tuple[Ints, Floats]  # (2, A): layout, slot; wished area
    aspects: tuple[Ints, Floats]  # (2, A): layout, slot; wished height / width
    orders: Ints  # (3, O): layout, slot read before, slot read after
    gaps: Floats | None = None  # (R,): how far apart; NaN: any
    exact: Floats | None = None  # (B, n, 4): values known exactly; NaN where they are not

    @classmethod
    def from_arrays(
        cls,
        layouts: int,
        layout: ArrayLike = (),
        of: ArrayLike = (),
        code: ArrayLike = (),
        to: ArrayLike = (),
        exact: Floats | None = None,
    ) -> Edges:
        """Relations alone, as four arrays of one length."""
        none = np.zeros((2, 0), np.intp), np.zeros(0)
        relations = np.stack([_ints(layout), _ints(of), _ints(code), _ints(to)])
        return cls(layouts, relations, none, none, np.zeros((3, 0), np.intp), exact=exact)

    @classmethod
    def from_conditions(
        cls, conditions: Sequence[Condition], slots: Sequence[ArrayLike] | None = None
    ) -> Edges:
        """One layout per condition; listed element k sits in slot k, or in slots[layout][k].

        Exact values are kept for the fixed fields of the listed elements.
        """
        relations: list[Ints] = []
        orders: list[Ints] = []
        gaps: list[Floats] = []
        areas: list[tuple[Ints, Ints, Floats]] = []
        aspects: list[tuple[Ints, Ints, Floats]] = []
        places = [
            np.arange(len(c)) if slots is None else _ints(slots[b])
            for b, c in enumerate(conditions)
        ]
        width = 1 + max((int(p.max()) for p in places if len(p)), default=-1)
        exact = np.full((len(conditions), width, 4), np.nan)
        for b, (condition, place) in enumerate(zip(conditions, places, strict=True)):
            exact[b, place] = condition.fixed
            of, code, to = condition.relations.T
            # A `to` of -1 would pick the last place; np.where puts the canvas back.
            to_place = np.where(to == CANVAS, CANVAS, place[to] if len(place) else CANVAS)
            relations.append(np.stack([np.full(len(of), b), place[of], code, to_place]))
            gaps.append(condition.gap)
            for wishes, values in ((areas, condition.area), (aspects, condition.aspect_ratio)):
                rows = np.flatnonzero(np.isfinite(values))
                wishes.append((np.full(len(rows), b), place[rows], values[rows]))
            order = place[condition.reading_order]
            orders.append(np.stack([np.full(max(len(order) - 1, 0), b), order[:-1], order[1:]]))
        return cls(
            len(conditions),
            _side_by_side(relations, 4),
            _targets(areas),
            _targets(aspects),
            _side_by_side(orders, 3),
            np.concatenate([np.zeros(0), *gaps]),
            exact if np.isfinite(exact).any() else None,
        )

    @property
    def empty(self) -> bool:
        """Whether nothing is wished, so that guidance would do nothing."""
        parts = (self.relations, self.areas[0], self.aspects[0], self.orders)
        return all(part.shape[1] == 0 for part in parts)


def _side_by_side(parts: list[Ints], height: int) -> Ints:
    return np.concatenate([np.zeros((height, 0), np.intp), *parts], axis=1).astype(np.intp)


def _targets(parts: list[tuple[Ints, Ints, Floats]]) -> tuple[Ints, Floats]:
    places = _side_by_side([np.stack([b, slot]) for b, slot, _ in parts], 2)
    return places, np.concatenate([np.zeros(0), *(values for _, _, values in parts)])


@dataclass(frozen=True, eq=False)
class Compiled:
    """Edges as hinges over rows, one row for each element that some wish names."""

    layout: Ints  # (rows,)
    slot: Ints  # (rows,)
    exact: Floats  # (rows, 4): NaN where the value is not known exactly
    hinges: hinges.Hinges


def compile_edges(edges: Edges, margin: float = 0.0) -> Compiled:
    """Number the elements that wishes name, and write the wishes as hinges over them."""
    layout, of, code, to = edges.relations
    real = to != CANVAS
    before, after = edges.orders[[0, 1]], edges.orders[[0, 2]]
    named = (edges.relations[:2], np.stack([layout[real], to[real]]), before, after)
    pairs = np.concatenate([*named, edges.areas[0], edges.aspects[0]], axis=1)
    slots = int(pairs[1].max(initial=0)) + 1
    keys = np.unique(pairs[0] * slots + pairs[1])

    def row(layout: Ints, slot: Ints) -> Ints:
        return np.where(slot == CANVAS, CANVAS, np.searchsorted(keys, layout * slots + slot))

    parts = [
        hinges.relation_hinges(layout, row(layout, of), code, row(layout, to), margin, edges.gaps),
        hinges.order_hinges(edges.orders[0], row(*before), row(*after)),
    ]
    for (places, wished), measure in ((edges.areas, hinges.AREA), (edges.aspects, hinges.ASPECT)):
        parts.append(hinges.target_hinges(places[0], row(*places), measure, wished))
    row_layout, row_slot = keys // slots, keys % slots
    exact = np.full((len(keys), 4), np.nan)
    if edges.exact is not None:
        inside = row_slot < edges.exact.shape[1]
        exact[inside] = edges.exact[row_layout[inside], row_slot[inside]]
    return Compiled(row_layout, row_slot, exact, hinges.join(parts))

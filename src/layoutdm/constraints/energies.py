"""Energies: by how much a batch of layouts misses its relational wishes, and which way is better.

>>> import numpy as np
>>> centres = [np.array([0.25, 0.75])] * 4
>>> one_hot = np.eye(2)
>>> boxes = one_hot[[[[0, 0, 0, 0], [0, 1, 0, 0]]]]     # (1 layout, 2 elements, 4, 2 bins)
>>> edges = Edges.from_arrays(1, layout=[0], of=[1], code=[Relation.ABOVE], to=[0])
>>> Guide(edges, centres).energy(boxes).round(3).tolist()     # bottom 0.875 against top 0.125
[0.75]

Probabilities are those of the bins that belong to an attribute; PAD and MASK take no part. The
expected value of an attribute is sum(p * centre) / sum(p), the energy of a layout the sum of its
hinges (see hinges.py) at the expected boxes, and gradients go through that division. A layout's
energy and gradient never depend on its neighbours in the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm.constraints import hinges
from layoutdm.constraints.relations import CANVAS, Relation

if TYPE_CHECKING:
    from layoutdm.spec.condition import Condition

__all__ = ["Edges", "Guide", "Relation"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
# Four arrays (B, S, K of x, y, width, height), or one of shape (B, S, 4, K).
PerAttribute = Sequence[NDArray[np.floating]] | NDArray[np.floating]
# What to differentiate by: probabilities as the paper says, their logarithms as its code does.
Variable = Literal["probabilities", "log_probabilities"]


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
        return cls(layouts, relations, none, none, np.zeros((3, 0), np.intp), exact)

    @classmethod
    def from_conditions(
        cls, conditions: Sequence[Condition], slots: Sequence[ArrayLike] | None = None
    ) -> Edges:
        """One layout per condition; listed element k sits in slot k, or in slots[layout][k].

        Exact values are kept for the fixed fields of the listed elements.
        """
        relations: list[Ints] = []
        orders: list[Ints] = []
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


class Guide:
    """The energies of one batch, prepared: only elements that a wish names are ever computed."""

    def __init__(self, edges: Edges, centres: Sequence[ArrayLike], margin: float = 0.0) -> None:
        self.layouts = edges.layouts
        self.sizes = tuple(len(np.asarray(c)) for c in centres)
        widest = max(self.sizes)
        self.centres = np.zeros((4, widest))
        for a, c in enumerate(centres):
            self.centres[a, : self.sizes[a]] = np.asarray(c, np.float64)
        self._layout, self._slot, row_of = _rows(edges)
        self.hinges = _compile(edges, row_of, margin)
        rows = len(self._layout)
        self._exact = np.full((rows, 4), np.nan)
        if edges.exact is not None:
            inside = self._slot < edges.exact.shape[1]
            self._exact[inside] = edges.exact[self._layout[inside], self._slot[inside]]
        self._free = np.isnan(self._exact)
        self._any_exact = not self._free.all()
        self._gathered = np.full((rows, 4, widest), 0.0)

    # Pure functions -----------------------------------------------------------------------------

    def energy(self, probabilities: PerAttribute) -> Floats:
        """The energy of each layout, shape (B,)."""
        rows = self._gather(probabilities, 0.0)
        boxes = self._boxes(rows, rows.sum(-1))
        return self._sum_by_layout(self.hinges.values(hinges.measures(boxes)))

    def energy_and_gradient(self, probabilities: PerAttribute) -> tuple[Floats, list[Floats]]:
        """Energies (B,) and their gradients by the probabilities: four arrays (B, S, K)."""
        rows = self._gather(probabilities, 0.0)
        mass = rows.sum(-1)
        boxes = self._boxes(rows, mass)
        energy, slopes = self._slopes(boxes)
        by_row = (slopes / np.where(mass > 0, mass, 1.0))[..., None] * (
            self.centres - boxes[..., None]
        )
        gradients = []
        for a in range(4):
            whole = np.zeros(_attribute(probabilities, a).shape)
            whole[self._layout, self._slot] = by_row[:, a, : self.sizes[a]]
            gradients.append(whole)
        return energy, gradients

    def box_energy(self, boxes: Floats) -> Floats:
        """The energy of each layout of a batch of plain boxes (B, S, 4)."""
        return self._sum_by_layout(
            self.hinges.values(hinges.measures(boxes[self._layout, self._slot]))
        )

    # Guidance -----------------------------------------------------------------------------------

    def update(
        self,
        log_probabilities: PerAttribute,
        strength: float,
        updates: int = 3,
        variable: Variable = "probabilities",
        keep_mass: bool = True,
    ) -> None:
        """Push log-probabilities, in place, towards lower energy; `updates` gradient steps.

        Each step is log p <- log p - strength * dE/dp, with p normalised over the attribute's own
        bins, so that the push does not depend on how likely the token is to stay masked.
        `keep_mass` then restores the summed probability of these bins: guidance decides which
        bin is drawn, not when; False leaves it to the sampler's own normalisation, as published.
        """
        if not len(self._layout) or updates < 1 or strength == 0:
            return
        start = self._gather(log_probabilities, -np.inf)
        peak = start.max(-1, keepdims=True)
        peak[~np.isfinite(peak)] = 0.0
        weights = np.exp(start - peak)
        mass = weights.sum(-1)
        logits, total = start, mass
        for step in range(updates):
            boxes = self._boxes(weights, total)
            slopes = self._slopes(boxes)[1]
            if not slopes.any():
                if step == 0:
                    return
                break
            push = (strength * slopes)[..., None] * (self.centres - boxes[..., None])
            if variable == "log_probabilities":
                push *= weights / np.where(total > 0, total, 1.0)[..., None]
            logits = logits - push
            if step < updates - 1 or keep_mass:
                top = logits.max(-1, keepdims=True)
                top[~np.isfinite(top)] = 0.0
                weights = np.exp(logits - top)
                total = weights.sum(-1)
        if keep_mass:
            alive = (mass > 0) & (total > 0)
            ratio = np.log(np.where(alive, mass, 1.0) / np.where(alive, total, 1.0))
            logits = logits + (ratio[..., None] + peak - top)
        for a in range(4):
            _attribute(log_probabilities, a)[self._layout, self._slot] = logits[
                :, a, : self.sizes[a]
            ]

    # Parts --------------------------------------------------------------------------------------

    def _gather(self, arrays: PerAttribute, padding: float) -> Floats:
        """The rows that wishes name, shape (rows, 4, widest K)."""
        for a, size in enumerate(self.sizes):
            self._gathered[:, a, :size] = _attribute(arrays, a)[self._layout, self._slot]
            self._gathered[:, a, size:] = padding
        return self._gathered

    def _boxes(self, weights: Floats, mass: Floats) -> Floats:
        """Expected boxes (rows, 4); exact values where they are known."""
        sums = np.einsum("rak,ak->ra", weights, self.centres)
        boxes = sums / np.where(mass > 0, mass, 1.0)
        if self._any_exact:
            boxes = np.where(self._free, boxes, self._exact)
        return np.asarray(boxes)

    def _slopes(self, boxes: Floats) -> tuple[Floats, Floats]:
        """Energies (B,) and their slopes by the boxes (rows, 4), 0 at exact values."""
        measured = hinges.measures(boxes)
        values = self.hinges.values(measured)
        active = self.hinges.weights * (values > 0)
        by_measure = _sums(self.hinges.at.ravel(), active.ravel(), measured.size)
        slopes = hinges.box_gradient(by_measure.reshape(measured.shape), boxes, measured)
        if self._any_exact:
            slopes *= self._free
        return self._sum_by_layout(values), slopes

    def _sum_by_layout(self, values: Floats) -> Floats:
        positive = np.maximum(values, 0.0)
        return _sums(self.hinges.owner, positive, self.layouts)


def _attribute(arrays: PerAttribute, a: int) -> NDArray[np.floating]:
    if isinstance(arrays, np.ndarray):
        return np.asarray(arrays[:, :, a])
    return arrays[a]


def _sums(index: Ints, values: Floats, size: int) -> Floats:
    # bincount of nothing would give whole numbers
    return np.bincount(index, values, minlength=size).astype(np.float64, copy=False)


def _rows(edges: Edges) -> tuple[Ints, Ints, Callable[[Ints, Ints], Ints]]:
    """Layout and slot of each element that a wish names, and what finds an element's row."""
    layout, of, _, to = edges.relations
    real = to != CANVAS
    pairs = np.concatenate(
        [
            np.stack([layout, of]),
            np.stack([layout[real], to[real]]),
            edges.areas[0],
            edges.aspects[0],
            edges.orders[[0, 1]],
            edges.orders[[0, 2]],
        ],
        axis=1,
    )
    slots = int(pairs[1].max(initial=0)) + 1
    keys = np.unique(pairs[0] * slots + pairs[1])

    def row_of(layout: Ints, slot: Ints) -> Ints:
        found = np.searchsorted(keys, layout * slots + slot)
        return np.where(slot == CANVAS, CANVAS, found)

    return keys // slots, keys % slots, row_of


def _compile(edges: Edges, rows: Callable[[Ints, Ints], Ints], margin: float) -> hinges.Hinges:
    layout, of, code, to = edges.relations
    parts = [hinges.relation_hinges(layout, rows(layout, of), code, rows(layout, to), margin)]
    for (places, wished), measure in (
        (edges.areas, hinges.AREA),
        (edges.aspects, hinges.ASPECT),
    ):
        parts.append(hinges.target_hinges(places[0], rows(*places), measure, wished))
    before, after = edges.orders[[0, 1]], edges.orders[[0, 2]]
    parts.append(hinges.order_hinges(edges.orders[0], rows(*before), rows(*after)))
    return hinges.join(parts)

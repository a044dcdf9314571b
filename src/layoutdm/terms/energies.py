"""Energies: by how much a batch of layouts misses its relational wishes, and which way is better.

>>> import numpy as np
>>> from layoutdm.spec import Spec
>>> centres = [np.array([0.25, 0.75])] * 4
>>> spec = Spec.parse({"elements": [{"name": "a"}, {"name": "b"}],
...                    "relations": [{"of": "b", "is": "above", "to": "a"}]})
>>> guide = Guide([Condition.from_spec(spec, ("text",), 25)], centres)
>>> boxes = np.eye(2)[[[[0, 0, 0, 0], [0, 1, 0, 0]]]]     # (1 layout, 2 elements, 4, 2 bins)
>>> guide.energy(np.moveaxis(boxes, 2, 0)).round(3).tolist()     # bottom 0.875 against top 0.125
[0.75]

Probabilities are those of the bins that belong to an attribute; PAD and MASK take no part. The
expected value of an attribute is sum(p * centre) / sum(p), the energy of a layout the sum of its
hinges (see hinges.py) at the expected boxes, and gradients go through that division. A layout's
energy and gradient never depend on its neighbours in the batch.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm.relations import hinges
from layoutdm.spec import Condition
from layoutdm.terms.bin_costs import BinCosts
from layoutdm.terms.edges import edges_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
# Four arrays (B, S, K of x, y, width, height).
PerAttribute = Sequence[NDArray[np.floating]] | NDArray[np.floating]
# Of which energy: the expected one (see bin_costs.py), or, as published, the expected box's.
Relaxation = Literal["bins", "box"]


class Guide:
    """The energies of one batch, prepared: only values that some wish depends on are computed.

    Such a value, one attribute of one element, is called a pair (row, attribute) below.
    """

    def __init__(self, conditions: Sequence[Condition], centres: Sequence[ArrayLike]) -> None:
        self._layouts, edges = len(conditions), edges_of(conditions)
        self.hinges = edges.hinges
        self._base = np.where(np.isnan(edges.exact), 0.5, edges.exact)
        needed = np.zeros((len(edges.slot), 4), bool)
        rows, measures = np.divmod(self.hinges.at, hinges.MEASURES)
        np.logical_or.at(needed, rows.ravel(), hinges.DEPENDS[measures.ravel()])
        self._extra = bool(np.isin(measures, hinges.BENT).any())
        self._bin_costs: dict[bool, BinCosts] = {}
        # Sorted by attribute, so that each attribute's pairs are one slice.
        attribute, row = np.nonzero((needed & np.isnan(edges.exact)).T)
        self._flat = row * 4 + attribute
        self._layout, self._slot = edges.layout, edges.slot
        self._pair_layout, self._pair_slot = edges.layout[row], edges.slot[row]
        self.pairs = (self._pair_layout, self._pair_slot, attribute)  # all that updates can move
        ends = np.searchsorted(attribute, np.arange(5))
        self._slices = [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]
        bins = [np.asarray(c, np.float64) for c in centres]
        self.sizes = tuple(len(c) for c in bins)
        padded = np.zeros((4, max(self.sizes)))
        for a, c in enumerate(bins):
            padded[a, : len(c)] = c
        self._centres = padded[attribute]
        # Reused in every call. Single precision is four times faster where it is exponentials
        # that cost, and a push needs no more than its six digits.
        self._gathered: Floats = np.empty(self._centres.shape)
        self._push: Floats = np.empty(self._centres.shape)
        self._weights = np.empty(self._centres.shape, np.float32)
        self._centres32 = self._centres.astype(np.float32)

    def energy(self, probabilities: PerAttribute) -> Floats:
        """The energy of each layout, shape (B,)."""
        weights = self._gather(probabilities, 0.0)
        mass = weights.sum(-1)
        means = np.einsum("pk,pk->p", weights, self._centres) / np.where(mass > 0, mass, 1.0)
        boxes = self._boxes(means)
        values = self.hinges.values(hinges.measures(boxes, self._extra))
        return _sums(self.hinges.owner, np.maximum(values, 0.0), self._layouts)

    def update(
        self,
        log_probabilities: PerAttribute,
        strength: float,
        updates: int = 3,
        relaxation: Relaxation = "bins",
        move_sizes: bool = True,
        undecided: NDArray[np.bool_] | None = None,
    ) -> None:
        """Push log-probabilities, in place, towards lower energy; `updates` gradient steps.

        "bins" takes the expected energy: log p <- log p - strength * dE/dp. Bins that meet the
        wishes keep their proportions, so that many more wishes are met at the same loss of
        likelihood, and all bins together their mass: guidance decides which bin is drawn, not when.
        "box" takes the energy of the expected box, and its slope by log p, as published; the mass
        is left to the sampler. p is normalised over the attribute's own bins, so that the push does
        not depend on how likely the token is to stay masked. `move_sizes` False (with "bins"):
        relations of place move elements, but do not stretch them. `undecided` (B, S, 4), with
        "bins": nothing is pulled to be equal to these values (see bin_costs.py).
        """
        if not len(self._flat) or strength == 0:
            return
        logits = self._gather(log_probabilities, -np.inf)
        peak, mass = self._weigh(logits)
        start = peak + np.log(mass)
        moved = np.zeros(len(mass), bool)
        push = self._push
        if undecided is not None:
            undecided = undecided[self._layout, self._slot]
        for _ in range(updates):
            means = np.einsum("pk,pk->p", self._weights, self._centres32) / mass
            boxes = self._boxes(means)
            measured = hinges.measures(boxes, self._extra)
            values = self.hinges.values(measured)
            if relaxation == "bins":
                costs = self._bins(move_sizes)(boxes, measured, values, undecided)
                np.multiply(costs, strength, out=push)
                changed = push.any(-1)
            else:
                slopes = self._slopes(boxes, measured, values)
                changed = slopes != 0
                np.subtract(self._centres, means[:, None], out=push)
                push *= (strength * slopes / mass)[:, None]
                push *= self._weights
            if not changed.any():
                break
            moved |= changed
            logits -= push
            peak, mass = self._weigh(logits)
        if relaxation == "bins":
            logits += (start - peak - np.log(mass))[:, None]
        for a, part in enumerate(self._slices):
            rows = np.flatnonzero(moved[part]) + part.start
            at = self._pair_layout[rows], self._pair_slot[rows]
            log_probabilities[a][at] = logits[rows, : self.sizes[a]]

    # Parts --------------------------------------------------------------------------------------

    def _gather(self, arrays: PerAttribute, padding: float) -> Floats:
        """The values of all pairs, shape (pairs, widest K)."""
        for a, part in enumerate(self._slices):
            values = arrays[a][self._pair_layout[part], self._pair_slot[part]]
            self._gathered[part, : self.sizes[a]] = values
            if self.sizes[a] < self._gathered.shape[1]:
                self._gathered[part, self.sizes[a] :] = padding
        return self._gathered

    def _bins(self, move_sizes: bool) -> BinCosts:
        if move_sizes not in self._bin_costs:
            self._bin_costs[move_sizes] = BinCosts(
                self.hinges, self._flat, self._centres, hinges.DEPENDS, move_sizes
            )
        return self._bin_costs[move_sizes]

    def _weigh(self, logits: Floats) -> tuple[Floats, Floats]:
        """Fill self._weights with exp(logits - peak); (peaks, sums or 1) of the pairs."""
        peak = np.asarray(logits.max(-1))
        peak = np.where(np.isfinite(peak), peak, 0.0)
        np.subtract(logits, peak[:, None], out=self._weights, casting="same_kind")
        np.exp(self._weights, out=self._weights)
        mass = self._weights.sum(-1).astype(np.float64)
        return peak, np.where(mass > 0, mass, 1.0)

    def _boxes(self, means: Floats) -> Floats:
        """Expected boxes (rows, 4); exact values where they are known."""
        boxes = self._base.copy()
        boxes.ravel()[self._flat] = means
        return boxes

    def _slopes(self, boxes: Floats, measured: Floats, values: Floats) -> Floats:
        """The slope of the energy by each pair's expected value."""
        active = self.hinges.weights * (values > 0)
        by_measure = _sums(self.hinges.at.ravel(), active.ravel(), measured.size)
        by_measure = by_measure.reshape(measured.shape)
        slopes = hinges.box_gradient(by_measure, boxes, measured, self._extra)
        return np.asarray(slopes.ravel()[self._flat])


def _sums(index: Ints, values: Floats, size: int) -> Floats:
    # bincount of nothing would give whole numbers
    return np.bincount(index, values, minlength=size).astype(np.float64, copy=False)

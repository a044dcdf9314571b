"""What each bin of an attribute would cost, the other values staying at their means.

The energy of the expected box says only which way to move a mean. The expected energy, the same
hinges averaged over the bins, has as its gradient by the probability of a bin just the energy with
that bin drawn: bins that meet a wish cost nothing and keep their proportions, the others cost by
how much they miss it. Other values enter with their means.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.relations import hinges

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


class BinCosts:
    """Prepared for one set of hinges; a "use" is a hinge's dependence on one pair."""

    def __init__(
        self,
        parts: hinges.Hinges,
        flat: Ints,
        centres: Floats,
        depends: NDArray[np.bool_],
        move_sizes: bool = True,
    ) -> None:
        """`flat` (pairs,) is row * 4 + attribute, `centres` (pairs, K) their bins.

        move_sizes False: where edges are compared, every width and height costs the same.
        """
        pair_of = np.full(4 * (int(parts.at.max(initial=0)) // hinges.MEASURES + 1), -1)
        pair_of[flat] = np.arange(len(flat))
        rows, measures = np.divmod(parts.at, hinges.MEASURES)
        uses = depends[measures] & (parts.weights != 0)[..., None]  # (2, H, 4)
        uses &= pair_of[rows[..., None] * 4 + np.arange(4)] >= 0
        end, hinge, attribute = np.nonzero(uses)
        pair = pair_of[rows[end, hinge] * 4 + attribute]
        # In blocks: every pair's first use, every pair's second use, and so on, pairs with many
        # uses first. Then costs add up block by block, without an index.
        count = np.bincount(pair, minlength=len(flat))
        place = np.empty(len(flat), np.intp)
        place[np.argsort(-count, kind="stable")] = np.arange(len(flat))
        self._place = place
        by_pair = np.argsort(pair, kind="stable")
        rank = np.empty(len(pair), np.intp)
        rank[by_pair] = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)
        order = np.lexsort((place[pair], rank))
        self._blocks = np.cumsum(np.bincount(rank)).tolist()
        self._hinge, self._pair = hinge[order], pair[order]
        self._row, self._measure = rows[end, hinge][order], measures[end, hinge][order]
        self._attribute = attribute[order]
        # Of an equality of places: what the other end depends on, and where that stands. Sizes
        # that shall be the same do well near their common mean.
        away, hinge_of = 1 - end[order], self._hinge
        tied = parts.exact[hinge_of] & (parts.weights[away, hinge_of] != 0)
        tied &= self._measure < hinges.WIDTH
        self._needs = depends[measures[away, hinge_of]] & tied[:, None]
        self._other = rows[away, hinge_of]
        self._weight = parts.weights[end, hinge][order]
        self._constant = self._weight * hinges.LINEAR[self._measure, self._attribute]
        if not move_sizes:
            self._constant[(self._attribute >= 2) & (self._measure < hinges.CENTRE_Y)] = 0.0
        self._area = np.flatnonzero(self._measure == hinges.AREA)
        self._bent = np.flatnonzero(np.isin(self._measure, hinges.BENT))
        self._bins = centres[self._pair]
        self._bins32 = self._bins.astype(np.float32)
        self._costs = np.empty(self._bins.shape, np.float32)
        self._sums = np.empty((len(flat), centres.shape[1]), np.float32)

    def __call__(
        self, boxes: Floats, measured: Floats, values: Floats, undecided: Bools | None = None
    ) -> Singles:
        """The cost of each bin of each pair, shape (pairs, K).

        undecided (rows, 4): to stand in line or at a distance with what is not decided yet costs
        nothing, as it would pull both towards the mean place, wherever neither wants to be.
        """
        slope = self._constant.copy()
        # Area is linear in width (times height) and in height (times width).
        other = boxes[self._row[self._area], 5 - self._attribute[self._area]]
        slope[self._area] = self._weight[self._area] * other
        at_zero = values[self._hinge] - slope * boxes[self._row, self._attribute]
        np.multiply(self._bins32, slope.astype(np.float32)[:, None], out=self._costs)
        self._costs += at_zero.astype(np.float32)[:, None]
        if len(self._bent):
            self._costs[self._bent] = self._bent_values(boxes, measured, values)
        if undecided is not None:
            self._costs[(self._needs & undecided[self._other]).any(axis=1)] = 0.0
        np.maximum(self._costs, 0, out=self._costs)
        first, *others = self._blocks  # every pair has a use
        np.copyto(self._sums, self._costs[:first])
        for start, end in zip(self._blocks, others, strict=False):
            self._sums[: end - start] += self._costs[start:end]
        return self._sums.take(self._place, axis=0)

    def _bent_values(self, boxes: Floats, measured: Floats, values: Floats) -> Floats:
        """Aspect ratio and distance are not linear: put every bin into the box and measure."""
        chosen = self._bent
        row, measure, bins = self._row[chosen], self._measure[chosen], self._bins[chosen]
        trial = np.repeat(boxes[row][:, None], bins.shape[1], axis=1)
        trial[np.arange(len(row)), :, self._attribute[chosen]] = bins
        tried = hinges.measures(trial.reshape(-1, 4)).reshape(*bins.shape, hinges.MEASURES)
        change = tried[np.arange(len(row)), :, measure] - measured[row, measure][:, None]
        result = values[self._hinge[chosen]][:, None] + self._weight[chosen][:, None] * change
        return np.asarray(result)

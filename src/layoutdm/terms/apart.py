"""The term that keeps boxes apart: the last value of a box leaves those that are there free.

>>> apart = Apart(np.ones((1, 1), bool), 0.1)
>>> box, others = np.array([[0.5, np.nan, 0.2, 0.2]]), np.array([[[0.5, 0.2, 0.2, 0.2]]])
>>> values, count = np.array([0.2, 0.5, 0.8]), np.array([[True]])
>>> covered(box, 2, values, others, count, apart.free).round(9).tolist()
[[1.0, 0.0, 0.0]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from layoutdm.boxes import shared_span
from layoutdm.diffusion.network import Bools, Ints
from layoutdm.plan.batch import Batch
from layoutdm.relations import Relation
from layoutdm.terms.rows import Floats, Rows, State

# A box that is wholly covered costs this many nats, a share of it accordingly: where a free place
# is left it is taken, where none is, the least covered.
COST = 200.0


@dataclass(frozen=True, eq=False)
class Apart:
    """Which labels keep apart in the data, and how much of a box counts as touching."""

    labels: Bools  # (labels, labels): hardly ever share room
    free: float  # of the smaller box: real ones that touch share as much, rounded to their bins


class Neighbours:
    """Which other boxes an element keeps apart from, by the data and the request."""

    def __init__(self, batch: Batch, apart: Apart) -> None:
        count = len(apart.labels)
        self._labels = np.zeros((count + 2, count + 2), dtype=bool)  # PAD and MASK keep nothing
        self._labels[:count, :count] = apart.labels
        self._wished = _wished_together(batch)

    def __call__(self, state: State, layout: Ints, slot: Ints) -> Bools:
        """(n, S): boxes that are there, of other elements, whose labels keep apart from its own."""
        labels = state.tokens[layout, :, 0]
        at = np.arange(len(slot))
        count = self._labels[labels[at, slot][:, None], labels]
        count[at, slot] = False
        if self._wished is not None:
            count &= ~self._wished[layout, slot]
        if count.any():
            count &= ~np.isnan(state.boxes[layout].sum(axis=2))
        return count


class KeepApart:
    """Makes values less likely by how much of a box they would cover, once its others are known."""

    def __init__(self, batch: Batch, apart: Apart, centres: Sequence[Floats]) -> None:
        self._apart, self._centres = apart, centres
        self._neighbours = Neighbours(batch, apart)

    def __call__(self, rows: Rows) -> None:
        if not rows.modality:
            return
        state = rows.view.state
        box = state.boxes[rows.layout, rows.slot]
        box[:, rows.modality - 1] = 0.0
        last = np.flatnonzero(~np.isnan(box.sum(axis=1)))
        if not len(last):
            return
        layout = rows.layout[last]
        count = self._neighbours(state, layout, rows.slot[last])
        some = np.flatnonzero(count.any(axis=0))
        if not len(some):
            return
        cost = np.zeros((len(rows.layout), len(self._centres[rows.modality - 1])))
        cost[last] = covered(
            box[last], rows.modality, self._centres[rows.modality - 1],
            state.boxes[layout[:, None], some], count[:, some], self._apart.free,
        )  # fmt: skip
        rows.add(-COST * cost)


def covered(
    box: Floats, modality: int, values: Floats, others: Floats, count: Bools, free: float
) -> Floats:
    """(n, values): how much boxes (n, 4) would cover with each value of this modality.

    others (n, S, 4), of which `count` (n, S) count. Of each the shared area is a share of the
    smaller box; what is more than `free` of all of them is added up.
    """
    along, across = (modality - 1) % 2, modality % 2  # of x: 0 and 1; of y: 1 and 0
    centre, size = box[:, along, None], box[:, 2 + along, None]
    if modality <= 2:
        centre = values[None]
    else:
        size = values[None]
    wide = shared_span(
        box[:, across, None], box[:, 2 + across, None], others[..., across], others[..., 2 + across]
    )
    tall = shared_span(
        centre[..., None], size[..., None], others[:, None, :, along], others[:, None, :, 2 + along]
    )
    areas = (size * box[:, 2 + across, None])[..., None]
    smaller = np.minimum(areas, (others[..., 2] * others[..., 3])[:, None])
    share = tall * wide[:, None] / np.maximum(smaller, 1e-9)
    more = np.where(count[:, None], np.maximum(share - free, 0.0) / (1.0 - free), 0.0)
    # Slot by slot: the order of summation must not depend on the neighbours in the batch.
    return np.asarray(np.moveaxis(more, 2, 0).copy().sum(axis=0))


def _wished_together(batch: Batch) -> Bools | None:
    """(B, S, S): pairs that a request wishes to overlap; None where there is no such wish."""
    found = None
    for row, condition in enumerate(batch.conditions):
        of, code, to = condition.relations.T
        pairs = np.isin(code, (Relation.OVERLAPPING, Relation.INSIDE)) & (to >= 0)
        if pairs.any():
            if found is None:
                size, slots, _ = batch.tokens.shape
                found = np.zeros((size, slots, slots), dtype=bool)
            found[row, of[pairs], to[pairs]] = found[row, to[pairs], of[pairs]] = True
    return found

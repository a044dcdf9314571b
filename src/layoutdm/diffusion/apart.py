"""Boxes whose labels keep apart, and which places would be on top of them.

The tokens of a step are drawn from one prediction, so elements that get their places in the same
step do not see each other, and may get the same one. Here they are drawn one after the other, each
from the places that those before it have left free.

>>> apart = Apart(np.ones((1, 1), bool), 0.1, (np.array([0.2, 0.5, 0.8]),) * 4)
>>> page = np.array([[[0, 1, 0, 0, 0], [0, 1, 4, 0, 0]]])  # the second has no y (MASK is 4)
>>> apart.covered(page, np.array([1]), 2, np.array([[True, False]])).round(2).tolist()
[[1.0, 0.0, 0.0]]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.network import Bools, Ints
from layoutdm.diffusion.turns import DECIDED_AS

Floats = NDArray[np.float64]

# A box that is wholly covered costs this many nats, a share of it accordingly: where a free place
# is left it is taken, where none is, the least covered.
COST = 200.0

_TURN = np.argsort(DECIDED_AS)  # of label, x, y, width, height


@dataclass(frozen=True, eq=False)
class Apart:
    """Which labels keep apart in the data, how much of a box counts, and the values of bins."""

    labels: Bools  # (labels, labels)
    # Of the smaller box: real ones that touch share as much, once they are rounded to the bins.
    free: float
    centres: tuple[Floats, ...]  # of x, y, width, height

    @cached_property
    def _counts(self) -> Ints:
        return np.array([len(values) for values in self.centres], dtype=np.int64)

    def whole(self, tokens: Ints) -> Bools:
        """(..., S): elements of (..., S, 5) whose box is decided."""
        return np.asarray((tokens[..., 1:] < self._counts).all(axis=-1))

    def boxes(self, tokens: Ints) -> Floats:
        """(..., 4) centres and sizes of (..., 5); anything for what is not decided."""
        ids = np.minimum(tokens[..., 1:], self._counts - 1)
        parts = [centres[ids[..., a]] for a, centres in enumerate(self.centres)]
        return np.stack(parts, axis=-1)

    def keeping(self, tokens: Ints, slot: Ints, others: Bools) -> Bools:
        """(n, S): which of the others (n, S) an element (n,) of layouts (n, S, 5) keeps apart from.

        Not itself, and none as long as the label of either is not known.
        """
        at = np.arange(len(slot))
        named = tokens[..., 0] < len(self.labels)
        labels = np.where(named, tokens[..., 0], 0)
        count = others & named & named[at, slot][:, None]
        count &= self.labels[labels[at, slot][:, None], labels]
        count[at, slot] = False
        return count

    def covered(self, tokens: Ints, slot: Ints, modality: int, others: Bools) -> Floats:
        """How much each value of this modality of elements would cover, (n, values).

        tokens (n, S, 5): the other three of the boxes of `slot` (n,) are decided. others (n, S):
        boxes that count, decided too. Of each the shared area is a share of the smaller one; what
        is more than `free` of all of them is added up. Boxes whose label is not known yet neither
        cover nor are covered.
        """
        at = np.arange(len(slot))
        count = self.keeping(tokens, slot, others)
        some = np.flatnonzero(count.any(axis=0))
        if not len(some):
            return np.zeros((len(slot), self._counts[modality - 1]))
        boxes = self.boxes(tokens)
        mine, boxes, count = boxes[at, slot], boxes[:, some], count[:, some]
        along, across = (modality - 1) % 2, modality % 2  # of x: 0 and 1; of y: 1 and 0
        values = self.centres[modality - 1][None]
        centre, size = mine[:, along, None], mine[:, 2 + along, None]
        if modality <= 2:
            centre = values
        else:
            size = values
        wide = _shared(mine[:, across, None], mine[:, 2 + across, None], boxes, across)
        tall = _shared(centre[..., None], size[..., None], boxes[:, None], along)
        areas = (size * mine[:, 2 + across, None])[..., None]
        smaller = np.minimum(areas, (boxes[..., 2] * boxes[..., 3])[:, None])
        share = tall * wide[:, None] / np.maximum(smaller, 1e-9)
        more = np.clip(share - self.free, 0.0, None) / (1.0 - self.free)
        # Slot by slot: the order of summation must not depend on the neighbours in the batch.
        return np.asarray(np.moveaxis(more * count[:, None], 2, 0).copy().sum(axis=0))


def _shared(centre: Floats, size: Floats, boxes: Floats, axis: int) -> Floats:
    """The length that intervals share with those of boxes (..., 4) along an axis."""
    other, half = boxes[..., axis], boxes[..., 2 + axis] / 2
    end = np.minimum(centre + size / 2, other + half)
    start = np.maximum(centre - size / 2, other - half)
    return np.asarray(np.clip(end - start, 0.0, None))


def completing(element: Ints, modality: Ints, whole: Bools) -> Ints:
    """Which of the tokens of a step are the last of a box, as indices into them.

    element, modality (n,): of each token. whole: by element, whether its box is decided after the
    step.

    >>> completing(np.array([0, 0, 1, 2]), np.array([1, 2, 3, 0]), np.array([True, False, True]))
    array([1])
    """
    if (element[1:] != element[:-1]).all():  # one token each, as in most steps
        return np.flatnonzero((modality > 0) & whole[element])
    order = np.lexsort((_TURN[modality], element))
    last = order[np.append(element[order][1:] != element[order][:-1], True)]
    return np.sort(last[(modality[last] > 0) & whole[element[last]]])


def one_by_one(layout: Ints, turn: Ints) -> list[Ints]:
    """Indices in groups, of which each has at most one of each layout, by their turns.

    >>> [group.tolist() for group in one_by_one(np.array([0, 0, 1]), np.array([7, 2, 4]))]
    [[1, 2], [0]]
    """
    if (layout[1:] > layout[:-1]).all():
        return [np.arange(len(layout))] if len(layout) else []
    order = np.lexsort((turn, layout))
    nth = np.arange(len(order)) - np.searchsorted(layout[order], layout[order])
    return [order[nth == n] for n in range(int(nth.max(initial=-1)) + 1)]

"""When each token is decided if one element follows the other.

What is decided in the same step is drawn without seeing each other. Within an element label, size,
x and y come one after the other. With many steps an element begins when the one before it is
done; with fewer it begins earlier, so that its size is decided along with x or y of others. Only
with fewer steps than elements do some share all their turns, as few as possible.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.network import Bools, Ints

Floats = NDArray[np.float64]

# Size before place: edges that line up with others follow from a known size.
DECIDED_AS = (0, 3, 4, 1, 2)  # label, width, height, x, y
LABEL, X, Y, WIDTH, HEIGHT = range(5)

LABELS_TOGETHER = 3  # labels that come before all boxes, if the steps do not suffice for each
LABEL_SHARE = 0.25  # of the steps, at most, for such labels
ALMOST = 1e-9  # a product that should be a whole number is not rounded down


class _Stages(NamedTuple):
    """The turns that elements take one after the other; B layouts."""

    of: Ints  # (B, 5): which of them each token takes
    number: Ints  # (B,): of these turns
    apart: Ints  # (B,): turns from one element's begin to the next one's, if steps suffice


def decision_ranks(
    masked: Bools,
    steps: int,
    labels_first: Bools | None = None,
    places: Ints | None = None,
    *,
    size_at_once: bool = True,
) -> Floats:
    """When each masked token of (B, S, 5) is decided, as a share from 0 up to 1 of all turns.

    labels_first (B,): layouts whose labels are all decided before any box.
    places (B, S): which slot comes first; None: slots in their order.
    size_at_once: width and height share a turn even if the steps would suffice for two.

    >>> masked = np.array([[[1, 1, 0, 1, 1], [1, 0, 0, 0, 0]]], dtype=bool)
    >>> decision_ranks(masked, 6).round(3).tolist()  # label, size, x, the other label
    [[[0.125, 0.625, 0.0, 0.375, 0.375], [0.875, 0.0, 0.0, 0.0, 0.0]]]
    >>> decision_ranks(masked, 5).round(3).tolist()  # the other label along with x
    [[[0.167, 0.833, 0.0, 0.5, 0.5], [0.833, 0.0, 0.0, 0.0, 0.0]]]
    """
    batch, slots, _ = masked.shape
    early = np.zeros(batch, dtype=bool) if labels_first is None else labels_first
    if places is None:
        places = np.tile(np.arange(slots), (batch, 1))
    labels = masked[..., LABEL] & early[:, None]  # that come before all boxes
    in_turn = masked.copy()
    in_turn[..., LABEL] &= ~labels
    elements: Bools = np.asarray(in_turn.any(axis=2))
    stages = _stages(in_turn, size_at_once=True)
    before, count = labels.sum(axis=1), elements.sum(axis=1)
    if not size_at_once:
        longer = _stages(in_turn, size_at_once=False)
        suffices = before + _turns_needed(longer, count) <= steps
        stages = _Stages(
            np.where(suffices[:, None], longer.of, stages.of),
            np.where(suffices, longer.number, stages.number),
            np.where(suffices, longer.apart, stages.apart),
        )
    first = _turns_of_labels(before, before + _turns_needed(stages, count) <= steps, steps)
    apart = _turns_apart(stages, count, steps - first)
    begin = first[:, None] + _floor(_index(elements, places) * apart[:, None])
    turn = begin[..., None] + stages.of[:, None, :]
    together = first / np.maximum(before, 1)
    of_labels = _floor(_index(labels, places) * together[:, None])
    turn[..., LABEL] = np.where(labels, of_labels, turn[..., LABEL])
    return _ranks(turn, masked)


def _stages(in_turn: Bools, *, size_at_once: bool) -> _Stages:
    """Label, size, x, y; without those that no element of the layout needs."""
    needed: Bools = np.asarray(in_turn.any(axis=1))
    of = np.zeros(needed.shape, dtype=np.int64)
    count = np.zeros(len(needed), dtype=np.int64)
    for m in DECIDED_AS:
        along = needed[:, WIDTH] & size_at_once & (m == HEIGHT)
        of[:, m] = np.where(along, of[:, WIDTH], count)
        count = count + (needed[:, m] & ~along)
    # A label tells little about the y before it, so these two may share a turn.
    shares = needed[:, LABEL] & needed[:, Y]
    return _Stages(of, count, np.asarray(np.maximum(count - shares, 1), dtype=np.int64))


def _turns_needed(stages: _Stages, elements: Ints) -> Ints:
    """So that no two elements get in each other's way."""
    return np.asarray(stages.apart * np.maximum(elements - 1, 0) + stages.number)


def _turns_apart(stages: _Stages, elements: Ints, steps: Ints) -> Floats:
    """How many turns after an element's begin the next one begins, on average, (B,)."""
    begins = np.maximum(steps - stages.number + 1, 1)  # at which an element can still be finished
    evenly = (begins - 1) / np.maximum(elements - 1, 1)
    shared = begins / np.maximum(elements, 1)  # fewer begins than elements
    return np.asarray(np.where(begins < elements, shared, np.minimum(stages.apart, evenly)))


def _turns_of_labels(labels: Ints, suffices: Bools, steps: int) -> Ints:
    """How many turns these labels take, before any box."""
    few = np.minimum(-(-labels // LABELS_TOGETHER), max(1, int(steps * LABEL_SHARE)))
    return np.where(suffices, labels, few)


def _index(chosen: Bools, places: Ints) -> Ints:
    """(B, S): of the chosen slots, how many have their place before this one."""
    order = np.argsort(places, axis=1)
    sorted_ = np.take_along_axis(chosen, order, axis=1)
    index = np.empty_like(places)
    np.put_along_axis(index, order, np.cumsum(sorted_, axis=1) - sorted_, axis=1)
    return index


def _floor(values: Floats) -> Ints:
    return np.floor(values + ALMOST).astype(np.int64)


def _ranks(turn: Ints, masked: Bools) -> Floats:
    """Turns without gaps, from 0 up to 1; 0 where nothing is decided."""
    batch = len(turn)
    flat, open_ = turn.reshape(batch, -1), masked.reshape(batch, -1)
    used = np.zeros((batch, int(flat.max(initial=0)) + 1), dtype=bool)
    used[np.nonzero(open_)[0], flat[open_]] = True
    place = np.take_along_axis(np.cumsum(used, axis=1) - 1, flat, axis=1)
    count = np.maximum(used.sum(axis=1), 1)[:, None]
    return np.where(open_, (place + 0.5) / count, 0.0).reshape(masked.shape)

"""The timetable: when each token is decided if one element follows the other.

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

ALMOST = 1e-9  # a product that should be a whole number is not rounded down


class _Stages(NamedTuple):
    """The turns that elements take one after the other; B layouts."""

    of: Ints  # (B, 5): which of them each token takes
    number: Ints  # (B,): of these turns
    apart: Ints  # (B,): turns from one element's begin to the next one's, if steps suffice


def decision_ranks(masked: Bools, steps: int, turn: Ints | None = None) -> Floats:
    """When each masked token of (B, S, 5) is decided, as a share from 0 up to 1 of all turns.

    turn (B, S): which element comes first; None: slots in their order. Width and height share a
    turn where the steps do not suffice for two.

    >>> masked = np.array([[[1, 1, 0, 1, 1], [1, 0, 0, 0, 0]]], dtype=bool)
    >>> decision_ranks(masked, 6).round(3).tolist()  # label, size, x, the other label
    [[[0.125, 0.625, 0.0, 0.375, 0.375], [0.875, 0.0, 0.0, 0.0, 0.0]]]
    >>> decision_ranks(masked, 5).round(3).tolist()  # the other label along with x
    [[[0.167, 0.833, 0.0, 0.5, 0.5], [0.833, 0.0, 0.0, 0.0, 0.0]]]
    """
    if turn is None:
        turn = np.tile(np.arange(masked.shape[1]), (len(masked), 1))
    elements: Bools = np.asarray(masked.any(axis=2))
    count = elements.sum(axis=1)
    short, long = (_stages(masked, size_at_once=at_once) for at_once in (True, False))
    # So that no two elements get in each other's way.
    suffices = long.apart * np.maximum(count - 1, 0) + long.number <= steps
    stages = _Stages(
        np.where(suffices[:, None], long.of, short.of),
        np.where(suffices, long.number, short.number),
        np.where(suffices, long.apart, short.apart),
    )
    apart = _turns_apart(stages, count, steps)
    begin = np.floor(_index(elements, turn) * apart[:, None] + ALMOST).astype(np.int64)
    return _ranks(begin[..., None] + stages.of[:, None, :], masked)


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


def _turns_apart(stages: _Stages, elements: Ints, steps: int) -> Floats:
    """How many turns after an element's begin the next one begins, on average, (B,)."""
    begins = np.maximum(steps - stages.number + 1, 1)  # at which an element can still be finished
    evenly = (begins - 1) / np.maximum(elements - 1, 1)
    shared = begins / np.maximum(elements, 1)  # fewer begins than elements
    return np.asarray(np.where(begins < elements, shared, np.minimum(stages.apart, evenly)))


def _index(chosen: Bools, turn: Ints) -> Ints:
    """(B, S): of the chosen slots, how many have their turn before this one."""
    order = np.argsort(turn, axis=1)
    sorted_ = np.take_along_axis(chosen, order, axis=1)
    index = np.empty_like(turn)
    np.put_along_axis(index, order, np.cumsum(sorted_, axis=1) - sorted_, axis=1)
    return index


def _ranks(turn: Ints, masked: Bools) -> Floats:
    """Turns without gaps, from 0 up to 1; 0 where nothing is decided."""
    batch = len(turn)
    flat, open_ = turn.reshape(batch, -1), masked.reshape(batch, -1)
    used = np.zeros((batch, int(flat.max(initial=0)) + 1), dtype=bool)
    used[np.nonzero(open_)[0], flat[open_]] = True
    place = np.take_along_axis(np.cumsum(used, axis=1) - 1, flat, axis=1)
    count = np.maximum(used.sum(axis=1), 1)[:, None]
    return np.where(open_, (place + 0.5) / count, 0.0).reshape(masked.shape)


class Pass(NamedTuple):
    """Tokens of one modality, at most one of each layout, that are drawn together."""

    modality: int
    layout: Ints
    slot: Ints


def timetable(masked: Bools, done: list[float], turn: Ints) -> list[list[Pass]]:
    """The passes of each step, in which order the masked tokens of (B, S, 5) are drawn.

    done: the share of the way that lies behind after each step. What is decided in a step but
    before another token of the same layout is drawn in an earlier pass.
    """
    ranks = decision_ranks(masked, len(done), turn)
    layout, slot, modality = np.nonzero(masked)
    step = np.searchsorted(np.array(done), ranks[layout, slot, modality], side="right")
    step = np.minimum(step, len(done) - 1)
    stage = np.argsort(DECIDED_AS)[modality]
    order = np.lexsort((stage, turn[layout, slot], layout, step))
    key = (step * len(masked) + layout)[order]
    nth = np.empty(len(order), dtype=np.int64)
    nth[order] = np.arange(len(order)) - np.searchsorted(key, key)
    order = np.lexsort((layout, modality, nth, step))
    passes: list[list[Pass]] = [[] for _ in done]
    kinds = np.stack([step, nth, modality])[:, order]  # tokens of one pass have these in common
    for some in np.split(order, 1 + np.flatnonzero(np.diff(kinds).any(axis=0))):
        if len(some):
            first = some[0]
            passes[step[first]].append(Pass(int(modality[first]), layout[some], slot[some]))
    return passes

"""Ranks in reading order for elements that are told apart by their relations.

A network that was trained on elements in reading order places them far better when it knows who
comes first. Where only labels are wished, the labels are drawn in that order. Elements with
relations cannot change places, so their ranks are drawn instead: the label network says which
label comes next, the relations who may.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.draw import draw
from layoutdm.diffusion.known import Known
from layoutdm.diffusion.labels import LAST, LabelModel, features, label_weights
from layoutdm.diffusion.network import Bools, Ints
from layoutdm.diffusion.settings import Settings

Floats = NDArray[np.float64]

# The k-th of n elements stands about (k + 1/2) / n down the page, give or take this much: on real
# pages 62 % of the second sixth in reading order lie in the upper third, on screens 87 %.
SPREAD = 0.15
SELDOM = 0.01  # no third is quite impossible for an element


@dataclass(eq=False)
class _Draw:
    """Some layouts whose elements get their ranks, one after the other."""

    labels: Ints  # (R, S)
    counts: Ints  # (R,)
    before: Bools  # (R, S, S): i before j, also by way of others
    after: Floats  # (R, S): how many come after each for sure
    third: Ints  # (R, S)
    left: Bools  # (R, S): without a rank so far


def draw_ranks(
    model: LabelModel, known: Known, tokens: Ints, uniform: Floats, settings: Settings
) -> Known:
    """Ranks and turns for layouts that have a `reading`; uniform (B, S) decides."""
    if known.reading is None:
        return known
    rows = np.flatnonzero(known.reading.rows)
    slots = tokens.shape[1]
    position = known.position
    position = np.zeros(tokens.shape[:2], dtype=np.int64) if position is None else position.copy()
    turns = known.turns
    turns = np.tile(np.arange(slots), (len(tokens), 1)) if turns is None else turns.copy()
    state = _begin(known, tokens, rows)
    used = np.zeros((len(rows), model.labels), dtype=np.int64)
    ahead = np.zeros_like(used)
    row, slot = np.nonzero(state.left)
    np.add.at(ahead, (row, state.labels[row, slot]), 1)
    last = np.full((len(rows), LAST), -1)
    for rank in range(int(state.counts.max(initial=0))):
        live = np.flatnonzero(state.counts > rank)
        seen = features(used[live], ahead[live], state.counts[live] - rank, last[live])
        weights = label_weights(model.log_probs(seen, ahead[live]), settings)
        each = weights / np.maximum(ahead[live], 1)  # of each element that has the label
        mine = np.take_along_axis(each, state.labels[live], axis=1)
        chosen = draw(_element_weights(state, live, rank, mine), uniform[rows[live], rank])
        label = state.labels[live, chosen]
        state.left[live, chosen] = False
        position[rows[live], chosen], turns[rows[live], chosen] = rank + 1, rank
        used[live, label] += 1
        ahead[live, label] -= 1
        last[live] = np.column_stack([label, last[live, :-1]])
    return replace(known, position=position, turns=turns)


def _begin(known: Known, tokens: Ints, rows: Ints) -> _Draw:
    assert known.reading is not None
    valid = known.valid[rows]
    above = through_others(known.reading.before[rows])
    third = known.reading.third[rows]
    # Of two elements bound to thirds, the one bound higher is read first: 97 to 100 % of real ones.
    bound = (third[:, :, None] >= 0) & (third[:, :, None] < third[:, None, :])
    return _Draw(
        labels=np.where(valid, tokens[rows, :, 0], 0),
        counts=known.counts[rows],
        before=above | bound,
        after=above.sum(axis=2).astype(np.float64),
        third=third,
        left=valid.copy(),
    )


def _element_weights(state: _Draw, live: Ints, rank: int, chance: Floats) -> Floats:
    """How likely each element (R, S) is the next, from the chances of their labels."""
    left = state.left[live]
    waits = (state.before[live] & left[:, :, None]).any(axis=1)
    free = left & ~waits
    # Wishes that contradict each other: whoever is left may be next.
    free = np.where(free.any(axis=1, keepdims=True), free, left)
    # Of all orders that a tree of relations allows, this share begins with the element.
    weights = chance * (1.0 + state.after[live]) * _time_has_come(state, live, rank)
    weights = np.where(free, weights, 0.0)
    # Top-p may have cut off every label that may come.
    return np.where(weights.any(axis=1, keepdims=True), weights, free)


def _time_has_come(state: _Draw, live: Ints, rank: int) -> Floats:
    """(R, S): chance of this rank, among those to come, for an element bound to its third.

    In units of that of an element that is bound to none.
    """
    factors = np.ones(state.third[live].shape)
    for i, row in enumerate(live):
        count = int(state.counts[row])
        chances = third_chances(count)[:, rank:]
        share = chances[:, 0] * (count - rank) / chances.sum(axis=1)
        bound = state.third[row] >= 0
        factors[i, bound] = share[state.third[row, bound]]
    return factors


def third_chances(count: int) -> Floats:
    """(3, count): how likely the element of each rank stands in each third of the canvas.

    >>> third_chances(3).round(2).tolist()
    [[0.87, 0.13, 0.01], [0.13, 0.73, 0.13], [0.01, 0.13, 0.87]]
    """
    edges = np.array(
        [
            [NormalDist((rank + 0.5) / count, SPREAD).cdf(edge) for rank in range(count)]
            for edge in (1 / 3, 2 / 3)
        ]
    )
    chances = np.stack([edges[0], edges[1] - edges[0], 1.0 - edges[1]])
    return np.asarray(np.maximum(chances, SELDOM))


def through_others(before: Bools) -> Bools:
    """(R, S, S): i before j if it is said, or if some k comes after i and before j.

    >>> chain = np.array([[[0, 1, 0], [0, 0, 1], [0, 0, 0]]], dtype=bool)
    >>> through_others(chain).astype(int).tolist()
    [[[0, 1, 1], [0, 0, 1], [0, 0, 0]]]
    """
    closed = before.copy()
    for k in range(before.shape[1]):
        closed |= closed[:, :, k, None] & closed[:, None, k, :]
    return closed

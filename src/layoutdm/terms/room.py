"""The term that leaves room: sizes and x look ahead.

Sizes come before places, so a size is drawn without knowing whether its box will fit anywhere, and
x without knowing whether a y is left. Here they look ahead: likely values are put in for what is
still open, and where hardly any of these boxes keeps apart from those that are there, the value is
ruled out and another one is drawn. Where none has room, the one with the most stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from layoutdm.boxes import shared_length
from layoutdm.diffusion.draw import draw
from layoutdm.diffusion.network import Bools, Ints
from layoutdm.plan.batch import Batch
from layoutdm.terms.apart import Apart, Neighbours
from layoutdm.terms.rows import Floats, Rows

PLACES = 32  # boxes that are looked at
ENOUGH = 2 / PLACES  # of them are free
TRIES = (2, 6)  # further draws, looked at together: most find room soon

# Powers of the root of r^5 = r + 1: multiples of them fill four dimensions evenly (Roberts 2018).
_ROOT = 1.1673039782614187
_EVENLY = (0.5 + np.outer(1 / _ROOT ** np.arange(1, 5), np.arange(1, PLACES + 1))) % 1.0


class LeaveRoom:
    """Keeps what is drawn to values with which the rest of the box still finds a place."""

    def __init__(self, batch: Batch, apart: Apart, centres: Sequence[Floats]) -> None:
        self._free, self._centres = apart.free, centres
        self._neighbours = Neighbours(batch, apart)

    def __call__(self, rows: Rows) -> None:
        if not rows.modality:
            return
        state, a = rows.view.state, rows.modality - 1
        own = state.boxes[rows.layout, rows.slot]
        own[:, a] = 0.0
        early = np.flatnonzero(np.isnan(own.sum(axis=1)))  # boxes that this value does not complete
        if not len(early):
            return
        count = self._neighbours(state, rows.layout[early], rows.slot[early])
        crowded = count.any(axis=1)
        early, count = early[crowded], count[crowded]
        if not len(early):
            return
        boxes = self._likely(rows, early, own[early])
        around = _Around(self._free, state.boxes[rows.layout[early]], count)
        self._draw_again(rows, early, boxes, around)

    def _likely(self, rows: Rows, early: Ints, own: Floats) -> Floats:
        """(n, 4, PLACES): boxes of elements, with likely values for what is open."""
        boxes = np.repeat(own[:, :, None], PLACES, axis=2)
        for a, centres in enumerate(self._centres):
            if a == rows.modality - 1:
                continue
            open_ = np.isnan(own[:, a])
            if open_.any():
                some = early[open_]
                log = rows.view.predicted(rows.layout[some], rows.slot[some], a + 1)
                log = log[:, : len(centres)]
                weights = np.exp(log - log.max(axis=1, keepdims=True))
                boxes[open_, a] = centres[evenly(weights, a)]
        return boxes

    def _draw_again(self, rows: Rows, early: Ints, boxes: Floats, around: _Around) -> None:
        """Leave of each row the value of the first draw with room, or of that with the most."""
        a, centres = rows.modality - 1, self._centres[rows.modality - 1]
        weights, number = rows.weights()[early], rows.uniform[early]

        def room(of: Ints, values: Ints) -> Floats:
            """(m, tries): the share of places that is free with each of these values."""
            trial = np.repeat(boxes[of], values.shape[1], axis=0)
            trial[:, a] = centres[np.minimum(values, len(centres) - 1)].reshape(-1, 1)
            free = around.free(trial, np.repeat(of, values.shape[1])).reshape(values.shape)
            return np.minimum(free, ENOUGH)

        first = draw(weights, number)
        best, most = first.copy(), room(np.arange(len(early)), first[:, None])[:, 0]
        for tries in TRIES:
            seek = np.flatnonzero(most < ENOUGH)
            if not len(seek):
                break
            numbers = [number := another(number) for _ in range(tries)]
            drawn = draw(weights[seek, None], np.stack(numbers, axis=1)[seek])
            free = room(seek, drawn)
            at = (np.arange(len(seek)), free.argmax(axis=1))
            better = free[at] > most[seek]
            best[seek[better]], most[seek[better]] = drawn[at][better], free[at][better]
        changed = np.flatnonzero(best != first)
        if len(changed):
            wrong = np.zeros((len(rows.layout), weights.shape[1]), dtype=bool)
            wrong[early[changed]] = np.arange(weights.shape[1]) != best[changed, None]
            rows.rule_out(wrong)


class _Around:
    """Boxes (n, S, 4) that elements keep apart from, where `count` (n, S) says so."""

    def __init__(self, share: float, boxes: Floats, count: Bools) -> None:
        some = np.flatnonzero(count.any(axis=0))
        boxes = np.where(count[:, some, None], boxes[:, some], 0.0)[..., None]
        half = boxes[:, :, 2:] / 2
        self._low, self._high = boxes[:, :, :2] - half, boxes[:, :, :2] + half  # (n, S, 2, 1)
        self._least, self._share = share * (boxes[:, :, 2] * boxes[:, :, 3]), share

    def free(self, boxes: Floats, rows: Ints) -> Floats:
        """The share of boxes (m, 4, PLACES) of these elements that keeps apart from all others."""
        size = boxes[:, 2:]
        low = np.minimum(np.maximum(boxes[:, :2] - size / 2, 0.0), np.maximum(1.0 - size, 0.0))
        ends = low[:, None], (low + size)[:, None]
        shared = shared_length(*ends, self._low[rows], self._high[rows])  # (m, S, 2, PLACES)
        own = self._share * (size[:, 0] * size[:, 1])
        covers = shared[:, :, 0] * shared[:, :, 1] > np.minimum(own[:, None], self._least[rows])
        return np.asarray(1.0 - np.count_nonzero(covers.any(axis=1), axis=1) / PLACES)


def evenly(weights: Floats, dimension: int) -> Ints:
    """(n, PLACES) values, spread over these weights (n, K) by an even sequence.

    >>> values = evenly(np.array([[1.0, 0.0, 3.0]]), 0)
    >>> np.bincount(values[0]).tolist()
    [10, 0, 22]
    """
    through = np.cumsum(weights, axis=-1)
    through /= through[:, -1:]
    below = (through[:, None] < _EVENLY[dimension][:, None]).sum(axis=-1)
    return np.asarray(np.minimum(below, weights.shape[1] - 1))


def another(uniform: Floats) -> Floats:
    """Numbers for another draw, that depend on nothing but these (the mixer of SplitMix64).

    What is left of a number within its value's interval would be uniform as well, but a last digit
    of the network's would decide it after a few draws, and so other processors would differ.

    >>> another(np.array([0.6, 0.7])).round(3).tolist()
    [0.69, 0.404]
    """
    mixed = uniform.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.asarray((mixed >> np.uint64(11)) * 2.0**-53)

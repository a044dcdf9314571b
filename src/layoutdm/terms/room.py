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
TRIES = 8

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
        weights, uniform = rows.weights()[early], rows.uniform[early]
        best = now = draw(weights, uniform)
        boxes[:, a] = centres[np.minimum(now, len(centres) - 1), None]
        most = around.free(boxes, slice(None))
        seek = np.flatnonzero(most < ENOUGH)  # without room so far
        if not len(seek):
            return
        first = best
        for _ in range(TRIES):
            if not len(seek):
                break
            uniform[seek] = another(uniform[seek])
            now = draw(weights[seek], uniform[seek])
            boxes[seek, a] = centres[np.minimum(now, len(centres) - 1), None]
            free = around.free(boxes[seek], seek)
            better = free > most[seek]
            best = best.copy()
            best[seek[better]] = now[better]
            most[seek] = np.maximum(most[seek], free)
            seek = seek[free < ENOUGH]
        changed = np.flatnonzero(best != first)
        wrong = np.zeros((len(rows.layout), weights.shape[1]), dtype=bool)
        wrong[early[changed]] = np.arange(weights.shape[1]) != best[changed, None]
        rows.rule_out(wrong)


class _Around:
    """Boxes that elements keep apart from: (n, S, 4), of which `count` (n, S) count."""

    def __init__(self, share: float, boxes: Floats, count: Bools) -> None:
        some = np.flatnonzero(count.any(axis=0))
        boxes = boxes[:, some]
        self.share, self.count = share, count[:, some]
        half = boxes[..., 2:] / 2
        self.low, self.high = boxes[..., :2] - half, boxes[..., :2] + half  # (n, S, 2)
        self.area = boxes[..., 2] * boxes[..., 3]

    def free(self, boxes: Floats, rows: Ints | slice) -> Floats:
        """The share of boxes (m, 4, PLACES) of these elements that keeps apart from all others."""
        half = boxes[:, 2:] / 2
        low = np.minimum(np.maximum(boxes[:, :2] - half, 0.0), np.maximum(1.0 - boxes[:, 2:], 0.0))
        end = (low + boxes[:, 2:])[:, None]
        others = self.low[rows][..., None], self.high[rows][..., None]
        shared = shared_length(low[:, None], end, *others)  # (m, S, 2, PLACES)
        smaller = np.minimum((boxes[:, 2] * boxes[:, 3])[:, None], self.area[rows][..., None])
        with np.errstate(invalid="ignore"):  # boxes that are not there do not count
            covers = shared[:, :, 0] * shared[:, :, 1] > self.share * smaller
        covers &= self.count[rows][..., None]
        return np.asarray(1.0 - covers.any(axis=1).mean(axis=-1))


def evenly(weights: Floats, dimension: int) -> Ints:
    """(n, PLACES) values, spread over these weights (n, K) by an even sequence.

    >>> values = evenly(np.array([[1.0, 0.0, 3.0]]), 0)
    >>> np.bincount(values[0]).tolist()
    [10, 0, 22]
    """
    rows, size = weights.shape
    through = np.cumsum(weights, axis=-1)
    through /= through[:, -1:]
    # Row i is searched from i to i + 1, so one search does for all.
    start = np.arange(rows)[:, None]
    found = np.searchsorted((through + start).ravel(), (_EVENLY[dimension] + start).ravel())
    return np.asarray(np.minimum(found.reshape(rows, -1) - start * size, size - 1))


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

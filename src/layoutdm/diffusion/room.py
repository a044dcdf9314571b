"""Room for a box of which a part is drawn: sizes and x that look ahead.

Sizes come before places, so a size is drawn without knowing whether its box will fit anywhere, and
x without knowing whether a y is left. Here they look ahead: likely values are put in for what is
still open, and where hardly any of these boxes keeps apart from those that are there, the size or
x is drawn again. Where that does not help, the draw with the most room stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from layoutdm.diffusion.apart import Apart, Floats
from layoutdm.diffusion.draw import draw
from layoutdm.diffusion.network import Bools, Ints

PLACES = 32  # boxes that are looked at
ENOUGH = 2 / PLACES  # of them are free
TRIES = 8

# Powers of the root of r^5 = r + 1: multiples of them fill four dimensions evenly (Roberts 2018).
_ROOT = 1.1673039782614187
_EVENLY = (0.5 + np.outer(1 / _ROOT ** np.arange(1, 5), np.arange(1, PLACES + 1))) % 1.0

# Weights (n, values) of this attribute, x to height as 1 to 4, of some elements.
Chances = Callable[[Ints, int], Floats]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Tokens of one step, of boxes that it does not complete; k of them."""

    element: Ints  # (k,): layout * slots + slot
    modality: Ints  # (k,): 1 to 4
    weights: Floats  # (k, values): what they were drawn from
    uniform: Floats  # (k,): what decided
    values: Ints  # (k,)

    def of(self, chosen: Bools | Ints) -> Drawn:
        return Drawn(
            self.element[chosen],
            self.modality[chosen],
            self.weights[chosen],
            self.uniform[chosen],
            self.values[chosen],
        )


def with_room(apart: Apart, tokens: Ints, there: Bools, drawn: Drawn, chances: Chances) -> Ints:
    """The values (k,), some of them drawn again.

    tokens (B, S, 5) and there (B, S): after the step, and which boxes are whole then. chances: what
    the network says of tokens that are still open.
    """
    begins = np.append(True, drawn.element[1:] != drawn.element[:-1])
    owner, element = np.cumsum(begins) - 1, drawn.element[begins]
    layout, slot = np.divmod(element, tokens.shape[1])
    count = apart.keeping(tokens[layout], slot, there[layout])
    crowded: Bools = np.asarray(count.any(axis=1))
    if not crowded.all():
        if not crowded.any():
            return drawn.values
        values, some = drawn.values.copy(), crowded[owner]
        values[some] = with_room(apart, tokens, there, drawn.of(some), chances)
        return values
    others = np.flatnonzero(count.any(axis=0))
    boxes = _likely(apart, tokens.reshape(-1, 5)[element], element, chances)
    around = _Around(apart.free, apart.boxes(tokens[layout][:, others]), count[:, others])
    return _first_with_room(apart, drawn, owner, boxes, around)


def _likely(apart: Apart, own: Ints, element: Ints, chances: Chances) -> Floats:
    """(n, 4, PLACES): boxes of elements, with likely values for what is open; own (n, 5) tokens."""
    boxes = np.empty((len(own), 4, PLACES))
    for a, centres in enumerate(apart.centres):
        known = own[:, 1 + a] < len(centres)
        if known.all():
            boxes[:, a] = centres[own[:, 1 + a], None]
            continue
        boxes[known, a] = centres[own[known, 1 + a], None]
        boxes[~known, a] = centres[evenly(chances(element[~known], 1 + a), a)]
    return boxes


class _Around:
    """Boxes that elements keep apart from: (n, S, 4), of which `count` (n, S) count."""

    def __init__(self, free: float, boxes: Floats, count: Bools) -> None:
        self.share, self.count = free, count
        half = boxes[..., 2:] / 2
        self.low, self.high = boxes[..., :2] - half, boxes[..., :2] + half  # (n, S, 2)
        self.area = boxes[..., 2] * boxes[..., 3]

    def free(self, boxes: Floats, rows: Ints | slice) -> Floats:
        """The share of boxes (m, 4, PLACES) of these elements that keeps apart from all others."""
        half = boxes[:, 2:] / 2
        low = np.clip(boxes[:, :2] - half, 0.0, np.maximum(1.0 - boxes[:, 2:], 0.0))
        end = np.minimum((low + boxes[:, 2:])[:, None], self.high[rows][..., None])
        shared = end - np.maximum(low[:, None], self.low[rows][..., None])  # (m, S, 2, PLACES)
        np.maximum(shared, 0.0, out=shared)
        smaller = np.minimum((boxes[:, 2] * boxes[:, 3])[:, None], self.area[rows][..., None])
        covers = shared[:, :, 0] * shared[:, :, 1] > self.share * smaller
        covers &= self.count[rows][..., None]
        return np.asarray(1.0 - covers.any(axis=1).mean(axis=-1))


def _first_with_room(
    apart: Apart, drawn: Drawn, owner: Ints, boxes: Floats, around: _Around
) -> Ints:
    """Of each token (k,) the value of the first draw with room enough, or of that with the most.

    owner (k,): which of the elements (n,) the token belongs to.
    """
    most = around.free(boxes, slice(None))
    seek = np.flatnonzero(most < ENOUGH)  # elements without room so far
    found = now = drawn.values
    uniform = drawn.uniform
    for _ in range(TRIES):
        if not len(seek):
            break
        again = np.flatnonzero(np.isin(owner, seek))
        uniform, now = uniform.copy(), now.copy()
        uniform[again] = another(uniform[again])
        now[again] = draw(drawn.weights[again], uniform[again])
        for a, centres in enumerate(apart.centres):
            mine = again[drawn.modality[again] == 1 + a]
            boxes[owner[mine], a] = centres[now[mine], None]
        free = around.free(boxes[seek], seek)
        better = seek[free > most[seek]]
        found = np.where(np.isin(owner, better), now, found)
        most[seek] = np.maximum(most[seek], free)
        seek = seek[free < ENOUGH]
    return found


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

"""`Rows`: the tokens that are drawn now. A term adjusts their log p(z_0) before they are drawn.

>>> canvas = State(np.full((1, 1, 5), 3), np.full((1, 1, 4), np.nan))
>>> prediction = tuple(np.log(np.array([[[0.5, 0.25, 0.25, 1e-9]]])) for _ in range(5))
>>> view = View(canvas, prediction, np.zeros((1, 1), np.int64), sizes=(3, 3, 3, 3, 3))
>>> rows = view.rows(1, np.array([0]), np.array([0]), np.array([0.6]))
>>> rows.draw().tolist()
[1]
>>> rows.rule_out(np.array([[False, True, False]]))
>>> rows.draw().tolist()
[0]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.draw import draw, keep_top_p
from layoutdm.diffusion.network import Array, Bools, Ints

Floats = NDArray[np.float64]

# The published floor of log-probabilities: nothing that is allowed is ever quite impossible.
LOG_FLOOR = -70.0


@dataclass(frozen=True, eq=False)
class State:
    """B layouts on the way: tokens (B, S, 5), and boxes (B, S, 4), NaN where not decided."""

    tokens: Ints
    boxes: Floats


@dataclass(frozen=True, eq=False)
class View:
    """One answer of the network, and the state that it is drawn into.

    log_probs: for each modality (layouts asked about, slots asked about, values and PAD).
    index (B, S): where each element stands there, counted through.
    """

    state: State
    log_probs: tuple[Array, ...]
    index: Ints
    sizes: tuple[int, ...]
    noise: float = 1.0  # the level that the network was told, as a share of all levels
    pad: bool = False  # whether PAD can be drawn
    temperature: float = 1.0
    top_p: tuple[float, float] = (1.0, 1.0)  # of labels, of boxes

    def predicted(self, layout: Ints, slot: Ints, modality: int) -> Floats:
        """(n, values, and PAD where it can be drawn): log p(z_0), before any term."""
        states = self.sizes[modality] + self.pad
        table = self.log_probs[modality]
        found = table.reshape(-1, table.shape[-1])[self.index[layout, slot], :states]
        found = np.maximum(found, LOG_FLOOR, dtype=np.float64)
        return found / self.temperature if self.temperature != 1.0 else found

    def rows(self, modality: int, layout: Ints, slot: Ints, uniform: Floats) -> Rows:
        """Rows of this modality's tokens of some elements."""
        log = self.predicted(layout, slot, modality)
        return Rows(self, modality, layout, slot, log, uniform)


@dataclass(eq=False)
class Rows:
    """n tokens of one modality (0 label, 1 x, 2 y, 3 width, 4 height) that are drawn now."""

    view: View
    modality: int
    layout: Ints  # (n,)
    slot: Ints  # (n,)
    log: Floats  # (n, values, and PAD where it can be drawn)
    uniform: Floats  # (n,): what decides
    _weights: Floats | None = field(default=None, repr=False)

    def add(self, change: Floats) -> None:
        """Add to the log-probabilities of values, (n, values); a row that loses all stays."""
        part = self.log[:, : change.shape[1]]
        added = part + change
        lost = np.isneginf(added.max(axis=1))
        part[:] = np.where(lost[:, None], part, added) if lost.any() else added
        self._weights = None

    def rule_out(self, values: Bools) -> None:
        """These values, (n, values), cannot be drawn; a row that has no other keeps them all."""
        size = values.shape[1]
        lost = (values | (self.log[:, :size] == -np.inf)).all(axis=1)
        self.log[:, :size][values & ~lost[:, None]] = -np.inf
        self._weights = None

    def weights(self) -> Floats:
        """What is drawn from: probabilities up to a factor, after top-p."""
        if self._weights is None:
            weights = np.exp(self.log - self.log.max(axis=1, keepdims=True))
            self._weights = keep_top_p(weights, self.view.top_p[self.modality > 0])
        return self._weights

    def draw(self) -> Ints:
        """(n,) values."""
        return draw(self.weights(), self.uniform)


class Term(Protocol):
    """Adjusts rows in place: what is allowed, what fits, what is wished, what keeps apart."""

    def __call__(self, rows: Rows) -> None: ...

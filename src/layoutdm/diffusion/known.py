"""What is known about a batch of layouts before it is sampled, as token arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.apart import Apart
from layoutdm.diffusion.network import Bools, Ints, Query

Floats = NDArray[np.float64]


class Guide(Protocol):
    """Moves log-probabilities of the bins of x, y, width, height, in place, towards a wish."""

    def update(
        self, log_probabilities: Sequence[Any], strength: float, updates: int, *, move_sizes: bool
    ) -> None: ...


@dataclass(frozen=True, eq=False)
class Readings:
    """What is known of the order in which elements are read, for layouts that are to have one."""

    rows: Bools  # (B,): these layouts
    before: Bools  # (B, S, S): [i, j] says that i is read before j
    third: Ints  # (B, S): of the canvas, 0 for the upper one; -1 where it may be any


def partner(modality: int) -> int:
    """Of x the width, of y the height, and the other way round; all as numbers of modalities."""
    return modality + 2 if modality <= 2 else modality - 2


@dataclass(frozen=True)
class Known:
    """B layouts of up to S slots.

    Slots that only fill up a shorter layout are not valid; all their tokens count as fixed.
    """

    tokens: Ints  # (B, S, 5): fixed tokens, MASK elsewhere
    fixed: Bools  # (B, S, 5)
    valid: Bools  # (B, S)
    pad: Bools | None = None  # (B, S): slots that may turn out empty; None: none of them
    labels: Bools | None = None  # (B, S, labels): those the element may have; None: any
    priors: tuple[Floats, ...] | None = None  # 4 x (B, S, K): added to log p(z_s | z_t)
    about: Ints | None = None  # (B, S, 4): drafts for the network
    position: Ints | None = None  # (B, S): ranks for the network
    # (B, labels): how often each label must come, in any order; rows of zeros: no such wish.
    bag: Ints | None = None
    turns: Ints | None = None  # (B, S): when each slot has its turn; None: in their order
    reading: Readings | None = None  # layouts whose elements get ranks and turns before any box
    guide: Guide | None = None
    # (widths, x) and (heights, y): pairs of values with which a box lies on the canvas; None: any.
    # Once one of a pair is decided, the other is drawn from those that go with it.
    on_canvas: tuple[Bools, Bools] | None = None
    apart: Apart | None = None  # which labels keep apart; None: not known

    @property
    def counts(self) -> Ints:
        """Number of valid slots of each layout."""
        return np.asarray(self.valid.sum(axis=1), dtype=np.int64)

    def fitting(self, modality: int, other: Ints) -> Bools:
        """Values of x, y, width or height with which boxes fit: (n, values).

        other (n,): of the same boxes the size, or the centre. All values where it is not decided,
        and where none would fit.
        """
        assert self.on_canvas is not None
        sizes_first = self.on_canvas[(modality - 1) % 2]
        table = sizes_first if modality <= 2 else sizes_first.T
        found = np.ones((len(other), table.shape[1]), dtype=bool)
        decided = other < len(table)
        found[decided] = table[other[decided]]
        return found | ~found.any(axis=1, keepdims=True)

    def query(
        self,
        tokens: Ints,
        level: int,
        rows: Ints | None = None,
        *,
        ahead: Ints | None = None,
        asked: Ints | None = None,
    ) -> Query:
        """The network's question about all layouts, or about these rows.

        ahead (B, labels): labels still to come. asked (rows, A): slots to predict, None for all.
        """
        if rows is None:
            levels = np.full(len(tokens), level, dtype=np.int64)
            return Query(tokens, levels, self.valid, self.about, self.position, ahead, asked)
        return Query(
            tokens[rows],
            np.full(len(rows), level, dtype=np.int64),
            self.valid[rows],
            None if self.about is None else self.about[rows],
            None if self.position is None else self.position[rows],
            None if ahead is None else ahead[rows],
            asked,
        )

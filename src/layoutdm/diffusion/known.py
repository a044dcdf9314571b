"""What is known about a batch of layouts before it is sampled, as token arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

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

    @property
    def counts(self) -> Ints:
        """Number of valid slots of each layout."""
        return np.asarray(self.valid.sum(axis=1), dtype=np.int64)

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

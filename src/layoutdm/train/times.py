"""At which noise level each layout of a batch is trained: uniform, stratified or by importance.

The importance sampler draws levels in proportion to the size of their variational term, as the
published code does, and divides the loss by the probability. Its history is made of sums over the
whole batch of all processes, so every process holds the same one, and validation never sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ENOUGH = 10  # terms of every level that must be seen before their sizes are trusted
MEMORY = 0.9  # weight of the past in the running mean of squares


@dataclass
class Times:
    """Draws levels 1..T; `history` and `seen` (both T long) matter for importance only."""

    kind: str
    levels: int
    history: Tensor = field(init=False)
    seen: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.history = torch.zeros(self.levels, dtype=torch.float64)
        self.seen = torch.zeros(self.levels, dtype=torch.float64)

    def probabilities(self) -> Floats:
        """p(t) of the levels 1..T."""
        if self.kind != "importance" or bool((self.seen <= ENOUGH).any()):
            return np.full(self.levels, 1 / self.levels)
        size = np.sqrt(self.history.numpy() + 1e-10) + 1e-4
        if self.levels > 1:
            size[0] = size[1]  # the last step's term is of another kind; the published rule
        return np.asarray(size / size.sum())

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Levels of `count` layouts, and the weights 1 / (T p(t)) that keep the loss unbiased."""
        if self.kind == "stratified":
            return stratified(count, self.levels, rng), np.ones(count)
        probabilities = self.probabilities()
        edges = np.cumsum(probabilities)
        index = np.searchsorted(edges / edges[-1], rng.random(count), side="right")
        index = np.minimum(index, self.levels - 1)
        return index + 1, 1 / (self.levels * probabilities[index])

    def update(
        self, level: Tensor, size: Tensor, total: Callable[[Tensor], Tensor] = lambda x: x
    ) -> None:
        """Take in the variational terms of a batch. `total` sums a tensor over all processes.

        Several layouts at one level count with the mean of their squares; in the published code
        one of them, whichever is written last, stands for all.
        """
        if self.kind != "importance":
            return
        sums = torch.zeros((2, self.levels), dtype=torch.float64)
        index = level.cpu() - 1
        sums[0].index_add_(0, index, size.detach().cpu().double() ** 2)
        sums[1].index_add_(0, index, torch.ones(len(index), dtype=torch.float64))
        squares, counts = total(sums)
        mean = squares / counts.clamp(min=1)
        updated = MEMORY * self.history + (1 - MEMORY) * mean
        self.history = torch.where(counts > 0, updated, self.history)
        self.seen = self.seen + counts


def stratified(count: int, levels: int, rng: np.random.Generator) -> Ints:
    """One level from each of `count` equal strata of 1..T, in random order."""
    position = (rng.permutation(count) + rng.random(count)) / count
    return np.minimum((position * levels).astype(np.int64), levels - 1) + 1

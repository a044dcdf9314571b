"""Where the random choices of a run come from.

Every draw of step k comes from a generator seeded with (seed, purpose, k), so the random state of
a run, the data order included, is its step number: there is nothing else to save, and nothing that
could differ after a resume or between processes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

ORDER, CONTENT, DROPOUT, NUMBER = range(4)  # purposes
TOGETHER = 512  # layouts sorted by length: little padding, still random batches


class Draws:
    """Generators of a run, and the layouts of each step."""

    def __init__(self, seed: int, counts: Ints, batch_size: int) -> None:
        self.seed, self.counts = seed, counts
        self.batch_size = min(batch_size, len(counts))
        self.per_epoch = batches_per_epoch(len(counts), batch_size)
        self._epoch, self._batches = -1, list[Ints]()

    def generator(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose, number])

    def layouts(self, step: int) -> Ints:
        """Indices of the step's batch; an epoch's order is made when it is first asked for."""
        epoch, position = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            rng = self.generator(ORDER, epoch)
            self._batches = list(epoch_batches(self.counts, self.batch_size, rng))
            self._epoch = epoch
        return self._batches[position]


def epoch_batches(counts: Ints, batch_size: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Layout indices of one epoch's batches: random, but of similar length within a batch.

    The rest that does not fill a batch waits for another epoch; there is always one batch.
    """
    size = min(batch_size, len(counts))
    order = rng.permutation(len(counts))
    order = order[: len(order) // size * size]
    together = size * max(TOGETHER // size, 1)
    for begin in range(0, len(order), together):
        chunk = order[begin : begin + together]
        chunk = chunk[np.argsort(counts[chunk], kind="stable")].reshape(-1, size)
        yield from chunk[rng.permutation(len(chunk))]


def batches_per_epoch(layouts: int, batch_size: int) -> int:
    return layouts // min(batch_size, layouts)

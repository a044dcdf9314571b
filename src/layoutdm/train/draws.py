"""Where the random choices of a run come from.

Every draw of step k comes from a generator seeded with (seed, purpose, k), so the random state of
a run, the data order included, is its step number: there is nothing else to save, and nothing that
could differ after a resume or between processes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.train.corpus import batches_per_epoch, epoch_batches

ORDER, CONTENT, NOISE, DROPOUT, NUMBER = range(5)  # purposes


class Draws:
    """Generators of a run, and the layouts of each step."""

    def __init__(self, seed: int, counts: NDArray[np.int64], batch_size: int) -> None:
        self.seed, self.counts = seed, counts
        self.batch_size = min(batch_size, len(counts))
        self.per_epoch = batches_per_epoch(len(counts), batch_size)
        self._epoch, self._batches = -1, list[NDArray[np.int64]]()

    def generator(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose, number])

    def layouts(self, step: int) -> NDArray[np.int64]:
        """Indices of the step's batch; an epoch's order is made when it is first asked for."""
        epoch, position = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            rng = self.generator(ORDER, epoch)
            self._batches = list(epoch_batches(self.counts, self.batch_size, rng))
            self._epoch = epoch
        return self._batches[position]

"""The bound on held-out layouts, the same number whenever it is computed for the same weights.

Levels and noise are fixed: every layout is looked at at `levels` noise levels, one from each of as
many equal strata, and both the offsets and the noise come from generators of this module. Training
draws nothing from them, and the importance sampler's history is not touched.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from layoutdm.diffusion import Schedule
from layoutdm.train.config import TrainConfig
from layoutdm.train.corpus import UNCONDITIONAL, Corpus, make_batch, to_device
from layoutdm.train.losses import Batch, number_loss, terms
from layoutdm.train.networks import Network

SEED = 20230622
BATCH = 128


@dataclass(frozen=True)
class Bound:
    """Upper bound on -log p(layout), elements in random order, in nats, averaged over layouts.

    With number-first networks it includes -log p(number of elements), which `number` gives alone;
    with others it runs over all slots, PAD included. `bits` is per attribute of real elements.
    """

    nats: float
    bits: float
    number: float


@dataclass(frozen=True)
class FixedBatch:
    """Layouts to validate on, the offset of their levels, and the seed of their noise."""

    batch: Batch
    offset: Tensor
    seed: int
    elements: int


@dataclass(frozen=True)
class Validation:
    """Fixed batches of a corpus."""

    batches: tuple[FixedBatch, ...]
    levels: int

    @classmethod
    def create(
        cls,
        corpus: Corpus,
        config: TrainConfig,
        *,
        task: int = UNCONDITIONAL,
        ordered: bool = False,
    ) -> Validation:
        """Prepare the first `validate_limit` layouts, in batches of similar length."""
        chosen = np.arange(min(len(corpus), config.validate_limit))
        chosen = chosen[np.argsort(corpus.counts[chosen], kind="stable")]
        batches = []
        for number, begin in enumerate(range(0, len(chosen), BATCH)):
            indices = chosen[begin : begin + BATCH]
            rng = np.random.default_rng([SEED, number])
            batch = make_batch(corpus, indices, config, rng, task=task, ordered=ordered)
            offset = torch.from_numpy(rng.random(len(indices)))
            elements = int(corpus.counts[indices].sum())
            batches.append(FixedBatch(batch, offset, number, elements))
        return cls(tuple(batches), config.validate_levels)

    @torch.no_grad()
    def bound(
        self,
        network: Network,
        schedule: Schedule,
        *,
        share: tuple[int, int] = (0, 1),
        total: Callable[[Tensor], Tensor] = lambda x: x,
        device: torch.device | None = None,
    ) -> Bound:
        """The bound of this network.

        With several processes each takes its `share` (rank, processes) of the batches, and `total`
        sums a tensor over all of them.
        """
        assert isinstance(network, nn.Module)
        training = network.training
        network.eval()
        sums = torch.zeros(4, dtype=torch.float64)
        for fixed in self.batches[share[0] :: share[1]]:
            batch = fixed.batch if device is None else to_device(fixed.batch, device)
            offset = fixed.offset.to(batch.tokens.device)
            sums[0] += self._variational(network, schedule, batch, offset, fixed.seed)
            if network.config.number_first:
                nothing = torch.zeros_like(batch.valid)
                sums[1] += number_loss(network, batch, nothing).sum().cpu()
            sums[2] += len(offset)
            sums[3] += fixed.elements
        network.train(training)
        nats, number, layouts, elements = total(sums).tolist()
        whole = nats + number
        return Bound(whole / layouts, whole / (5 * elements * math.log(2)), number / layouts)

    def _variational(
        self, network: Network, schedule: Schedule, batch: Batch, offset: Tensor, seed: int
    ) -> float:
        """Sum over layouts of the estimated sum over all levels."""
        value = 0.0
        rng = np.random.default_rng([SEED, seed, 1])
        for stratum in range(self.levels):
            level = ((stratum + offset) / self.levels * schedule.steps).long() + 1
            noise = torch.from_numpy(rng.random((2, *batch.tokens.shape)))
            found = terms(network, schedule, batch, level.clamp(max=schedule.steps), noise)
            value += float(found.variational.sum()) * schedule.steps / self.levels
        return value

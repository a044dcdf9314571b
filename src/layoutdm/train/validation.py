"""Figures of held-out layouts, the same number whenever they are computed for the same weights.

States and noise are fixed: they come from generators of this module. Training draws nothing from
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from layoutdm.diffusion import Schedule
from layoutdm.diffusion.timetable import DECIDED_AS
from layoutdm.train.batches import LABELS, UNCONDITIONAL, Batch, make_batch, to_device
from layoutdm.train.corpus import Corpus, Ints
from layoutdm.train.learner import Validated
from layoutdm.train.losses import terms
from layoutdm.train.networks import Network
from layoutdm.train.objective import masked_loss, number_loss
from layoutdm.train.recipe import Recipe

SEED = 20230622
BATCH = 64
LEVELS = 5  # looks at a layout at most, at noise levels or places spread evenly


@dataclass
class Validation:
    """The val split, and the recipe that says how layouts are shown."""

    corpus: Corpus
    recipe: Recipe
    schedule: Schedule
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    def boxes_in_order(self, network: Network, effort: int) -> Validated:
        """Nats per layout for number and boxes, decided one after the other as the sampler does.

        Labels and their order are known. Of each layout's box tokens in reading order some are
        looked at, spread evenly; the mean times their number stands for all.
        """
        nats = number = elements = layouts = 0.0
        for rng, batch, looks in self._batches(effort, LABELS, ordered=True):
            valid, n = batch.valid, batch.valid.sum(dim=1)
            offset = torch.from_numpy(rng.random(len(n))).to(self.device)
            for look in range(looks):
                place = ((look + offset) / looks * 4 * n).long()
                masked, asked, weight = _state(batch, place)
                found = masked_loss(network, batch, masked, asked, weight)
                nats += float((found * 4 * n).sum()) / looks
            nothing = torch.zeros_like(valid)
            number += float(number_loss(network, batch, nothing).sum())
            layouts += len(n)
            elements += float(n.sum())
        bits = nats / (4 * elements * math.log(2))
        whole = (nats + number) / layouts
        return Validated(whole, {"bits": bits, "number": number / layouts})

    def variational(self, network: Network, effort: int) -> Validated:
        """Upper bound on -log p(layout), elements in random order, all slots, PAD included."""
        nats = layouts = elements = 0.0
        for rng, batch, looks in self._batches(effort, UNCONDITIONAL, ordered=False):
            offset = torch.from_numpy(rng.random(len(batch.tokens))).to(self.device)
            for look in range(looks):
                level = ((look + offset) / looks * self.schedule.steps).long() + 1
                noise = torch.from_numpy(rng.random((2, *batch.tokens.shape))).to(self.device)
                level = level.clamp(max=self.schedule.steps)
                found = terms(network, self.schedule, batch, level, noise)
                nats += float(found.variational.sum()) * self.schedule.steps / looks
            layouts += len(batch.tokens)
            pad = self.corpus.tokenizer.sizes[0]
            elements += float((batch.tokens[..., 0] != pad).sum())
        bits = nats / (5 * elements * math.log(2))
        return Validated(nats / layouts, {"bits": bits})

    def _batches(
        self, effort: int, task: int, *, ordered: bool
    ) -> Iterator[tuple[np.random.Generator, Batch, int]]:
        """Batches of like length, and how often to look at each layout."""
        looks = int(np.clip(effort // len(self.corpus), 1, LEVELS))
        wanted = int(np.clip(effort // looks, 1, len(self.corpus)))
        chosen = np.linspace(0, len(self.corpus) - 1, wanted).astype(np.int64)
        chosen = chosen[np.argsort(self.corpus.counts[chosen], kind="stable")]
        for number, begin in enumerate(range(0, len(chosen), BATCH)):
            rng = np.random.default_rng([SEED, number])
            indices: Ints = chosen[begin : begin + BATCH]
            batch = make_batch(self.corpus, indices, self.recipe, rng, task=task, ordered=ordered)
            yield rng, to_device(batch, self.device), looks


def _state(batch: Batch, place: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Boxes decided up to this token of each layout: masked (B, S, 5), asked (B, 1), weight."""
    stage = [DECIDED_AS.index(m) - 1 for m in range(5)]  # of width, height, x, y: 0 to 3
    slots = torch.arange(batch.valid.shape[1], device=place.device)
    rank = 4 * slots[:, None] + torch.tensor(stage, device=place.device)
    boxes = torch.arange(5, device=place.device) > 0
    masked = (rank >= place[:, None, None]) & boxes & batch.valid[..., None]
    asked = (place // 4)[:, None]
    weight = (torch.tensor(stage, device=place.device) == (place % 4)[:, None]) & boxes
    return masked, asked, weight[:, None].float()

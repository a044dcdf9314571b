"""The published recipe's loss: the variational bound and its auxiliary term, at drawn levels."""

from __future__ import annotations

import torch
from torch import Tensor

from layoutdm.diffusion import Schedule
from layoutdm.train.batches import Batch
from layoutdm.train.losses import terms
from layoutdm.train.networks import Network

AUXILIARY = 0.1


def published_loss(
    network: Network,
    schedule: Schedule,
    batch: Batch,
    level: Tensor,
    weight: Tensor,
    noise: Tensor,
) -> tuple[Tensor, Tensor]:
    """Mean loss of a batch, and the variational term per token of each layout (no gradient).

    weight: 1 / (T p(t)) of each layout's level. The published code sums over tokens and divides by
    p(t), which is T times larger, so that clipping is active most of the time; this is its mean.
    noise: see `corrupt_tokens`. The published index of levels counts from 0, hence level - 1.
    """
    found = terms(network, schedule, batch, level, noise)
    counted = found.counted.clamp(min=1)
    factor = AUXILIARY * (2 - (level - 1) / schedule.steps)
    per_layout = (found.variational + factor * found.auxiliary) / counted * weight
    return per_layout.mean(), (found.variational / counted).detach()


def to_noise(uniform: Tensor) -> Tensor:
    """(B, 2, S, 5) numbers of a batch as `corrupt_tokens` takes them."""
    return torch.movedim(uniform, 1, 0)

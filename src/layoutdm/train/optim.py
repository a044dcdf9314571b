"""Optimisers with the paper's parameter groups, how the learning rate moves, averaged weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn

from layoutdm.train.settings import Optimiser


def decayed(module: nn.Module) -> set[int]:
    """Identities of the weights that decay: those of linear layers, attention's included.

    Biases, norms, embeddings and positions do not.
    """
    return {id(part.weight) for part in module.modules() if isinstance(part, nn.Linear)}


def make_optimizers(module: nn.Module, settings: Optimiser) -> list[torch.optim.Optimizer]:
    """AdamW; or Muon for the matrices inside the blocks and AdamW for everything else."""
    rate, decay = settings.learning_rate, decayed(module)
    named = dict(module.named_parameters())
    hidden = [
        parameter
        for name, parameter in named.items()
        if settings.kind == "muon" and ".blocks." in f".{name}" and id(parameter) in decay
    ]
    inside = {id(parameter) for parameter in hidden}
    rest = [parameter for parameter in named.values() if id(parameter) not in inside]
    groups = [
        {"params": [p for p in rest if id(p) in decay], "weight_decay": settings.weight_decay},
        {"params": [p for p in rest if id(p) not in decay], "weight_decay": 0.0},
    ]
    adamw = torch.optim.AdamW(groups, lr=rate, betas=settings.betas, fused=True)
    if not hidden:
        return [adamw]
    # Updates scaled to AdamW's usual size, so that one learning rate serves both.
    muon = torch.optim.Muon(
        hidden, lr=rate, weight_decay=settings.weight_decay, adjust_lr_fn="match_rms_adamw"
    )
    return [muon, adamw]


@dataclass
class Plateau:
    """Halves the rate when the bound has not fallen by 1 % for more than two evaluations."""

    best: float = math.inf
    waited: int = 0
    factor: float = 1.0

    def update(self, bound: float) -> None:
        if bound < self.best * (1 - 1e-2):
            self.best, self.waited = bound, 0
            return
        self.waited += 1
        if self.waited > 2:
            self.factor, self.waited = self.factor / 2, 0


def rate_factor(settings: Optimiser, step: int, done: float, plateau: Plateau) -> float:
    """Share of the learning rate at this step; `done` is the share of the budget that is used."""
    warm = min(1.0, (step + 1) / settings.warm_up) if settings.warm_up else 1.0
    if settings.schedule == "cosine":
        fall = 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
        return warm * (settings.floor + (1 - settings.floor) * fall)
    return warm * (plateau.factor if settings.schedule == "plateau" else 1.0)


def set_rate(optimizers: list[torch.optim.Optimizer], rate: float) -> None:
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate


def decay_of(width: float, step: int) -> float:
    """How much of the old mean stays, so that it is always about `width` of all steps wide.

    A power-function average (Karras et al. 2024): beta = (1 - 1/t)^(g + 1), whose standard
    deviation is the share sqrt(g + 1) / ((g + 2) sqrt(g + 3)) of t, about 1 / (g + 3).

    >>> decay_of(0.05, 0), round(decay_of(0.05, 1000), 3)
    (0.0, 0.982)
    """
    if not width:
        return 0.0
    power = max(1 / width - 3, 0.0)
    return float((1 - 1 / (step + 1)) ** (power + 1))


@torch.no_grad()
def update_average(average: nn.Module, module: nn.Module, decay: float) -> None:
    """Move the averaged weights towards the module's; buffers, such as statistics, are copied."""
    torch._foreach_lerp_(list(average.parameters()), list(module.parameters()), 1 - decay)
    for mean, value in zip(average.buffers(), module.buffers(), strict=True):
        mean.copy_(value)

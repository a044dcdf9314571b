"""Optimisers with the paper's parameter groups, and how the learning rate moves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn

from layoutdm.train.config import TrainConfig


def decayed(module: nn.Module) -> set[int]:
    """Identities of the weights that decay: those of linear layers, attention's included.

    Biases, norms, embeddings and positions do not.
    """
    return {id(part.weight) for part in module.modules() if isinstance(part, nn.Linear)}


def make_optimizers(module: nn.Module, config: TrainConfig) -> list[torch.optim.Optimizer]:
    """AdamW; or Muon for the matrices inside the blocks and AdamW for everything else."""
    rate, decay = config.learning_rate, decayed(module)
    named = dict(module.named_parameters())
    hidden = [
        parameter
        for name, parameter in named.items()
        if config.optimizer == "muon" and ".blocks." in f".{name}" and id(parameter) in decay
    ]
    inside = {id(parameter) for parameter in hidden}
    rest = [parameter for parameter in named.values() if id(parameter) not in inside]
    groups = [
        {"params": [p for p in rest if id(p) in decay], "weight_decay": config.weight_decay},
        {"params": [p for p in rest if id(p) not in decay], "weight_decay": 0.0},
    ]
    adamw = torch.optim.AdamW(groups, lr=rate, betas=config.betas, fused=True)
    if not hidden:
        return [adamw]
    # Updates scaled to AdamW's usual size, so that one learning rate serves both.
    muon = torch.optim.Muon(
        hidden, lr=rate, weight_decay=config.weight_decay, adjust_lr_fn="match_rms_adamw"
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


def rate_factor(config: TrainConfig, step: int, done: float, plateau: Plateau) -> float:
    """Share of the learning rate at this step; `done` is the share of the budget that is used."""
    warm = min(1.0, (step + 1) / config.warmup_steps) if config.warmup_steps else 1.0
    if config.learning_rate_schedule == "cosine":
        fall = 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
        return warm * (config.learning_rate_floor + (1 - config.learning_rate_floor) * fall)
    return warm * (plateau.factor if config.learning_rate_schedule == "plateau" else 1.0)


def set_rate(optimizers: list[torch.optim.Optimizer], rate: float) -> None:
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate

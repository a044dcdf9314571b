"""All that changes during a run, and its way into a checkpoint and back."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from layoutdm.train.budget import Clock, Looks
from layoutdm.train.checkpoint import Checkpoint, flatten_optimizer, restore_optimizer
from layoutdm.train.learner import Learner
from layoutdm.train.optim import Plateau, make_optimizers
from layoutdm.train.settings import Optimiser


@dataclass
class Counters:
    """Where a run is."""

    step: int = 0
    seconds: float = 0.0  # of the whole command, over all resumed parts
    evaluated_step: int = 0
    evaluated_seconds: float = 0.0
    best_bound: float = math.inf
    best_figures: dict[str, float] = field(default_factory=dict)
    best_step: int = 0
    best_phase: str = ""
    lowest_bound: float = math.inf  # of this phase; the best weights may be a little above it
    waited: int = 0  # evaluations since the lowest bound
    finished: bool = False
    looks: Looks | None = None  # how it validates; decided once
    plateau: Plateau = field(default_factory=Plateau)

    @property
    def now(self) -> Clock:
        return Clock(self.step, self.seconds)

    @property
    def evaluated(self) -> Clock:
        return Clock(self.evaluated_step, self.evaluated_seconds)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Counters:
        looks = record["looks"]
        return cls(**{
            **record,
            "plateau": Plateau(**record["plateau"]),
            "looks": Looks(**looks) if looks else None,
        })  # fmt: skip


class RunState:
    """Weights, their average, the best average, optimisers, the learner's own and counters."""

    def __init__(self, learner: Learner, optimiser: Optimiser, device: torch.device) -> None:
        self.learner = learner
        self.module = learner.module.to(device)
        self.average = copy.deepcopy(self.module)
        self.best = _copied(self.module)
        self.turns = learner.turns()
        self.optimizers = [
            make_optimizers(turn.module, turn.optimiser or optimiser) for turn in self.turns
        ]
        self.counters = Counters()

    def keep_best(self) -> None:
        """Remember the averaged weights as the best so far."""
        self.best = _copied(self.average)

    def best_module(self) -> nn.Module:
        """The averaged weights that were kept by their bound on the val split, on the CPU."""
        module = copy.deepcopy(self.average).cpu()
        module.load_state_dict(self.best)
        module.eval()
        return module

    def checkpoint(self, extra: Mapping[str, Any]) -> Checkpoint:
        """Everything as named tensors and one record, with `extra` in it."""
        tensors: dict[str, Tensor] = {}
        for name, state in (
            ("network", self.module.state_dict()),
            ("average", self.average.state_dict()),
            ("best", self.best),
            ("learner", dict(self.learner.state())),
        ):
            tensors |= {f"{name}.{key}": value for key, value in state.items()}
        for name, optimizer in self._named_optimizers():
            tensors |= flatten_optimizer(name, optimizer)
        record = {**extra, "counters": asdict(self.counters)}
        return Checkpoint(self.counters.step, tensors, record)

    def restore(self, found: Checkpoint) -> None:
        """Put everything back as it was."""
        self.module.load_state_dict(_part(found, "network"))
        self.average.load_state_dict(_part(found, "average"))
        device = next(self.module.parameters()).device
        self.best = {name: value.to(device) for name, value in _part(found, "best").items()}
        for name, optimizer in self._named_optimizers():
            restore_optimizer(name, optimizer, found.tensors)
        self.learner.restore(_part(found, "learner"))
        self.counters = Counters.from_dict(found.record["counters"])
        self.counters.finished = False  # the budget may have grown

    def _named_optimizers(self) -> list[tuple[str, torch.optim.Optimizer]]:
        return [
            (f"optimizer{turn}-{index}", optimizer)
            for turn, optimizers in enumerate(self.optimizers)
            for index, optimizer in enumerate(optimizers)
        ]


def _copied(module: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


def _part(found: Checkpoint, name: str) -> dict[str, Tensor]:
    prefix = f"{name}."
    return {
        key.removeprefix(prefix): value
        for key, value in found.tensors.items()
        if key.startswith(prefix)
    }

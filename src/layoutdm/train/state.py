"""All that changes during a run, and its way into a checkpoint and back."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from layoutdm.train.checkpoint import Checkpoint, flatten_optimizer, restore_optimizer
from layoutdm.train.config import TrainConfig
from layoutdm.train.networks import Network
from layoutdm.train.optim import Plateau, make_optimizers
from layoutdm.train.times import Times


@dataclass
class Counters:
    """Where a run is."""

    step: int = 0
    seconds: float = 0.0  # of training, over all resumed parts
    evaluated_step: int = 0
    evaluated_seconds: float = 0.0
    best_bound: float = math.inf
    best_bits: float = math.inf
    best_step: int = 0
    waited: int = 0  # evaluations since the best one
    finished: bool = False
    plateau: Plateau = field(default_factory=Plateau)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Counters:
        return cls(**{**record, "plateau": Plateau(**record["plateau"])})


class RunState:
    """Weights, their average, the best average, optimisers, level history and counters."""

    def __init__(self, network: Network, config: TrainConfig, device: torch.device) -> None:
        assert isinstance(network, nn.Module)
        self.network: nn.Module = network.to(device)
        self.average = copy.deepcopy(self.network)
        self.best = _copied(self.network)
        self.optimizers = make_optimizers(self.network, config)
        self.times = Times(config.times, config.schedule_steps)
        self.counters = Counters()

    def keep_best(self) -> None:
        """Remember the averaged weights as the best so far."""
        self.best = _copied(self.average)

    def best_network(self) -> Network:
        """The averaged weights with the lowest bound on the val split, on the CPU."""
        network = copy.deepcopy(self.average).cpu()
        network.load_state_dict(self.best)
        network.eval()
        return network

    def checkpoint(self, extra: Mapping[str, Any]) -> Checkpoint:
        """Everything as named tensors and one record, with `extra` in it."""
        tensors = {"times.history": self.times.history, "times.seen": self.times.seen}
        for name, state in (
            ("network", self.network.state_dict()),
            ("average", self.average.state_dict()),
            ("best", self.best),
        ):
            tensors |= {f"{name}.{key}": value for key, value in state.items()}
        for index, optimizer in enumerate(self.optimizers):
            tensors |= flatten_optimizer(f"optimizer{index}", optimizer)
        record = {**extra, "counters": asdict(self.counters)}
        return Checkpoint(self.counters.step, tensors, record)

    def restore(self, found: Checkpoint) -> None:
        """Put everything back as it was."""
        self.network.load_state_dict(_part(found, "network"))
        self.average.load_state_dict(_part(found, "average"))
        device = next(self.network.parameters()).device
        self.best = {name: value.to(device) for name, value in _part(found, "best").items()}
        for index, optimizer in enumerate(self.optimizers):
            restore_optimizer(f"optimizer{index}", optimizer, found.tensors)
        self.times.history = found.tensors["times.history"]
        self.times.seen = found.tensors["times.seen"]
        self.counters = Counters.from_dict(found.record["counters"])
        self.counters.finished = False  # the budget may have grown


def _copied(module: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


def _part(found: Checkpoint, name: str) -> dict[str, Tensor]:
    prefix = f"{name}."
    return {
        key.removeprefix(prefix): value
        for key, value in found.tensors.items()
        if key.startswith(prefix)
    }

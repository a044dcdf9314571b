"""`Learner`: what a system adds to the trainer that all systems share.

A system says what a batch is, what its loss is, how it is validated and how a trained network
becomes a model folder. The trainer does the rest: order of the data, learning rate, averaged
weights, checkpoints, exact resume, budgets, precision, several processes.

>>> import numpy as np, torch
>>> class Mean(Learner):  # learns one number: the mean of the numbers of elements
...     name = "mean"
...     def __init__(self, counts):
...         self.counts, self.fingerprint = counts, "doctest"
...         self.module = torch.nn.Linear(1, 1)
...     def batch(self, layouts, rng, moment):
...         return {"count": torch.from_numpy(self.counts[layouts]).float()}
...     def loss(self, batch, moment, turn):
...         guess = self.module(torch.ones(len(batch["count"]), 1))[:, 0]
...         return ((guess - batch["count"]) ** 2).mean(), {}
...     def validate(self, module, effort):
...         return Validated(float((module(torch.ones(1, 1)) - self.counts.mean()) ** 2))
...     def export(self, module, out):
...         pass
>>> learner = Mean(np.array([2, 4]))
>>> [turn.name for turn in learner.turns()]
['all']
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from layoutdm.train.settings import Optimiser

if TYPE_CHECKING:
    from layoutdm.train.reporter import RunReport

Ints = NDArray[np.int64]
Batch = Mapping[str, Tensor]  # tensors whose first axis is the layouts of the batch
Notes = Mapping[str, Tensor]


@dataclass(frozen=True)
class Moment:
    """Where in its run a step is: phases and warm-ups are functions of this, never of a state."""

    step: int
    done: float  # share of the budget that is used, from 0 to 1


@dataclass(frozen=True)
class Validated:
    """`bound` is what should fall and decides which weights are kept; `figures` are for curves."""

    bound: float
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Turn:
    """One update of a step. Most systems have one; a GAN has one for each of its networks."""

    name: str
    module: nn.Module  # whose weights it changes
    optimiser: Optimiser | None = None  # None: the run's own


@dataclass(frozen=True)
class Export:
    """Where a finished run writes its model, and what it can tell about itself."""

    folder: Path
    report: RunReport
    notice: Callable[[str], None]
    seconds: float | None = None  # for finishing steps, where the budget is one of minutes


class Learner(ABC):
    """A system that learns. The first four are set by its `__init__`."""

    name: str  # of the system, as config.json has it
    module: nn.Module  # all that is trained: averaged, saved and restored by the trainer
    counts: Ints  # elements of each training layout: batches hold layouts of like length
    fingerprint: str  # of the data and what was made of them: a resumed run refuses others
    finishing: float = 0.0  # share of a budget in minutes that is kept for `export`

    def turns(self) -> tuple[Turn, ...]:
        """The updates of a step, in order; each has a loss and an optimiser of its own."""
        return (Turn("all", self.module),)

    def phase(self, done: float) -> str:
        """What is learned at this share of the budget; the best weights are those of the last."""
        return ""

    def slack(self, phase: str) -> float:
        """How far above the best bound later weights of a phase may be and still replace it.

        Above 0 where a phase teaches something that the bound does not tell.
        """
        return 0.0

    @abstractmethod
    def batch(self, layouts: Ints, rng: np.random.Generator, moment: Moment) -> Batch:
        """The tensors of these training layouts, on the CPU.

        All random choices about data come from `rng`, which follows from seed and step. With
        several processes each makes the whole batch, and the trainer takes its rows.
        """

    @abstractmethod
    def loss(self, batch: Batch, moment: Moment, turn: str) -> tuple[Tensor, Notes]:
        """The mean loss of these rows, and what `took` needs of it (without gradients).

        Torch's own generator is seeded from seed and step before each call.
        """

    def took(self, notes: Notes, total: Callable[[Tensor], Tensor]) -> None:
        """After an update. `total` sums a tensor over all processes."""
        return None

    @abstractmethod
    def validate(self, module: nn.Module, effort: int) -> Validated:
        """Judge these weights on the val split, the same way each time, without gradients.

        effort: about so many layouts may go through the network, each look at one counted.
        """

    def state(self) -> Mapping[str, Tensor]:
        """What changes besides weights and optimisers, for the checkpoint."""
        return {}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Put back what `state` gave."""
        return None

    @abstractmethod
    def export(self, module: nn.Module, out: Export) -> None:
        """Do what is left to do with the trained weights, and write the model folder."""

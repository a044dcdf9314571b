"""What all systems share of a training run: how weights move, and how long.

>>> Budget.create(minutes=20).minutes
20
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from layoutdm.errors import LayoutdmError

SCHEDULES = ("cosine", "plateau", "constant")
OPTIMISERS = ("adamw", "muon")
PRECISIONS = ("auto", "fp32", "bf16")


@dataclass(frozen=True)
class Optimiser:
    """How the weights move."""

    kind: str = "adamw"  # "muon" orthogonalises the updates of the blocks' matrices
    # Halved or doubled it ends at a worse bound on both data sets; wider networks want less.
    learning_rate: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.98)  # the published code's
    weight_decay: float = 0.1  # on the weights of linear layers only, as published
    clip: float = 1.0  # of the gradient's norm: a rare batch must not throw the weights away
    warm_up: int = 200  # steps: Adam's estimates of the first ones are poor
    schedule: str = "cosine"  # "plateau" halves when the bound stops falling, as published
    floor: float = 0.02  # the cosine ends at this share of the learning rate
    # Averaged weights: width of the mean, as a share of the steps so far; 0 for none. A share,
    # so that a run of two minutes and one of ten hours need no setting of their own.
    average: float = 0.05

    def __post_init__(self) -> None:
        require_choice("optimiser.kind", self.kind, OPTIMISERS)
        require_choice("optimiser.schedule", self.schedule, SCHEDULES)
        require(self.learning_rate > 0, "optimiser.learning_rate", self.learning_rate, "above 0")
        right = len(self.betas) == 2 and all(0 <= beta < 1 for beta in self.betas)
        require(right, "optimiser.betas", self.betas, "two numbers from 0 up to 1")
        for name in ("weight_decay", "clip", "warm_up"):
            value = getattr(self, name)
            require(finite(value) and value >= 0, f"optimiser.{name}", value, "0 or more")
        require(0 <= self.floor <= 1, "optimiser.floor", self.floor, "from 0 to 1")
        require(0 <= self.average <= 0.3, "optimiser.average", self.average, "from 0 to 0.3")


@dataclass(frozen=True)
class Budget:
    """How long a run lasts and how it is watched; the first limit that is reached ends it."""

    batch_size: int = 64  # more layouts a step are no faster a layout on a CPU, and learn less
    epochs: float | None = None  # passes over the data
    steps: int | None = None
    minutes: float | None = None  # of the whole command, validation and finishing included
    patience: int = 0  # validations without a better bound before an early stop; 0 is never
    validations: int = 20  # in a run, evenly spread: enough to see a curve
    checkpoint_minutes: float = 4.0  # what a power cut costs at most
    seed: int = 0
    # bf16 autocast where the processor or GPU has it. Only "fp32" repeats bit for bit elsewhere.
    precision: str = "auto"

    def __post_init__(self) -> None:
        require_choice("budget.precision", self.precision, PRECISIONS)
        for name in ("batch_size", "validations"):
            value = getattr(self, name)
            require(value >= 1, f"budget.{name}", value, "at least 1")
        for name in ("epochs", "steps", "minutes"):
            value = getattr(self, name)
            right = value is None or (finite(value) and value > 0)
            require(right, f"budget.{name}", value, "above 0")
        for name in ("patience", "seed"):
            value = getattr(self, name)
            require(value >= 0, f"budget.{name}", value, "0 or more")
        value = self.checkpoint_minutes
        require(0 <= value <= 10, "budget.checkpoint_minutes", value, "from 0 to 10")

    @classmethod
    def create(cls, **values: Any) -> Budget:
        """A budget of these values; unknown names are refused."""
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise LayoutdmError(f"training settings: budget has no {unknown[0]!r}")
        return cls(**values)

    @property
    def limited(self) -> bool:
        return bool(self.epochs or self.steps or self.minutes)


def finite(value: float) -> bool:
    return math.isfinite(value)


def require(right: bool, name: str, value: object, wanted: str) -> None:
    """Refuse a setting in one sentence."""
    if not right:
        raise LayoutdmError(f"training settings: {name} must be {wanted}, got {value!r}")


def require_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    require(value in allowed, name, value, f"one of {', '.join(allowed)}")

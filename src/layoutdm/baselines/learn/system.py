"""`SystemLearner`: what the systems share as learners; each adds its network, batches and loss."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from layoutdm.atomic import write_bytes
from layoutdm.baselines.learn.packed import Floats, Ints, Packed
from layoutdm.baselines.learn.transformer import COMPACT, PUBLISHED, Size, parameters
from layoutdm.tokens import Bins, fit_bins
from layoutdm.train.learner import Batch, Export, Learner, Moment, Notes, Validated
from layoutdm.train.settings import Optimiser

VALIDATION_SEED = 20230622
VALIDATION_BATCH = 64

# For all transformers at compact size: short runs want a higher rate than the published ones, and
# one that falls. The same for each, so that systems are compared and not their schedules.
SHORT = Optimiser(learning_rate=1e-3)


@dataclass(frozen=True)
class Recipe:
    """How a system is trained: data, sizes, and how its weights move."""

    bins: str = "uniform"  # as compared: 32 even bins; only LayoutDM has k-means
    bin_count: int = 32
    compact: Size = COMPACT
    published: Size = PUBLISHED
    # At published size, as published: AdamW, 1e-4, constant, without averaged weights.
    optimiser: Optimiser = field(
        default_factory=lambda: Optimiser(
            learning_rate=1e-4, schedule="constant", warm_up=0, average=0.0
        )
    )
    short: Optimiser = SHORT  # at compact size
    batch_size: int = 64
    epochs: float = 50.0  # where no budget is given

    def size(self, name: str) -> Size:
        return self.published if name == "published" else self.compact

    def moves(self, name: str) -> Optimiser:
        return self.optimiser if name == "published" else self.short


@dataclass(frozen=True, eq=False)
class Setup:
    """What a learner is made from."""

    name: str
    train: Packed
    val: Packed
    recipe: Recipe
    size: str = "compact"
    canvas: tuple[float, float] = (1.0, 1.0)
    changes: Mapping[str, Any] = field(default_factory=dict)  # of the network's size, for tests

    @property
    def shape(self) -> Size:
        return replace(self.recipe.size(self.size), **self.changes)


class SystemLearner(Learner):
    """A system of the paper under the trainer of all."""

    recipe: ClassVar[Recipe]
    bucketed: ClassVar[bool] = True  # batches of like length, where PAD is not learned

    def __init__(self, setup: Setup) -> None:
        self.setup, self.name = setup, setup.name
        self.train, self.val = setup.train, setup.val
        self.tokenizer = setup.train.tokenizer
        self.counts = self.train.counts if self.bucketed else np.ones_like(self.train.counts)
        self.fingerprint = f"{setup.name} {setup.size} {self.train.fingerprint}"
        self.module = self.build(setup.shape)

    @classmethod
    def fit_bins(cls, boxes: Floats) -> Bins:
        """How positions and sizes become tokens."""
        return fit_bins(boxes, cls.recipe.bins, cls.recipe.bin_count)

    @abstractmethod
    def build(self, size: Size) -> nn.Module:
        """A fresh network."""

    @abstractmethod
    def make(self, packed: Packed, layouts: Ints, rng: np.random.Generator) -> Batch:
        """The tensors of these layouts; all that is random about them comes from `rng`."""

    @abstractmethod
    def loss_of(self, module: nn.Module, batch: Batch) -> Tensor:
        """(B,) losses, or one mean."""

    @abstractmethod
    def files(self, module: nn.Module, folder: Path) -> dict[str, Any]:
        """Write the networks into a folder; returns what config.json needs besides the usual."""

    def counted(self, module: nn.Module) -> nn.Module:
        """The part whose parameters the paper's table counts."""
        return module

    def batch(self, layouts: Ints, rng: np.random.Generator, moment: Moment) -> Batch:
        return self.make(self.train, layouts, rng)

    def loss(self, batch: Batch, moment: Moment, turn: str) -> tuple[Tensor, Notes]:
        return self.loss_of(self.module, batch).mean(), {}

    @torch.no_grad()
    def validate(self, module: nn.Module, effort: int) -> Validated:
        """Mean loss of val layouts, each with the same random choices every time."""
        chosen = np.arange(min(len(self.val), max(effort, VALIDATION_BATCH)))
        chosen = chosen[np.argsort(self.val.counts[chosen], kind="stable")]
        total = torch.zeros((), dtype=torch.float64)
        for number, begin in enumerate(range(0, len(chosen), VALIDATION_BATCH)):
            rows = chosen[begin : begin + VALIDATION_BATCH]
            batch = self.make(self.val, rows, np.random.default_rng([VALIDATION_SEED, number]))
            device = next(module.parameters()).device
            torch.manual_seed(VALIDATION_SEED + number)
            moved = {name: tensor.to(device) for name, tensor in batch.items()}
            total += self.loss_of(module, moved).mean().double().cpu() * len(rows)
        return Validated(float(total) / len(chosen))

    def export(self, module: nn.Module, out: Export) -> None:
        folder = out.folder
        folder.mkdir(parents=True, exist_ok=True)
        module.eval()
        own = self.files(module, folder)
        config = {
            "format": 1,
            "generator": self.name,
            "system": self.name,
            "size": self.setup.size,
            "parameters": parameters(module),
            "labels": list(self.tokenizer.labels),
            "max_elements": self.tokenizer.max_elements,
            "bins": self.tokenizer.bins.to_dict(),
            "canvas": [float(side) for side in self.setup.canvas],
            "number_histogram": self.train.histogram,
            **own,
        }
        write_bytes(folder / "README.md", self._card(out, config).encode())
        write_bytes(folder / "config.json", (json.dumps(config, indent=1) + "\n").encode())

    def _card(self, out: Export, config: Mapping[str, Any]) -> str:
        report = out.report
        return (
            f"# {self.name}, {self.setup.size}\n\n"
            f"{config['parameters']:,} parameters, {len(self.tokenizer.labels)} labels, up to "
            f"{self.tokenizer.max_elements} elements. Trained on {len(self.train):,} layouts for "
            f"{report.epochs:.1f} epochs ({report.steps:,} steps); loss on "
            f"{len(self.val):,} held out layouts {report.bound:.4f} at step "
            f"{report.best_step:,}.\n\nUse it with `layoutdm generate --model FOLDER`.\n"
        )


def write_onnx(
    module: nn.Module,
    path: Path,
    inputs: Mapping[str, Tensor],
    outputs: Sequence[str],
    free: Mapping[str, Mapping[int, str]],
) -> None:
    """Export with torch.onnx; `free` names the axes of inputs and outputs that may vary."""
    import warnings

    module.eval()
    part = path.with_name(path.name + ".part")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the exporter speaks of its own future
        torch.onnx.export(
            module, tuple(inputs.values()), str(part), input_names=list(inputs),
            output_names=list(outputs), dynamic_axes={k: dict(v) for k, v in free.items()},
            opset_version=17, dynamo=False,
        )  # fmt: skip
    part.replace(path)

"""One training of a feature network: its settings, its state, one step, one look at val.

>>> FeatureTraining(minutes=10).batch_size
32
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from layoutdm.atomic import replacing
from layoutdm.errors import LayoutdmError
from layoutdm.train.features_data import FeatureBatch, Noise
from layoutdm.train.features_net import FeatureAutoencoder, FeatureShape, feature_loss

BUDGET = ("minutes", "steps", "patience")  # what a run that goes on may change


@dataclass(frozen=True)
class FeatureTraining:
    """How to train. The losses and their weights are the published ones; for noise see `Noise`.

    The published run takes 200,000 steps of 64 layouts at a constant 3e-4. Within minutes on one
    core, smaller batches and a cosine fall go further: after one minute of training on Rico (one
    run each) 32 layouts at a time reached a val loss of 3.78, 64 reached 4.01.
    """

    minutes: float = 30.0
    steps: int | None = None  # instead of minutes: the same steps and rates on every machine
    learning_rate: float = 4e-4
    warmup_steps: int = 200
    batch_size: int = 32
    noise: Noise = field(default_factory=Noise)
    box_weight: float = 10.0
    clip: float = 1.0
    evaluate_minutes: float = 2.0
    evaluate_steps: int = 200  # whichever of the two comes first
    patience: int = 8  # evaluations without a better val loss before an early stop
    # Share of the budget that is trained with the published dropout. Short runs underfit (the loss
    # on train stays above that on val), so the rest goes further without.
    dropout_share: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.minutes) and self.minutes > 0):
            raise LayoutdmError(f"minutes must be greater than 0, got {self.minutes:g}")
        if self.steps is not None and self.steps < 1:
            raise LayoutdmError(f"steps must be at least 1, got {self.steps}")
        if self.batch_size < 1:
            raise LayoutdmError(f"batch size must be at least 1, got {self.batch_size}")


@dataclass(frozen=True)
class Evaluation:
    """The state of a run at one moment; one line of metrics.jsonl."""

    step: int
    epoch: int
    minutes: float
    train_loss: float
    val_loss: float
    val_noisy_accuracy: float  # much or little noise, told rightly
    val_label_accuracy: float
    val_box_error: float  # mean absolute error of a coordinate
    learning_rate: float
    best: bool


class FeatureRun:
    """Network, optimiser and counters of one run: what a checkpoint holds."""

    def __init__(self, shape: FeatureShape, settings: FeatureTraining) -> None:
        torch.manual_seed(settings.seed)
        self.settings = settings
        self.network = FeatureAutoencoder(shape)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)
        self.rng = np.random.default_rng(settings.seed)
        self.step = 0
        self.epoch = 0
        self.within = 0  # batches of this epoch that are done
        self.seconds = 0.0
        self.best = math.inf
        self.waited = 0

    def save(self, path: Path) -> None:
        state = {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "counters": [
                self.step,
                self.epoch,
                self.within,
                self.seconds,
                self.best,
                self.waited,
            ],
            "settings": json.dumps(asdict(self.settings)),
            "torch_rng": torch.get_rng_state(),
            "rng": json.dumps(self.rng.bit_generator.state),
        }
        with replacing(path, durable=True) as part:
            torch.save(state, part)

    def load(self, path: Path) -> None:
        try:
            state: dict[str, Any] = torch.load(path, weights_only=True)
            before = json.loads(state["settings"])
            self.network.load_state_dict(state["network"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.step, self.epoch, self.within, *others = state["counters"]
            self.seconds, self.best, self.waited = others
            torch.set_rng_state(state["torch_rng"])
            self.rng.bit_generator.state = json.loads(state["rng"])
        except Exception as error:  # a damaged file fails in as many ways as there are readers
            reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
            raise LayoutdmError(
                f"{path}: is damaged or of another run, so it cannot go on ({reason}); "
                "choose another folder"
            ) from None
        now = json.loads(json.dumps(asdict(self.settings)))
        changed = [name for name in now if now[name] != before.get(name) and name not in BUDGET]
        if changed:
            raise LayoutdmError(
                f"{path}: its run has another {changed[0]} ({before.get(changed[0])}, now "
                f"{now[changed[0]]}); go on with the same settings or choose another folder"
            )

    def done(self) -> float:
        """The share of the budget that is used up, of steps or of time."""
        settings = self.settings
        if settings.steps is not None:
            return min(1.0, self.step / settings.steps)
        return min(1.0, self.seconds / (60 * settings.minutes))

    def rate(self) -> float:
        """Linear warm-up, then a cosine over the budget down to a hundredth."""
        settings = self.settings
        warm = min(1.0, (self.step + 1) / settings.warmup_steps)
        fall = 0.5 * (1 + math.cos(math.pi * self.done()))
        return settings.learning_rate * warm * (0.01 + 0.99 * fall)

    def train_step(self, batch: FeatureBatch) -> float:
        self.network.train()
        early = self.done() < self.settings.dropout_share
        self.network.set_dropout(self.network.shape.dropout if early else 0.0)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        loss = _loss(self.network, batch, self.settings)[0].total
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self.optimizer.step()
        self.step += 1
        return float(loss.detach())


def _loss(network: FeatureAutoencoder, batch: FeatureBatch, settings: FeatureTraining) -> Any:
    boxes, labels = torch.from_numpy(batch.boxes), torch.from_numpy(batch.labels)
    mask, noisy = torch.from_numpy(batch.mask), torch.from_numpy(batch.noisy)
    output = network(boxes, labels, mask)
    return feature_loss(output, boxes, labels, mask, noisy, settings.box_weight), output


@torch.no_grad()
def evaluate_network(
    network: FeatureAutoencoder, batches: Sequence[FeatureBatch], settings: FeatureTraining
) -> dict[str, float]:
    """Val loss and how well layouts are rebuilt, over batches with fixed noise."""
    network.eval()
    layouts = elements = 0
    sums = dict.fromkeys(("loss", "noisy_accuracy", "label_accuracy", "box_error"), 0.0)
    for batch in batches:
        loss, output = _loss(network, batch, settings)
        count, size = int(batch.mask.sum()), len(batch.noisy)
        mask = torch.from_numpy(batch.mask)
        # Each term is a mean of its own kind: over layouts, or over elements.
        per_element = float(loss.label + settings.box_weight * loss.box)
        guessed = (output.noisy > 0) == (torch.from_numpy(batch.noisy) > 0.5)
        named = output.labels[mask].argmax(-1) == torch.from_numpy(batch.labels)[mask]
        error = (output.boxes[mask] - torch.from_numpy(batch.boxes)[mask]).abs().mean(-1)
        sums["loss"] += float(loss.noisy) * size
        sums["noisy_accuracy"] += float(guessed.sum())
        sums["label_accuracy"] += float(named.sum())
        sums["box_error"] += float(error.sum())
        sums["element_loss"] = sums.get("element_loss", 0.0) + per_element * count
        layouts, elements = layouts + size, elements + count
    return {
        "val_loss": sums["loss"] / layouts + sums["element_loss"] / elements,
        "val_noisy_accuracy": sums["noisy_accuracy"] / layouts,
        "val_label_accuracy": sums["label_accuracy"] / elements,
        "val_box_error": sums["box_error"] / elements,
    }

"""Train a feature network for FID and write it as a folder that `load_features` reads.

```python
report = train_features(train, val, labels, Path("runs/mine"), FeatureTraining(minutes=10))
report.chosen.val_loss, report.folder
```

Chosen by the loss on val with fixed noise. Every few minutes the state is written in one rename,
and a run that is started again with `resume` goes on where it stopped.
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from layoutdm.atomic import replacing, write_bytes, write_text
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.lock import locked
from layoutdm.train.features_data import (
    Example,
    FeatureBatch,
    Noise,
    epoch,
    examples,
    fixed_batches,
    make_batch,
)
from layoutdm.train.features_export import export_encoder
from layoutdm.train.features_net import FeatureAutoencoder, FeatureShape, feature_loss
from layoutdm.train.reporter import read_metrics

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


@dataclass(frozen=True)
class FeatureReport:
    """What came out of a run."""

    folder: Path
    steps: int
    minutes: float
    chosen: Evaluation
    stopped_early: bool
    left_out: int


class _Run:
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


def train_features(
    train: Sequence[Layout],
    val: Sequence[Layout],
    labels: Sequence[str],
    folder: Path,
    settings: FeatureTraining | None = None,
    *,
    max_elements: int = 25,
    resume: bool = False,
    on_progress: Callable[[float, str], None] | None = None,
    on_evaluation: Callable[[Evaluation, Path], None] | None = None,
) -> FeatureReport:
    """Train, keep the best on val in `folder`, and return what happened.

    A folder that holds a run is refused unless `resume`, which goes on with it; so is one in which
    another run is at work. `on_evaluation` gets each evaluation and the folder, whose
    features.onnx then is the best so far. Layouts that are empty or longer than `max_elements` are
    left out and counted.
    """
    settings = settings or FeatureTraining()
    data, dropped = examples(train, labels, max_elements)
    held_out, dropped_val = examples(val, labels, max_elements)
    for name, kept in (("train", data), ("val", held_out)):
        if not kept:
            raise LayoutdmError(
                f"{name} holds no layout of 1 to {max_elements} elements; "
                "a feature network needs some to learn from"
            )
    check_folder(folder, resume=resume)
    with locked(folder, "fit-features"):
        check_folder(folder, resume=resume)
        run = _Run(FeatureShape(classes=len(labels), max_elements=max_elements), settings)
        if (folder / "checkpoint.pt").exists():
            run.load(folder / "checkpoint.pt")
        _cut_metrics(folder / "metrics.jsonl", run.step)
        batches = fixed_batches(held_out, 100, settings.noise)
        early = _loop(run, data, batches, labels, folder, on_progress, on_evaluation)
        chosen = _chosen(folder / "training.json")
    left_out = dropped + dropped_val
    return FeatureReport(folder, run.step, run.seconds / 60, chosen, early, left_out)


def check_folder(folder: Path, *, resume: bool) -> None:
    """Raise where a run must not write: over a file, or another run without `resume`."""
    if folder.exists() and not folder.is_dir():
        raise LayoutdmError(f"{folder}: is a file; --out should name a folder")
    if resume:
        return
    for name in ("checkpoint.pt", "features.onnx"):
        if (folder / name).exists():
            raise LayoutdmError(
                f"{folder}: already holds {name} of a run; go on with it with --resume, "
                "or choose another folder"
            )


def _cut_metrics(path: Path, step: int) -> None:
    """What came after the checkpoint that the run goes on from will come again."""
    lines = [json.dumps(line) for line in read_metrics(path) if line["step"] <= step]
    if path.exists():
        write_bytes(path, "".join(f"{line}\n" for line in lines).encode())


def _chosen(path: Path) -> Evaluation:
    try:
        return Evaluation(**json.loads(path.read_text(encoding="utf-8"))["chosen"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise LayoutdmError(
            f"{path}: is missing or damaged, so the run cannot go on; choose another folder"
        ) from None


def _loop(
    run: _Run,
    data: Sequence[Example],
    batches: Sequence[FeatureBatch],
    labels: Sequence[str],
    folder: Path,
    on_progress: Callable[[float, str], None] | None,
    on_evaluation: Callable[[Evaluation, Path], None] | None,
) -> bool:
    """Train until the budget is used up or val stops improving; True when it stopped early."""
    settings = run.settings
    last = run.step
    looked = run.seconds
    losses: list[float] = []
    while run.done() < 1 and run.waited < settings.patience:
        for chosen in epoch(data, settings.batch_size, settings.seed, run.epoch, run.within):
            started = time.perf_counter()
            batch = make_batch(chosen, run.rng, settings.noise)
            losses.append(run.train_step(batch))
            run.seconds += time.perf_counter() - started
            run.within += 1
            if on_progress:
                on_progress(run.done(), f"loss {np.mean(losses[-50:]):.3f}")
            if run.done() >= 1 or _is_due(settings, run.step - last, run.seconds - looked):
                last, looked = run.step, run.seconds
                evaluation = _evaluate(run, batches, float(np.mean(losses)))
                losses.clear()
                if evaluation.best:
                    export_encoder(run.network, labels, folder / "features.onnx")
                    _write_json(folder / "training.json", _record(run, evaluation))
                with (folder / "metrics.jsonl").open("a") as stream:
                    stream.write(json.dumps(asdict(evaluation)) + "\n")
                run.save(folder / "checkpoint.pt")
                if on_evaluation:
                    on_evaluation(evaluation, folder)
            if run.done() >= 1 or run.waited >= settings.patience:
                break
        else:
            run.epoch, run.within = run.epoch + 1, 0
    return run.done() < 1


def _is_due(settings: FeatureTraining, steps: int, seconds: float) -> bool:
    """Whether it is time to look at val. A budget of steps never looks at the clock."""
    if settings.steps is not None:
        return steps >= min(settings.evaluate_steps, math.ceil(settings.steps / 8))
    pause = min(60 * settings.evaluate_minutes, 60 * settings.minutes / 8)
    return steps >= settings.evaluate_steps or seconds >= pause


def _evaluate(run: _Run, batches: Sequence[FeatureBatch], train_loss: float) -> Evaluation:
    scores = evaluate_network(run.network, batches, run.settings)
    best = scores["val_loss"] < run.best
    run.best = min(run.best, scores["val_loss"])
    run.waited = 0 if best else run.waited + 1
    return Evaluation(
        step=run.step,
        epoch=run.epoch,
        minutes=round(run.seconds / 60, 3),
        train_loss=train_loss,
        learning_rate=run.rate(),
        best=best,
        **scores,
    )


def _record(run: _Run, evaluation: Evaluation) -> dict[str, object]:
    return {
        "settings": dataclasses.asdict(run.settings),
        "shape": dataclasses.asdict(run.network.shape),
        "chosen": dataclasses.asdict(evaluation),
    }


def _write_json(path: Path, value: object) -> None:
    write_text(path, json.dumps(value, indent=2) + "\n")

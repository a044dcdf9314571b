"""Train a feature network for FID and write it as a folder that `load_features` reads.

```python
report = train_features(train, val, labels, Path("runs/mine"), FeatureTraining(minutes=10))
report.chosen.val_loss, report.folder
```

Chosen by the loss on val with fixed noise. Every few minutes the state is written in one rename,
and a run that is started again with `resume` goes on where it stopped.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from layoutdm.atomic import write_bytes, write_text
from layoutdm.errors import LayoutdmError
from layoutdm.folders import refuse_taken
from layoutdm.layout import Layout
from layoutdm.lock import locked
from layoutdm.train.features_data import (
    Example,
    FeatureBatch,
    epoch,
    examples,
    fixed_batches,
    make_batch,
)
from layoutdm.train.features_export import export_encoder
from layoutdm.train.features_net import FeatureShape
from layoutdm.train.features_run import (
    Evaluation,
    FeatureRun,
    FeatureTraining,
    evaluate_network,
)
from layoutdm.train.reporter import read_metrics


@dataclass(frozen=True)
class FeatureReport:
    """What came out of a run."""

    folder: Path
    steps: int
    minutes: float
    chosen: Evaluation
    stopped_early: bool
    left_out: int


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
        run = FeatureRun(FeatureShape(classes=len(labels), max_elements=max_elements), settings)
        if (folder / "checkpoint.pt").exists():
            run.load(folder / "checkpoint.pt")
        _cut_metrics(folder / "metrics.jsonl", run.step)
        batches = fixed_batches(held_out, 100, settings.noise)
        early = _loop(run, data, batches, labels, folder, on_progress, on_evaluation)
        chosen = _chosen(folder / "training.json")
    left_out = dropped + dropped_val
    return FeatureReport(folder, run.step, run.seconds / 60, chosen, early, left_out)


def check_folder(folder: Path, *, resume: bool) -> None:
    """Raise where a run must not write: over a file, foreign ones, a run without `resume`."""
    if folder.exists() and not folder.is_dir():
        raise LayoutdmError(f"{folder}: is a file; --out should name a folder")
    there = [name for name in ("checkpoint.pt", "features.onnx") if (folder / name).exists()]
    if not there:
        refuse_taken(folder, ("training.json", "metrics.jsonl"))
    for name in there:
        if not resume:
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
    run: FeatureRun,
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


def _evaluate(run: FeatureRun, batches: Sequence[FeatureBatch], train_loss: float) -> Evaluation:
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


def _record(run: FeatureRun, evaluation: Evaluation) -> dict[str, object]:
    return {
        "settings": asdict(run.settings),
        "shape": asdict(run.network.shape),
        "chosen": asdict(evaluation),
    }


def _write_json(path: Path, value: object) -> None:
    write_text(path, json.dumps(value, indent=2) + "\n")

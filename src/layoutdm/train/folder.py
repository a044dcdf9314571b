"""A run and its folder, for every system: may it write there, train, draw the curves, export."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.atomic import write_bytes
from layoutdm.data import Dataset
from layoutdm.errors import LayoutdmError
from layoutdm.folders import refuse_taken
from layoutdm.layout import Layout
from layoutdm.train import checkpoint as checkpoints
from layoutdm.train.curves import save_curves
from layoutdm.train.learner import Learner
from layoutdm.train.reporter import RunReport, Silent, Watcher, read_metrics
from layoutdm.train.settings import Budget, Optimiser
from layoutdm.train.team import alone
from layoutdm.train.trainer import Lock, Trainer

RUN = "run"  # the part of a model folder that only training needs
BEGUN = ("start.json", "bins.json")  # there, a run has begun: one of them is its first file
WRITES = (  # by a run, at its end or before
    "README.md", "config.json", "curves.png", "training.json", "*.onnx", "*.npz", "*.safetensors",
    f"{RUN}/*",
)  # fmt: skip
SETTINGS = "training.json"
FEWEST = 50
SPLIT_SEED = 0


def unlocked(folder: Path) -> AbstractContextManager[None]:
    """For a run whose folder is locked already."""
    return nullcontext()


@dataclass(frozen=True)
class Watching:
    """Who watches a run and may stop it. seconds_before: what was done before training."""

    watcher: Watcher = Silent()  # noqa: RUF009
    tensorboard: bool = False
    stop: Callable[[], bool] = lambda: False
    lock: Lock = alone
    seconds_before: float = 0.0


def run_learner(
    learner: Learner,
    optimiser: Optimiser,
    budget: Budget,
    out: Path,
    *,
    settings: Mapping[str, Any],
    watching: Watching,
) -> RunReport:
    """Train, or go on with the run in `out`, and write the model folder when it is done.

    `settings` is written into the folder; a resumed run finds them there.
    """
    run = out / RUN
    trainer = Trainer(
        learner, optimiser, budget, run, settings=settings, watcher=watching.watcher,
        tensorboard=watching.tensorboard, stop=watching.stop, lock=watching.lock,
        seconds_before=watching.seconds_before,
    )  # fmt: skip
    text = (json.dumps(dict(settings), indent=1) + "\n").encode()
    if trainer.team.main:
        run.mkdir(parents=True, exist_ok=True)
        write_bytes(run / SETTINGS, text)
    report = trainer.run()
    if report.complete:
        if trainer.team.main:
            save_curves(read_metrics(run / "metrics.jsonl"), out / "curves.png")
            write_bytes(out / SETTINGS, text)
        trainer.export(out)
    return report


def saved_settings(out: Path) -> dict[str, Any] | None:
    """The settings of the run in this folder, if there is one."""
    path = out / RUN / SETTINGS
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:  # no JSON, or no UTF-8
        raise LayoutdmError(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(found, dict):
        raise LayoutdmError(f"{path}: must hold a JSON object, the settings of a run")
    return found


def check_folder(out: Path, *, resume: bool) -> None:
    """Raise where a run must not write: over a file, another run, a model or foreign files."""
    if out.exists() and not out.is_dir():
        raise LayoutdmError(f"{out}: is a file; --out should name a folder")
    if resume:
        if (out / "config.json").exists() and not (out / RUN / SETTINGS).exists():
            raise LayoutdmError(
                f"{out}: holds a model but no training run to go on with; "
                f"to train it further, use --base {out} and another --out"
            )
    elif checkpoints.steps(out / RUN):
        raise LayoutdmError(
            f"{out}: already holds a training run; continue it with --resume, "
            "or choose another folder"
        )
    elif (out / "config.json").exists():
        raise LayoutdmError(f"{out}: already holds a model; choose another folder")
    if not any((out / RUN / name).exists() for name in (*BEGUN, SETTINGS)):
        refuse_taken(out, WRITES)


def train_and_val(dataset: Dataset) -> tuple[Sequence[Layout], Sequence[Layout]]:
    """The two splits; where there is no val split, a twentieth of train (at least ten)."""
    layouts, val = dataset["train"], dataset.splits.get("val", ())
    if val:
        return layouts, val
    order = np.random.default_rng(SPLIT_SEED).permutation(len(layouts))
    held_out = min(max(10, len(layouts) // 20), len(layouts) // 2)
    chosen = set(order[:held_out].tolist())
    return (
        [layout for i, layout in enumerate(layouts) if i not in chosen],
        [layout for i, layout in enumerate(layouts) if i in chosen],
    )


def check_layouts(layouts: Sequence[Layout], dataset: Dataset, *, fine_tuning: bool) -> list[str]:
    """Raise where training makes no sense; return warnings where it makes little."""
    warnings = []
    if len(layouts) < FEWEST:
        sentence = f"data set {dataset.name!r} has {len(layouts)} layouts to train on"
        if not fine_tuning:
            raise LayoutdmError(
                f"{sentence}, and at least {FEWEST} are needed; "
                "add layouts, or fine-tune an existing model with --base"
            )
        warnings.append(f"{sentence}; below {FEWEST} a fine-tuned model mostly repeats them")
    if len(dataset.labels) == 1:
        warnings.append(
            f"all elements have the same label {dataset.labels[0]!r}: "
            "the model will learn positions and sizes only"
        )
    if dataset.removed:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in dataset.removed.items())
        warnings.append(f"left out: {reasons}")
    return warnings

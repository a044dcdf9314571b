"""Train any system on a data set and write its model folder.

```python
import layoutdm.data
from layoutdm.baselines.learn.run import train_system
from layoutdm.train.settings import Budget

data = layoutdm.data.open("posters/")
train_system(data, "layouttrans", Path("my_model"), budget=Budget(minutes=20))
```
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import PartialState

from layoutdm.atomic import write_bytes
from layoutdm.baselines.learn.packed import pack
from layoutdm.baselines.learn.system import Setup, SystemLearner
from layoutdm.baselines.systems import facts_of
from layoutdm.data import Dataset
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.tokens import Bins, Tokenizer
from layoutdm.train.draws import batches_per_epoch
from layoutdm.train.folder import (
    RUN,
    SETTINGS,
    Watching,
    check_folder,
    check_layouts,
    run_learner,
    train_and_val,
    unlocked,
)
from layoutdm.train.reporter import RunReport, Silent, Watcher
from layoutdm.train.settings import Budget, Optimiser
from layoutdm.train.team import alone, on_cpu

SIZES = ("compact", "published")


def train_system(
    dataset: Dataset,
    name: str,
    out: Path,
    *,
    size: str = "compact",
    budget: Budget | None = None,
    learning_rate: float | None = None,
    resume: bool = False,
    watcher: Watcher | None = None,
    stop: Callable[[], bool] = lambda: False,
    changes: Mapping[str, Any] | None = None,
) -> RunReport:
    """Train one system; `changes` are of its network's size (see `transformer.Size`)."""
    kind = learner_of(name)
    if size not in SIZES:
        raise LayoutdmError(f"size {size!r} is unknown; choose {' or '.join(SIZES)}")
    check_folder(out, resume=resume)
    with alone(out):
        check_folder(out, resume=resume)  # another run may just have ended
        return _train(
            dataset, kind, out, size, budget or Budget(), learning_rate, watcher or Silent(), stop,
            changes or {}, name,
        )  # fmt: skip


def _train(
    dataset: Dataset,
    kind: type[SystemLearner],
    out: Path,
    size: str,
    budget: Budget,
    learning_rate: float | None,
    watcher: Watcher,
    stop: Callable[[], bool],
    changes: Mapping[str, Any],
    name: str,
) -> RunReport:
    train, val = train_and_val(dataset)
    for warning in check_layouts(train, dataset, fine_tuning=False):
        watcher.notice(warning)
    if not budget.limited:
        budget = replace(budget, epochs=kind.recipe.epochs)
    tokenizer = _tokenizer(dataset, train, kind, out / RUN)
    setup = Setup(
        name, pack(train, tokenizer), pack(val, tokenizer), kind.recipe, size,
        _usual_canvas(train), changes,
    )  # fmt: skip
    moves = kind.recipe.moves(size)
    if learning_rate is not None:
        moves = replace(moves, learning_rate=learning_rate)
    moves = shortened(moves, budget, len(train))
    torch.manual_seed(budget.seed)
    learner = kind(setup)
    settings = _settings(name, size, setup, moves, budget)
    watching = Watching(watcher, stop=stop, lock=unlocked)
    report = run_learner(learner, moves, budget, out, settings=settings, watching=watching)
    if report.complete and PartialState(cpu=on_cpu()).is_main_process:
        record = {**settings, "report": asdict(report)}
        write_bytes(out / SETTINGS, (json.dumps(record, indent=1) + "\n").encode())
    return report


def shortened(moves: Optimiser, budget: Budget, layouts: int) -> Optimiser:
    """With a warm-up of at most a tenth of the run, where its steps are known.

    >>> shortened(Optimiser(warm_up=200), Budget(steps=500), 12_000).warm_up
    50
    """
    per_epoch = batches_per_epoch(layouts, budget.batch_size)
    limits = [budget.steps, budget.epochs and round(budget.epochs * per_epoch)]
    steps = min((int(limit) for limit in limits if limit), default=None)
    if steps is None:
        return moves
    return replace(moves, warm_up=min(moves.warm_up, steps // 10))


def learner_of(name: str) -> type[SystemLearner]:
    """The class that trains a system."""
    module, _, kind = facts_of(name).learner.partition(":")
    found: type[SystemLearner] = getattr(import_module(module), kind)
    return found


def _settings(
    name: str, size: str, setup: Setup, moves: Optimiser, budget: Budget
) -> dict[str, Any]:
    return {
        "system": name, "size": size, "network": asdict(setup.shape),
        "bins": {"kind": setup.recipe.bins, "count": setup.recipe.bin_count},
        "optimiser": asdict(moves), "budget": asdict(budget), "layouts": len(setup.train),
    }  # fmt: skip


def _tokenizer(
    dataset: Dataset, layouts: Sequence[Layout], kind: type[SystemLearner], run: Path
) -> Tokenizer:
    """Fitted to the train split once; a run that goes on reads what it began with."""
    path = run / "bins.json"
    if path.exists():
        bins = Bins.from_dict(json.loads(path.read_text()))
    else:
        boxes = np.concatenate([np.asarray(layout.boxes) for layout in layouts])
        bins = kind.fit_bins(boxes)
        run.mkdir(parents=True, exist_ok=True)
        write_bytes(path, json.dumps(bins.to_dict()).encode())
    return Tokenizer(dataset.labels, bins, dataset.max_elements)


def _usual_canvas(layouts: Sequence[Layout]) -> tuple[float, float]:
    """The most common width and height."""
    sizes = Counter((float(layout.width), float(layout.height)) for layout in layouts)
    return sizes.most_common(1)[0][0]

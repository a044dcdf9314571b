"""From a data set to a model folder: fit bins, train, keep the best, export, write the card.

```python
import layoutdm.data
from layoutdm.train.config import preset
from layoutdm.train.run import train

report = train(layoutdm.data.open("posters/"), preset("tiny", minutes=2), Path("my_model"))
report.bound, report.folder
```
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from layoutdm.data import Dataset
from layoutdm.diffusion.apart import Apart
from layoutdm.diffusion.labels import LabelModel
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.tokens import Tokenizer, fit_bins
from layoutdm.train import checkpoint as checkpoints
from layoutdm.train.apart import keeping_apart
from layoutdm.train.card import Facts, model_card
from layoutdm.train.config import TrainConfig
from layoutdm.train.corpus import label_sequences, pack
from layoutdm.train.curves import save_curves
from layoutdm.train.export import LoadedModel, count_numbers, export_model, write_bytes
from layoutdm.train.finetune import adapt, mean_weights, wider
from layoutdm.train.label_model import fit_labels
from layoutdm.train.networks import Network, build
from layoutdm.train.number import fit_number
from layoutdm.train.reporter import Silent, Watcher, read_metrics
from layoutdm.train.start import Start, read_start, write_start
from layoutdm.train.state import Counters
from layoutdm.train.trainer import Trainer

FEWEST = 50
RUN = "run"  # the part of a model folder that only training needs
SPLIT_SEED = 0


@dataclass(frozen=True)
class TrainReport:
    """What came out of a run; `complete` is False when it was stopped and can be resumed."""

    folder: Path
    complete: bool
    steps: int
    epochs: float
    minutes: float
    bound: float
    bits: float
    best_step: int
    stopped_early: bool
    parameters: int


def train(
    dataset: Dataset,
    config: TrainConfig,
    out: Path,
    *,
    base: LoadedModel | None = None,
    resume: bool = False,
    watcher: Watcher | None = None,
    tensorboard: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> TrainReport:
    """Train on a data set and write the model folder. `base` is a model to fine-tune."""
    watcher = watcher or Silent()
    run = out / RUN
    check_folder(out, resume=resume)
    if config.base_share and base is None:
        raise LayoutdmError(
            "base_share is a share of the model that training starts from; give it with --from"
        )
    train_layouts, val_layouts = train_and_val(dataset)
    for warning in check_layouts(train_layouts, dataset, fine_tuning=base is not None):
        watcher.notice(warning)
    start = read_start(run) if resume else None
    config = _with_budget(config if base is None or start else _like_base(config, base))
    if start is None:
        tokenizer = make_tokenizer(dataset, train_layouts, config, base)
        known = base.tokenizer.labels if base is not None else ()
        shape = config.network_config(tokenizer)
        if base is not None:
            shape = wider(base, tokenizer, config)
        start = Start(tokenizer, shape, known)
    tokenizer = start.tokenizer
    torch.manual_seed(config.seed)
    network = build(start.network) if base is None else adapt(base, tokenizer, config)
    trainer = Trainer(
        network, pack(train_layouts, tokenizer), pack(val_layouts, tokenizer), config, run,
        watcher=watcher, tensorboard=tensorboard, stop=stop,
    )  # fmt: skip
    if trainer.team.main:
        run.mkdir(parents=True, exist_ok=True)
        write_start(run, start)
        write_bytes(run / "training.json", (json.dumps(config.to_dict(), indent=1)).encode())
    counters = trainer.run()
    report = _report(out, config, trainer, counters)
    if report.complete and trainer.team.main:
        best = trainer.state.best_network()
        if config.base_share:
            assert base is not None
            adapted = adapt(base, tokenizer, config)
            best = mean_weights(base, best, adapted, config.base_share)
            bound = trainer.validation.bound(best, trainer.schedule)
            report = replace(report, bound=bound.nats, bits=bound.bits)
            watcher.notice(f"mean with the base: {bound.nats:.2f} nats per layout")
        if config.number_epochs:
            fit_number(best, trainer.train, config, progress=watcher.notice)
        facts = _facts(dataset, train_layouts, val_layouts, start, config, report)
        label_model = None
        if config.label_epochs:
            label_model = fit_labels(
                label_sequences(trainer.train), len(tokenizer.labels),
                epochs=config.label_epochs, seed=config.seed, progress=watcher.notice,
            )  # fmt: skip
        apart = keeping_apart(trainer.train)
        _write_model(out, best, tokenizer, config, train_layouts, facts, label_model, apart)
    trainer.team.wait()
    return report


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
                "add layouts, or fine-tune an existing model with --from"
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


def make_tokenizer(
    dataset: Dataset,
    layouts: Sequence[Layout],
    config: TrainConfig,
    base: LoadedModel | None,
) -> Tokenizer:
    """Bins fitted to the train boxes; or the base model's, whose weights belong to its bins."""
    if base is not None:
        return Tokenizer(dataset.labels, base.tokenizer.bins, base.tokenizer.max_elements)
    boxes = np.concatenate([np.asarray(layout.boxes) for layout in layouts])
    return Tokenizer(
        dataset.labels, fit_bins(boxes, config.bins, config.bin_count), config.max_elements
    )


def usual_canvas(layouts: Sequence[Layout]) -> tuple[float, float]:
    """The most common width and height."""
    sizes = Counter((float(layout.width), float(layout.height)) for layout in layouts)
    return sizes.most_common(1)[0][0]


def saved_config(out: Path) -> TrainConfig | None:
    """The settings of the run in this folder, if there is one."""
    path = out / RUN / "training.json"
    try:
        return TrainConfig.from_dict(json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except json.JSONDecodeError as error:
        raise LayoutdmError(f"{path}: not readable as JSON: {error}") from None


def check_folder(out: Path, *, resume: bool) -> None:
    """Raise where a run must not write: over a file, another run or a model."""
    if out.exists() and not out.is_dir():
        raise LayoutdmError(f"{out}: is a file; --out should name a folder")
    if resume:
        if (out / "config.json").exists() and not (out / RUN / "training.json").exists():
            raise LayoutdmError(
                f"{out}: holds a model but no training run to go on with; "
                f"to train it further, use --from {out} and another --out"
            )
        return
    if checkpoints.steps(out / RUN):
        raise LayoutdmError(
            f"{out}: already holds a training run; continue it with --resume, "
            "or choose another folder"
        )
    if (out / "config.json").exists():
        raise LayoutdmError(f"{out}: already holds a model; choose another folder")


def _with_budget(config: TrainConfig) -> TrainConfig:
    """Fifty epochs, as published, where no budget is given."""
    if config.epochs or config.steps or config.minutes:
        return config
    return replace(config, epochs=50.0)


def _like_base(config: TrainConfig, base: LoadedModel) -> TrainConfig:
    """The run's settings with the base model's network, schedule, bins and drafts."""
    network, record = base.network.config, base.config
    about_noise = tuple(record.get("about_noise", ()))
    plain = network.kind == "paper"
    if config.clear and not network.edges:
        raise LayoutdmError(
            "training settings: clear needs an element network with edges, and the model that "
            "training starts from has none; set clear to 0"
        )
    tasks = config.tasks
    if plain:
        tasks = (1.0, 0.0, 0.0, 0.0, 0.0)
    elif network.about_levels == 0:
        tasks = (*config.tasks[:4], 0.0)
    return replace(
        config, tasks=tasks, about_noise=about_noise or config.about_noise,
        ordered=0.0 if plain else config.ordered,
        label_epochs=0 if plain else config.label_epochs,
        number_epochs=0 if plain else config.number_epochs,
        ordered_tasks=network.ahead or (config.ordered_tasks and not plain),
        max_elements=base.tokenizer.max_elements, bins=base.tokenizer.bins.kind,
        bin_count=max(base.tokenizer.bins.counts), kind=network.kind, width=network.width,
        layers=network.layers, heads=network.heads, feedforward=network.feedforward,
        time=network.time, positions=network.positions, edges=network.edges, space=network.space,
        block=network.block, normalise=network.normalise,
        schedule_steps=base.schedule.steps, schedule_numbers=_numbers(base),
    )  # fmt: skip


def _numbers(base: LoadedModel) -> tuple[float, float, float, float]:
    schedule = base.schedule
    return (schedule.keep_first, schedule.keep_last, schedule.mask_first, schedule.mask_last)


def _report(out: Path, config: TrainConfig, trainer: Trainer, counters: Counters) -> TrainReport:
    return TrainReport(
        folder=out,
        complete=counters.finished,
        steps=counters.step,
        epochs=counters.step / trainer.draws.per_epoch,
        minutes=counters.seconds / 60,
        bound=counters.best_bound,
        bits=counters.best_bits,
        best_step=counters.best_step,
        stopped_early=config.patience > 0 and counters.waited >= config.patience,
        parameters=sum(parameter.numel() for parameter in trainer.state.network.parameters()),
    )


def _facts(
    dataset: Dataset, layouts: Sequence[Layout], val: Sequence[Layout], start: Start,
    config: TrainConfig, report: TrainReport,
) -> Facts:  # fmt: skip
    boxes = np.concatenate([np.asarray(layout.boxes) for layout in layouts])
    return Facts(
        data=dataset.name,
        split_note=dataset.split_note,
        train=len(layouts),
        val=len(val),
        elements=len(boxes),
        labels=start.tokenizer.labels,
        bin_error=start.tokenizer.bins.error(boxes),
        parameters=report.parameters,
        steps=report.steps,
        epochs=report.epochs,
        minutes=report.minutes,
        bound=report.bound,
        bits=report.bits,
        best_step=report.best_step,
        base_labels=start.base_labels,
        config=config,
    )


def _write_model(
    out: Path, network: Network, tokenizer: Tokenizer, config: TrainConfig,
    layouts: Sequence[Layout], facts: Facts, label_model: LabelModel | None, apart: Apart,
) -> None:  # fmt: skip
    counts = [len(layout) for layout in layouts]
    save_curves(read_metrics(out / RUN / "metrics.jsonl"), out / "curves.png")
    training: dict[str, Any] = config.to_dict()
    write_bytes(out / "training.json", (json.dumps(training, indent=1) + "\n").encode())
    export_model(
        network, tokenizer, config.noise_schedule(), out, sampling=config.usual_sampling(),
        number_histogram=count_numbers(counts, tokenizer.max_elements),
        canvas=usual_canvas(layouts),
        about_noise=config.about_noise if network.config.about_levels else (),
        card=model_card(facts),
        label_model=label_model,
        apart=apart,
    )  # fmt: skip

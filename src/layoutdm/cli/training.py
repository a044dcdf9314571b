"""What `layoutdm train` does with its options: opens data, watches the run, prints a summary."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from layoutdm.data import Dataset
from layoutdm.errors import LayoutdmError

BUDGETS = ("minutes", "epochs", "steps")
FINE_TUNING = 0.3  # of the preset's learning rate: the base model is already in a good place


@dataclass(frozen=True)
class TrainOptions:
    data: str
    out: Path
    preset: str
    base: str | None
    resume: bool
    changes: Mapping[str, Any]
    settings: list[str]
    portrait: bool
    skip_bad: bool
    threads: int
    tensorboard: bool
    format: str | None


def run_training(options: TrainOptions) -> None:
    """Train as the options say and print what came out."""
    try:
        import torch
        from accelerate import PartialState
    except ImportError as error:
        raise LayoutdmError(
            f"training needs the package {error.name!r}; install it with: "
            "pip install 'layoutdm[train]'"
        ) from None
    from layoutdm.cli.watch import TrainingWatch
    from layoutdm.train.config import TrainConfig, preset, with_text
    from layoutdm.train.run import check_folder, saved_config, train
    from layoutdm.train.team import on_cpu

    check_folder(options.out, resume=options.resume)
    if options.threads > 0:
        torch.set_num_threads(options.threads)
    base = _load_base(options.base) if options.base else None
    saved = saved_config(options.out) if options.resume else None
    if saved is not None:
        config: TrainConfig = replace(saved, **_budget_only(options, saved))
    else:
        config = preset(options.preset)
        if base is not None:
            config = replace(config, learning_rate=FINE_TUNING * config.learning_rate)
        config = with_text(replace(config, **options.changes), options.settings)
    limit = base.tokenizer.max_elements if base is not None else config.max_elements
    dataset = _open(options, limit)
    main = PartialState(cpu=on_cpu()).is_main_process
    with TrainingWatch(quiet=not main) as watch, _Stopper() as stop:
        watch.start(dataset, config, options.out)
        if options.resume and saved is None:
            watch.notice(f"{options.out}: no run to go on with yet; a new one begins")
        report = train(
            dataset, config, options.out, base=base, resume=options.resume,
            watcher=watch, tensorboard=options.tensorboard, stop=stop,
        )  # fmt: skip
    if not report.complete:
        if main:
            print(
                f"stopped at step {report.steps}; go on with: layoutdm train {options.data} "
                f"--out {options.out} --resume",
                file=sys.stderr,
            )
        raise KeyboardInterrupt
    if main:
        early = ", stopped early" if report.stopped_early else ""
        print(f"model        {report.folder} ({report.parameters:,} parameters)")
        print(
            f"training     {report.steps:,} steps, {report.epochs:.1f} epochs, "
            f"{report.minutes:.1f} minutes{early}"
        )
        print(
            f"bound        {report.bound:.2f} nats per layout, {report.bits:.3f} bits per "
            f"attribute on val, at step {report.best_step:,}"
        )
        print(f"curves       {report.folder / 'curves.png'}")
        print(f"try it       layoutdm generate --model {report.folder}")


def _open(options: TrainOptions, max_elements: int) -> Dataset:
    from layoutdm.data import open as open_data
    from layoutdm.formats.problems import Problems

    return open_data(
        options.data,
        format=options.format,
        max_elements=max_elements,
        portrait=options.portrait,
        problems=Problems(skip=options.skip_bad),
    )


def _load_base(name: str) -> Any:
    from layoutdm.model.store import find
    from layoutdm.train.export import load_network

    return load_network(find(name))


def _budget_only(options: TrainOptions, saved: Any) -> dict[str, Any]:
    """A resumed run keeps its settings; only its budget and patience may change.

    Giving a setting again is no change, so that a command can be repeated with --resume.
    """
    from layoutdm.train.config import with_text

    wanted = with_text(replace(saved, **options.changes), options.settings)
    before, after = saved.to_dict(), wanted.to_dict()
    fixed = [name for name in before if name not in (*BUDGETS, "patience")]
    changed = [name for name in fixed if before[name] != after[name]]
    if changed:
        raise LayoutdmError(
            f"--resume goes on with the settings of the run; {changed[0]} cannot change from "
            f"{before[changed[0]]} to {after[changed[0]]}, only minutes, epochs, steps and patience"
        )
    budget = {name: value for name, value in options.changes.items() if name in BUDGETS}
    cleared = dict.fromkeys(BUDGETS) if budget else {}
    return {**cleared, **options.changes}


class _Stopper:
    """Turns Ctrl-C and the termination of a job into a wish to stop after the current step."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        return self.asked

    def __enter__(self) -> Callable[[], bool]:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, number: int, frame: object) -> None:
        if self.asked:  # the second time: at once
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

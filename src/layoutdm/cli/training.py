"""What `layoutdm train` does with its options: opens data, watches the run, prints a summary."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layoutdm.cli.options import source as layouts_of
from layoutdm.data import Dataset
from layoutdm.errors import LayoutdmError
from layoutdm.extras import need

if TYPE_CHECKING:
    from layoutdm.train.recipe import Settings

BUDGETS = ("minutes", "epochs", "steps")
WATCHED = (*BUDGETS, "patience", "validations", "checkpoint_minutes")  # may change with --resume
PART_OF = {
    **dict.fromkeys((*WATCHED, "batch_size", "seed", "precision"), "budget"),
    **dict.fromkeys(("max_elements", "bins", "bin_count"), "data"),
    "learning_rate": "optimiser",
}
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
    as_json: bool = False


def run_training(options: TrainOptions) -> None:
    """Train as the options say and print what came out."""
    need("training", "torch", "accelerate", "safetensors", "sklearn", "onnx", "matplotlib")
    import torch
    from accelerate import PartialState

    from layoutdm.cli.watch import TrainingWatch
    from layoutdm.train.folder import Watching, check_folder, saved_settings
    from layoutdm.train.recipe import Settings
    from layoutdm.train.run import train
    from layoutdm.train.team import on_cpu

    begun = time.monotonic()
    check_folder(options.out, resume=options.resume)
    if options.threads > 0:
        torch.set_num_threads(options.threads)
    base = _load_base(options.base) if options.base else None
    record = saved_settings(options.out) if options.resume else None
    saved = Settings.from_dict(record) if record is not None else None
    settings = _resumed(options, saved) if saved else _settings(options, tuned=base is not None)
    tuned = base if saved is None else None
    most = tuned.tokenizer.max_elements if tuned else settings.data.max_elements
    dataset = _open(options, most)
    main = PartialState(cpu=on_cpu()).is_main_process
    with TrainingWatch(quiet=not main) as watch, _Stopper() as stop:
        shape = settings.network
        watch.start(dataset, f"{shape.kind} network of width {shape.width}", options.out)
        if options.resume and saved is None:
            watch.notice(f"{options.out}: no run to go on with yet; a new one begins")
        watching = Watching(
            watch, options.tensorboard, stop, seconds_before=time.monotonic() - begun
        )
        report = train(
            dataset, settings, options.out, base=base, resume=options.resume, watching=watching
        )
    if not report.complete:
        if main:
            print(
                f"stopped at step {report.steps}; go on with: layoutdm train {options.data} "
                f"--out {options.out} --resume",
                file=sys.stderr,
            )
        raise KeyboardInterrupt
    if main and options.as_json:
        print(json.dumps({**asdict(report), "folder": str(options.out)}, indent=2))
    elif main:
        early = ", stopped early" if report.stopped_early else ""
        print(f"model        {options.out} ({report.parameters:,} parameters)")
        print(
            f"training     {report.steps:,} steps, {report.epochs:.1f} epochs, "
            f"{report.minutes:.1f} minutes{early}"
        )
        print(
            f"val          {report.bound:.2f} nats per layout, "
            f"{report.figures.get('bits', 0.0):.3f} bits per attribute, "
            f"at step {report.best_step:,}"
        )
        print(f"curves       {options.out / 'curves.png'}")
        print(f"try it       layoutdm generate --model {options.out}")


def _settings(options: TrainOptions, *, tuned: bool) -> Settings:
    """The preset with what the options change."""
    from layoutdm.train.recipe import preset, with_text

    settings = preset(options.preset)
    if tuned:
        rate = FINE_TUNING * settings.optimiser.learning_rate
        settings = settings.changed("optimiser", learning_rate=rate)
    for name, value in options.changes.items():
        settings = settings.changed(PART_OF[name], **{name: value})
    return with_text(settings, options.settings)


def _open(options: TrainOptions, most: int) -> Dataset:
    from layoutdm.data import open as open_data
    from layoutdm.formats.problems import Problems

    return open_data(
        layouts_of(options.data),
        format=options.format,
        max_elements=None,  # `train` leaves long layouts out, and says how many others would stay
        cut_within=most,  # as `evaluate` cuts, which never sees them
        portrait=options.portrait,
        problems=Problems(skip=options.skip_bad),
    )


def _load_base(name: str) -> Any:
    from layoutdm.model.store import find
    from layoutdm.train.export import load_network

    return load_network(find(name))


def _resumed(options: TrainOptions, saved: Settings) -> Settings:
    """A resumed run keeps its settings; only its budget and how it is watched may change.

    Giving a setting again is no change, so that a command can be repeated with --resume.
    """
    from layoutdm.train.recipe import with_text

    wanted = saved
    if any(name in options.changes for name in BUDGETS):
        wanted = wanted.changed("budget", **dict.fromkeys(BUDGETS))
    for name, value in options.changes.items():
        wanted = wanted.changed(PART_OF[name], **{name: value})
    wanted = with_text(wanted, options.settings)
    before, after = saved.to_dict(), wanted.to_dict()
    for part, values in before.items():
        for name, value in values.items():
            free = part == "budget" and name in WATCHED
            if not free and value != after[part][name]:
                raise LayoutdmError(
                    f"--resume goes on with the settings of the run; {part}.{name} cannot change "
                    f"from {value} to {after[part][name]}, only minutes, epochs, steps and patience"
                )
    return wanted


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

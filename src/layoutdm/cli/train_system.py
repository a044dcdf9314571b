"""What `layoutdm train --system NAME` does: one system of the paper, under the same trainer."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from layoutdm.data import Dataset
from layoutdm.errors import LayoutdmError

UNKNOWN = "a system of the paper has no {name!r} setting; leave it out, or train layoutdm itself"


def run_system(
    dataset: Dataset,
    system: str,
    out: Path,
    *,
    size: str,
    changes: Mapping[str, Any],
    resume: bool,
    threads: int,
) -> None:
    """Train, show how it goes on stderr, and print what came out."""
    try:
        import torch
        from accelerate import PartialState
    except ImportError as error:
        raise LayoutdmError(
            f"training needs the package {error.name!r}; install it with: "
            "pip install 'layoutdm[train]'"
        ) from None
    from layoutdm.baselines.learn.run import train_system
    from layoutdm.cli.training import _Stopper
    from layoutdm.train.settings import Budget
    from layoutdm.train.team import on_cpu

    if threads > 0:
        torch.set_num_threads(threads)
    known = {field.name for field in fields(Budget)}
    values = {name: value for name, value in changes.items() if value is not None}
    rate = values.pop("learning_rate", None)
    wrong = sorted(set(values) - known)
    if wrong:
        raise LayoutdmError(UNKNOWN.format(name=wrong[0]))
    main = PartialState(cpu=on_cpu()).is_main_process
    watch = _Watch(quiet=not main)
    watch.notice(f"{dataset.name}: {len(dataset['train']):,} layouts; {system}, {size}, into {out}")
    with _Stopper() as stop:
        report = train_system(
            dataset, system, out, size=size, budget=Budget(**values), learning_rate=rate,
            resume=resume, watcher=watch, stop=stop,
        )  # fmt: skip
    if not report.complete:
        watch.notice(f"stopped at step {report.steps}; go on with the same command and --resume")
        raise KeyboardInterrupt
    if main:
        print(f"model        {out} ({report.parameters:,} parameters)")
        print(
            f"training     {report.steps:,} steps, {report.epochs:.1f} epochs, "
            f"{report.minutes:.1f} minutes"
        )
        print(f"loss         {report.bound:.4f} on val, at step {report.best_step:,}")
        print(f"try it       layoutdm generate --model {out}")


class _Watch:
    """One line a validation, on stderr."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet, self._loss, self._rate = quiet, 0.0, 0.0

    def progress(self, progress: Any) -> None:
        self._loss, self._rate = progress.loss, progress.layouts_per_second

    def evaluation(self, evaluation: Any) -> None:
        best = "  best so far" if evaluation.best else ""
        self.notice(
            f"step {evaluation.step:>6}  epoch {evaluation.epoch:6.1f}  "
            f"{evaluation.minutes:6.1f} min  loss {self._loss:.4f}  val {evaluation.bound:.4f}  "
            f"{self._rate:,.0f} layouts/s{best}"
        )

    def notice(self, text: str) -> None:
        if not self._quiet:
            print(text, file=sys.stderr, flush=True)

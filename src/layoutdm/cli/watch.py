"""Shows a training run: a live bar on a terminal, one line per validation elsewhere."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from layoutdm.data import Dataset
from layoutdm.train.reporter import Evaluation, Progress


class TrainingWatch:
    """A watcher on stderr; `quiet` for processes other than the first."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = Console(stderr=True, quiet=quiet, highlight=False)
        self._bound = "–"
        self._loss = "–"
        self._bar = Bar(
            TextColumn("training"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f} %  {task.description}"),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("preparing", total=1.0)

    def __enter__(self) -> TrainingWatch:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def start(self, dataset: Dataset, network: str, out: Path) -> None:
        sizes = ", ".join(f"{len(part):,} {name}" for name, part in dataset.splits.items() if part)
        self._say(
            f"{dataset.name}: {sizes} layouts, {len(dataset.labels)} labels; {network} into {out}"
        )

    def progress(self, progress: Progress) -> None:
        self._loss = f"{progress.loss:.4f}"
        text = (
            f"epoch {progress.epoch:.1f}  loss {self._loss}  val {self._bound}  "
            f"{progress.layouts_per_second:,.0f} layouts/s"
        )
        self._bar.update(self._task, completed=progress.done, description=text)

    def evaluation(self, evaluation: Evaluation) -> None:
        self._bound = f"{evaluation.bound:.2f}"
        best = "  best so far" if evaluation.best else ""
        bits = evaluation.figures.get("bits")
        further = f"  {bits:.3f} bits" if bits is not None else ""
        self._say(
            f"step {evaluation.step:>6}  epoch {evaluation.epoch:6.1f}  "
            f"{evaluation.minutes:6.1f} min  loss {self._loss}  "
            f"val {self._bound} nats{further}{best}"
        )

    def notice(self, text: str) -> None:
        self._say(text)

    def _say(self, text: str) -> None:
        self.console.print(escape(text), soft_wrap=True)

"""What a run tells about itself: metrics.jsonl, TensorBoard, and whoever watches."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from layoutdm.atomic import write_bytes


@dataclass(frozen=True)
class Progress:
    """The state of a run after some step."""

    step: int
    epoch: float
    minutes: float
    done: float  # share of the budget, 0 to 1
    left: float  # minutes until training ends, by estimate
    loss: float  # mean since the last report
    learning_rate: float
    gradient: float  # norm before clipping
    layouts_per_second: float


@dataclass(frozen=True)
class Evaluation:
    """A validation: what should fall, and the system's further figures."""

    step: int
    epoch: float
    minutes: float
    bound: float
    figures: Mapping[str, float]
    phase: str
    best: bool


@dataclass(frozen=True)
class RunReport:
    """What came out of a run; `complete` is False when it was stopped and can be resumed."""

    complete: bool
    steps: int
    epochs: float
    minutes: float
    bound: float
    figures: Mapping[str, float]
    best_step: int
    stopped_early: bool
    parameters: int
    precision: str


class Watcher(Protocol):
    """Shows a run to a person."""

    def progress(self, progress: Progress) -> None: ...

    def evaluation(self, evaluation: Evaluation) -> None: ...

    def notice(self, text: str) -> None: ...


class Silent:
    """Shows nothing; for tests and for processes other than the first."""

    def progress(self, progress: Progress) -> None: ...

    def evaluation(self, evaluation: Evaluation) -> None: ...

    def notice(self, text: str) -> None: ...


class MetricsFile:
    """metrics.jsonl: one line per report, `kind` train or validation, in order of steps."""

    def __init__(
        self,
        folder: Path,
        *,
        step: int,
        tensorboard: bool,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "metrics.jsonl"
        # What came after the checkpoint that the run goes on from will come again.
        kept = [line for line in read_metrics(self.path) if line["step"] <= step]
        write_bytes(self.path, "".join(json.dumps(line) + "\n" for line in kept).encode())
        self._board: Any = None
        self._notice = notice
        self._failed = False
        if tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=step)

    def write(self, kind: str, values: Progress | Evaluation) -> None:
        """Add a line. A full disk costs lines, not the run, and is said once."""
        try:
            self._write(kind, values)
            self._failed = False
        except OSError as error:
            if not self._failed:
                reason = error.strerror or error
                self._notice(f"could not write to {self.path} ({reason}); training goes on")
            self._failed = True

    def _write(self, kind: str, values: Progress | Evaluation) -> None:
        record = {"kind": kind, **asdict(values)}
        record |= record.pop("figures", {})
        # After a line that was cut off, a new one must begin.
        start = "\n" if self._failed else ""
        with self.path.open("a") as stream:
            stream.write(f"{start}{json.dumps(record)}\n")
        if self._board is not None:
            for name, value in record.items():
                if name not in ("kind", "step") and not isinstance(value, str):
                    self._board.add_scalar(f"{kind}/{name}", float(value), values.step)
            self._board.flush()


def read_metrics(path: Path) -> list[Mapping[str, Any]]:
    """The lines of a metrics file; one that was cut off by a kill or a full disk is left out."""
    if not path.exists():
        return []
    lines: list[Mapping[str, Any]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and isinstance(record.get("step"), int):
            lines.append(record)
    return lines

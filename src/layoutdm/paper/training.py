"""Train what a table needs and does not have: three short runs choose the rate, then the long one.

RUNS/systems/DATA/NAME holds the model and its run, RUNS/tuning/DATA/NAME-RATE the short runs. All
systems see the same number of layouts. Interrupted runs go on from their last checkpoint.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layoutdm.data import Dataset
from layoutdm.errors import LayoutdmError
from layoutdm.paper.sampling import choose_sampling

LAYOUTS = 240_000  # that each system sees: 20 passes over our Rico, 16 over our PubLayNet
TUNING_STEPS = 150  # 0: each recipe's own rate, and top-p 1
BATCH = 64
RATES = (3e-4, 1e-3, 3e-3)
OWN_RATES = {  # those whose published rates are far lower, or that diverge
    "layoutgan++": (1e-4, 3e-4, 1e-3),
    "ndn-none": (1e-4, 3e-4, 1e-3),
    "ndn-partial": (1e-4, 3e-4, 1e-3),
}
BORROWED = {"clg-lo": "layoutgan++"}  # searches the latents of another system's model

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Runs:
    """Where trained systems are, and how those that are missing are trained."""

    folder: Path
    data: str
    dataset: Dataset
    train: bool = True
    layouts: int = LAYOUTS
    tuning_steps: int = TUNING_STEPS
    size: str = "compact"

    def model(self, system: str, notice: Notice = lambda text: None) -> Path | None:
        """The folder of a trained system; None where it is not there and may not be trained.

        NAME@published is the system at published size, with its published rate.
        """
        own = self.folder / "systems" / self.data / system
        if (own / "config.json").exists():
            if self.train and self.tuning_steps:
                choose_sampling(own, self.dataset, notice)
            return own
        if system in BORROWED:
            lender = self.model(BORROWED[system], notice)
            return None if lender is None else borrow(lender, own, system)
        if not self.train:
            return None
        rate = self._rate(system, own, notice)
        notice(f"{system}: training on {self.data}, {self.layouts:,} layouts, rate {rate:g}")
        steps = max(1, round(self.layouts / BATCH))  # not epochs, whose last batch may be short
        if not self._train(system, own, steps, rate, notice):
            raise LayoutdmError(f"{own}: training was stopped; the same command goes on with it")
        if self.tuning_steps:
            choose_sampling(own, self.dataset, notice)
        return own

    def _rate(self, system: str, own: Path, notice: Notice) -> float:
        """The rate with the lowest loss on val after a short run; kept in rate.txt."""
        kept = own / "rate.txt"
        if "@" in system or not self.tuning_steps:
            return learner_rate(system, self.size)
        if kept.exists():
            return float(kept.read_text())
        losses = {}
        for rate in OWN_RATES.get(system, RATES):
            folder = self.folder / "tuning" / self.data / f"{system}-{rate:g}"
            if not (folder / "training.json").exists():
                self._train(system, folder, self.tuning_steps, rate, notice)
            losses[rate] = json.loads((folder / "training.json").read_text())["report"]["bound"]
            notice(f"{system}: rate {rate:g} has loss {losses[rate]:.4f} on val")
        best = min(losses, key=lambda rate: losses[rate])
        own.mkdir(parents=True, exist_ok=True)
        kept.write_text(f"{best:g}\n")
        return best

    def _train(self, system: str, out: Path, steps: int, rate: float, notice: Notice) -> bool:
        from layoutdm.baselines.learn.run import train_system
        from layoutdm.train.settings import Budget

        limits = Budget(steps=steps, batch_size=BATCH, checkpoint_minutes=5.0)
        name, _, size = system.partition("@")
        report = train_system(
            self.dataset, name, out, size=size or self.size, budget=limits, learning_rate=rate,
            resume=True, watcher=Told(f"{system} on {self.data}", notice),
        )  # fmt: skip
        return report.complete


@dataclass(frozen=True)
class Told:
    """Watches a run and tells what each validation finds."""

    name: str
    tell: Notice

    def progress(self, progress: Any) -> None:
        return None

    def evaluation(self, evaluation: Any) -> None:
        minutes = f"{evaluation.minutes:.1f} min"
        self.notice(f"step {evaluation.step}, {minutes}, loss on val {evaluation.bound:.4f}")

    def notice(self, text: str) -> None:
        self.tell(f"{self.name}: {text}")


def learner_rate(system: str, size: str) -> float:
    """The recipe's own rate; that of NAME@published is the published one."""
    from layoutdm.baselines.learn.run import learner_of

    name, _, own = system.partition("@")
    return learner_of(name).recipe.moves(own or size).learning_rate


def borrow(lender: Path, own: Path, system: str) -> Path:
    """The same weights under another system's name."""
    part = own.with_name(own.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(lender, part, ignore=shutil.ignore_patterns("run"))
    record = json.loads((part / "config.json").read_text())
    record["generator"] = record["system"] = system
    (part / "config.json").write_text(json.dumps(record, indent=1) + "\n")
    part.replace(own)
    return own


def training_of(folder: Path) -> dict[str, Any]:
    """What training.json and config.json of a model folder say about its training."""
    config = json.loads((folder / "config.json").read_text())
    found = {"parameters": config.get("parameters"), "size": config.get("size", "shipped")}
    path = folder / "training.json"
    if path.exists():
        record = json.loads(path.read_text())
        report = record.get("report") or {}
        found |= {
            "rate": (record.get("optimiser") or {}).get("learning_rate"),
            "steps": report.get("steps"), "epochs": report.get("epochs"),
            "seen": (report.get("steps") or 0) * (record.get("budget") or {}).get("batch_size", 0),
            "minutes": report.get("minutes"), "loss": report.get("bound"),
        }  # fmt: skip
    return found

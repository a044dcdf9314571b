"""Small systems for tests: ten layouts, narrow networks, trained under the usual trainer."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from layoutdm import Layout
from layoutdm.baselines.learn.layoutgan import LayoutGANLearner
from layoutdm.baselines.learn.packed import pack
from layoutdm.baselines.learn.run import learner_of
from layoutdm.baselines.learn.system import Setup, SystemLearner
from layoutdm.baselines.systems import SYSTEMS
from layoutdm.model import Model
from layoutdm.model.store import load
from layoutdm.tokens import Tokenizer
from layoutdm.train.learner import Export
from layoutdm.train.reporter import RunReport
from layoutdm.train.settings import Budget
from layoutdm.train.trainer import Trainer
from training_samples import LABELS, make_layouts

SMALL: dict[str, Any] = {"width": 32, "heads": 2, "feedforward": 64, "layers": 2, "dropout": 0.0}
MOST = 8  # elements


def pages(count: int = 24, seed: int = 1) -> list[Layout]:
    return make_layouts(count, seed)


def tokenizer_of(name: str, layouts: list[Layout]) -> Tokenizer:
    boxes = np.concatenate([np.asarray(layout.boxes) for layout in layouts])
    return Tokenizer(LABELS, learner_of(name).fit_bins(boxes), MOST)


def learner(
    name: str, layouts: list[Layout] | None = None, size: str = "compact", **changes: Any
) -> SystemLearner:
    layouts = layouts or pages()
    tokenizer = tokenizer_of(name, layouts)
    torch.manual_seed(0)
    kind = learner_of(name)
    settings = {**SMALL, **changes} if size == "compact" else changes
    data = pack(layouts, tokenizer)
    return kind(Setup(name, data, data, kind.recipe, size, (600.0, 800.0), settings))


def trainer(
    made: SystemLearner, folder: Path, steps: int, rate: float = 3e-3, **more: Any
) -> Trainer:
    moves = replace(made.recipe.short, learning_rate=rate, warm_up=5, average=0.0)
    budget = Budget(steps=steps, batch_size=16, precision="fp32", validations=2)
    return Trainer(made, moves, budget, folder, **more)


# Options that cut long samplers short.
FAST: dict[str, dict[str, Any]] = {
    "clg-lo": {"iterations": 10, "rounds": 2},
    "maskgit": {"steps": 8},
    "blt": {"steps": 9},
    "diffusionlm": {"steps": 8},
    **{
        name: {"steps": 8}
        for name in SYSTEMS
        if name.startswith("layoutdm-paper") or name == "vqdiffusion"
    },
}
RATES = {"layoutgan++": 1e-3, "clg-lo": 1e-3}


@torch.no_grad()
def memory_loss(made: SystemLearner) -> float:
    """The loss of the layouts themselves; of a GAN, that of rebuilding them."""
    made.module.eval()
    if not isinstance(made, LayoutGANLearner):
        return made.validate(made.module, 64).bound
    batch = made.make(made.val, np.arange(len(made.val)), np.random.default_rng(0))
    labels, valid = batch["labels"], batch["valid"]
    _, scores, boxes = made.module["judge"].rebuild(batch["boxes"], labels, valid)
    named = torch.nn.functional.cross_entropy(scores[valid], labels[valid])
    return float(named + 10 * ((boxes - batch["boxes"])[valid] ** 2).mean())


REPORT = RunReport(True, 1, 1.0, 0.1, 1.0, {}, 1, False, 1, "fp32")


def strong(name: str) -> SystemLearner:
    """An untrained system whose network looks at its input."""
    made = learner(name)
    with torch.no_grad():
        for parameter in made.module.parameters():
            if parameter.ndim == 2:
                parameter.mul_(4.0)
    made.module.eval()
    return made


@cache
def exported(name: str) -> Path:
    """The folder of such a system."""
    made = strong(name)
    folder = Path(tempfile.mkdtemp(prefix="layoutdm-system-")) / name
    made.export(made.module, Export(folder, REPORT, print))
    return folder


def model(name: str) -> Model:
    return load(exported(name), threads=1)


def rico_parameters(name: str) -> int:
    """Parameters at published size with Rico's 25 labels, 32 bins and 25 elements."""
    from layoutdm.baselines.learn.transformer import parameters

    kind = learner_of(name)
    labels = tuple(f"label{i}" for i in range(25))
    rng = np.random.default_rng(0)
    boxes = np.column_stack([rng.uniform(0.3, 0.7, (400, 2)), rng.uniform(0.05, 0.6, (400, 2))])
    page = Layout.create(labels, boxes[:25])
    data = pack([page] * 2, Tokenizer(labels, kind.fit_bins(boxes), 25))
    made = kind(Setup(name, data, data, kind.recipe, "published"))
    return parameters(made.counted(made.module))

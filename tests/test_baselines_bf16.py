"""Every system also trains in bf16, as the trainer chooses where the processor has it."""

from __future__ import annotations

from pathlib import Path

import pytest

import baseline_cases as cases
from layoutdm.baselines.systems import SYSTEMS
from layoutdm.train.settings import Budget
from layoutdm.train.trainer import Trainer


@pytest.mark.parametrize("name", tuple(SYSTEMS))
def test_two_steps_in_bf16(name: str, tmp_path: Path) -> None:
    made = cases.learner(name)
    budget = Budget(steps=2, batch_size=8, precision="bf16", validations=1)
    report = Trainer(made, made.recipe.short, budget, tmp_path).run()
    assert report.complete and report.bound == report.bound  # not NaN

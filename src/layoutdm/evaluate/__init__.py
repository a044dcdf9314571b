"""Evaluation by the paper's protocol; `layoutdm.evaluate(model, data, tasks=...)` runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layoutdm.doors import make_callable


def _door() -> Callable[..., Any]:
    from layoutdm.evaluate.evaluation import evaluate

    return evaluate


make_callable(__name__, _door)

"""The learn half: networks, losses, trainer; `layoutdm.train(data, out, minutes=10)` runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layoutdm.doors import make_callable


def _door() -> Callable[..., Any]:
    from layoutdm.train.door import train_model

    return train_model


make_callable(__name__, _door)

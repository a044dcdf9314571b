"""How a token is chosen from a network's scores: allowed ids, temperature, top-p, one number each.

>>> scores = np.log(np.array([[0.5, 0.3, 0.2]]))
>>> allowed = np.array([[False, True, True]])
>>> pick(scores, allowed, np.array([0.59]))[0].tolist(), pick(scores, allowed, np.array([0.61]))[0]
([1], array([2]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.draw import draw, keep_top_p
from layoutdm.errors import LayoutdmError
from layoutdm.generator.protocol import Options

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class TokenOptions(Options):
    """Options of every system that chooses tokens."""

    temperature: float = 1.0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        number("temperature", self.temperature, 1e-6, 1e6, "more than 0 (from 1e-6 to 1e6)")
        number("top_p", self.top_p, 1e-9, 1, "more than 0 (from 1e-9) and at most 1")


def number(name: str, value: Any, low: float, high: float, wanted: str) -> None:
    """Raise unless an option is a number from low to high."""
    real = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not real or not low <= value <= high:
        raise LayoutdmError(f"{name} must be {wanted}, got {value!r}")


def whole(name: str, value: Any, low: int, high: int) -> None:
    """Raise unless an option is a whole number from low to high."""
    right = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    if not right:
        raise LayoutdmError(f"{name} must be a whole number from {low} to {high}, got {value!r}")


def yes_or_no(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise LayoutdmError(f"{name} must be true or false, got {value!r}")


def pick(
    scores: NDArray[Any], allowed: Bools, uniform: Floats, temperature: float = 1.0,
    top_p: float = 1.0,
) -> tuple[Ints, Floats]:  # fmt: skip
    """Chosen ids and their log-probabilities; scores and allowed (..., V), uniform (...)."""
    log = np.where(allowed, np.asarray(scores, dtype=np.float64) / temperature, -np.inf)
    log = log - log.max(axis=-1, keepdims=True)
    weights = np.exp(log)
    chosen = draw(keep_top_p(weights, top_p), uniform)
    log_prob = np.take_along_axis(log, chosen[..., None], axis=-1)[..., 0]
    return chosen, log_prob - np.log(weights.sum(axis=-1))


def gumbel(uniform: Floats) -> Floats:
    """Standard Gumbel numbers from uniform ones in [0, 1)."""
    return np.asarray(-np.log(-np.log(np.clip(uniform, 1e-12, 1 - 1e-12))))

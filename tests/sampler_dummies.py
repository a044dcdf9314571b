"""Denoisers whose exact answer is known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion import Schedule
from layoutdm.diffusion.known import Known
from layoutdm.diffusion.network import Prediction, Query, Traits, only_asked

Floats = NDArray[np.float64]

SIZES = (3, 4, 4, 4, 4)
MASK = np.array(SIZES) + 1


def unknown(batch: int, slots: int, sizes: tuple[int, ...] = SIZES, **more: object) -> Known:
    """Nothing is known but the number of slots."""
    tokens = np.tile(np.array(sizes, dtype=np.int64) + 1, (batch, slots, 1))
    fixed, valid = np.zeros(tokens.shape, dtype=bool), np.ones((batch, slots), dtype=bool)
    return Known(**{"tokens": tokens, "fixed": fixed, "valid": valid, **more})  # type: ignore[arg-type]


def log(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(p)


@dataclass
class Constant:
    """The same independent distributions whatever it sees; PAD last in each."""

    rows: tuple[Floats, ...]
    asked: list[int] = field(default_factory=list)

    @property
    def traits(self) -> Traits:
        a, b, c, d, e = (len(row) - 1 for row in self.rows)
        return Traits((a, b, c, d, e))

    def __call__(self, query: Query) -> Prediction:
        batch, slots = (query.valid if query.asked is None else query.asked).shape
        self.asked.append(batch)
        return Prediction(
            tuple(np.broadcast_to(log(row), (batch, slots, len(row))) for row in self.rows)
        )


def constant(*first: float) -> Constant:
    """x has these chances (and no PAD); the other modalities are uniform over their values."""
    rows = [np.append(np.full(size, 1 / size), 0.0) for size in SIZES]
    if first:
        rows[1] = np.append(np.array(first), 0.0)
    return Constant(tuple(rows))


@dataclass
class Bayes:
    """The exact p(z_0 | z_t) when tokens are independent draws from `rows`."""

    rows: tuple[Floats, ...]
    schedule: Schedule

    @property
    def traits(self) -> Traits:
        a, b, c, d, e = (len(row) - 1 for row in self.rows)
        return Traits((a, b, c, d, e))

    def __call__(self, query: Query) -> Prediction:
        at = self.schedule.level(query.level)
        answers = []
        for m, row in enumerate(self.rows):
            states = len(row)
            seen = query.tokens[..., m]
            keep, replace = at.keep[:, None, None], at.replace[:, None, None]
            chance = keep * (seen[..., None] == np.arange(states)) + replace / states
            chance = np.where((seen == states)[..., None], 1.0, chance)
            p = row * chance
            answers.append(only_asked(log(p / p.sum(axis=-1, keepdims=True)), query.asked))
        return Prediction(tuple(answers))


class Copying:
    """Believes what it sees; masked tokens are a copy of the slot's label where that is known."""

    traits = Traits((4, 4, 4, 4, 4))

    def __call__(self, query: Query) -> Prediction:
        label = query.tokens[..., :1]
        source = np.where(query.tokens < 4, query.tokens, np.where(label < 4, label, 0))
        p = np.eye(5)[source]
        first = np.where(label[..., 0, None] < 4, p[..., 0, :], [[[0.25, 0.25, 0.25, 0.25, 0]]])
        answers = (log(first), *(log(p[..., m, :]) for m in range(1, 5)))
        return Prediction(tuple(only_asked(part, query.asked) for part in answers))

"""Denoisers whose exact answer is known, and batches for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion import Schedule
from layoutdm.diffusion.element import ElementSampler
from layoutdm.diffusion.network import Prediction, Query, Traits, only_asked
from layoutdm.diffusion.plain import PlainSampler
from layoutdm.diffusion.streams import Uniforms, stream
from layoutdm.plan import Batch
from layoutdm.plan.batch import unknown as nothing_known

Floats = NDArray[np.float64]
Sampler = PlainSampler | ElementSampler

SIZES = (3, 4, 4, 4, 4)
MASK = np.array(SIZES) + 1


def unknown(batch: int, slots: int, sizes: tuple[int, ...] = SIZES, **more: Any) -> Batch:
    """Nothing is known but the number of slots."""
    return replace(nothing_known(batch, slots, sizes), **more)


def give(batch: Batch, slot: int, tokens: Sequence[int], rows: Any = slice(None)) -> None:
    """Fix all tokens of one element, in place."""
    batch.tokens[rows, slot] = tokens
    batch.fixed[rows, slot] = True


def uniforms_of(batch: Batch, seed: int = 0, first: int = 0) -> Uniforms:
    """The numbers that decide: each layout has its own stream."""
    size, slots, _ = batch.tokens.shape
    streams = [stream(seed, first + index) for index in range(size)]
    return Uniforms(streams, (5 * batch.counts).tolist(), 5 * slots)


def run(sampler: Sampler, batch: Batch, seed: int = 0, first: int = 0) -> NDArray[np.int64]:
    """Clean tokens."""
    return sampler.run(batch, uniforms_of(batch, seed, first))


def walk(sampler: Sampler, batch: Batch, seed: int = 0) -> list[tuple[int, NDArray[np.int64]]]:
    """Every level and its tokens."""
    states = sampler.walk(batch, uniforms_of(batch, seed))
    return [(level, tokens.copy()) for level, tokens in states]


def log(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(p)


@dataclass
class Constant:
    """The same independent distributions whatever it sees; PAD last in each."""

    rows: tuple[Floats, ...]
    asked: list[int] = field(default_factory=list)
    draws_pad: bool = False

    @property
    def traits(self) -> Traits:
        a, b, c, d, e = (len(row) - 1 for row in self.rows)
        return Traits((a, b, c, d, e), number_first=not self.draws_pad)

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
    draws_pad: bool = False

    @property
    def traits(self) -> Traits:
        a, b, c, d, e = (len(row) - 1 for row in self.rows)
        return Traits((a, b, c, d, e), number_first=not self.draws_pad)

    def __call__(self, query: Query) -> Prediction:
        at = self.schedule.level(query.level)
        answers = []
        for m, row in enumerate(self.rows):
            states = len(row)
            seen = query.tokens[..., m]
            keep, replace_ = at.keep[:, None, None], at.replace[:, None, None]
            chance = keep * (seen[..., None] == np.arange(states)) + replace_ / states
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


def assert_shares(values: NDArray[Any], wanted: Sequence[float], name: str = "") -> None:
    """Counts agree with the wanted shares within five standard deviations."""
    total = values.size
    for value, share in enumerate(wanted):
        found = (values == value).sum()
        spread = 5 * np.sqrt(total * share * (1 - share)) + 1e-9
        assert abs(found - total * share) <= spread, (name, value, found / total, share)

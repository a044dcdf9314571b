"""The sampler: [network -> posterior -> constraints -> draw] x steps.

>>> import numpy as np
>>> from layoutdm.diffusion.network import Prediction, Traits
>>> class Constant:
...     traits = Traits((1, 1, 1, 1, 1))
...     def __call__(self, query):
...         slots = query.valid if query.asked is None else query.asked
...         log_probs = np.zeros((*slots.shape, 2))
...         return Prediction((log_probs,) * 5)
>>> known = Known(np.full((1, 2, 5), 2), np.zeros((1, 2, 5), bool), np.ones((1, 2), bool))
>>> Sampler(Constant(), Schedule(), Settings(steps=4)).run(known, [stream(0, 0)]).tolist()
[[[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.dense import DenseStep
from layoutdm.diffusion.grid import plan
from layoutdm.diffusion.known import Known
from layoutdm.diffusion.labels import LabelModel, draw_labels
from layoutdm.diffusion.network import Denoiser, Ints
from layoutdm.diffusion.ranks import draw_ranks
from layoutdm.diffusion.reveal import RevealStep
from layoutdm.diffusion.schedule import Schedule
from layoutdm.diffusion.settings import Settings
from layoutdm.diffusion.streams import Uniforms, stream
from layoutdm.errors import LayoutdmError

__all__ = ["Known", "Sampler", "State", "draws_bags", "is_absorbing", "stream"]

Floats = NDArray[np.float64]

# The published schedule replaces with a total mass of 1e-6, which no number of samples shows.
NEGLIGIBLE_REPLACEMENT = 1e-5


@dataclass(frozen=True)
class State:
    """Tokens (B, S, 5) at a level; the array is the sampler's own until the next state."""

    level: int
    tokens: Ints


def is_absorbing(schedule: Schedule) -> bool:
    """Whether tokens are in effect only ever masked, never replaced by others."""
    replaced = schedule.level(np.arange(schedule.steps + 1)).replace
    return bool(replaced.max() <= NEGLIGIBLE_REPLACEMENT)


def draws_bags(schedule: Schedule, settings: Settings) -> bool:
    """Whether labels can be drawn in reading order from a bag: one by one, each for good."""
    return (
        settings.order == "elements"
        and is_absorbing(schedule)
        and settings.posterior == "exact"
        and settings.filter == "prediction"
        and not settings.remask
    )


class Sampler:
    """Draws layouts with a denoiser along a schedule.

    `labels` draws labels that come first; without it the denoiser does, one by one. It also draws
    the ranks of elements that have relations; without it they have none.
    """

    def __init__(
        self,
        denoiser: Denoiser,
        schedule: Schedule,
        settings: Settings,
        labels: LabelModel | None = None,
    ) -> None:
        self.denoiser = denoiser
        self.schedule = schedule
        self.settings = settings
        can = draws_bags(schedule, settings) and denoiser.traits.number_first
        self.labels = labels if can else None
        self.steps = plan(
            schedule.steps,
            settings.steps or schedule.steps,
            settings.grid,
            published=settings.posterior == "published",
        )
        self.absorbing = is_absorbing(schedule)
        if settings.remask and not (self.absorbing and settings.posterior == "exact"):
            raise LayoutdmError(
                "remask needs a schedule that only masks and the exact posterior; set it to 0"
            )

    def run(self, known: Known, streams: Sequence[np.random.Generator]) -> Ints:
        """Clean tokens (B, S, 5), one stream a layout."""
        for state in self.walk(known, streams):
            last = state
        return last.tokens

    def walk(self, known: Known, streams: Sequence[np.random.Generator]) -> Iterator[State]:
        """Every state from the start (all noise but what is known) to the clean tokens."""
        width = known.tokens.shape[1] * 5
        uniforms = Uniforms(streams, (known.counts * 5).tolist(), width)
        tokens = self._start(known, uniforms)
        yield State(self.schedule.steps, tokens)
        if self.labels is not None:
            uniform = uniforms.next().reshape(tokens.shape)[..., 0]
            known = draw_labels(self.labels, known, tokens, uniform, self.settings)
            known = draw_ranks(self.labels, known, tokens, uniform, self.settings)
        advance = self._stepper(known)
        for step in self.steps:
            advance(tokens, step, uniforms.next().reshape(tokens.shape))
            yield State(step.s, tokens)

    def _stepper(self, known: Known) -> RevealStep | DenseStep:
        """The cheap way to take a step where it is exact, the general one otherwise."""
        needs_all = (
            not self.absorbing
            or self.settings.posterior == "published"
            or self.settings.filter == "published"
            or (known.priors is not None and known.guide is not None)
        )
        kind = DenseStep if needs_all else RevealStep
        return kind(self.denoiser, self.schedule, self.settings, known, self.absorbing)

    def _start(self, known: Known, uniforms: Uniforms) -> Ints:
        """The schedule's own state at its last level: MASK, or a share of random tokens."""
        tokens = known.tokens.copy()
        if self.absorbing:
            return tokens
        last = self.schedule.level(self.schedule.steps)
        masked = float(last.mask / (last.mask + last.replace))
        u = uniforms.next().reshape(tokens.shape)
        states = np.array(self.denoiser.traits.sizes) + 1  # values and PAD
        share = np.clip((u - masked) / max(1 - masked, 1e-12), 0, 1)
        drawn = np.minimum((share * states).astype(np.int64), states - 1)
        np.copyto(tokens, drawn, where=(u >= masked) & ~known.fixed)
        return tokens

"""`PlainSampler`, the paper's: [network -> p(z_0) -> terms -> posterior -> draw] x steps.

Every token that is not fixed is drawn anew in every step from

    p(z_s | z_t) = sum over z_0 of q(z_s | z_t, z_0) p(z_0 | z_t),

exactly, for any levels s < t of any schedule (see process.py). With `published` the step is that of
the released code: levels are skipped by an approximation, and terms, temperature and top-p act on
p(z_s | z_t) instead of p(z_0 | z_t).

>>> from layoutdm.diffusion.network import Prediction, Traits
>>> class Constant:
...     traits = Traits((1, 1, 1, 1, 1))
...     def __call__(self, query):
...         return Prediction((np.zeros((*query.valid.shape, 2)),) * 5)
>>> from layoutdm.diffusion.streams import stream
>>> from layoutdm.plan.batch import unknown
>>> sampler = PlainSampler(Constant(), Schedule(), steps=4)
>>> sampler.run(unknown(1, 2, (1,) * 5), Uniforms([stream(0, 0)], [10], 10)).tolist()
[[[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.draw import draw_mask_first, keep_top_p
from layoutdm.diffusion.grid import Step, grid
from layoutdm.diffusion.network import Denoiser, Ints
from layoutdm.diffusion.process import jump_masses, posterior
from layoutdm.diffusion.schedule import Schedule
from layoutdm.diffusion.streams import Uniforms
from layoutdm.errors import LayoutdmError
from layoutdm.plan.batch import Batch
from layoutdm.terms.rows import Rows, State, Term, View

Floats = NDArray[np.float64]
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class PlainSampler:
    """Draws layouts with a denoiser along a schedule; any terms, in the order of the list."""

    denoiser: Denoiser
    schedule: Schedule
    terms: Sequence[Term] = ()
    steps: int | None = None  # None: all levels of the schedule
    published: bool = False
    temperature: float = 1.0
    top_p: tuple[float, float] = (1.0, 1.0)  # of labels, of boxes
    remask: float = 0.0  # chance that a decided token becomes MASK again, in each step
    centres: tuple[Floats, ...] = ()  # of the bins, for terms that look at boxes

    def __post_init__(self) -> None:
        if self.remask and (self.published or not self.schedule.only_masks):
            raise LayoutdmError(
                "remask needs a schedule that only masks and the exact posterior; set it to 0"
            )

    def run(self, batch: Batch, uniforms: Uniforms) -> Ints:
        """Clean tokens (B, S, 5)."""
        for _level, tokens in self.walk(batch, uniforms):
            last = tokens
        return last

    def walk(self, batch: Batch, uniforms: Uniforms) -> Iterator[tuple[int, Ints]]:
        """Every level and its tokens, from all noise (but what is fixed) to the clean tokens."""
        tokens = self._start(batch, uniforms)
        yield self.schedule.steps, tokens
        levels = self.schedule.steps
        for step in grid(levels, self.steps or levels, published=self.published):
            self._advance(tokens, batch, step, uniforms.next().reshape(tokens.shape))
            yield step.s, tokens

    def _start(self, batch: Batch, uniforms: Uniforms) -> Ints:
        """The schedule's own state at its last level: MASK, or a share of random tokens."""
        tokens = batch.tokens.copy()
        if self.schedule.only_masks:
            return tokens
        last = self.schedule.level(self.schedule.steps)
        masked = float(last.mask / (last.mask + last.replace))
        uniform = uniforms.next().reshape(tokens.shape)
        states = np.array(self.denoiser.traits.sizes) + 1  # values and PAD
        share = np.clip((uniform - masked) / max(1 - masked, 1e-12), 0, 1)
        drawn = np.minimum((share * states).astype(np.int64), states - 1)
        np.copyto(tokens, drawn, where=(uniform >= masked) & ~batch.fixed)
        return tokens

    def _advance(self, tokens: Ints, batch: Batch, step: Step, uniform: Floats) -> None:
        """One step from level t down to level s, in place."""
        mask = np.array(self.denoiser.traits.sizes) + 1
        masked = (tokens == mask) & ~batch.fixed
        again, stay = mask_chances(self.schedule, step, self.remask)
        remasked = ~masked & ~batch.fixed & (uniform < again)
        moving = masked if self.schedule.only_masks else ~batch.fixed
        if self.schedule.only_masks and not self.published:
            # A masked token stays so with a chance that no prediction changes; else it is decided.
            moving = masked & (uniform >= stay)
            uniform = (uniform - stay) / max(1.0 - stay, TINY)
        if moving.any():
            state = State(tokens.copy(), boxes_of(tokens, batch, self.centres))
            view = self._view(state, batch, step.level)
            for modality in range(5):
                layout, slot = np.nonzero(moving[..., modality])
                if len(layout):
                    at = (layout, slot, modality)
                    rows = view.rows(modality, layout, slot, uniform[at])
                    draw = self._draw_published if self.published else self._draw
                    tokens[at] = draw(rows, state.tokens[at], step)
        np.copyto(tokens, np.broadcast_to(mask, tokens.shape), where=remasked)

    def _view(self, state: State, batch: Batch, level: int) -> View:
        """The network's answer; the published form filters later."""
        index = np.arange(batch.valid.size).reshape(batch.valid.shape)
        how = (1.0, (1.0, 1.0)) if self.published else (self.temperature, self.top_p)
        traits, noise = self.denoiser.traits, level / self.schedule.steps
        log_probs = self.denoiser(batch.query(state.tokens, level)).log_probs
        return View(state, log_probs, index, traits.sizes, noise, traits.draws_pad, *how)

    def _draw(self, rows: Rows, now: Ints, step: Step) -> Ints:
        """z_s of these tokens, of which `now` is z_t."""
        for term in self.terms:
            term(rows)
        if self.schedule.only_masks:
            return rows.draw()
        return draw_mask_first(self._posterior(rows, rows.weights(), now, step), rows.uniform)

    def _draw_published(self, rows: Rows, now: Ints, step: Step) -> Ints:
        """As `_draw`, with terms, temperature and top-p acting on p(z_s | z_t), MASK included."""
        size = rows.log.shape[1]
        p0 = np.exp(rows.log - rows.log.max(axis=1, keepdims=True))
        log = np.log(np.maximum(self._posterior(rows, p0, now, step), TINY))
        rows.log = log[:, :size].copy()
        for term in self.terms:
            term(rows)
        log[:, :size] = rows.log
        if step.s == 0:  # clean data holds no MASK
            log[:, -1] = -np.inf
        weights = np.exp((log - log.max(axis=1, keepdims=True)) / self.temperature)
        weights = keep_top_p(weights, self.top_p[rows.modality > 0], published=True)
        return draw_mask_first(weights, rows.uniform)

    def _posterior(self, rows: Rows, weights: Floats, now: Ints, step: Step) -> Floats:
        """(n, values, PAD and MASK): p(z_s | z_t) of weights of z_0."""
        p0 = np.zeros((len(now), self.denoiser.traits.sizes[rows.modality] + 1))
        p0[:, : weights.shape[1]] = weights / weights.sum(axis=1, keepdims=True)
        return np.asarray(posterior(p0, now, *jump_masses(self.schedule, step.s, step.t)))


def mask_chances(schedule: Schedule, step: Step, remask: float) -> tuple[float, float]:
    """How likely a decided token becomes MASK in this step, and MASK stays MASK.

    The first is 0 unless remasking is on; the second makes up for it, so that the share of masked
    tokens at each level is the schedule's own (Wang et al. 2025).
    """
    at_s, at_t = float(schedule.level(step.s).mask), float(schedule.level(step.t).mask)
    again = 0.0
    if remask and step.s:
        again = min(remask, 1.0, at_s / max(1.0 - at_t, 1e-12))
    return again, (at_s - again * (1.0 - at_t)) / at_t


def boxes_of(tokens: Ints, batch: Batch, centres: tuple[Floats, ...]) -> Floats:
    """(B, S, 4): what is decided of boxes, exactly where it is fixed; NaN elsewhere."""
    boxes = batch.boxes.copy()
    for a, values in enumerate(centres):
        ids = tokens[..., a + 1]
        found = np.append(values, [np.nan, np.nan])[np.minimum(ids, len(values) + 1)]
        boxes[..., a] = np.where(np.isnan(boxes[..., a]), found, boxes[..., a])
    return boxes

"""Steps of any diffusion with any constraint: the posterior of all tokens, in full.

The order is the published one: network, p(z_0), posterior, what is fixed, weak priors, relation
guidance, what is impossible, draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from layoutdm.diffusion.draw import keep_top_k, keep_top_p
from layoutdm.diffusion.grid import Step
from layoutdm.diffusion.known import Floats, Known, partner
from layoutdm.diffusion.network import Array, Bools, Denoiser, Ints
from layoutdm.diffusion.process import jump_masses, posterior
from layoutdm.diffusion.reveal import LOG_FLOOR, TINY, guides, mask_chances
from layoutdm.diffusion.schedule import Schedule
from layoutdm.diffusion.settings import Settings


@dataclass(frozen=True)
class Block:
    """Neighbouring modalities with the same number of values, worked on as one array."""

    first: int
    last: int
    size: int

    @property
    def modalities(self) -> slice:
        return slice(self.first, self.last)


def blocks_of(sizes: tuple[int, ...]) -> list[Block]:
    """The label alone, then runs of attributes with equal numbers of bins."""
    blocks = [Block(0, 1, sizes[0])]
    for m, size in enumerate(sizes[1:], start=1):
        if len(blocks) > 1 and blocks[-1].size == size:
            blocks[-1] = Block(blocks[-1].first, m + 1, size)
        else:
            blocks.append(Block(m, m + 1, size))
    return blocks


class DenseStep:
    """Takes steps in place."""

    def __init__(
        self,
        denoiser: Denoiser,
        schedule: Schedule,
        settings: Settings,
        known: Known,
        absorbing: bool,
    ) -> None:
        self.denoiser, self.known = denoiser, known
        self.schedule, self.settings = schedule, settings
        self.blocks = blocks_of(denoiser.traits.sizes)
        self.mask = np.array(denoiser.traits.sizes, dtype=np.int64) + 1
        self.published = settings.posterior == "published"
        # Mask-only in effect: what is decided stays, which the tiny replacement mass would not
        # promise once priors or guidance scale it up.
        self.keep_decided = absorbing and not self.published
        batch, slots, _ = known.tokens.shape
        self.predicted = [
            np.empty((batch, slots, block.last - block.first, block.size + 1))
            for block in self.blocks
        ]

    def __call__(self, tokens: Ints, step: Step, uniform: Floats) -> None:
        decided = self.known.fixed
        if self.keep_decided:
            decided = decided | (tokens != self.mask)
        again, stay = mask_chances(self.schedule, self.settings, step)
        if not again and decided.all():
            return
        prediction = self.denoiser(self.known.query(tokens, step.level))
        logs = []
        for block, predicted in zip(self.blocks, self.predicted, strict=True):
            self._predict(
                block, prediction.log_probs, predicted, ~decided[..., block.modalities], tokens
            )
            now = tokens[..., block.modalities]
            chances = self._chances(predicted, now, step, stay)
            log = np.log(np.maximum(chances, TINY, out=chances), out=chances)
            self._hold(log, now, decided[..., block.modalities])
            self._add_priors(block, log)
            logs.append(log)
        self._guide(step, logs)
        remasked = decided & ~self.known.fixed & (uniform < again) if again else None
        for block, log in zip(self.blocks, logs, strict=True):
            self._rule_out(block, log, step)
            drawn = self._draw(block, log, uniform[..., block.modalities])
            part = tokens[..., block.modalities]
            np.copyto(part, drawn, where=~decided[..., block.modalities])
        if remasked is not None:
            np.copyto(tokens, np.broadcast_to(self.mask, tokens.shape), where=remasked)

    def _chances(self, predicted: Floats, now: Ints, step: Step, stay: float) -> Floats:
        """p(z_s | z_t), MASK last; where decided tokens stay, right for masked ones only."""
        if not self.keep_decided:
            chances: Floats = posterior(predicted, now, *jump_masses(self.schedule, step.s, step.t))
            return chances
        chances = np.empty((*predicted.shape[:-1], predicted.shape[-1] + 1))
        total = predicted.sum(axis=-1)
        np.multiply(predicted, (1.0 - stay) / total[..., None], out=chances[..., :-1])
        chances[..., -1] = stay
        return chances

    def _predict(
        self,
        block: Block,
        log_probs: tuple[Array, ...],
        out: Floats,
        undecided: Bools,
        tokens: Ints,
    ) -> None:
        """p(z_0) of a block, up to a factor for each token; what is not allowed is 0.

        Top-k and top-p sort, which costs more than all the rest: only what is drawn is sorted.
        """
        for m in range(block.first, block.last):
            np.maximum(log_probs[m], LOG_FLOOR, out=out[:, :, m - block.first])
        settings = self.settings
        filtered = settings.filter == "prediction"
        self._restrict(block, out)
        if self.keep_decided:
            self._keep_on_canvas(block, out, tokens)
        out -= out.max(axis=-1, keepdims=True)
        if filtered and settings.temperature != 1.0:
            out /= settings.temperature
        np.exp(out, out=out)
        if filtered and settings.top_k:
            out[undecided] = keep_top_k(out[undecided], settings.top_k)
        top_p = settings.top_p_of(block.first)
        if filtered and top_p < 1.0:
            out[undecided] = keep_top_p(out[undecided], top_p)

    def _restrict(self, block: Block, log: Floats) -> None:
        """Rule out what z_0 cannot be: PAD where there is an element, and other labels."""
        self._forbid_pad(block, log)
        if block.first == 0 and self.known.labels is not None:
            log[:, :, 0, : block.size][~self.known.labels] = -np.inf

    def _keep_on_canvas(self, block: Block, log: Floats, tokens: Ints) -> None:
        """Rule out values with which a box would leave it, where centre or size is decided."""
        if self.known.on_canvas is None:
            return
        for m in range(max(block.first, 1), block.last):
            other = tokens[..., partner(m)]
            fits = self.known.fitting(m, other.reshape(-1)).reshape(*other.shape, -1)
            log[:, :, m - block.first, : block.size][~fits] = -np.inf

    def _forbid_pad(self, block: Block, log: Floats) -> None:
        if self.known.pad is None:
            log[..., block.size] = -np.inf
        else:
            log[~self.known.pad, :, block.size] = -np.inf

    def _hold(self, log: Floats, now: Ints, stuck: Bools) -> None:
        """One-hot at what is fixed or decided."""
        log[stuck] = -np.inf
        where = np.nonzero(stuck)
        log[(*where, now[where])] = 0.0

    def _add_priors(self, block: Block, log: Floats) -> None:
        if self.known.priors is None or block.first == 0:
            return
        for m in range(block.first, block.last):
            log[:, :, m - block.first, : block.size] += self.known.priors[m - 1]

    def _guide(self, step: Step, logs: list[Floats]) -> None:
        settings, guide = self.settings, self.known.guide
        if guide is None or not guides(self.schedule, settings, step):
            return
        own = [
            log[:, :, m - block.first, : block.size]
            for block, log in zip(self.blocks, logs, strict=True)
            for m in range(max(block.first, 1), block.last)
        ]
        guide.update(
            own,
            strength=settings.relation_strength,
            updates=settings.relation_updates,
            move_sizes=settings.relation_sizes,
        )

    def _rule_out(self, block: Block, log: Floats, step: Step) -> None:
        if step.s == 0:  # clean data holds no MASK and nothing that is not allowed
            log[..., block.size + 1] = -np.inf
            self._restrict(block, log)
        elif self.published:
            self._forbid_pad(block, log)

    def _draw(self, block: Block, log: Floats, uniform: Floats) -> Ints:
        settings = self.settings
        log -= np.maximum(log.max(axis=-1, keepdims=True), -1e300)
        if settings.filter == "published" and settings.temperature != 1.0:
            log /= settings.temperature
        weights = np.exp(log, out=log)
        if settings.filter == "published":
            weights = keep_top_k(weights, settings.top_k) if settings.top_k else weights
            weights = keep_top_p(weights, settings.top_p_of(block.first), published=True)
        # MASK first, so that a number below its share leaves the token masked: the same numbers
        # then decide the same tokens as in the quick way of stepping.
        stay = weights[..., -1]
        through = np.cumsum(weights[..., :-1], axis=-1)
        values = through[..., -1]
        target = uniform * (values + stay) - stay
        masked = target < 0
        # Rounding must not carry the target to the total, which no value would exceed.
        target = np.minimum(target, np.nextafter(values, 0.0))
        drawn = (through > target[..., None]).argmax(axis=-1)
        return np.asarray(np.where(masked, weights.shape[-1] - 1, drawn), dtype=np.int64)

"""VQDiffusion*: discrete diffusion over one joint vocabulary (Gu et al., CVPR 2022).

LayoutDM without what it adds: one transition matrix over all words (labels, x, y, width, height and
PAD), one table of positions for the flat sequence, even bins. A token may turn into a word of
another attribute, such as an x in the place of a width. The released code then reads it as some
width; here its element is left out, or, with `slot_mask`, each token is drawn from its own words.
Elements that are asked for always have words of their own.

The step is the exact posterior of any jump, or with `published` the released code's way of skipping
levels, in which priors, temperature and top-p act on p(z_s | z_t), MASK included.
The same file serves LayoutDM's ablation without modality-wise diffusion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.baselines.choosing import TokenOptions, whole, yes_or_no
from layoutdm.baselines.common import (
    Common,
    System,
    batches,
    put_tokens,
    read_common,
    refusal,
    understood,
)
from layoutdm.baselines.known import Known, known
from layoutdm.baselines.session import Network, Session
from layoutdm.baselines.vocabulary import Vocabulary
from layoutdm.diffusion.draw import draw_mask_first, keep_top_p
from layoutdm.diffusion.grid import Step, grid
from layoutdm.diffusion.process import jump_masses, posterior
from layoutdm.diffusion.schedule import Schedule
from layoutdm.diffusion.streams import Uniforms
from layoutdm.generator.protocol import Drawn, empty
from layoutdm.spec import Condition
from layoutdm.terms.priors import condition_priors

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FILE = "model.onnx"
TINY = 1e-300


@dataclass(frozen=True)
class JointOptions(TokenOptions):
    steps: int = 100
    published: bool = False
    slot_mask: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("steps", self.steps, 1, 100_000)
        yes_or_no("published", self.published)
        yes_or_no("slot_mask", self.slot_mask)


@dataclass(frozen=True, eq=False)
class VQDiffusion(System):
    """`network(tokens, level)` gives log p(z_0) of every word but MASK, (B, N, words)."""

    common: Common
    network: Network
    vocabulary: Vocabulary
    schedule: Schedule
    name: str = "vqdiffusion"
    options: type[JointOptions] = JointOptions

    def usual(self, task: str) -> JointOptions:
        return self.common.options(JointOptions(), task)

    def refuses(self, condition: Condition) -> str | None:
        return refusal(self.name, condition, draft=True)

    def check(self, options: JointOptions) -> None:
        """Raise where options, each right by itself, do not fit this model."""
        grid(self.schedule.steps, options.steps, published=options.published)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: JointOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        self.check(options)
        drawn, tokenizer = empty(len(conditions), self.max_elements), self.common.tokenizer
        for group in batches([len(condition) for condition in conditions]):
            own = [conditions[i] for i in group]
            length = 5 * tokenizer.max_elements
            numbers = Uniforms([streams[i] for i in group], [length] * len(group), length)
            flat = self._sample(own, options, numbers)
            for i, tokens in zip(group, self.vocabulary.unflatten(flat), strict=True):
                put_tokens(drawn, i, tokens, tokenizer, conditions[i])
        return drawn

    def _sample(
        self, conditions: Sequence[Condition], options: JointOptions, numbers: Uniforms
    ) -> Ints:
        arrays, words = known(conditions, self.common.tokenizer), self.vocabulary
        tokens, fixed = arrays.flat(words)
        allowed = may_become(arrays, words, slot_mask=options.slot_mask)
        prior = priors(conditions, self.common, words, len(allowed[0]))
        adjust = np.where(allowed, 0.0 if prior is None else prior, -np.inf)
        tokens = self._start(tokens, fixed, numbers)
        levels = self.schedule.steps
        for step in grid(levels, options.steps, published=options.published):
            uniform = numbers.next()
            # Where tokens are only ever masked, one that is decided stays as it is.
            moving = ~fixed
            if self.schedule.only_masks and not options.published:
                moving = tokens == words.special("mask")
            if not moving.any():
                continue
            level = np.full(len(tokens), step.level, dtype=np.int64)
            log_p0 = self.network(tokens=tokens, level=level)[0][moving].astype(np.float64)
            chances = self._chances(log_p0, tokens[moving], adjust[moving], step, options)
            tokens[moving] = draw_mask_first(chances, uniform[moving])
        return tokens

    def _start(self, tokens: Ints, fixed: Bools, numbers: Uniforms) -> Ints:
        """The schedule's own state at its last level: MASK, or a share of random words."""
        if self.schedule.only_masks:
            return tokens
        last = self.schedule.level(self.schedule.steps)
        masked = float(last.mask / (last.mask + last.replace))
        uniform, states = numbers.next(), self.vocabulary.size - 1
        share = np.clip((uniform - masked) / max(1 - masked, 1e-12), 0, 1)
        drawn = np.minimum((share * states).astype(np.int64), states - 1)
        return np.where((uniform >= masked) & ~fixed, drawn, tokens)

    def _chances(
        self, log_p0: Floats, now: Ints, adjust: Floats, step: Step, options: JointOptions
    ) -> Floats:
        """p(z_s | z_t) of some tokens, (R, words + MASK)."""
        masses = jump_masses(self.schedule, step.s, step.t)
        if not options.published:
            log = log_p0 / options.temperature + adjust
            p0 = keep_top_p(np.exp(log - log.max(axis=1, keepdims=True)), options.top_p)
            return np.asarray(posterior(p0 / p0.sum(axis=1, keepdims=True), now, *masses))
        p0 = np.exp(log_p0 - log_p0.max(axis=1, keepdims=True))
        chances = posterior(p0 / p0.sum(axis=1, keepdims=True), now, *masses)
        log = np.log(np.maximum(chances, TINY))
        log[:, :-1] += adjust
        if step.s == 0:  # clean data holds no MASK
            log[:, -1] = -np.inf
        weights = np.exp((log - log.max(axis=1, keepdims=True)) / options.temperature)
        return keep_top_p(weights, options.top_p, published=True)


def may_become(arrays: Known, vocabulary: Vocabulary, *, slot_mask: bool) -> Bools:
    """(B, N, words): any word, but their own where an element must be, PAD where none need be."""
    own = arrays.allowed(vocabulary, pad=True)[..., :-1]
    if slot_mask:
        return own
    slot = np.arange(own.shape[1]) // 5
    free = slot >= arrays.low[:, None]
    return np.where(free[..., None], True, own)


def priors(
    conditions: Sequence[Condition], common: Common, vocabulary: Vocabulary, length: int
) -> Floats | None:
    """(B, N, words): what drafts add to the log-probabilities of words near their values."""
    if not any(np.isfinite(condition.about).any() for condition in conditions):
        return None
    added = np.zeros((len(conditions), length, vocabulary.size - 1))
    for row, condition in enumerate(conditions):
        found = condition_priors(condition, common.tokenizer.bins.centres) or []
        for a, prior in enumerate(found):
            place, start = vocabulary.order.index(a + 1), vocabulary.starts[a + 1]
            at = 5 * np.arange(len(condition)) + place
            added[row, at, start : start + prior.shape[1]] = prior
    return added


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> VQDiffusion:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    vocabulary = understood(folder, lambda: Vocabulary.from_dict(record["vocabulary"]))
    schedule = understood(folder, lambda: Schedule.from_dict(record["schedule"]))
    network = Session(folder / FILE, threads)
    return VQDiffusion(common, network, vocabulary, schedule, str(record["generator"]))

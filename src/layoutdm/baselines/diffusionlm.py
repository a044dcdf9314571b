"""Diffusion-LM: Gaussian diffusion of token embeddings (Li et al., NeurIPS 2022).

Each token is a learned vector of 16 numbers; a transformer predicts the clean vectors from noisy
ones, and at the end each vector is rounded to a word. `steps` steps by DDPM, or without noise by
DDIM (`ddim`). Known tokens are set to their vectors before and after every step.

As compared, rounding may take any word in any place, so that elements with a foreign one are lost;
the elements that are asked for keep to their own words here, and MASK is never taken. Two
weaknesses can be repaired: the first step tells the network a noise that training never has
(`repaired_start` begins where training ends), and vectors wander between words (`clamp`, the
original's default, moves each prediction to the nearest).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.baselines.choosing import whole, yes_or_no
from layoutdm.baselines.common import (
    Common,
    System,
    batches,
    put_tokens,
    read_common,
    refusal,
    understood,
)
from layoutdm.baselines.known import known
from layoutdm.baselines.session import Network, Session
from layoutdm.baselines.vocabulary import Vocabulary
from layoutdm.baselines.vqdiffusion import may_become
from layoutdm.errors import LayoutdmError
from layoutdm.generator.protocol import Drawn, Options, empty
from layoutdm.spec import Condition

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FILE, TABLES = "model.onnx", "tables.npz"
LAST = 0.999  # the largest time that training draws
OFFSET = 0.008  # of the cosine, so that noise begins small but not at 0


@dataclass(frozen=True)
class DiffusionLMOptions(Options):
    steps: int = 100
    ddim: bool = False
    clamp: bool = False
    repaired_start: bool = False

    def __post_init__(self) -> None:
        whole("steps", self.steps, 1, 100_000)
        for name in ("ddim", "clamp", "repaired_start"):
            yes_or_no(name, getattr(self, name))


def log_snr(time: Floats | float) -> Floats:
    """The logarithm of signal over noise at a time from 0 to 1.

    >>> log_snr(np.array([0.0, 0.5, 0.999])).round(2).tolist()
    [8.77, -0.02, -12.93]
    """
    angle = (np.asarray(time, dtype=np.float64) + OFFSET) / (1 + OFFSET) * np.pi / 2
    return np.asarray(-np.log(np.maximum(np.cos(angle) ** -2 - 1, 1e-5)))


def scales(log: Floats | float) -> tuple[Floats, Floats]:
    """(alpha, sigma): how much of signal and noise there is."""
    log = np.asarray(log, dtype=np.float64)
    return np.sqrt(1 / (1 + np.exp(-log))), np.sqrt(1 / (1 + np.exp(log)))


@dataclass(frozen=True, eq=False)
class Tables:
    """The words' vectors, and the linear map that rounds a vector to a word."""

    words: Floats  # (V, 16)
    weight: Floats  # (V, 16)
    bias: Floats  # (V,)

    def scores(self, vectors: Floats) -> Floats:
        return np.asarray(vectors @ self.weight.T + self.bias)

    def nearest(self, vectors: Floats) -> Floats:
        """Each vector's nearest word."""
        closeness = vectors @ self.words.T - (self.words**2).sum(axis=1) / 2
        return np.asarray(self.words[closeness.argmax(axis=-1)])


@dataclass(frozen=True, eq=False)
class DiffusionLM(System):
    """`network(vectors, log_snr)` predicts the clean vectors."""

    common: Common
    network: Network
    tables: Tables
    vocabulary: Vocabulary
    name: str = "diffusionlm"
    options: type[DiffusionLMOptions] = DiffusionLMOptions

    def usual(self, task: str) -> DiffusionLMOptions:
        return self.common.options(DiffusionLMOptions(), task)

    def refuses(self, condition: Condition) -> str | None:
        return refusal(self.name, condition)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: DiffusionLMOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        drawn, tokenizer = empty(len(conditions), self.max_elements), self.common.tokenizer
        words = self.vocabulary
        for group in batches([len(condition) for condition in conditions]):
            arrays = known([conditions[i] for i in group], tokenizer)
            flat, fixed = arrays.flat(words)
            vectors = self._denoise(flat, fixed, options, [streams[i] for i in group])
            allowed = may_become(arrays, words, slot_mask=False)
            scores = self.tables.scores(vectors)[..., :-1]
            chosen = np.where(allowed, scores, -np.inf).argmax(axis=-1)
            for i, tokens in zip(
                group, words.unflatten(np.where(fixed, flat, chosen)), strict=True
            ):
                put_tokens(drawn, i, tokens, tokenizer, conditions[i])
        return drawn

    def _denoise(
        self,
        flat: Ints,
        fixed: NDArray[np.bool_],
        options: DiffusionLMOptions,
        streams: Sequence[np.random.Generator],
    ) -> Floats:
        """(B, N, 16) clean vectors."""
        given = self.tables.words[flat]
        shape = given.shape[1:]
        x = np.stack([stream.standard_normal(shape) for stream in streams])
        times = np.linspace(LAST if options.repaired_start else 1.0, 0.0, options.steps + 1)
        for now, then in pairwise(times.tolist()):
            x = np.where(fixed[..., None], given, x)
            at, to = float(log_snr(now)), float(log_snr(then))
            level = np.full(len(x), at, dtype=np.float32)
            (clean,) = self.network(vectors=x.astype(np.float32), log_snr=level)
            clean = clean.astype(np.float64)
            if options.clamp:
                clean = self.tables.nearest(clean)
            noise = None
            if then > 0 and not options.ddim:
                noise = np.stack([stream.standard_normal(shape) for stream in streams])
            x = step(x, clean, at, to, noise, ddim=options.ddim)
        return np.where(fixed[..., None], given, x)


def step(
    x: Floats, clean: Floats, at: float, to: float, noise: Floats | None, *, ddim: bool
) -> Floats:
    """From one log-SNR to a higher one, given the predicted clean vectors.

    DDPM: mean alpha_s (x (1 - c) / alpha_t + c x_0), variance sigma_s^2 c, c = 1 - e^(l_t - l_s).
    DDIM: alpha_s x_0 + sigma_s e, where x = alpha_t x_0 + sigma_t e.
    """
    (alpha, sigma), (alpha_to, sigma_to) = scales(at), scales(to)
    if ddim:
        return np.asarray(alpha_to * clean + sigma_to * (x - alpha * clean) / sigma)
    c = -np.expm1(at - to)
    mean = alpha_to * (x * (1 - c) / alpha + c * clean)
    return np.asarray(mean if noise is None else mean + sigma_to * np.sqrt(c) * noise)


def read_tables(path: Path, words: int) -> Tables:
    try:
        with np.load(path, allow_pickle=False) as found:
            tables = Tables(
                *(found[name].astype(np.float64) for name in ("words", "weight", "bias"))
            )
    except (OSError, ValueError, KeyError) as error:
        raise LayoutdmError(f"{path}: does not hold the words' vectors: {error}") from None
    if len(tables.words) != words or tables.weight.shape != tables.words.shape:
        raise LayoutdmError(f"{path}: must hold the vectors of {words} words")
    return tables


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> DiffusionLM:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    vocabulary = understood(folder, lambda: Vocabulary.from_dict(record["vocabulary"]))
    tables = read_tables(folder / TABLES, vocabulary.size)
    return DiffusionLM(common, Session(folder / FILE, threads), tables, vocabulary)

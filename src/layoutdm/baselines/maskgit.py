"""MaskGIT*: masked tokens are filled in a few parallel steps (Chang et al., CVPR 2022).

A bidirectional transformer predicts every masked token. Each step keeps the predictions that it
is most sure of and masks the rest again; how many stay masked falls along a cosine. As in the
paper, PAD is a word of the vocabulary, so that completion can decide the number of elements.
Without any condition that number is drawn first, from the train split's own.

Confidence is log p of the drawn token plus Gumbel noise that fades out, times `choice_temperature`:
1 as compared, 4.5 in the original, which also reveals at least one token a step (`reveal_one`).
Steps in which nothing would be revealed are skipped; they change nothing.

The released code picks what is strictly above the k-th score, so that ties reveal fewer, and
updates its histogram of lengths on the val split as well; neither is copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.baselines.choosing import TokenOptions, gumbel, number, pick, whole, yes_or_no
from layoutdm.baselines.common import Common, System, read_common, refusal, understood
from layoutdm.baselines.filling import Canvas, Ints, draw_all
from layoutdm.baselines.session import Network, Session
from layoutdm.baselines.vocabulary import Vocabulary
from layoutdm.diffusion.streams import Uniforms
from layoutdm.generator.protocol import Drawn
from layoutdm.spec import Condition

FILE = "model.onnx"


@dataclass(frozen=True)
class MaskGITOptions(TokenOptions):
    steps: int = 100  # as compared; the original takes 16
    choice_temperature: float = 1.0
    reveal_one: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("steps", self.steps, 1, 10_000)
        number("choice_temperature", self.choice_temperature, 0, 1e6, "0 or more")
        yes_or_no("reveal_one", self.reveal_one)


@dataclass(frozen=True, eq=False)
class MaskGIT(System):
    common: Common
    network: Network
    vocabulary: Vocabulary
    name: str = "maskgit"
    options: type[MaskGITOptions] = MaskGITOptions

    def usual(self, task: str) -> MaskGITOptions:
        return self.common.options(MaskGITOptions(), task)

    def refuses(self, condition: Condition) -> str | None:
        return refusal(self.name, condition)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: MaskGITOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        def fill(canvas: Canvas, numbers: Uniforms) -> None:
            reveal(self.network, canvas, options, numbers)

        return draw_all(conditions, streams, self.common, self.vocabulary, fill, pad=True)


def reveal(network: Network, canvas: Canvas, options: MaskGITOptions, numbers: Uniforms) -> None:
    """Fill a canvas in `steps` parallel steps."""
    unknown = canvas.masked.sum(axis=1)
    length = canvas.tokens.shape[1]
    for step in range(options.steps):
        uniform = numbers.next()
        masked = canvas.masked.sum(axis=1)
        leave = still_masked(unknown, masked, step, options)
        if (leave >= masked).all():
            continue
        scores = canvas.ask(network)
        chosen, log_prob = pick(
            scores, canvas.allowed, uniform[:, :length], options.temperature, options.top_p
        )
        fading = options.choice_temperature * (1 - (step + 1) / options.steps)
        confidence = log_prob + fading * gumbel(uniform[:, length:])
        canvas.keep(chosen, confidence, canvas.masked, leave)


def still_masked(unknown: Ints, masked: Ints, step: int, options: MaskGITOptions) -> Ints:
    """How many tokens of each layout stay masked after a step.

    >>> still_masked(np.array([10]), np.array([10]), 4, MaskGITOptions(steps=10)).tolist()
    [7]
    """
    if step == options.steps - 1:
        return np.zeros_like(masked)
    share = np.cos(np.pi / 2 * (step + 1) / options.steps)
    leave = np.floor(unknown * share).astype(np.int64)
    if options.reveal_one:
        leave = np.maximum(np.minimum(leave, masked - 1), 1)
    return np.asarray(np.minimum(leave, masked))


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> MaskGIT:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    vocabulary = understood(folder, lambda: Vocabulary.from_dict(record["vocabulary"]))
    return MaskGIT(common, Session(folder / FILE, threads), vocabulary)

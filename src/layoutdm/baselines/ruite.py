"""RUITE: a rough draft in, a refined layout out, in one pass (Rahman et al., IUI 2021 workshop).

A bidirectional transformer reads the tokens of a noisy layout and predicts those of the clean one.
Labels and what else is fixed are restored. As compared, tokens are drawn at random; `argmax` takes
the likeliest instead. The released code has no mask of what a slot may hold, so that a label in the
place of a width loses the element; here every element of the draft stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.baselines.choosing import TokenOptions, pick, yes_or_no
from layoutdm.baselines.common import (
    Common,
    System,
    batches,
    labels_only,
    put_tokens,
    read_common,
    refusal,
    understood,
)
from layoutdm.baselines.known import known
from layoutdm.baselines.session import Network, Session
from layoutdm.baselines.vocabulary import Vocabulary
from layoutdm.diffusion.streams import Uniforms
from layoutdm.generator.protocol import Drawn, empty
from layoutdm.spec import Condition

FILE = "model.onnx"


@dataclass(frozen=True)
class RuiteOptions(TokenOptions):
    argmax: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        yes_or_no("argmax", self.argmax)


@dataclass(frozen=True, eq=False)
class Ruite(System):
    common: Common
    network: Network
    vocabulary: Vocabulary
    name: str = "ruite"
    options: type[RuiteOptions] = RuiteOptions

    def usual(self, task: str) -> RuiteOptions:
        return self.common.options(RuiteOptions(), task)

    def refuses(self, condition: Condition) -> str | None:
        drafted = np.isfinite(condition.about) | np.isfinite(condition.fixed)
        if not np.isfinite(condition.about).any() or not drafted.all():
            return "ruite refines a draft; say about where and how large every element is"
        return labels_only("ruite", condition) or refusal("ruite", condition, draft=True)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: RuiteOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        drawn, tokenizer = empty(len(conditions), self.max_elements), self.common.tokenizer
        for group in batches([len(condition) for condition in conditions]):
            own = [conditions[i] for i in group]
            slots = max(len(condition) for condition in own)
            arrays = known(own, tokenizer, slots)
            draft = arrays.tokens.copy()
            for row, condition in enumerate(own):
                given = np.isfinite(condition.about)
                ids = tokenizer.bins.encode(np.nan_to_num(condition.about))
                part = draft[row, : len(condition), 1:]
                np.copyto(part, ids, where=given)
            words = self.vocabulary
            flat, fixed = words.flatten(draft), words.by_place(arrays.fixed)
            valid = np.arange(5 * slots) // 5 < arrays.high[:, None]
            scores = self.network(tokens=flat, valid=valid)[0]
            allowed = arrays.allowed(words, pad=False)
            counts = [5 * len(condition) for condition in own]
            uniform = Uniforms([streams[i] for i in group], counts, 5 * slots).next()
            if options.argmax:
                chosen = np.where(allowed, scores, -np.inf).argmax(axis=-1)
            else:
                chosen, _ = pick(scores, allowed, uniform, options.temperature, options.top_p)
            for i, tokens in zip(
                group, words.unflatten(np.where(fixed, flat, chosen)), strict=True
            ):
                put_tokens(drawn, i, tokens, tokenizer, conditions[i])
        return drawn


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> Ruite:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    vocabulary = understood(folder, lambda: Vocabulary.from_dict(record["vocabulary"]))
    return Ruite(common, Session(folder / FILE, threads), vocabulary)

"""LayoutTrans: a layout is a sentence, written token by token (Gupta et al., ICCV 2021).

A causal transformer reads BOS and the tokens so far (label, width, height, x, y of each element)
and predicts the next one, until EOS. What is known overwrites what was drawn, so the labels and
sizes of an element decide its place, but an element never sees what is known of later ones.
`layouttrans` learns elements in random order. `layouttrans-fixed` learns them from the top left
down, which no list of known elements need follow; it makes whole layouts only.

The released code lets the longest layout of each batch end without EOS, and lets PAD and EOS be
drawn inside an element, which loses it. Here every layout ends with EOS, which may be drawn in the
place of a label only. Keys and values of earlier tokens are kept, not computed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from layoutdm.baselines.choosing import TokenOptions, pick
from layoutdm.baselines.common import (
    Common,
    System,
    batches,
    put_tokens,
    read_common,
    refusal,
    understood,
)  # fmt: skip
from layoutdm.baselines.known import Known, known
from layoutdm.baselines.session import Session
from layoutdm.baselines.vocabulary import Vocabulary
from layoutdm.diffusion.streams import Uniforms
from layoutdm.generator.protocol import Drawn, empty
from layoutdm.spec import Condition

Ints = NDArray[np.int64]
Array = NDArray[Any]

FILE = "model.onnx"


class Decoder(Protocol):
    """A network that reads one more token a call; `state` is what it keeps of the earlier ones."""

    def start(self, batch: int) -> Any: ...

    def step(self, tokens: Ints, position: int, state: Any) -> tuple[Array, Any]:
        """Scores of the next token, (B, V), and the new state."""
        ...


class CachedDecoder:
    """A decoder in an ONNX file that takes and gives the keys and values of all layers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        layers, _, heads, _, size = session.inputs["keys"]
        self._shape = (int(layers), int(heads), int(size))

    def start(self, batch: int) -> Any:
        layers, heads, size = self._shape
        nothing = np.zeros((layers, batch, heads, 0, size), dtype=np.float32)
        return nothing, nothing

    def step(self, tokens: Ints, position: int, state: Any) -> tuple[Array, Any]:
        at = np.array([position], dtype=np.int64)
        keys, values = state
        scores, *new = self._session.held(tokens=tokens, position=at, keys=keys, values=values)
        return scores.numpy(), tuple(new)


@dataclass(frozen=True, eq=False)
class LayoutTrans(System):
    """Writes layouts with a decoder."""

    common: Common
    decoder: Decoder
    vocabulary: Vocabulary
    name: str = "layouttrans"
    options: type[TokenOptions] = TokenOptions

    def usual(self, task: str) -> TokenOptions:
        return self.common.options(TokenOptions(), task)

    def refuses(self, condition: Condition) -> str | None:
        if self.name == "layouttrans-fixed" and len(condition):
            return (
                "layouttrans-fixed writes its elements from the top left down, so none can be "
                "given; leave the elements out or use layouttrans"
            )
        return refusal(self.name, condition)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: TokenOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        drawn, tokenizer = empty(len(conditions), self.max_elements), self.common.tokenizer
        for group in batches([condition.max_elements for condition in conditions]):
            own = [conditions[i] for i in group]
            numbers = Uniforms([streams[i] for i in group], [1] * len(group), 1)
            flat = write(self.decoder, known(own, tokenizer), self.vocabulary, options, numbers)
            for i, tokens in zip(group, self.vocabulary.unflatten(flat), strict=True):
                put_tokens(drawn, i, tokens, tokenizer, conditions[i])
        return drawn


def write(
    decoder: Decoder, known: Known, vocabulary: Vocabulary, options: TokenOptions, numbers: Uniforms
) -> Ints:
    """(B, 5 S) flat ids, PAD after the end: one token after the other, until all have ended."""
    given, fixed = known.flat(_with_mask(vocabulary))
    allowed = known.allowed(vocabulary, pad=False)
    size, length, _ = allowed.shape
    written = np.full((size, length), vocabulary.pad, dtype=np.int64)
    before = np.full(size, vocabulary.special("bos"), dtype=np.int64)
    going, state = np.ones(size, dtype=bool), decoder.start(size)
    eos = vocabulary.special("eos")
    for at in range(length):
        if at % 5 == 0:  # only an element's first token can be EOS instead
            going &= at // 5 < known.high
            allowed[:, at, eos] = at // 5 >= known.low
        if not going.any():
            break
        scores, state = decoder.step(before, at, state)
        uniform = numbers.next()[:, 0]
        chosen, _ = pick(scores, allowed[:, at], uniform, options.temperature, options.top_p)
        chosen = np.where(fixed[:, at], given[:, at], chosen)
        going &= chosen != eos
        before = np.where(going, chosen, vocabulary.pad)
        written[:, at] = before
    return written


def _with_mask(vocabulary: Vocabulary) -> Vocabulary:
    """The same ids, and MASK beyond them for what is not known, where there is none."""
    if "mask" in vocabulary.specials:
        return vocabulary
    specials = (*vocabulary.specials, "mask")
    return Vocabulary(vocabulary.sizes, vocabulary.order, vocabulary.shared, specials)


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> LayoutTrans:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    vocabulary = understood(folder, lambda: Vocabulary.from_dict(record["vocabulary"]))
    decoder = CachedDecoder(Session(folder / FILE, threads))
    return LayoutTrans(common, decoder, vocabulary, str(record["generator"]))

"""BART: an encoder reads a layout with holes, a decoder writes it whole (Lewis et al., ACL 2020).

The encoder sees what is known and MASK elsewhere, the number of elements included; the decoder
writes label, width, height, x, y of each element as LayoutTrans does, with the encoder's view of
all that is known. Known tokens overwrite what was drawn. The encoder runs once a layout and the
decoder keeps its keys, where the released code runs both anew for every token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from layoutdm.baselines.choosing import TokenOptions
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
from layoutdm.baselines.layouttrans import Decoder, write
from layoutdm.baselines.session import Session
from layoutdm.baselines.vocabulary import Vocabulary
from layoutdm.diffusion.streams import Uniforms
from layoutdm.generator.protocol import Drawn, empty
from layoutdm.spec import Condition

Ints = NDArray[np.int64]
Array = NDArray[Any]

ENCODER, DECODER = "encoder.onnx", "decoder.onnx"


class Reader(Protocol):
    """An encoder: (B, 5 S + 1) tokens with holes to a decoder that knows them."""

    def __call__(self, tokens: Ints) -> Decoder: ...


class OnnxReader:
    """Two ONNX files; the encoder gives the keys and values that the decoder looks at."""

    def __init__(self, encoder: Session, decoder: Session) -> None:
        self._encoder, self._decoder = encoder, decoder

    def __call__(self, tokens: Ints) -> Decoder:
        memory = self._encoder.held(tokens=tokens)
        return _Memory(self._decoder, memory)


class _Memory:
    def __init__(self, session: Session, memory: tuple[Any, ...]) -> None:
        self._session, self._memory = session, memory
        layers, _, heads, _, size = session.inputs["keys"]
        self._shape = (int(layers), int(heads), int(size))

    def start(self, batch: int) -> Any:
        layers, heads, size = self._shape
        nothing = np.zeros((layers, batch, heads, 0, size), dtype=np.float32)
        return nothing, nothing

    def step(self, tokens: Ints, position: int, state: Any) -> tuple[Array, Any]:
        scores, *new = self._session.held(
            tokens=tokens, position=np.array([position], dtype=np.int64), keys=state[0],
            values=state[1], memory_keys=self._memory[0], memory_values=self._memory[1],
        )  # fmt: skip
        return scores.numpy(), tuple(new)


@dataclass(frozen=True, eq=False)
class Bart(System):
    common: Common
    reader: Reader
    vocabulary: Vocabulary
    name: str = "bart"
    options: type[TokenOptions] = TokenOptions

    def usual(self, task: str) -> TokenOptions:
        return self.common.options(TokenOptions(), task)

    def refuses(self, condition: Condition) -> str | None:
        return refusal(self.name, condition)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: TokenOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        drawn, tokenizer = empty(len(conditions), self.max_elements), self.common.tokenizer
        for group in batches([condition.max_elements for condition in conditions]):
            arrays = known([conditions[i] for i in group], tokenizer)
            decoder = self.reader(with_holes(arrays, self.vocabulary))
            numbers = Uniforms([streams[i] for i in group], [1] * len(group), 1)
            flat = write(decoder, arrays, self.vocabulary, options, numbers)
            for i, tokens in zip(group, self.vocabulary.unflatten(flat), strict=True):
                put_tokens(drawn, i, tokens, tokenizer, conditions[i])
        return drawn


def with_holes(arrays: Known, vocabulary: Vocabulary) -> Ints:
    """What the encoder reads: BOS, known tokens, MASK; EOS and PAD where the number is known."""
    flat, _ = arrays.flat(vocabulary)
    begins = np.full((len(flat), 1), vocabulary.special("bos"), dtype=np.int64)
    tokens = np.concatenate([begins, flat], axis=1)
    row = np.flatnonzero((arrays.low == arrays.high) & (5 * arrays.high + 1 < tokens.shape[1]))
    tokens[row, 5 * arrays.high[row] + 1] = vocabulary.special("eos")
    known_number = (arrays.low == arrays.high)[:, None]
    # Elsewhere the tail is not known either; `known` has PAD there only beyond the largest number.
    return np.where(known_number | (tokens != vocabulary.pad), tokens, vocabulary.special("mask"))


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> Bart:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    vocabulary = understood(folder, lambda: Vocabulary.from_dict(record["vocabulary"]))
    reader = OnnxReader(Session(folder / ENCODER, threads), Session(folder / DECODER, threads))
    return Bart(common, reader, vocabulary)

"""Parallel decoding: predict all unknown tokens, keep the most confident, mask the others again.

MaskGIT and BLT differ in how many they keep, in which order, and in what they call confident.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from layoutdm.baselines.common import Common, batches, draw_number, put_tokens
from layoutdm.baselines.known import Known, known
from layoutdm.baselines.session import Network
from layoutdm.baselines.vocabulary import Vocabulary
from layoutdm.diffusion.streams import Uniforms
from layoutdm.generator.protocol import Drawn, empty
from layoutdm.spec import Condition

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Canvas:
    """B layouts while they are filled: flat tokens of which some are still MASK."""

    def __init__(self, known: Known, vocabulary: Vocabulary, *, pad: bool) -> None:
        self.known, self.vocabulary = known, vocabulary
        self.tokens, fixed = known.flat(vocabulary)
        self.mask = vocabulary.special("mask")
        self.free = ~fixed  # (B, N): what is drawn
        self.allowed = known.allowed(vocabulary, pad=pad)
        place = np.array(vocabulary.order)[np.arange(self.tokens.shape[1]) % 5]
        self.modality = place  # (N,): of each token

    @property
    def masked(self) -> Bools:
        return np.asarray(self.tokens == self.mask)

    def ask(self, network: Network) -> NDArray[np.float32]:
        """(B, N, V) scores. What only fills up is hidden from networks that want to know."""
        slot = np.arange(self.tokens.shape[1]) // 5
        return network(
            tokens=self.tokens,
            valid=slot < self.known.high[:, None],
            elements=self.known.high.astype(np.int64),
        )[0]

    def keep(self, chosen: Ints, confidence: Floats, open_: Bools, leave: Ints) -> None:
        """Fill the open tokens, except the `leave` (B,) least confident of each layout."""
        order = np.argsort(np.where(open_, confidence, np.inf), axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(order.shape[1])[None], axis=1)
        kept = open_ & (rank >= leave[:, None])
        np.copyto(self.tokens, chosen, where=kept)


Filler = Callable[[Canvas, Uniforms], None]


def begin(
    conditions: Sequence[Condition],
    streams: Sequence[np.random.Generator],
    common: Common,
    *,
    pad: bool,
) -> Known:
    """The arrays of a batch; unless PAD decides it, the number of elements is drawn first."""
    if pad:
        return known(conditions, common.tokenizer)
    pairs = zip(conditions, streams, strict=True)
    counts = [draw_number(common.histogram, condition, stream) for condition, stream in pairs]
    return known(conditions, common.tokenizer, counts=counts)


def draw_all(
    conditions: Sequence[Condition],
    streams: Sequence[np.random.Generator],
    common: Common,
    vocabulary: Vocabulary,
    fill: Filler,
    *,
    pad: bool,
) -> Drawn:
    """Layouts of all conditions.

    pad: the network knows PAD, so in completion it decides how many elements there are. Without
    a condition the number is drawn even then, as published.
    """
    drawn = empty(len(conditions), common.tokenizer.max_elements)
    kinds = [pad and len(c) > 0 and c.max_elements > len(c) for c in conditions]
    for kind in (False, True):
        rows = [i for i, found in enumerate(kinds) if found == kind]
        for chosen in batches([len(conditions[i]) for i in rows]):
            group = [rows[i] for i in chosen]
            own = [conditions[i] for i in group]
            sources = [streams[i] for i in group]
            canvas = Canvas(begin(own, sources, common, pad=kind), vocabulary, pad=kind)
            length = canvas.tokens.shape[1]
            numbers = Uniforms(sources, [2 * length] * len(group), 2 * length)
            fill(canvas, numbers)
            for i, tokens in zip(group, vocabulary.unflatten(canvas.tokens), strict=True):
                put_tokens(drawn, i, tokens, common.tokenizer, conditions[i])
    return drawn

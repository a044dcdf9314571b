"""What conditions fix, as the arrays that token systems decode with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.baselines.vocabulary import Vocabulary
from layoutdm.plan.batch import encode_all
from layoutdm.spec import Condition
from layoutdm.tokens import Tokenizer

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Known:
    """B layouts of S slots; listed element k of a layout sits in slot k."""

    tokens: Ints  # (B, S, 5) local ids: fixed values, MASK elsewhere, PAD beyond `high`
    fixed: Bools  # (B, S, 5): True for fixed values and for that PAD
    labels: Bools  # (B, S, labels): which labels each slot may have
    low: Ints  # (B,): at least so many elements
    high: Ints  # (B,): at most so many

    def flat(self, vocabulary: Vocabulary) -> tuple[Ints, Bools]:
        """(B, 5 S) flat ids and which of them are fixed."""
        return vocabulary.flatten(self.tokens), vocabulary.by_place(self.fixed)

    def allowed(self, vocabulary: Vocabulary, *, pad: bool) -> Bools:
        """(B, 5 S, V): the values that each token may take, and PAD where a slot may be empty.

        The published code allows PAD, and EOS where there is one, in every slot. It then loses
        elements that it was asked for, so here PAD needs a slot beyond the smallest number.
        """
        size, slots, _ = self.tokens.shape
        own = np.tile(vocabulary.own, (slots, 1))
        allowed = np.broadcast_to(own, (size, *own.shape)).copy()
        labels = self.labels.shape[-1]
        allowed[:, ::5, :labels] &= self.labels
        if pad:
            slot = np.arange(slots)
            empty = (slot >= self.low[:, None]) & (slot < self.high[:, None])
            allowed[..., vocabulary.pad] = np.repeat(empty, 5, axis=1)
        return allowed


def known(
    conditions: Sequence[Condition],
    tokenizer: Tokenizer,
    slots: int | None = None,
    counts: Sequence[int] | None = None,
) -> Known:
    """The arrays of some conditions; `counts` are numbers of elements that are already drawn."""
    size, slots = len(conditions), tokenizer.max_elements if slots is None else slots
    tokens = np.tile(tokenizer.mask, (size, slots, 1))
    fixed = np.zeros((size, slots, 5), dtype=bool)
    labels = np.ones((size, slots, len(tokenizer.labels)), dtype=bool)
    low = np.array([max(c.min_elements, len(c), 1) for c in conditions], dtype=np.int64)
    high = np.array([c.max_elements for c in conditions], dtype=np.int64)
    if counts is not None:
        low = high = np.asarray(counts, dtype=np.int64)
    for row, item in enumerate(encode_all(conditions, tokenizer)):
        n = len(item.tokens)
        tokens[row, :n], fixed[row, :n] = item.tokens, item.fixed
        labels[row, :n] = conditions[row].label_choices
        tokens[row, high[row] :], fixed[row, high[row] :] = tokenizer.pad, True
    return Known(tokens, fixed, labels, low, high)

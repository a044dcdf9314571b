"""Layouts as packed arrays: elements in reading order, one layout after another."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.data.orders import top_left
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.tokens import Tokenizer

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Corpus:
    """tokens (N, 5) and boxes (N, 4) of all elements; layout i starts at starts[i]."""

    tokenizer: Tokenizer
    tokens: Ints
    boxes: Floats
    starts: Ints
    counts: Ints

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def fingerprint(self) -> str:
        """A short hash of the data, so that a resumed run can tell that it has changed."""
        digest = hashlib.sha256(self.tokens.tobytes())
        digest.update(self.counts.tobytes())
        return digest.hexdigest()[:16]


def pack(layouts: Sequence[Layout], tokenizer: Tokenizer) -> Corpus:
    """Tokens and boxes of these layouts, each in reading order (see `layoutdm.data.orders`)."""
    if not layouts:
        raise LayoutdmError("no layouts to train on; there should be at least one")
    ordered = [top_left(layout, tokenizer.labels) for layout in layouts]
    counts = np.array([len(layout) for layout in ordered], dtype=np.int64)
    longest = int(counts.max())
    if longest > tokenizer.max_elements:
        raise LayoutdmError(
            f"a layout has {longest} elements, but the model has room for "
            f"{tokenizer.max_elements}; leave long layouts out or raise the maximum"
        )
    boxes = np.concatenate([np.asarray(layout.boxes) for layout in ordered])
    names = [label for layout in ordered for label in layout.labels]
    tokens = np.column_stack([tokenizer.label_ids(names), tokenizer.bins.encode(boxes)])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    return Corpus(tokenizer, tokens, boxes, starts, counts)


def label_sequences(corpus: Corpus) -> list[Ints]:
    """The labels of each layout, in reading order."""
    return np.split(corpus.tokens[:, 0], corpus.starts[1:])

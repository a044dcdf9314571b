"""Layouts as packed arrays, and batches of them in any order of elements.

>>> from layoutdm import Layout
>>> from layoutdm.tokens import uniform_bins
>>> page = Layout.create(["b", "a"], [[0.5, 0.75, 1, 0.5], [0.5, 0.25, 1, 0.5]])
>>> packed = pack([page], Tokenizer(("a", "b"), uniform_bins(4), 3))
>>> batch = packed.gather(np.array([0]), top_left(packed, np.array([0])), slots=3)
>>> batch.tokens[0, :, 0].tolist(), batch.present.tolist()  # "a" is above "b"; the rest is PAD
([0, 1, 2], [[True, True, False]])
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.layout import Layout
from layoutdm.tokens import Tokenizer
from layoutdm.train import corpus
from layoutdm.train.corpus import Corpus

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Gathered:
    """B layouts of up to S elements; local ids, PAD where there is no element."""

    tokens: Ints  # (B, S, 5)
    boxes: Floats  # (B, S, 4), 0 where there is no element
    present: Bools  # (B, S)


class Packed(Corpus):
    """All layouts, gathered in any order of their elements."""

    @property
    def fingerprint(self) -> str:
        """Of boxes as well: some systems read them, not their tokens."""
        boxes = hashlib.sha256(self.boxes.tobytes()).hexdigest()
        return f"{super().fingerprint}{boxes[:8]}"

    @property
    def histogram(self) -> list[int]:
        """How many layouts have 1, 2, ... elements."""
        found = np.bincount(self.counts, minlength=self.tokenizer.max_elements + 1)
        return [int(count) for count in found[1:]]

    def keys(self, layouts: Ints, values: Floats) -> Floats:
        """(B, S) of one number an element, infinite where there is none: for an order."""
        slot = np.arange(int(self.counts[layouts].max()))
        present = slot < self.counts[layouts][:, None]
        source = np.where(present, self.starts[layouts][:, None] + slot, 0)
        return np.where(present, values[source], np.inf)

    def gather(self, layouts: Ints, order: Ints, slots: int | None = None) -> Gathered:
        """These layouts with their elements in the given order, (B, longest)."""
        counts = self.counts[layouts]
        slots = int(counts.max()) if slots is None else slots
        order = np.pad(order, ((0, 0), (0, max(slots - order.shape[1], 0))))
        present = np.arange(slots) < counts[:, None]
        source = np.where(present, self.starts[layouts][:, None] + order, 0)
        tokens = np.where(present[..., None], self.tokens[source], self.tokenizer.pad)
        boxes = np.where(present[..., None], self.boxes[source], 0.0)
        return Gathered(tokens, boxes, present)


def pack(layouts: Sequence[Layout], tokenizer: Tokenizer) -> Packed:
    """Tokens and boxes of these layouts."""
    found = corpus.pack(layouts, tokenizer)
    return Packed(tokenizer, found.tokens, found.boxes, found.starts, found.counts)


def shuffled(packed: Packed, layouts: Ints, rng: np.random.Generator) -> Ints:
    """Elements in random order."""
    keys = packed.keys(layouts, np.zeros(len(packed.tokens)))
    return np.argsort(np.where(np.isinf(keys), 2.0, rng.random(keys.shape)), axis=1)


def top_left(packed: Packed, layouts: Ints) -> Ints:
    """Elements by their top edge, then their left edge, then their label."""
    boxes = packed.boxes
    return _sorted(
        packed, layouts,
        [packed.tokens[:, 0].astype(np.float64), boxes[:, 0] - boxes[:, 2] / 2,
         boxes[:, 1] - boxes[:, 3] / 2],
    )  # fmt: skip


def label_first(packed: Packed, layouts: Ints, *, left: bool) -> Ints:
    """Elements by label; those of one label by their left edge, or from the top left."""
    edge = packed.boxes[:, 0] - packed.boxes[:, 2] / 2
    top = packed.boxes[:, 1] - packed.boxes[:, 3] / 2
    label = packed.tokens[:, 0].astype(np.float64)
    return _sorted(packed, layouts, [edge, label] if left else [edge, top, label])


def _sorted(packed: Packed, layouts: Ints, values: Sequence[Floats]) -> Ints:
    """The last key counts first."""
    keys = [packed.keys(layouts, value) for value in values]
    return np.lexsort(keys, axis=1)

"""Tokens: a layout as an (elements x 5) array of small integers, and back.

The five modalities are label, x, y, width, height. Each has its own ids: 0 .. K-1 for its K
values, K for PAD (there is no element in this slot) and K + 1 for MASK (not known yet).
The paper's flat vocabulary (one id space for all, PAD and MASK last) is a mapping of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.boxes import ELEMENT_FIELDS
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.tokens.bins import Bins

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MODALITIES = ELEMENT_FIELDS


@dataclass(frozen=True)
class Decoded:
    """What tokens stand for: label indices, boxes, their slots, and how many were invalid."""

    labels: Ints
    boxes: Floats
    slots: Ints
    invalid: int


@dataclass(frozen=True, eq=False)
class Tokenizer:
    """Between layouts and tokens, for fixed labels, bins and number of slots."""

    labels: tuple[str, ...]
    bins: Bins
    max_elements: int = 25

    def __post_init__(self) -> None:
        if len(set(self.labels)) != len(self.labels) or not self.labels:
            raise LayoutdmError(f"labels must be distinct and not empty, got {self.labels}")

    @property
    def sizes(self) -> tuple[int, int, int, int, int]:
        """Number of values of each modality, without PAD and MASK."""
        x, y, w, h = self.bins.counts
        return len(self.labels), x, y, w, h

    @property
    def pad(self) -> Ints:
        """PAD id of each modality."""
        return np.array(self.sizes, dtype=np.int64)

    @property
    def mask(self) -> Ints:
        """MASK id of each modality."""
        return self.pad + 1

    def label_ids(self, names: Sequence[str]) -> Ints:
        index = {name: i for i, name in enumerate(self.labels)}
        unknown = sorted({name for name in names if name not in index})
        if unknown:
            raise LayoutdmError(
                f"unknown label {unknown[0]!r}; the labels are: {', '.join(self.labels)}"
            )
        return np.array([index[name] for name in names], dtype=np.int64)

    def encode(self, layout: Layout, slots: int | None = None) -> Ints:
        """(slots, 5) tokens, PAD after the last element; as many slots as elements by default."""
        count = len(layout)
        slots = count if slots is None else slots
        if count > slots:
            raise LayoutdmError(f"layout {layout.id!r}: {count} elements, but only {slots} slots")
        tokens = np.tile(self.pad, (slots, 1))
        if count:
            tokens[:count, 0] = self.label_ids(layout.labels)
            tokens[:count, 1:] = self.bins.encode(layout.boxes)
        return tokens

    def decode(self, tokens: Ints) -> Decoded:
        """Elements whose five tokens are all values.

        Slots that mix values and specials are invalid; a slot of PAD alone is empty.
        """
        value = (tokens >= 0) & (tokens < self.pad)
        valid = value.all(axis=-1)
        empty = (tokens == self.pad).all(axis=-1)
        slots = np.flatnonzero(valid)
        return Decoded(
            labels=tokens[slots, 0],
            boxes=self.bins.decode(tokens[slots, 1:]),
            slots=slots,
            invalid=int((~valid & ~empty).sum()),
        )

    # The paper's flat vocabulary ---------------------------------------------------------------

    @property
    def vocabulary(self) -> int:
        """Size of the flat vocabulary: all values, PAD and MASK (155 on Rico with 32 bins)."""
        return sum(self.sizes) + 2

    @property
    def offsets(self) -> Ints:
        """Where each modality starts in the flat vocabulary."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)

    def to_flat(self, tokens: Ints) -> Ints:
        """(..., 5) modality-local ids to flat ids of the same shape."""
        special = tokens - self.pad  # 0 is PAD, 1 is MASK, negative is a value
        return np.where(special < 0, tokens + self.offsets, self.vocabulary - 2 + special)

    def from_flat(self, flat: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Flat ids to local ids, and which of them belong to their own modality.

        A flat id of a foreign modality (possible in joint diffusion) becomes MASK, so that
        decoding counts its element as invalid instead of reading a wrong number from it.
        """
        local = flat - self.offsets
        special = flat - (self.vocabulary - 2)
        own = (local >= 0) & (local < self.pad)
        local = np.where(own, local, np.where(special == 0, self.pad, self.mask))
        return local, own | (special >= 0)

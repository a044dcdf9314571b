"""Layouts as flat token sequences: five tokens an element, specials such as PAD, MASK, BOS and EOS.

>>> words = Vocabulary(sizes=(25, 32, 32, 32, 32), specials=("pad", "bos", "eos"))
>>> words.size, words.pad
(60, 57)
>>> words.flatten(np.array([[[3, 0, 1, 2, 31]]])).tolist()  # label, width, height, x, y
[[3, 27, 56, 25, 26]]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.errors import LayoutdmError

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SIZE_FIRST = (0, 3, 4, 1, 2)  # label, width, height, x, y: places may be chosen knowing the sizes
PLACE_FIRST = (0, 1, 2, 3, 4)  # label, x, y, width, height
SPECIALS = ("pad", "bos", "eos", "mask")


@dataclass(frozen=True)
class Vocabulary:
    """One id for every value of an element's five tokens, in the given order, and for specials.

    Local ids (see `Tokenizer`) have a space for each modality, with PAD and MASK after the values;
    these flat ids have one for all: labels, then geometry, then specials.
    """

    sizes: tuple[int, ...]  # values of label, x, y, width, height
    order: tuple[int, ...] = SIZE_FIRST  # the modality of each of an element's five tokens
    shared: bool = True  # x, y, width and height use the same ids
    specials: tuple[str, ...] = ("pad",)

    def __post_init__(self) -> None:
        if len(self.sizes) != 5 or sorted(self.order) != [0, 1, 2, 3, 4]:
            raise LayoutdmError(
                f"a vocabulary has five modalities, got {self.sizes} and {self.order}"
            )
        wrong = [name for name in self.specials if name not in SPECIALS]
        if wrong or "pad" not in self.specials:
            raise LayoutdmError(f"specials are pad and some of {SPECIALS}, got {self.specials}")

    @cached_property
    def starts(self) -> Ints:
        """(5,): the first flat id of each modality."""
        labels, *values = self.sizes
        behind = [0, 0, 0, 0] if self.shared else [0, *np.cumsum(values)[:-1]]
        return np.array([0, *(labels + b for b in behind)], dtype=np.int64)

    @property
    def values(self) -> int:
        """How many ids stand for values; specials come after them."""
        labels, *geometry = self.sizes
        return labels + (max(geometry) if self.shared else sum(geometry))

    @property
    def size(self) -> int:
        return self.values + len(self.specials)

    def special(self, name: str) -> int:
        return self.values + self.specials.index(name)

    @property
    def pad(self) -> int:
        return self.special("pad")

    @cached_property
    def own(self) -> Bools:
        """(5, size): which ids are values of each of an element's five tokens."""
        own = np.zeros((5, self.size), dtype=bool)
        for place, modality in enumerate(self.order):
            start = self.starts[modality]
            own[place, start : start + self.sizes[modality]] = True
        return own

    def flatten(self, tokens: Ints) -> Ints:
        """(..., S, 5) local ids to (..., 5 S) flat ids; MASK needs to be one of the specials."""
        beyond = tokens - np.array(self.sizes)
        flat = np.where(beyond < 0, tokens + self.starts, self.pad)
        if "mask" in self.specials:
            flat = np.where(beyond == 1, self.special("mask"), flat)
        elif (beyond == 1).any():
            raise LayoutdmError("this vocabulary has no MASK, so it cannot hold unknown tokens")
        ordered = flat[..., list(self.order)]
        return np.asarray(ordered.reshape(*tokens.shape[:-2], -1), dtype=np.int64)

    def unflatten(self, flat: Ints) -> Ints:
        """(..., 5 S) flat ids to (..., S, 5) local ids.

        PAD stays PAD. All else that is no value of its own place becomes MASK, so that the element
        counts as invalid. The published code instead reads an x in the place of a width as some
        width.
        """
        split = flat.reshape(*flat.shape[:-1], -1, 5)[..., np.argsort(self.order)]
        local = split - self.starts
        sizes = np.array(self.sizes)
        own = (local >= 0) & (local < sizes)
        return np.where(own, local, np.where(split == self.pad, sizes, sizes + 1))

    def by_place(self, per_modality: NDArray[Any]) -> NDArray[Any]:
        """(..., S, 5) of label, x, y, width, height to (..., 5 S) in this order."""
        ordered = per_modality[..., list(self.order)]
        return ordered.reshape(*per_modality.shape[:-2], -1)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Vocabulary:
        return cls(
            tuple(int(size) for size in record["sizes"]),
            tuple(int(place) for place in record["order"]),
            bool(record["shared"]),
            tuple(str(name) for name in record["specials"]),
        )

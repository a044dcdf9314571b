"""What a sampler asks of a network, and what it gets back: numpy arrays in, numpy arrays out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Array = NDArray[Any]

# Noise of the drafts that a network with `about` inputs was trained on, unless its model says.
ABOUT_NOISE = (0.025, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Traits:
    """What the run half needs to know of a network; the rest of its config is the file's matter."""

    sizes: tuple[int, int, int, int, int]  # values of label, x, y, width, height
    max_elements: int = 25
    number_first: bool = True  # the number of elements is drawn first, and PAD never
    about_levels: int = 0  # noise levels of drafts that the network reads
    about_noise: tuple[float, ...] = ABOUT_NOISE  # their standard deviations
    ordered: bool = False  # trained on elements in reading order, with their ranks

    @property
    def draws_pad(self) -> bool:
        """Whether PAD is a state of every token; else the number of elements is drawn first."""
        return not self.number_first


@dataclass(frozen=True)
class Query:
    """A batch of partly known layouts, and which of their elements to predict.

    tokens (B, S, 5) local ids; level (B,) noise levels 1..T; valid (B, S), False for slots that
    only fill up; about (B, S, 4), 0 for no draft; position (B, S), ranks in reading order, 0 for
    unordered; asked (B, A), the slots whose prediction is wanted, None for all; turn (B, S), who
    is decided first, None for the order of slots.
    """

    tokens: Ints
    level: Ints
    valid: Bools
    about: Ints | None = None
    position: Ints | None = None
    asked: Ints | None = None
    turn: Ints | None = None


@dataclass(frozen=True)
class Prediction:
    """log p(z_0) of each modality, (B, A, K + 1) with PAD last; and of 1, 2, ... elements."""

    log_probs: tuple[Array, ...]
    number: Array | None = None


def only_asked(log_probs: Array, asked: Ints | None) -> Array:
    """The predictions of the slots that are asked about, where a network predicts all."""
    return log_probs if asked is None else log_probs[np.arange(len(asked))[:, None], asked]


class Denoiser(Protocol):
    """Anything that answers queries: ONNX Runtime, torch, or a test's constant."""

    @property
    def traits(self) -> Traits: ...

    def __call__(self, query: Query) -> Prediction: ...

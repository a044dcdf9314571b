"""What goes into every network and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from layoutdm.train.networks.config import NetworkConfig


@dataclass(frozen=True)
class Query:
    """A batch of partly known layouts.

    tokens: (B, S, 5) modality-local ids. level: (B,) noise levels 1..T, or None where the network
    is not conditioned on time. valid: (B, S), False for slots that only fill up the batch.
    about: (B, S, 4) draft values, 0 for none, else 1 + noise level * bins + bin.
    position: (B, S), 0 for unordered elements, else 1 + rank in reading order.
    asked: (B, A), the slots whose values are predicted; None: all. The paper's network has all.
    turn: (B, S), whose turn comes first, for networks that learn in turn; None: slots in order.
    """

    tokens: Tensor
    level: Tensor | None = None
    valid: Tensor | None = None
    about: Tensor | None = None
    position: Tensor | None = None
    asked: Tensor | None = None
    turn: Tensor | None = None


@dataclass(frozen=True)
class Lesson:
    """A batch of layouts of which every element is predicted as it stands at its turn.

    Three states of the same elements, (B, S, 5) each: `clean`, as those see it whose turn comes
    later; `listed`, with what is known before any turn, as those see it whose turn comes earlier;
    `begun`, as the element itself stands at its turn. valid, turn (B, S); about, position: see
    Query.
    """

    clean: Tensor
    listed: Tensor
    begun: Tensor
    valid: Tensor
    turn: Tensor
    about: Tensor | None = None
    position: Tensor | None = None


@dataclass(frozen=True)
class Prediction:
    """log p(z_0) of each modality, (B, A, K + 1) with PAD last; and of the number of elements."""

    log_probs: tuple[Tensor, ...]
    number: Tensor | None = None


class Network(Protocol):
    """A torch module with a config that answers queries."""

    config: NetworkConfig

    def __call__(self, query: Query) -> Prediction: ...

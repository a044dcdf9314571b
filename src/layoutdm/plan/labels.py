"""`LabelModel`: which label comes next in reading order, from a small network of its own.

It learns from every place of every layout in each pass, so that it knows after a minute what the
denoiser, which sees one state of a layout at a time, has not learned in an hour. Drawing with it
costs no call of the denoiser.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.network import Ints

Floats = NDArray[np.float64]

LAST = 6  # so many of the labels before are seen one by one, the others as numbers of each


@dataclass(frozen=True, eq=False)
class LabelModel:
    """log p(next label | the labels before it, and how many or which are still to come).

    layers: (weight, bias) of linear layers. Between them SiLU; all but the first add their input.
    """

    layers: tuple[tuple[Floats, Floats], ...]

    @property
    def labels(self) -> int:
        return len(self.layers[-1][1])

    def log_probs(self, seen: Floats, ahead: Ints) -> Floats:
        """(n, labels) from `features`; only labels that are ahead, where that is known."""
        (weight, bias), *inner, last = self.layers
        hidden = _silu(seen @ weight.T + bias)
        for weight, bias in inner:
            hidden = hidden + _silu(hidden @ weight.T + bias)
        return normalised(hidden @ last[0].T + last[1], ahead)


def feature_count(labels: int) -> int:
    return (6 + LAST) * labels + 3


def features(used: Ints, ahead: Ints, left: Ints, last: Ints) -> Floats:
    """What the network sees of n states: (n, feature_count).

    used (n, labels): how often each label came so far; ahead (n, labels): how often each is still
    to come, 0 where nobody knows; left (n,): how many labels are still to come; last (n, LAST):
    the labels before, the nearest first, -1 for none.
    """
    labels = used.shape[1]
    known = ahead.any(axis=1, keepdims=True)
    before = (last[..., None] == np.arange(labels)).reshape(len(last), -1)
    parts = (
        used / 4, np.log1p(used), ahead / 4, np.log1p(ahead), ahead > 0, ahead == 1,
        left[:, None] / 10, np.log1p(left)[:, None], known, before,
    )  # fmt: skip
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts], axis=1)


def normalised(logits: Floats, ahead: Ints) -> Floats:
    """Log-probabilities; where it is known what is ahead, in proportion to how often it is."""
    known = ahead.any(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logits = logits + np.where(known, np.log(ahead), 0.0)
    logits = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))


def _silu(x: Floats) -> Floats:
    return np.asarray(x / (1.0 + np.exp(-x)))

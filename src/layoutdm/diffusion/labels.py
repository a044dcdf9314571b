"""Labels in reading order, from a small network of their own, before any box is drawn.

It learns from every place of every layout in each pass, so that it knows after a minute what the
large network, which sees one state of a layout at a time, has not learned in an hour. Drawing with
it costs no call of the large one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.draw import draw, keep_top_k, keep_top_p
from layoutdm.diffusion.known import Known
from layoutdm.diffusion.network import Bools, Ints
from layoutdm.diffusion.settings import Settings

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


def draw_labels(
    model: LabelModel, known: Known, tokens: Ints, uniform: Floats, settings: Settings
) -> Known:
    """Draw the labels of layouts that want them first, into `tokens`, one after the other.

    Those are layouts with a bag of labels and, with `labels_first`, those of which all elements
    have ranks and no label is known. uniform (B, S). Returns what the sampler then knows: their
    bags are empty.
    """
    chosen = np.flatnonzero(_wanted(model, known, tokens, settings))
    bag = np.zeros((len(tokens), model.labels), dtype=np.int64)
    if known.bag is not None:
        bag = known.bag.copy()
    ahead, counts = bag[chosen], known.counts[chosen]
    in_bag = (ahead.sum(axis=1) > 0).astype(np.int64)
    used = np.zeros_like(ahead)
    last = np.full((len(chosen), LAST), -1)
    for slot in range(int(counts.max(initial=0))):
        live = np.flatnonzero(counts > slot)
        seen = features(used[live], ahead[live], counts[live] - slot, last[live])
        weights = label_weights(model.log_probs(seen, ahead[live]), settings)
        drawn = draw(weights, uniform[chosen[live], slot])
        tokens[chosen[live], slot, 0] = drawn
        used[live, drawn] += 1
        ahead[live, drawn] -= in_bag[live]
        last[live] = np.column_stack([drawn, last[live, :-1]])
    bag[chosen] = 0
    return replace(known, bag=bag if bag.any() else None)


def _wanted(model: LabelModel, known: Known, tokens: Ints, settings: Settings) -> Bools:
    """(B,): whose labels come first."""
    if known.position is None:
        return np.zeros(len(tokens), dtype=bool)
    wanted = np.full(len(tokens), settings.labels_first)
    if known.bag is not None:
        wanted = wanted | known.bag.any(axis=1)
    mask = model.labels + 1
    free = ((tokens[..., 0] == mask) & (known.position > 0)) | ~known.valid
    return np.asarray(wanted & free.all(axis=1))


def label_weights(log_probs: Floats, settings: Settings) -> Floats:
    if settings.temperature != 1.0:
        log_probs = log_probs / settings.temperature
    weights = np.exp(log_probs - log_probs.max(axis=1, keepdims=True))
    if settings.top_k:
        weights = keep_top_k(weights, settings.top_k)
    return keep_top_p(weights, settings.top_p_of(0))


def _silu(x: Floats) -> Floats:
    return np.asarray(x / (1.0 + np.exp(-x)))

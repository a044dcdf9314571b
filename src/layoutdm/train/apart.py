"""Which labels keep apart in the data, and how much even they share: text and text on a screen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.boxes import Boxes
from layoutdm.diffusion.apart import Apart
from layoutdm.train.corpus import Corpus

Bools = NDArray[np.bool_]

RARELY = 0.02  # labels keep apart if fewer pairs of elements than this share room
SEEN = 20  # fewer ordered pairs than this say nothing
SLIVER = 0.1  # of the smaller box: what boxes that touch may share
USUAL = 0.95  # of the elements share no more than what is left free


def labels_apart(corpus: Corpus) -> Bools:
    """(labels, labels): where elements of these labels hardly ever share room."""
    count = len(corpus.tokenizer.labels)
    pairs, sharing = np.zeros(count * count), np.zeros(count * count)
    for start, size in zip(corpus.starts, corpus.counts, strict=True):
        one = slice(start, start + size)
        labels, share = corpus.tokens[one, 0], shared_room(corpus.boxes[one]) > SLIVER
        pair = labels[:, None] * count + labels
        other = ~np.eye(size, dtype=bool)
        pairs += np.bincount(pair[other], minlength=count * count)
        sharing += np.bincount(pair[other & share], minlength=count * count)
    apart = (pairs >= SEEN) & (sharing < RARELY * pairs)
    return np.asarray(apart.reshape(count, count))


def shared_room(boxes: Boxes) -> Boxes:
    """(n, n): the area that two of these boxes (centre, size) share, of the smaller one's."""
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    sides = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    areas = boxes[:, 2] * boxes[:, 3]
    smaller = np.minimum(areas[:, None], areas)
    return np.asarray(np.clip(sides, 0, None).prod(axis=-1) / np.maximum(smaller, 1e-12))


def usual_share(corpus: Corpus, apart: Bools) -> float:
    """What 95 of 100 elements at most share with one that they keep apart from, once rounded.

    Rounding to few bins pushes elements that touch onto each other; a sampler that forbade as much
    would forbid real layouts. At least what boxes that touch may share anyway.
    """
    boxes = corpus.tokenizer.bins.decode(corpus.tokens[:, 1:])
    most = np.zeros(len(boxes))
    for start, size in zip(corpus.starts, corpus.counts, strict=True):
        one = slice(start, start + size)
        labels = corpus.tokens[one, 0]
        pairs = apart[labels[:, None], labels] & ~np.eye(size, dtype=bool)
        most[one] = (shared_room(boxes[one]) * pairs).max(axis=1, initial=0.0)
    return float(np.clip(np.quantile(most, USUAL), SLIVER, 0.9))


def keeping_apart(corpus: Corpus) -> Apart:
    """What a sampler needs to know of it."""
    labels = labels_apart(corpus)
    return Apart(labels, usual_share(corpus, labels), corpus.tokenizer.bins.centres)

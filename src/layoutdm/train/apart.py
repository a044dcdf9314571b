"""Which labels keep apart in the data, and how much even they share: text and text on a screen.

Measured on the boxes as they are, not on bins: thin lines that are rounded cover each other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from layoutdm.boxes import Boxes, shared_length
from layoutdm.terms.apart import Apart
from layoutdm.train.corpus import Corpus, Ints

Bools = NDArray[np.bool_]

RARELY = 0.03  # labels keep apart if fewer pairs of elements than this share room
ALIKE = 0.1  # of one label: siblings, such as switches of a list; a few doubled ones say little
SEEN = 20  # fewer ordered pairs than this say nothing
SLIVER = 0.1  # of the smaller box: what boxes that touch may share
MOST = 0.5  # whatever the data: a box that covers half of another is on top of it
USUAL = 0.95  # of the elements share no more than what is left free


def labels_apart(corpus: Corpus, alike: float = ALIKE) -> Bools:
    """(labels, labels): where elements of these labels hardly ever share room."""
    count = len(corpus.tokenizer.labels)
    pairs, sharing = np.zeros(count * count), np.zeros(count * count)
    for labels, share in _shares(corpus):
        pair = labels[:, None] * count + labels
        other = ~np.eye(len(labels), dtype=bool)
        pairs += np.bincount(pair[other], minlength=count * count)
        sharing += np.bincount(pair[other & (share > SLIVER)], minlength=count * count)
    rarely = np.where(np.eye(count, dtype=bool), alike, RARELY).ravel()
    apart = (pairs >= SEEN) & (sharing < rarely * pairs)
    return np.asarray(apart.reshape(count, count))


def shared_room(boxes: Boxes) -> Boxes:
    """(n, n): the area that two of these boxes (centre, size) share, of the smaller one's."""
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    sides = shared_length(low[:, None], high[:, None], low, high)
    areas = boxes[:, 2] * boxes[:, 3]
    smaller = np.minimum(areas[:, None], areas)
    return np.asarray(sides.prod(axis=-1) / np.maximum(smaller, 1e-12))


def usual_share(corpus: Corpus, apart: Bools) -> float:
    """What 95 of 100 elements at most share with one that they keep apart from.

    A sampler that forbade as much would forbid real layouts. At least what boxes that touch may
    share anyway.
    """
    most = []
    for labels, share in _shares(corpus):
        pairs = apart[labels[:, None], labels] & ~np.eye(len(labels), dtype=bool)
        most.append((share * pairs).max(axis=1, initial=0.0))
    return float(np.clip(np.quantile(np.concatenate(most), USUAL), SLIVER, MOST))


def keeping_apart(corpus: Corpus) -> Apart:
    """What a sampler needs to know of it."""
    strict = labels_apart(corpus, alike=RARELY)  # the doubled ones would allow all others as much
    return Apart(labels_apart(corpus), usual_share(corpus, strict))


def _shares(corpus: Corpus) -> Iterator[tuple[Ints, Boxes]]:
    """Of each layout: the labels, and which share of the smaller box each two have in common."""
    for start, size in zip(corpus.starts, corpus.counts, strict=True):
        one = slice(start, start + size)
        yield corpus.tokens[one, 0], shared_room(corpus.boxes[one])

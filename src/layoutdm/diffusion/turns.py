"""When each token is decided if one element follows the other.

What is decided in the same step is drawn without seeing each other. With a step for every token
nothing is; with fewer steps, tokens that depend on each other the least share one.
"""

from __future__ import annotations

import numpy as np

from layoutdm.diffusion.known import Floats
from layoutdm.diffusion.network import Bools, Ints

# Size before place: edges that line up with others follow from a known size.
DECIDED_AS = (0, 3, 4, 1, 2)  # label, width, height, x, y

# Turns of (label, x, y, width, height) within an element, and how many turns an element takes: the
# last turns of one element are the first of the next.
ONE_BY_ONE = ((0, 3, 4, 1, 2), 4)  # only y shares its turn, with the next element's label
SIZE_AT_ONCE = ((0, 2, 3, 1, 1), 3)  # and width with height
NEXT_SIZE = ((-1, 1, 2, 0, 0), 2)  # x with the next label, y with the next width and height

# (turns, elements together, labels together where all labels come first). Tried in this order until
# the steps suffice; elements that take their turns together come last, because their boxes cannot
# keep out of each other's way.
PLANS = [(ONE_BY_ONE, 1, 1), (SIZE_AT_ONCE, 1, 1), (SIZE_AT_ONCE, 1, 3), (NEXT_SIZE, 1, 1)] + [
    (NEXT_SIZE, together, max(3, together)) for together in (1, 2, 3, 4, 6, 9, 13, 25)
]


def decision_ranks(
    masked: Bools,
    steps: int,
    labels_first: Bools | None = None,
    places: Ints | None = None,
    *,
    size_at_once: bool = True,
) -> Floats:
    """When each masked token of (B, S, 5) is decided, as a share from 0 up to 1 of all turns.

    labels_first (B,): layouts whose labels are all decided before any box.
    places (B, S): which slot comes first; None: slots in their order.
    size_at_once: width and height share a turn even if the steps would suffice for two.

    >>> masked = np.array([[[1, 1, 0, 1, 1], [1, 0, 0, 0, 0]]], dtype=bool)
    >>> decision_ranks(masked, 5).tolist()  # label, size, x, the other label
    [[[0.125, 0.625, 0.0, 0.375, 0.375], [0.875, 0.0, 0.0, 0.0, 0.0]]]
    >>> decision_ranks(masked, 5, size_at_once=False).tolist()  # width before height
    [[[0.1, 0.7, 0.0, 0.3, 0.5], [0.9, 0.0, 0.0, 0.0, 0.0]]]
    """
    ranks = np.zeros(masked.shape)
    left = np.arange(len(masked))
    early = np.zeros(len(masked), dtype=bool) if labels_first is None else labels_first
    if places is None:
        places = np.tile(np.arange(masked.shape[1]), (len(masked), 1))
    for plan in PLANS[size_at_once:]:
        turn, count = _turns(masked[left], early[left], places[left], *plan)
        fits = (count <= steps) | (plan == PLANS[-1])
        share = (turn[fits] + 0.5) / np.maximum(count[fits], 1)[:, None, None]
        ranks[left[fits]] = np.where(masked[left[fits]], share, 0.0)
        left = left[~fits]
        if not len(left):
            break
    return ranks


def _turns(
    masked: Bools,
    early: Bools,
    places: Ints,
    plan: tuple[tuple[int, ...], int],
    together: int,
    labels_together: int,
) -> tuple[Ints, Ints]:
    """The turn of each masked token, without gaps, and the number of turns of each layout."""
    batch, slots, _ = masked.shape
    turns, length = plan
    keys = places[..., None] // together * length + np.array(turns)
    keys[early, :, 0] = places[early] // labels_together - slots
    last = slots * 5 + 1
    flat = np.where(masked, keys, last).reshape(batch, -1)
    order = np.argsort(flat, axis=1, kind="stable")
    rising = np.take_along_axis(flat, order, axis=1)
    new = np.zeros(rising.shape, dtype=np.int64)
    new[:, 1:] = rising[:, 1:] != rising[:, :-1]
    places = np.cumsum(new, axis=1)
    turn = np.empty_like(places)
    np.put_along_axis(turn, order, places, axis=1)
    count = np.where(masked.reshape(batch, -1), turn + 1, 0).max(axis=1)
    return turn.reshape(masked.shape), count

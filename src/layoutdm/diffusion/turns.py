"""When each token is decided if one element follows the other.

What is decided in the same step is drawn without seeing each other. With a step for every token
nothing is; with fewer steps, tokens that depend on each other the least share one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from layoutdm.diffusion.known import Floats
from layoutdm.diffusion.network import Bools, Ints

# Size before place: edges that line up with others follow from a known size.
DECIDED_AS = (0, 3, 4, 1, 2)  # label, width, height, x, y
Y = 2

# Turns of (label, x, y, width, height) within an element, and how many turns an element takes: the
# last turns of one element are the first of the next.
ONE_BY_ONE = ((0, 3, 4, 1, 2), 4)  # only y shares its turn, with the next element's label
SIZE_AT_ONCE = ((0, 2, 3, 1, 1), 3)  # and width with height
NEXT_SIZE = ((-1, 1, 2, 0, 0), 2)  # x with the next label, y with the next width and height


class Plan(NamedTuple):
    """How elements take their turns."""

    turns: tuple[int, ...]
    length: int  # turns of an element, or of elements that take them together
    together: int = 1
    labels_together: int = 1  # where all labels come first
    y_alone: bool = False  # elements together decide labels, sizes and x at once, y one by one


def _y_alone(together: int) -> Plan:
    """Sizes of some elements, their x, then y of one after the other: y keeps them apart."""
    return Plan(NEXT_SIZE[0], together + 1, together, labels_together=3, y_alone=True)


# Tried in this order until the steps suffice. Elements whose y come together are last, because
# their boxes cannot keep out of each other's way.
PLANS = [
    Plan(*ONE_BY_ONE),
    Plan(*SIZE_AT_ONCE),
    Plan(*SIZE_AT_ONCE, labels_together=3),
    Plan(*NEXT_SIZE),
    Plan(*NEXT_SIZE, labels_together=3),
    *(_y_alone(together) for together in (2, 3, 4, 6)),
    *(Plan(*NEXT_SIZE, together, max(3, together)) for together in (2, 3, 4, 6, 9, 13, 25)),
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
        turn, count = _turns(masked[left], early[left], places[left], plan)
        fits = (count <= steps) | (plan is PLANS[-1])
        share = (turn[fits] + 0.5) / np.maximum(count[fits], 1)[:, None, None]
        ranks[left[fits]] = np.where(masked[left[fits]], share, 0.0)
        left = left[~fits]
        if not len(left):
            break
    return ranks


def _turns(masked: Bools, early: Bools, places: Ints, plan: Plan) -> tuple[Ints, Ints]:
    """The turn of each masked token, without gaps, and the number of turns of each layout."""
    batch, slots, _ = masked.shape
    group, member = np.divmod(places, plan.together)
    keys = group[..., None] * plan.length + np.array(plan.turns)
    if plan.y_alone:
        keys[..., Y] += member
    keys[early, :, 0] = places[early] // plan.labels_together - slots
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

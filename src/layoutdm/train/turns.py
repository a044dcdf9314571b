"""What of a layout is listed before any turn, how far each element is at its turn, and what counts.

A sampler decides one element after the other: label, width and height, x, y. So every element of
a layout is looked at as it stands when one of its values is next (see `networks.sight`). A request
may list anything, so of some layouts any fields are known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.timetable import DECIDED_AS, HEIGHT, WIDTH

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

WHEN = np.argsort(DECIDED_AS)  # of each field: the how-manieth it is decided
NEVER = len(DECIDED_AS)


@dataclass(frozen=True, eq=False)
class Turns:
    """listed, begun (B, S, 5): known before any turn, and at the element's own turn.

    turn (B, S): who comes first; listed elements come before all others. weight (B, S, 5) of each
    token, in sum 1 a layout.
    """

    listed: Bools
    begun: Bools
    turn: Ints
    weight: Floats


def draw_turns(
    known: Bools, valid: Bools, mixed: float, ahead: float, rng: np.random.Generator
) -> Turns:
    """For layouts of which the task shows `known` (B, S, 5). See `Recipe` for the two shares."""
    size, slots, _ = known.shape
    share = np.where(rng.random(size) < mixed, rng.random(size), 0.0)
    more = rng.random(known.shape) < share[:, None, None]
    listed = (known | more) & valid[..., None]
    unknown = ~listed & valid[..., None]
    # Which of the unknown fields is next: any of them, all alike.
    chances = np.where(unknown, rng.random(known.shape), 2.0)
    following = np.where(unknown.any(axis=2), WHEN[chances.argmin(axis=2)], NEVER)
    begun = (listed | (following[..., None] > WHEN)) & valid[..., None]
    whole = listed.all(axis=2)
    turn = np.arange(slots) - slots * whole
    return Turns(listed, begun, turn, _weights(~begun & unknown, following, ahead))


def _weights(unknown: Bools, following: Ints, ahead: float) -> Floats:
    """1 for what is decided next, width and height alike, `ahead` for what comes after it."""
    due = following[..., None] == WHEN
    due[..., HEIGHT] |= due[..., WIDTH]
    weight = unknown * np.where(due, 1.0, ahead)
    return np.asarray(weight / np.maximum(weight.sum(axis=(1, 2), keepdims=True), 1e-9))

"""Which tokens of a batch are masked, and which of those count for how much.

A sampler that decides one element after the other meets states in which so many elements are
whole and the rest is not begun; independent masks, as diffusion has them, leave nearly every
element half known. So most layouts are masked in the sampler's own order, the others at random,
since a request may fix anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.timetable import decision_ranks

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

STEPS = (10, 15, 20, 30, 60, 200)  # calls of the network that samplers may take
ASKED = 2  # elements predicted in one step: whose turn is next, and another


@dataclass(frozen=True, eq=False)
class Masks:
    """masked (B, S, 5); asked (B, A): slots; weight (B, A, 5) of each token, in sum 1 a row."""

    masked: Bools
    asked: Ints
    weight: Floats


def draw_masks(
    unknown: Bools, in_sequence: float, next_element: float, rng: np.random.Generator
) -> Masks:
    """For tokens (B, S, 5) that are not given. See `Recipe` for the two shares."""
    size, slots, _ = unknown.shape
    sequential: Bools = np.asarray(rng.random(size) < in_sequence)
    ranks = decision_ranks(unknown, int(rng.choice(STEPS)))
    along = (rng.permutation(size) + rng.random(size)) / size  # one from each of equal strata
    chances = rng.random(unknown.shape)
    ranks = np.where(sequential[:, None, None], ranks, 1 - chances)
    # So that something is left to guess, up to the last token.
    last = np.where(unknown, ranks, 0.0).max(axis=(1, 2))
    masked = unknown & (ranks >= (along * last)[:, None, None])
    first = np.where(masked, ranks, 2.0).min(axis=2)  # (B, S): whose turn is next
    later = np.where(masked.any(axis=2), 2 + rng.random((size, slots)), 4.0)
    turn = np.where(first == first.min(axis=1, keepdims=True), first, later)
    asked = np.argsort(turn, axis=1, kind="stable")[:, :ASKED]
    chosen = np.take_along_axis(masked, asked[..., None], axis=1)
    return Masks(masked, asked, _weights(chosen, sequential, next_element))


def _weights(chosen: Bools, sequential: Bools, next_element: float) -> Floats:
    """The first of the asked elements has its share, the others the rest; all alike at random."""
    own = chosen[:, :1].sum(axis=(1, 2), keepdims=True)
    rest = chosen[:, 1:].sum(axis=(1, 2), keepdims=True)
    share = np.where(rest > 0, next_element, 1.0)
    in_turn = chosen.astype(np.float64)
    in_turn[:, :1] *= share / np.maximum(own, 1)
    in_turn[:, 1:] *= (1 - share) / np.maximum(rest, 1)
    alike = chosen / np.maximum(own + rest, 1)
    return np.where(sequential[:, None, None], in_turn, alike)

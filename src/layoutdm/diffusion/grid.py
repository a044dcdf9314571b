"""Which levels a sampler visits: from all noise down to clean data in any number of steps.

>>> [(step.t, step.s) for step in grid(100, 4)]
[(100, 75), (75, 50), (50, 25), (25, 0)]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from layoutdm.errors import LayoutdmError


@dataclass(frozen=True)
class Step:
    """The network is told `level`; the posterior goes from level t down to level s."""

    level: int
    t: int
    s: int
    # Share of the way from noise to data that lies behind after this step. Not rounded, as levels
    # are: with 40 steps over 100 levels some steps would take two turns and others none.
    done: float


def grid(levels: int, steps: int, *, published: bool = False) -> list[Step]:
    """The steps of one run; `published` gives the released code's way of skipping levels."""
    if not 1 <= steps <= levels:
        raise LayoutdmError(f"steps must be from 1 to {levels}, got {steps}")
    if published:
        return _published(levels, steps)
    shares = [1 - i / steps for i in range(steps + 1)]
    visited = _visited(levels, shares)
    return [
        Step(t, t, s, 1 - share)
        for (t, s), share in zip(pairwise(visited), shares[1:], strict=True)
    ]


def _visited(levels: int, shares: list[float]) -> list[int]:
    """Falling levels from `levels` to 0 near these shares of them."""
    visited = [levels]
    for i, share in enumerate(shares[1:], start=1):
        # Rounding must neither repeat a level nor leave too few for the steps still to come.
        visited.append(max(min(round(levels * share), visited[-1] - 1), len(shares) - 1 - i))
    return visited


def _published(levels: int, steps: int) -> list[Step]:
    """One-step posteriors at an index moved towards the data, as the released code skips.

    It counts levels from 0. The network sees index t; the posterior removes one level of noise at
    index t - skip, where skip is the distance from the index before, less one.
    """
    result = []
    before = levels
    for i in range(steps - 1, -1, -1):
        index = int(i * levels / steps)
        skip = before - index - 1
        at = index - skip if index > skip else index
        result.append(Step(index + 1, at + 1, at, 1 - i / steps))
        before = index
    return result

"""The noise schedule: how much of the data is kept, masked and replaced at each level.

Levels run from 0 (clean data) to T (all noise). A token at level t is still itself with
probability `keep[t]` (plus its share of the replacements), is MASK with probability `mask[t]`,
and is otherwise replaced by one of the modality's N ordinary states, PAD included, evenly.
The published code counts from 0: its index t is level t + 1 here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm.errors import LayoutdmError

Floats = NDArray[np.float64]

# The published schedule replaces with a total mass of 1e-6, which no number of samples shows.
NEGLIGIBLE_REPLACEMENT = 1e-5
MOST_LEVELS = 100_000


class Mass(NamedTuple):
    """Probabilities of a (cumulative) transition: kept, masked, replaced by any state."""

    keep: Floats
    mask: Floats
    replace: Floats


@dataclass(frozen=True)
class Schedule:
    """Linear cumulative keep and mask probabilities, by their values at levels 1 and T.

    >>> Schedule().level([0, 100]).mask
    array([0.     , 0.99999])
    """

    steps: int = 100
    keep_first: float = 0.99999
    keep_last: float = 0.000009
    mask_first: float = 0.000009
    mask_last: float = 0.99999

    def __post_init__(self) -> None:
        whole = isinstance(self.steps, int) and not isinstance(self.steps, bool)
        if not whole or not 1 <= self.steps <= MOST_LEVELS:
            raise LayoutdmError(
                f"schedule: steps must be a whole number from 1 to {MOST_LEVELS:,}, "
                f"got {self.steps!r}"
            )
        ends = (self.keep_first, self.keep_last, self.mask_first, self.mask_last)
        if not all(isinstance(end, (int, float)) and isfinite(end) for end in ends):
            raise LayoutdmError(f"schedule: keep and mask must be finite numbers, got {ends}")
        keep, mask = self._cumulative
        if np.any(np.diff(keep) > 0) or np.any(np.diff(mask) < 0):
            raise LayoutdmError("schedule: keep must fall and mask must rise with the level")
        if np.any(keep < 0) or np.any(keep + mask > 1 + 1e-12):
            raise LayoutdmError("schedule: keep and mask must be probabilities, together at most 1")

    @classmethod
    def preset(cls, name: str, steps: int = 100) -> Schedule:
        """`published`: the released code's numbers, replace mass 1e-6, in effect mask only.
        `mask-and-replace`: the form that the paper describes, replace mass 0.1 at the last level.
        """
        if name == "published":
            return cls(steps)
        if name == "mask-and-replace":
            return cls(steps, 0.999, 0.0001, 0.0001, 0.9)
        raise LayoutdmError(f"unknown schedule {name!r}; choose published or mask-and-replace")

    @cached_property
    def _cumulative(self) -> tuple[Floats, Floats]:
        keep = np.linspace(self.keep_first, self.keep_last, self.steps)
        mask = np.linspace(self.mask_first, self.mask_last, self.steps)
        return np.concatenate([[1.0], keep]), np.concatenate([[0.0], mask])

    @cached_property
    def _replace(self) -> Floats:
        """Linear as well, being what the other two leave. Taken from the ends alone, because
        1 - keep - mask level by level would lose the digits of a mass as small as 1e-6.
        """
        first = 1.0 - self.keep_first - self.mask_first
        last = 1.0 - self.keep_last - self.mask_last
        line = np.linspace(first, last, self.steps)
        return np.concatenate([[0.0], np.where(line < 1e-15, 0.0, line)])

    @cached_property
    def only_masks(self) -> bool:
        """Whether tokens are in effect only ever masked, never replaced by others."""
        return bool(self._replace.max() <= NEGLIGIBLE_REPLACEMENT)

    def level(self, t: ArrayLike) -> Mass:
        """Cumulative masses at level t."""
        index = np.asarray(t, dtype=np.int64)
        keep, mask = self._cumulative[0][index], self._cumulative[1][index]
        return Mass(keep, mask, self._replace[index])

    def between(self, s: ArrayLike, t: ArrayLike) -> Mass:
        """Masses of the transition from level s to level t >= s."""
        low, high = self.level(s), self.level(t)
        same = np.equal(s, t)
        start = np.where(same, 1.0, low.keep + low.replace)
        kept = np.where(same, 1.0, low.keep)
        keep = np.where(same, 1.0, high.keep / kept)
        # What is not masked at t was not masked at s, because a masked token stays masked.
        mask = np.where(same, 0.0, (high.mask - low.mask) / start)
        # What is left, written without a difference of nearly equal numbers.
        replace = (high.replace * kept - high.keep * low.replace) / (start * kept)
        return Mass(keep, mask, np.where(same, 0.0, np.maximum(replace, 0.0)))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Schedule:
        try:
            return cls(**record)
        except TypeError as error:
            raise LayoutdmError(f"schedule: {error}") from None

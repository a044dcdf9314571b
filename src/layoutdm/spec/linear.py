"""Whether linear inequalities can hold together, and if not, which of them exclude each other.

>>> rows = [Row({"a": 1.0, "b": -1.0}, -0.1, reason=0),     # a <= b - 0.1
...         Row({"b": 1.0, "a": -1.0}, -0.1, reason=1),     # b <= a - 0.1
...         Row({"a": 1.0}, 1.0, reason=2)]
>>> conflict(rows)
[0, 1]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from layoutdm.simplex import Simplex

# Rows weigh so much more than what values would like to be that they are missed only if they must.
HOLDS, FREE = 1e3, 1e-4
MET = 1e-7


@dataclass(frozen=True)
class Row:
    """sum of coefficient * value <= bound; `reason` numbers the wish that it comes from."""

    coefficients: Mapping[Any, float]
    bound: float
    reason: int


def conflict(rows: Sequence[Row]) -> list[int] | None:
    """The reasons of rows that exclude each other, none too many; None where all can hold.

    Negative reasons are facts that are never named as the culprit, such as the canvas. Values lie
    between -1 and 2.
    """
    names = sorted({name for row in rows for name in row.coefficients})
    place = {name: k for k, name in enumerate(names)}
    table, bounds = np.zeros((len(rows), len(names))), np.array([row.bound for row in rows])
    for k, row in enumerate(rows):
        for name, value in row.coefficients.items():
            table[k, place[name]] = value
    reasons = np.array([row.reason for row in rows], dtype=np.intp)
    if _possible(table, bounds):
        return None
    facts, wishes = reasons < 0, list(dict.fromkeys(r for r in reasons.tolist() if r >= 0))
    guilty: list[int] = []
    # The last wish that makes the system impossible belongs to the conflict; with it put first,
    # the next such one does, and so on until those found are impossible by themselves.
    while True:
        chosen = facts | np.isin(reasons, guilty)
        if not _possible(table[chosen], bounds[chosen]):
            return sorted(guilty)
        low, high = 0, len(wishes)  # impossible with the first `high` wishes, possible with `low`
        while high - low > 1:
            middle = (low + high) // 2
            some = chosen | np.isin(reasons, wishes[:middle])
            if _possible(table[some], bounds[some]):
                low = middle
            else:
                high = middle
        if not wishes:  # rounding
            return sorted(guilty)
        guilty.append(wishes[high - 1])
        wishes = wishes[: high - 1]


def _possible(table: np.ndarray[Any, np.dtype[np.float64]], bounds: Any) -> bool:
    """Whether all rows can hold; those that are missed are added until none is, or one must be."""
    size = table.shape[1]
    problem = Simplex(
        np.full(size, 0.5), np.full(size, -1.0), np.full(size, 2.0), np.full(size, FREE)
    )
    used = np.zeros(len(table), bool)
    while True:
        missed = table @ problem.values() > bounds + MET
        if not missed.any():
            return True
        if (missed & used).any():
            return False
        problem.add(table[missed], bounds[missed], HOLDS)
        used |= missed

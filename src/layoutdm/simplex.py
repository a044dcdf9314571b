"""A linear problem that grows: values stay where they are as far as its rows let them.

>>> problem = Simplex(np.array([0.2, 0.5]), np.zeros(2), np.ones(2), np.array([1.0, 2.0]))
>>> problem.add(np.array([-1.0, 1.0]), -0.1, 1000.0)     # b <= a - 0.1, with weight 1000
>>> problem.values().round(3).tolist()                   # a costs less than b
[0.6, 0.5]

Minimises sum weight * |value - wished| + sum weight * (what a row is missed by) within bounds, by
the dual simplex method: with all values where they are wished nothing costs anything, and each row
that is added and missed is repaired by the cheapest exchange. A row can always be missed, so there
is always a solution.

Every value is wished + up - down, both from 0 to what the bounds leave; a row has a slack and what
it is missed by. The tableau keeps basic = at - table @ nonbasic, where nonbasic variables are 0;
a variable at its upper bound is counted from there ("turned").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TINY = 1e-9
MOST = 2000  # exchanges; far more than problems of this size need
WORK = 1_500_000_000  # cells of tables that may be changed: some four seconds
SPREAD = 1e-4  # costs differ by this much, so that no two exchanges are equally good


@dataclass
class Effort:
    """What several problems may cost together, counted and not timed: the same on any machine."""

    spent: int = 0

    @property
    def over(self) -> bool:
        return self.spent >= WORK


class Simplex:
    """V values, and rows coefficients @ values <= bound."""

    def __init__(
        self,
        wished: Floats,
        low: Floats,
        high: Floats,
        weight: Floats,
        effort: Effort | None = None,
    ) -> None:
        size = len(wished)
        self._base = np.clip(wished, low, high)
        room = np.concatenate([high - self._base, self._base - low])
        # Numbered: up of all values, down of all values, then two or three a row.
        self._upper = np.maximum(room, 0.0)
        self._turned = np.zeros(2 * size, bool)
        self._nonbasic = np.arange(2 * size)
        self._cost = np.tile(weight, 2) * (1 + SPREAD * (np.arange(2 * size) * 0.618034 % 1.0))
        self._basic = np.zeros(0, np.intp)
        self._at = np.zeros(0)
        self._table = np.zeros((0, 2 * size))
        self._size = size
        self._left = MOST
        self._effort = effort or Effort()

    def add(
        self,
        coefficients: Floats,
        bound: Floats | float,
        weight: Floats | float,
        equal: Bools | bool = False,
    ) -> None:
        """Add a row, or several at once, and repair what they miss."""
        rows = np.atleast_2d(coefficients)
        count = len(rows)
        bound, weight = np.broadcast_to(bound, count), np.broadcast_to(weight, count)
        exact = np.broadcast_to(equal, count)
        both = np.concatenate([rows, -rows], axis=1)
        turned = self._turned[: 2 * self._size]
        at = bound - rows @ self._base - both[:, turned] @ self._upper[: 2 * self._size][turned]
        both[:, turned] *= -1.0
        # In terms of what is nonbasic now; slacks and misses of other rows take no part.
        whole = np.zeros((count, len(self._upper)))
        whole[:, : 2 * self._size] = both
        at -= whole[:, self._basic] @ self._at
        lines = whole[:, self._nonbasic] - whole[:, self._basic] @ self._table
        # slack = at - lines @ nonbasic + over - under; `under` only where a row is an equality
        over, under = np.arange(count), np.flatnonzero(exact)
        owner = np.concatenate([over, under])
        first, old = len(self._upper), self._table
        self._table = np.zeros((len(old) + count, old.shape[1] + len(owner)))
        self._table[: len(old), : old.shape[1]] = old
        self._table[len(old) :, : old.shape[1]] = lines
        signs = np.concatenate([np.full(count, -1.0), np.ones(len(under))])
        self._table[len(old) + owner, old.shape[1] + np.arange(len(owner))] = signs
        slack = np.where(exact, 0.0, np.inf)
        self._upper = np.concatenate([self._upper, slack, np.full(len(owner), np.inf)])
        self._turned = np.concatenate([self._turned, np.zeros(count + len(owner), bool)])
        self._at = np.concatenate([self._at, at])
        self._basic = np.concatenate([self._basic, first + np.arange(count)])
        self._nonbasic = np.concatenate([self._nonbasic, first + count + np.arange(len(owner))])
        self._cost = np.concatenate([self._cost, weight[owner]])
        self._repair()

    def values(self) -> Floats:
        """The V values of the best solution so far."""
        amounts = np.zeros(len(self._upper))
        amounts[self._basic] = self._at
        amounts = np.where(self._turned, self._upper - amounts, amounts)
        moved = amounts[: self._size] - amounts[self._size : 2 * self._size]
        return np.asarray(self._base + moved)

    def _repair(self) -> None:
        """Exchange variables until none is beyond its bounds, or it costs too much."""
        while self._left > 0 and not self._effort.over:
            above = self._at - self._upper[self._basic]
            worst = np.maximum(-self._at, above)
            row = int(worst.argmax())
            if worst[row] <= TINY:
                return
            if above[row] > TINY:
                self._turn_basic(row)
            line = self._table[row]
            able = np.flatnonzero(line < -TINY)
            if not len(able):  # rounding: nothing can be exchanged any more
                return
            ratio = self._cost[able] / -line[able]
            least = ratio.min()
            near = able[ratio <= least + 1e-12 * (1 + least)]
            self._exchange(row, int(near[np.argmin(line[near])]))
            self._left -= 1
            self._effort.spent += self._table.size

    def _turn_basic(self, row: int) -> None:
        """Count a basic variable from its upper bound."""
        variable = self._basic[row]
        self._turned[variable] ^= True
        self._at[row] = self._upper[variable] - self._at[row]
        self._table[row] *= -1.0

    def _exchange(self, row: int, column: int) -> None:
        pivot = self._table[row, column]
        line = self._table[row] / pivot
        value = self._at[row] / pivot
        other = self._table[:, column].copy()
        cost = self._cost[column]
        self._table -= np.outer(other, line)
        self._at -= other * value
        self._cost = np.maximum(self._cost - cost * line, 0.0)
        # The entering variable takes the row, the leaving one its column.
        self._table[row], self._at[row] = line, value
        self._table[:, column] = -other / pivot
        self._table[row, column] = 1.0 / pivot
        self._cost[column] = -cost / pivot
        self._basic[row], self._nonbasic[column] = self._nonbasic[column], self._basic[row]

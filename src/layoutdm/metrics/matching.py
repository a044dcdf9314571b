"""One assignment problem: pick one entry a row, no two in one column, with the largest sum.

>>> import numpy as np
>>> scores = np.array([[3.0, 2.0], [2.0, 0.0]])  # picks 2 and 2, not 3 and 0
>>> float(scores[best_matching(scores)].sum())
4.0

scipy's solver is used where it is installed (with the extra `train`); without it the same sums come
from a plain numpy one, so that layouts can be scored with the run half alone, only more slowly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.metrics.pack import Floats

Ints = NDArray[np.intp]


def best_matching(scores: Floats) -> tuple[Ints, Ints]:
    """Rows and columns of the picked entries, as many as the shorter side has."""
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        return match_by_paths(scores)
    rows, columns = linear_sum_assignment(scores, maximize=True)
    return rows, columns


def match_by_paths(scores: Floats) -> tuple[Ints, Ints]:
    """Shortest augmenting paths with potentials (the Hungarian method), one row after the other."""
    if scores.shape[0] > scores.shape[1]:
        columns, rows = match_by_paths(scores.T)
        order = np.argsort(rows)
        return rows[order], columns[order]
    cost = scores.max(initial=0.0) - scores
    height, width = cost.shape
    of_row, of_column = np.zeros(height), np.zeros(width)
    owner = np.full(width, -1, dtype=np.intp)  # row that has each column
    for new in range(height):
        distance, before = np.full(width, np.inf), np.full(width, -1, dtype=np.intp)
        done = np.zeros(width, dtype=bool)
        row, column, reached = new, -1, 0.0
        visited = [new]
        while True:
            through = reached + cost[row] - of_row[row] - of_column
            closer = ~done & (through < distance)
            distance[closer], before[closer] = through[closer], column
            column = int(np.argmin(np.where(done, np.inf, distance)))
            reached, done[column] = float(distance[column]), True
            if owner[column] < 0:
                break
            row = int(owner[column])
            visited.append(row)
        _shift(of_row, of_column, visited, owner, distance, done, reached)
        while column >= 0:  # hand the columns of the path on, from its end to the new row
            previous = int(before[column])
            owner[column] = owner[previous] if previous >= 0 else new
            column = previous
    columns = np.flatnonzero(owner >= 0)
    order = np.argsort(owner[columns])
    return owner[columns][order], columns[order]


def _shift(
    of_row: Floats,
    of_column: Floats,
    visited: list[int],
    owner: Ints,
    distance: Floats,
    done: NDArray[np.bool_],
    reached: float,
) -> None:
    """New potentials: no reduced cost becomes negative, and those on the path become zero."""
    of_row[visited[0]] += reached
    for column in np.flatnonzero(done & (owner >= 0)):
        of_row[owner[column]] += reached - distance[column]
        of_column[column] -= reached - distance[column]

"""Many small assignment problems at once: the largest sum of one-to-one picks of each.

>>> import numpy as np
>>> scores = np.array([[3.0, 2.0], [2.0, 0.0]])  # one problem; picks 2 and 2, not 3 and 0
>>> best_sums(scores[:, :, None])
array([4.])

Problems lie along the last axis, so that each step of an algorithm is one array operation over all
of them. Every branch is exact: all permutations up to 3 x 3, otherwise the sum of row maxima where
these sit in different columns, a dynamic programme over sets of columns up to 9 x 9, and one
problem at a time for what is left.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from layoutdm.metrics.matching import best_matching
from layoutdm.metrics.pack import Floats

# Beyond this the number of column sets outgrows what solving one problem after the other costs.
LARGEST_PROGRAMME = 9
# Doubles of working memory of one step of the programme: small enough to stay in the cache.
_STEP = 60_000


def best_sums(scores: Floats) -> Floats:
    """(k, k, P) scores to the (P,) largest sums of k entries, no two in one row or column."""
    size = scores.shape[0]
    if size <= 3:
        return _by_permutations(scores)
    maxima = scores.max(1)
    picked = np.left_shift(np.int64(1), scores.argmax(1))
    # k powers of two sum to 2^k - 1 only when all differ: then the row maxima are an assignment.
    settled = picked.sum(0) == (1 << size) - 1
    sums = maxima.sum(0)
    rest = np.flatnonzero(~settled)
    if rest.size:
        solve = _by_programme if size <= LARGEST_PROGRAMME else _one_by_one
        sums[rest] = solve(scores[:, :, rest])
    return np.asarray(sums)


def _by_permutations(scores: Floats) -> Floats:
    best = np.full(scores.shape[2], -np.inf)
    for columns in permutations(range(scores.shape[0])):
        total = sum(scores[row, column] for row, column in enumerate(columns))
        np.maximum(best, total, out=best)
    return best


def _by_programme(scores: Floats) -> Floats:
    """best(C) = max over j in C of best(C without j) + score(|C| - 1, j), over column sets C."""
    size = scores.shape[0]
    widest = max(len(last) for last, _ in _levels(size))
    width = max(32, _STEP // widest)
    parts = []
    for start in range(0, scores.shape[2], width):
        chunk = scores[:, :, start : start + width]
        best = chunk[0]
        for row, (columns, before) in enumerate(_levels(size), start=1):
            grown = best[before[:, 0]] + chunk[row][columns[:, 0]]
            for choice in range(1, columns.shape[1]):
                other = best[before[:, choice]]
                other += chunk[row][columns[:, choice]]
                np.maximum(grown, other, out=grown)
            best = grown
        parts.append(best[0])
    return np.concatenate(parts)


@lru_cache(maxsize=16)
def _levels(size: int) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], ...]:
    """For sets of 2, 3, ... columns: each one's members, and where the set without it stands."""
    levels = []
    place = {frozenset([column]): column for column in range(size)}
    for count in range(2, size + 1):
        sets = list(combinations(range(size), count))
        columns = np.array(sets, dtype=np.intp)
        before = np.array(
            [[place[frozenset(group) - {column}] for column in group] for group in sets],
            dtype=np.intp,
        )
        levels.append((columns, before))
        place = {frozenset(group): index for index, group in enumerate(sets)}
    return tuple(levels)


def _one_by_one(scores: Floats) -> Floats:
    problems = np.ascontiguousarray(np.moveaxis(scores, 2, 0))
    columns = np.array([best_matching(one)[1] for one in problems])
    return np.asarray(np.take_along_axis(problems, columns[:, :, None], 2).sum((1, 2)))

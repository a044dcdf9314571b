"""Systems of bounds for differences of values, and why one of them has no solution.

>>> system = Differences(3)
>>> for u, v in ((0, 1), (1, 2), (2, 0)):
...     system.add(u, v, -0.1, reason=u)      # value[u] <= value[v] - 0.1: a ring
>>> [sorted(reasons) for reasons in system.cycles()]
[[0, 1, 2]]

Such a system has a solution unless the bounds along some cycle add up to less than nothing, and
that cycle names exactly the bounds that contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]


class Differences:
    """Bounds value[u] - value[v] <= c, each with its reason."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.bounds: list[tuple[int, int, float, int]] = []

    def add(self, u: int, v: int, c: float, reason: int) -> None:
        self.bounds.append((u, v, c, reason))

    def cycles(self) -> Iterator[list[int]]:
        """The reasons along contradictory cycles; each ends when its last relation is dropped."""
        if not self.bounds:
            return
        u, v, c, reason = (np.array(column) for column in zip(*self.bounds, strict=True))
        while (reasons := self._cycle(u, v, c, reason)) and max(reasons) >= 0:
            yield reasons
            kept = reason != max(reasons)
            u, v, c, reason = u[kept], v[kept], c[kept], reason[kept]

    def _cycle(self, u: Ints, v: Ints, c: NDArray[np.float64], reason: Ints) -> list[int] | None:
        """The reasons along one contradictory cycle; None when there is a solution."""
        value = np.zeros(self.nodes)
        through = np.full(self.nodes, -1)
        for step in range(self.nodes + 1):
            offered = value[v] + c
            best = value.copy()
            np.minimum.at(best, u, offered)
            lower = best < value - 1e-12
            if not lower.any():
                return None
            deciding = np.flatnonzero(lower[u] & (offered == best[u]))
            through[u[deciding]] = deciding
            value = best
            if step % 8 == 7 or step == self.nodes:
                found = _loop(np.where(through < 0, -1, v[through]))
                if found is not None:
                    return [int(reason[through[node]]) for node in found]
        return None

    def widest(self) -> NDArray[np.float64]:
        """The greatest possible value[u] - value[v] for all pairs."""
        most = np.full((self.nodes, self.nodes), np.inf)
        np.fill_diagonal(most, 0.0)
        for u, v, c, _ in self.bounds:
            most[u, v] = min(most[u, v], c)
        for k in range(self.nodes):
            np.minimum(most, most[:, k, None] + most[None, k], out=most)
        return most


def _loop(parent: NDArray[np.intp]) -> list[int] | None:
    """The nodes of a loop among parent pointers (-1: none), or None."""
    jump = np.append(parent, -1)  # -1 points at itself
    for _ in range(int(math.log2(len(parent) + 1)) + 1):
        jump = np.where(jump < 0, -1, jump[jump])
    looping = np.flatnonzero(jump[:-1] >= 0)
    if not len(looping):
        return None
    start = int(jump[looping[0]])
    nodes, node = [start], int(parent[start])
    while node != start:
        if node in nodes:  # the start led into the loop without being part of it
            return nodes[nodes.index(node) :]
        nodes.append(node)
        node = int(parent[node])
    return nodes

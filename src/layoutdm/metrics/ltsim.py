"""LTSim: similarity of pairs of layouts by optimal transport (Otani et al. 2024).

>>> import numpy as np
>>> bbox = np.array([[[0.5, 0.5, 0.4, 0.4]]])
>>> layouts = (bbox, np.array([[0]]), np.array([[True]]))
>>> ltsim(layouts, layouts)
1.0

All elements of a layout weigh the same, one in all. To move one element's weight onto another
costs half of 1 - (GIoU + 1) / 2, and half of 1 if their labels differ; the similarity is e to the
power of minus the cheapest way to move one layout onto the other. Unlike DocSim and Maximum IoU it
compares layouts whose labels or numbers of elements differ. Higher is better, 1 is a copy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.boxes import shared_length
from layoutdm.errors import LayoutdmError
from layoutdm.metrics.matching import best_matching
from layoutdm.metrics.pack import Floats, Layouts, as_packed, mean_of

Ints = NDArray[np.int64]


def ltsim(generated: Layouts, reference: Layouts) -> float:
    """Mean over the pairs of `ltsims`."""
    return mean_of(ltsims(generated, reference))


def ltsims(generated: Layouts, reference: Layouts) -> Floats:
    """One figure per pair of layouts; both sets must be of one length and in one order."""
    first, second = as_packed(generated), as_packed(reference)
    if len(first) != len(second):
        raise LayoutdmError(
            f"LTSim compares pairs, but there are {len(first)} generated and {len(second)} "
            "reference layouts; give as many of both, in the same order"
        )
    scores = np.full(len(first), np.exp(-1.0))  # of a layout that is compared with nothing
    for row in range(len(first)):
        a, b = first.mask[row], second.mask[row]
        if a.any() and b.any():
            cost = _costs(first.bbox[row, a], second.bbox[row, b])
            cost += 0.5 * (first.label[row, a][:, None] != second.label[row, b])
            scores[row] = np.exp(-transport_cost(cost))
        elif not a.any() and not b.any():
            scores[row] = 1.0
    return scores


def _costs(first: Floats, second: Floats) -> Floats:
    """(n, m): half of 1 - (GIoU + 1) / 2 of centre boxes."""
    low, high = (np.stack([c[:, :2] - c[:, 2:] / 2, c[:, :2] + c[:, 2:] / 2])
                 for c in (first, second))  # fmt: skip
    lows, highs = low[:, :, None], high[:, None]
    shared = shared_length(lows[0], lows[1], highs[0], highs[1]).prod(axis=-1)
    around = (np.maximum(lows[1], highs[1]) - np.minimum(lows[0], highs[0])).prod(axis=-1)
    union = first[:, 2:].prod(axis=1)[:, None] + second[:, 2:].prod(axis=1) - shared
    tiny = 1e-12
    giou = shared / np.maximum(union, tiny) - (around - union) / np.maximum(around, tiny)
    return np.asarray(0.5 * (1 - (giou + 1) / 2))


def transport_cost(cost: Floats) -> float:
    """What it costs to move n equal weights onto m equal weights, one in all.

    >>> transport_cost(np.array([[0.0, 1.0], [1.0, 0.0]]))
    0.0
    >>> transport_cost(np.array([[0.0, 1.0]]))
    0.5
    """
    n, m = cost.shape
    if n == m:
        return float(cost[best_matching(-cost)].mean())
    # Whole units: each row sends m of them, each column takes n.
    flow = np.zeros((n, m), dtype=np.int64)
    supply, demand = np.full(n, m), np.full(m, n)
    row_price, column_price = np.zeros(n), cost.min(axis=0)
    while supply.any():
        _send(cost, flow, supply, demand, row_price, column_price)
    return float((flow * cost).sum() / (n * m))


def _send(
    cost: Floats, flow: Ints, supply: Ints, demand: Ints, row_price: Floats, column_price: Floats
) -> None:
    """Send as much as fits along the cheapest way from a row with units to one without, in place.

    Successive shortest paths: prices keep all ways that are left from costing less than nothing.
    """
    n, m = cost.shape
    rows, columns = np.where(supply > 0, 0.0, np.inf), np.full(m, np.inf)
    came_from_row, came_from_column = np.full(m, -1), np.full(n, -1)
    reduced = cost - row_price[:, None] - column_price
    todo, open_ = np.flatnonzero(supply > 0).tolist(), np.ones(m, dtype=bool)
    while True:
        for i in todo:
            way = rows[i] + reduced[i]
            better = open_ & (way < columns)
            columns[better], came_from_row[better] = way[better], i
        j = int(np.where(open_, columns, np.inf).argmin())
        open_[j] = False
        if demand[j]:
            break
        todo = np.flatnonzero((flow[:, j] > 0) & np.isinf(rows)).tolist()
        rows[todo], came_from_column[todo] = columns[j], j
    length = columns[j]
    row_price += np.where(rows < length, length - rows, 0.0)
    column_price -= np.where(columns < length, length - columns, 0.0)
    _augment(flow, supply, demand, came_from_row, came_from_column, j)


def _augment(
    flow: Ints, supply: Ints, demand: Ints, from_row: Ints, from_column: Ints, end: int
) -> None:
    """Move units along the way that ends at this column, in place."""
    way = []  # (row, column) of units that are sent, and of those that are taken back
    j, most = end, int(demand[end])
    while True:
        i = int(from_row[j])
        back = int(from_column[i])
        way.append((i, j, 1))
        if back < 0:
            break
        way.append((i, back, -1))
        most = min(most, int(flow[i, back]))
        j = back
    most = min(most, int(supply[i]))
    for row, column, sign in way:
        flow[row, column] += sign * most
    supply[i] -= most
    demand[end] -= most

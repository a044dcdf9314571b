"""Regularity: how often things repeat, as they do in what people design.

The elements of one label, from the top down: each with the next, where both share at least half of
the narrower one's width, so that they stand below each other. Of such pairs and of three in a row
it is counted how often left edges, gaps and sizes are equal, and how often rows overlap. The
figures belong beside those of real layouts: neither more nor less is better than real.

>>> from layoutdm import Layout
>>> rows = [[0.5, 0.1, 0.8, 0.1], [0.5, 0.3, 0.8, 0.1], [0.5, 0.5, 0.8, 0.1]]
>>> regularity([Layout.create(["row"] * 3, rows)]).gaps
1.0
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from layoutdm.layout import Layout
from layoutdm.metrics.bootstrap import Interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAME_GAP = 0.004  # of the canvas: gaps closer than this are equal, overlaps smaller are none
SAME_EDGE = 0.003  # of the canvas: so are edges and sizes
SLACK = 1e-9  # differences that should be on the border are not lost to rounding


@dataclass(frozen=True)
class Regularity:
    """Shares from 0 to 1, nan where there is nothing to count."""

    edges: float  # pairs with equal left edges
    gaps: float  # three in a row with equal gaps
    sizes: float  # pairs of equal width and height
    rows_overlap: float  # pairs that overlap
    pairs: int
    triples: int

    def shares(self) -> dict[str, float]:
        """The four shares by name."""
        names = [field.name for field in fields(self)][:4]
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Counts:
    """Of one layout: pairs, triples, and how many of them are equal or overlap."""

    pairs: int
    triples: int
    edges: int
    gaps: int
    sizes: int
    rows_overlap: int


def regularity(layouts: Iterable[Layout]) -> Regularity:
    """Over all pairs and triples of these layouts."""
    counted = [count_repeats(layout) for layout in layouts]
    return of_counts(counted)


def of_counts(counted: Sequence[Counts]) -> Regularity:
    """The shares of what was counted, so that it can be drawn again for intervals."""
    total = {
        field.name: sum(getattr(one, field.name) for one in counted) for field in fields(Counts)
    }
    pairs, triples = total["pairs"], total["triples"]
    return Regularity(
        edges=_share(total["edges"], pairs),
        gaps=_share(total["gaps"], triples),
        sizes=_share(total["sizes"], pairs),
        rows_overlap=_share(total["rows_overlap"], pairs),
        pairs=pairs,
        triples=triples,
    )


def bootstrap_regularity(
    counted: Sequence[Counts], *, level: float = 0.95, resamples: int = 1000, seed: int = 0
) -> dict[str, Interval]:
    """Each share with its interval: layouts are drawn anew, with all of their pairs."""
    found = of_counts(counted).shares()
    names = [field.name for field in fields(Counts)]
    table = np.array([[getattr(one, name) for name in names] for one in counted], dtype=float)
    if not len(table):
        return {name: Interval(value, value, value, level) for name, value in found.items()}
    rng = np.random.default_rng(seed)
    sums = np.stack(
        [table[rng.integers(0, len(table), len(table))].sum(axis=0) for _ in range(resamples)]
    )
    tails = [(1 - level) / 2, (1 + level) / 2]
    result = {}
    for name, value in found.items():
        whole = sums[:, names.index("triples" if name == "gaps" else "pairs")]
        shares = sums[:, names.index(name)][whole > 0] / whole[whole > 0]
        low, high = np.quantile(shares, tails) if len(shares) else (np.nan, np.nan)
        result[name] = Interval(value, float(low), float(high), level)
    return result


def count_repeats(layout: Layout) -> Counts:
    """Of the columns of one layout."""
    corners = np.asarray(layout.corners(), dtype=np.float64)
    labels = np.array(layout.labels)
    below = next_below(corners, labels)
    upper = np.flatnonzero(below >= 0)
    lower = below[upper]
    size = corners[:, 2:] - corners[:, :2]
    gap = np.full(len(corners), np.nan)
    gap[upper] = corners[lower, 1] - corners[upper, 3]
    in_row = upper[below[lower] >= 0]
    difference = np.abs(gap[in_row] - gap[below[in_row]])
    same_size = np.abs(size[upper] - size[lower]).max(axis=1, initial=0.0) <= SAME_EDGE + SLACK
    left = np.abs(corners[upper, 0] - corners[lower, 0]) <= SAME_EDGE + SLACK
    return Counts(
        pairs=len(upper),
        triples=len(in_row),
        edges=int(left.sum()),
        gaps=int((difference <= SAME_GAP + SLACK).sum()),
        sizes=int(same_size.sum()),
        rows_overlap=int((gap[upper] < -SAME_GAP - SLACK).sum()),
    )


def next_below(corners: Floats, labels: NDArray[np.str_]) -> Ints:
    """(n,): for each box the next one of its label from the top down, or -1.

    corners (n, 4): left, top, right, bottom. There is none where the next does not share at least
    half of the narrower one's width: then they do not stand below each other.
    """
    below = np.full(len(corners), -1, dtype=np.int64)
    left, top, right, _ = corners.T
    order = np.lexsort((left, top, labels))
    one, other = order[:-1], order[1:]
    shared = np.minimum(right[one], right[other]) - np.maximum(left[one], left[other])
    narrower = np.minimum(right[one] - left[one], right[other] - left[other])
    column = (labels[one] == labels[other]) & (2 * shared >= narrower - SLACK)
    below[one[column]] = other[column]
    return below


def _share(some: int, all_: int) -> float:
    return some / all_ if all_ else float("nan")

"""What fits the data is measured from it: bins, limit of elements, labels, canvases.

>>> import layoutdm.data
>>> layouts = layoutdm.data.open("sample")["train"]
>>> sorted(count_labels(layouts, ("text", "title")))
['text', 'title']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from layoutdm.data import Dataset
from layoutdm.layout import Layout
from layoutdm.tokens import Bins

Floats = NDArray[np.float64]

FINE = 0.0008  # of the canvas: a mean error that nobody sees, a pixel of a screen 1,250 wide
DIGITS = 5  # equal to five digits is equal: files round
AT_LEAST = 32  # bins: fewer show, however few the data are
VALUES = 25  # of the data for each bin on average: fewer say too little about it
ROUNDS = 60  # of k-means in one dimension
RARE = 50  # layouts with a label, below which it is hardly learned
HIGHER = (1.4, 2.0)  # times the limit of elements: what a higher limit would keep
SHOWN = 0.02  # of the layouts: canvases that are rarer are not worth a word
SAME_SHAPE = 0.02  # aspect ratios closer than this are one canvas


def measured_bins(boxes: Floats, most: int = 256) -> Bins:
    """Bins of each attribute for these (n, 4) boxes, at most `most`, usually fewer.

    Where the data lie on a grid of few values, each value is a bin and nothing is rounded.
    Otherwise the fewest of 32, 48, 64, 96, ... with a mean error of at most FINE; but no more than
    one for every 25 values, since what is rare cannot be learned.

    >>> rng = np.random.default_rng(0)
    >>> on_grid = rng.integers(1, 11, (1000, 4)) / 20
    >>> measured_bins(on_grid).counts
    (10, 10, 10, 10)
    >>> measured_bins(rng.random((500, 4))).counts
    (32, 32, 32, 32)
    """
    a, b, c, d = (_centres(boxes[:, attribute], most) for attribute in range(4))
    return Bins("measured", (a, b, c, d))


def _centres(values: Floats, most: int) -> Floats:
    distinct, counts = np.unique(np.round(values, DIGITS), return_counts=True)
    limit = int(np.clip(len(values) // VALUES, min(AT_LEAST, most), most))
    if len(distinct) <= limit:
        return np.asarray(distinct)
    ladder = [n for k in range(5, 11) for n in (2**k, 3 * 2 ** (k - 1)) if n < limit]
    for count in [*ladder, limit]:
        centres = one_dimensional_means(distinct, counts, count)
        nearest = np.abs(centres[_nearest(centres, distinct)] - distinct)
        if float(np.average(nearest, weights=counts)) <= FINE:
            break
    return centres


def one_dimensional_means(values: Floats, counts: NDArray[np.int64], number: int) -> Floats:
    """k-means of ascending weighted values, from quantiles of the cube root of their density.

    In one dimension each round is two searches, so that 256 means of 100,000 values take no time.
    The cube root is the density of the best centres for many of them (Zador 1982).

    >>> one_dimensional_means(np.array([0.0, 0.1, 0.8, 0.9]), np.array([1, 1, 1, 1]), 2)
    array([0.05, 0.85])
    """
    middles = (values[1:] + values[:-1]) / 2
    room = np.diff(np.concatenate([values[:1], middles, values[-1:]]))
    mass = np.cumsum(np.cbrt(counts * room**2))  # the cube root of density, times room
    at = (np.arange(number) + 0.5) / number * mass[-1]
    centres = np.unique(values[np.searchsorted(mass, at)])
    weighted, total = np.append(0.0, np.cumsum(values * counts)), np.append(0, np.cumsum(counts))
    for _ in range(ROUNDS):
        cuts = np.searchsorted(values, (centres[1:] + centres[:-1]) / 2)
        low, high = np.append(0, cuts), np.append(cuts, len(values))
        filled = total[high] > total[low]
        low, high = low[filled], high[filled]
        centres = (weighted[high] - weighted[low]) / (total[high] - total[low])
    return np.unique(np.clip(centres, 0.0, 1.0))


def _nearest(centres: Floats, values: Floats) -> NDArray[np.intp]:
    return np.searchsorted((centres[1:] + centres[:-1]) / 2, values, side="right")


def bins_in_words(bins: Bins, boxes: Floats) -> str:
    """For whoever watches: how many of each, and what they cost.

    >>> from layoutdm.tokens import uniform_bins
    >>> bins_in_words(uniform_bins(4), np.array([[0.5, 0.5, 1.0, 0.3]]))
    'bins: x 4 (mean error 0.0000), y 4 (0.0000), width 4 (0.0000), height 4 (0.0500)'
    """
    parts = [
        f"{name} {count} ({error:.4f})"
        for (name, error), count in zip(bins.error(boxes).items(), bins.counts, strict=True)
    ]
    return "bins: " + ", ".join(parts).replace("(", "(mean error ", 1)


def limited(dataset: Dataset, most: int) -> tuple[Dataset, str]:
    """The data set without layouts of more elements, and a sentence about those; "" for none."""
    counts = [len(layout) for layout in dataset.layouts()]
    longer = sum(count > most for count in counts)
    if not longer:
        return replace(dataset, max_elements=most), ""
    splits = {
        name: tuple(layout for layout in layouts if len(layout) <= most)
        for name, layouts in dataset.splits.items()
    }
    limits = [int(most * factor) for factor in HIGHER]
    more = [(limit, sum(most < n <= limit for n in counts)) for limit in limits]
    kept = " and ".join(f"{number:,} of them with {limit}" for limit, number in more if number)
    sentence = (
        f"left out: {longer:,} of {len(counts):,} layouts with more than {most} elements; "
        f"--max-elements would keep {kept or f'all of them with {max(counts)}'}"
    )
    removed = {**dataset.removed, f"more than {most} elements": longer}
    return replace(dataset, splits=splits, max_elements=most, removed=removed), sentence


def count_labels(layouts: Sequence[Layout], labels: Sequence[str]) -> dict[str, int]:
    """In how many layouts each label is seen."""
    seen = Counter(label for layout in layouts for label in set(layout.labels))
    return {label: seen[label] for label in labels}


def rare_labels(counts: dict[str, int]) -> str:
    """A warning about labels that are hardly learned; "" for none.

    >>> rare_labels({"text": 900, "map": 7})
    "seen in fewer than 50 layouts, so hardly learned: 'map' (7)"
    """
    rare = [f"{label!r} ({count})" for label, count in counts.items() if count < RARE]
    if not rare:
        return ""
    return f"seen in fewer than {RARE} layouts, so hardly learned: {', '.join(rare)}"


@dataclass(frozen=True)
class Canvas:
    """Width and height of layouts, and which share of all has them (or nearly this shape)."""

    width: float
    height: float
    share: float


def canvases(layouts: Sequence[Layout]) -> list[Canvas]:
    """The shapes of canvas in the data, the most common first, each with its usual size.

    >>> slide, page = [Layout.create(["a"], [[0.5, 0.5, 1, 1]], width=w, height=h)
    ...                for w, h in ((1600, 900), (600, 800))]
    >>> [(c.width, round(c.share, 2)) for c in canvases([slide, slide, page])]
    [(1600.0, 0.67), (600.0, 0.33)]
    """
    sizes = Counter((float(layout.width), float(layout.height)) for layout in layouts)
    found: list[tuple[float, float, int]] = []
    for (width, height), count in sizes.most_common():
        ratio = np.log(width / height)
        for i, (w, h, n) in enumerate(found):
            if abs(np.log(w / h) - ratio) < SAME_SHAPE:
                found[i] = (w, h, n + count)
                break
        else:
            found.append((width, height, count))
    found.sort(key=lambda one: -one[2])
    most = [Canvas(w, h, n / len(layouts)) for w, h, n in found]
    return [one for one in most if one.share >= SHOWN] or most[:1]

"""What a set of layouts is made of: counts, labels, lengths, positions, duplicates.

>>> from layoutdm import Layout
>>> page = Layout.create(["title", "text"], [[0.5, 0.1, 0.8, 0.1], [0.5, 0.6, 0.8, 0.7]])
>>> result = statistics([page, page])
>>> result.layouts, result.elements, result.duplicates, result.labels["title"].elements
(2, 4, 1, 2)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.data.labels import ordered_labels
from layoutdm.formats.filters import PAPER
from layoutdm.layout import Layout

# Rows and columns of a heat map: fine enough to tell margins and columns apart on a page, and odd,
# so that what is centred falls into the middle cell and not on an edge between two.
HEAT_ROWS, HEAT_COLUMNS = 41, 25

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class LabelStatistics:
    """One label: how often, in how many layouts, how large on average, and where."""

    elements: int
    layouts: int
    mean_width: float
    mean_height: float
    # How many centres fall into each cell of a HEAT_ROWS by HEAT_COLUMNS grid over the canvas.
    heat: Counts = field(repr=False)


@dataclass(frozen=True)
class Statistics:
    """A set of layouts in numbers. `duplicates` counts layouts that repeat an earlier one."""

    layouts: int
    elements: int
    labels: Mapping[str, LabelStatistics]  # in index order
    lengths: Mapping[int, int]  # elements per layout -> layouts, ascending
    canvases: Mapping[tuple[float, float], int]  # (width, height) -> layouts, commonest first
    duplicates: int
    outside_paper: Mapping[str, int]  # what the paper's filters would remove, by reason
    fingerprints: frozenset[int] = field(repr=False)

    @property
    def mean_length(self) -> float:
        return self.elements / self.layouts if self.layouts else 0.0

    @property
    def median_length(self) -> float:
        lengths = np.repeat(list(self.lengths.keys()), list(self.lengths.values()))
        return float(np.median(lengths)) if len(lengths) else 0.0

    @property
    def longest(self) -> int:
        return max(self.lengths, default=0)

    def as_dict(self) -> dict[str, Any]:
        """Ready for json.dumps; the heat maps are left out."""
        return {
            "layouts": self.layouts,
            "elements": self.elements,
            "elements_per_layout": {
                "mean": round(self.mean_length, 4),
                "median": self.median_length,
                "max": self.longest,
                "histogram": {str(length): count for length, count in self.lengths.items()},
            },
            "labels": {
                label: {
                    "elements": stats.elements,
                    "layouts": stats.layouts,
                    "mean_width": round(stats.mean_width, 6),
                    "mean_height": round(stats.mean_height, 6),
                }
                for label, stats in self.labels.items()
            },
            "canvases": [
                {"width": width, "height": height, "layouts": count}
                for (width, height), count in self.canvases.items()
            ],
            "duplicates": self.duplicates,
            "outside_paper_filters": dict(self.outside_paper),
        }


def statistics(layouts: Iterable[Layout], labels: Sequence[str] = ()) -> Statistics:
    """Read the layouts once, one at a time; `labels` fixes the label order if it covers all."""
    tally = Tally()
    for layout in layouts:
        tally.add(layout)
    return tally.result(labels)


class Tally:
    """Sums that grow layout by layout, so that a file larger than memory can be counted."""

    def __init__(self) -> None:
        self._elements: Counter[str] = Counter()
        self._layouts: Counter[str] = Counter()
        self._sizes: dict[str, NDArray[np.float64]] = {}
        self._heat: dict[str, Counts] = {}
        self._lengths: Counter[int] = Counter()
        self._canvases: Counter[tuple[float, float]] = Counter()
        self._outside: Counter[str] = Counter()
        self._seen: set[int] = set()

    def add(self, layout: Layout) -> None:
        self._lengths[len(layout)] += 1
        self._canvases[layout.width, layout.height] += 1
        self._seen.add(fingerprint(layout))
        reason = PAPER.reason(layout)
        if reason:
            self._outside[reason] += 1
        grid = (HEAT_ROWS, HEAT_COLUMNS)
        cells = np.clip(layout.boxes[:, 1::-1] * grid, 0, np.array(grid) - 1).astype(int).tolist()
        sizes = layout.boxes[:, 2:]
        for label, (row, column), size in zip(layout.labels, cells, sizes, strict=True):
            if label not in self._heat:
                self._heat[label] = np.zeros(grid, dtype=np.int64)
                self._sizes[label] = np.zeros(2)
            self._heat[label][row, column] += 1
            self._sizes[label] += size
        self._elements.update(layout.labels)
        self._layouts.update(set(layout.labels))

    def update(self, other: Tally) -> None:
        """Add all that the other has counted."""
        self._lengths.update(other._lengths)
        self._canvases.update(other._canvases)
        self._outside.update(other._outside)
        self._elements.update(other._elements)
        self._layouts.update(other._layouts)
        self._seen |= other._seen
        for label, heat in other._heat.items():
            self._heat[label] = self._heat.get(label, 0) + heat
            self._sizes[label] = self._sizes.get(label, 0) + other._sizes[label]

    def result(self, labels: Sequence[str] = ()) -> Statistics:
        if not set(labels) >= self._elements.keys():
            labels = ordered_labels(self._elements)
        total = self._lengths.total()
        return Statistics(
            layouts=total,
            elements=self._elements.total(),
            labels={label: self._label(label) for label in labels},
            lengths=dict(sorted(self._lengths.items())),
            canvases=dict(self._canvases.most_common()),
            duplicates=total - len(self._seen),
            outside_paper=dict(self._outside),
            fingerprints=frozenset(self._seen),
        )

    def _label(self, label: str) -> LabelStatistics:
        count = self._elements[label]
        width, height = self._sizes.get(label, np.zeros(2)) / max(count, 1)
        empty = np.zeros((HEAT_ROWS, HEAT_COLUMNS), dtype=np.int64)
        heat = self._heat.get(label, empty)
        return LabelStatistics(count, self._layouts[label], float(width), float(height), heat)


def fingerprint(layout: Layout) -> int:
    """A number shared by layouts with the same labels and boxes (to six digits) in this order."""
    digest = blake2b("\0".join(layout.labels).encode(), digest_size=8)
    digest.update(np.rint(layout.boxes * 1e6).astype(np.int64).tobytes())
    return int.from_bytes(digest.digest(), "big")

"""Data sets: open one, filter it, order its elements, split it, see its statistics.

>>> import layoutdm.data
>>> dataset = layoutdm.data.open("my_layouts/")  # doctest: +SKIP
>>> dataset.labels, len(dataset["train"])  # doctest: +SKIP
(('text', 'title', 'figure'), 1200)
"""

from __future__ import annotations

from layoutdm.data.dataset import Dataset, open
from layoutdm.data.labels import PUBLAYNET, RICO25, ordered_labels
from layoutdm.data.statistics import Statistics, statistics
from layoutdm.formats.filters import Filters

__all__ = [
    "PUBLAYNET",
    "RICO25",
    "Dataset",
    "Filters",
    "Statistics",
    "open",
    "ordered_labels",
    "statistics",
]

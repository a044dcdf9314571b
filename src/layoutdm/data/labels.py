"""The label sets of the paper, in its index order, and the order of any other label set.

>>> ordered_labels(["title", "figure", "text"])
('text', 'title', 'figure')
>>> ordered_labels(["title", "footer", "text"])
('footer', 'text', 'title')
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutdm.formats.publaynet import LABELS as PUBLAYNET
from layoutdm.formats.rico import LABELS as RICO25

__all__ = ["PUBLAYNET", "RICO25", "ordered_labels"]


def ordered_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Each label once: in the paper's index order if Rico25 or PubLayNet has them all, else sorted.

    Sorting by name, rather than by first appearance, keeps a label's index the same when layouts
    are added, removed or shuffled.
    """
    present = set(labels)
    for known in (RICO25, PUBLAYNET):
        if present <= set(known):
            return tuple(label for label in known if label in present)
    return tuple(sorted(present))

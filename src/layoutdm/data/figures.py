"""Figures of a report as texts, the same on the terminal and on the page.

>>> percent(1, 3)
'33.3%'
"""

from __future__ import annotations

from layoutdm.data.report import Report
from layoutdm.data.statistics import LabelStatistics, Statistics


def percent(part: int, whole: int) -> str:
    """A share with one digit; what is not zero never reads as zero."""
    if not whole:
        return "-"
    share = 100 * part / whole
    return "<0.1%" if 0 < share < 0.05 else f"{share:.1f}%"


def by_count(total: Statistics) -> list[tuple[str, LabelStatistics]]:
    """The labels, commonest first."""
    return sorted(total.labels.items(), key=lambda item: -item[1].elements)


def split_table(report: Report) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: one row a split, and one for all when there are several."""
    headings = ["split", "layouts", "elements", "mean", "median", "max", "duplicates"]
    headings += ["also in train"] if report.seen_in_train else []
    parts = dict(report.splits)
    if len(parts) > 1:
        parts["all"] = report.total
    rows = []
    for name, stats in parts.items():
        cells = [
            name,
            f"{stats.layouts:,}",
            f"{stats.elements:,}",
            f"{stats.mean_length:.2f}",
            f"{stats.median_length:g}",
            str(stats.longest),
            f"{stats.duplicates:,} ({percent(stats.duplicates, stats.layouts)})",
        ]
        if report.seen_in_train:
            seen = report.seen_in_train.get(name)
            cells.append("" if seen is None else f"{seen:,}")
        rows.append(cells)
    return headings, rows

"""Counts layouts and the wishes that they miss.

>>> tally = Tally()
>>> missed = [{"path": "relations[0]", "wanted": "a below b"}]
>>> tally.add({"metadata": {"report": {"met": False, "missed": missed}}})
>>> tally.count, tally.met, dict(tally.missed)
(1, 0, {'relations[0] (a below b)': 1})
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

SHOWN = 8  # missed wishes that are told, the most frequent first


class Tally:
    """How many layouts there are, how many meet every wish, and what the others miss."""

    def __init__(self) -> None:
        self.count = self.met = 0
        self.missed: Counter[str] = Counter()

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one layout by its record; one without a report had no wish to miss."""
        report = (record.get("metadata") or {}).get("report") or {}
        self.count += 1
        self.met += bool(report.get("met", True))
        self.missed.update(
            f"{wish['path']} ({wish['wanted']})" for wish in report.get("missed") or ()
        )

    def lines(self, tries: int = 0) -> Iterator[str]:
        """What was missed and how often, most often first; nothing if all wishes are met."""
        if self.count == self.met:
            return
        after = f" after {tries} tries each" if tries else ""
        yield f"{self.count - self.met:,} of {self.count:,} layouts miss a wish{after}:"
        for name, number in self.missed.most_common(SHOWN):
            yield f"  {name}: {number:,}"
        if len(self.missed) > SHOWN:
            yield f"  and {len(self.missed) - SHOWN:,} other wishes"

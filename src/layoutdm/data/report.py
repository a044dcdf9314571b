"""A data set in numbers, split by split: what `layoutdm stats` shows.

>>> report("sample").name
'sample'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layoutdm.data.dataset import open as open_dataset
from layoutdm.data.sources import Found, find, read_split
from layoutdm.data.splits import SPLITS
from layoutdm.data.statistics import Statistics, Tally
from layoutdm.errors import LayoutdmError
from layoutdm.formats.files import Progress, silent
from layoutdm.formats.filters import NONE, PAPER
from layoutdm.formats.problems import Problems


@dataclass(frozen=True)
class Report:
    """The statistics of each split and of all together."""

    name: str
    note: str
    total: Statistics
    splits: Mapping[str, Statistics]
    seen_in_train: Mapping[str, int]  # different layouts of a split that train has as well
    removed: Mapping[str, int]
    skipped: int
    filtered: bool

    def as_dict(self) -> dict[str, Any]:
        """Ready for json.dumps."""
        return {
            "name": self.name,
            "note": self.note,
            **self.total.as_dict(),
            "splits": {name: stats.as_dict() for name, stats in self.splits.items()},
            "seen_in_train": dict(self.seen_in_train),
            "removed": dict(self.removed),
            "skipped": self.skipped,
            "filtered": self.filtered,
        }


def report(
    source: str | Path,
    *,
    format: str | None = None,
    split: str | None = None,
    filters: bool = False,
    problems: Problems | None = None,
    progress: Progress = silent,
) -> Report:
    """Count a data set of any size, one layout at a time, as it is or with the paper's filters.

    `split` counts one split only; a source without split files is cut as `layoutdm.data.open`
    cuts it.
    """
    if split is not None and split not in SPLITS:
        raise LayoutdmError(f"split {split!r} is unknown; it should be one of {', '.join(SPLITS)}")
    problems = problems if problems is not None else Problems()
    found = find(source, format)
    tallies, note = _count(found, split, filters, problems, progress)
    total = Tally()
    for tally in tallies.values():
        total.update(tally)
    whole = total.result()
    if not whole.layouts:
        raise LayoutdmError(f"{source}: holds no layout that could be counted; check the source")
    parts = {name: tally.result(tuple(whole.labels)) for name, tally in tallies.items()}
    train = parts["train"].fingerprints if "train" in parts else frozenset()
    return Report(
        name=found.name,
        note=note,
        total=whole,
        splits=parts,
        seen_in_train={
            name: len(stats.fingerprints & train)
            for name, stats in parts.items()
            if name != "train" and train
        },
        removed=dict(problems.removed),
        skipped=problems.count,
        filtered=filters,
    )


def _count(
    found: Found, split: str | None, filters: bool, problems: Problems, progress: Progress
) -> tuple[dict[str, Tally], str]:
    """A tally for each split and where the splits come from."""
    if split is not None and (split not in found.files or found.format == "publaynet"):
        dataset = open_dataset(found.path, format=found.format, filters=filters, problems=problems)
        tally = Tally()
        for layout in dataset[split]:
            tally.add(layout)
        return {split: tally}, dataset.split_note
    chosen = [split] if split is not None else list(found.files)
    tallies = {}
    for part in chosen:
        tally = tallies[_shown(found, part)] = Tally()
        wanted = PAPER if filters else NONE
        for layout in read_split(found, part, wanted, problems, progress):
            tally.add(layout)
    names = [path.name for part in chosen for path in found.files[part]]
    return tallies, f"read from {', '.join(names[:6])}{', ...' if len(names) > 6 else ''}"


def _shown(found: Found, part: str) -> str:
    """The official splits of PubLayNet are not the paper's, so they are named apart."""
    if found.format == "publaynet" and part:
        return f"official {part}"
    return part or "all"

"""A data set: layouts in splits, with their labels, and a note of what was done to them.

>>> dataset = open("sample")
>>> sorted(dataset.splits)
['test', 'train', 'val']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from layoutdm.data.labels import ordered_labels
from layoutdm.data.orders import check_order, reorder
from layoutdm.data.sources import Parts, find, read_parts
from layoutdm.data.splits import SPLITS
from layoutdm.errors import LayoutdmError
from layoutdm.formats.filters import NONE, Filters
from layoutdm.formats.problems import Problems
from layoutdm.layout import Layout


@dataclass(frozen=True)
class Dataset:
    """Layouts by split ("train", "val", "test"; a split that does not exist is empty).

    `labels` is the label list in index order: the paper's for the labels of Rico25 or PubLayNet,
    otherwise by name. `max_elements` is the limit that the layouts were filtered with, or the
    longest layout when there was none. `split_note` says where the splits come from, `removed`
    what was left out and why.
    """

    name: str
    splits: Mapping[str, tuple[Layout, ...]]
    labels: tuple[str, ...]
    max_elements: int
    split_note: str
    removed: Mapping[str, int] = field(default_factory=dict)

    def __getitem__(self, split: str) -> tuple[Layout, ...]:
        """The layouts of a split, or an error that says which splits there are."""
        layouts = self.splits.get(split, ())
        if not layouts:
            present = ", ".join(name for name, part in self.splits.items() if part)
            raise LayoutdmError(
                f"data set {self.name!r} has no layouts in split {split!r}; it has {present}"
            )
        return layouts

    def __len__(self) -> int:
        return sum(len(layouts) for layouts in self.splits.values())

    def layouts(self) -> Iterable[Layout]:
        """All layouts, split after split."""
        return chain.from_iterable(self.splits.values())

    def save(self, folder: str | Path) -> Path:
        """Write train.jsonl.gz, val.jsonl.gz and test.jsonl.gz, which `open` reads back."""
        from layoutdm.formats import write

        for split, layouts in self.splits.items():
            if layouts:
                write(layouts, Path(folder) / f"{split}.jsonl.gz", format="jsonl")
        return Path(folder)


def open(
    source: str | Path,
    *,
    format: str | None = None,
    max_elements: int | None = 25,
    portrait: bool = True,
    filters: bool = True,
    order: str = "dataset",
    seed: int = 0,
    problems: Problems | None = None,
    cut_within: int | None = None,
) -> Dataset:
    """Open a file, a folder or a built-in data set ("sample") in any readable format.

    >>> dataset = open("sample", order="top-left")
    >>> dataset.max_elements
    25

    Splits come from files or folders named train, val (or validation) and test; anything else is
    shuffled with `seed` and cut 85 / 5 / 10. Rico's and PubLayNet's original files are recognised
    and get the paper's own splits. Layouts that are landscape, empty or longer than
    `max_elements` are removed and counted; `portrait=False` and `max_elements=None` switch these
    filters off one by one, `filters=False` switches off all. `order` is "dataset", "random"
    (drawn with `seed`) or "top-left". Bad records raise; `Problems(skip=True)` collects them.
    `cut_within` makes the cut that `max_elements` would make, but keeps longer layouts, in train.
    """
    check_order(order)
    wanted = Filters(1, max_elements, portrait) if filters else NONE
    problems = problems if problems is not None else Problems()
    found = find(source, format)
    parts = read_parts(found, wanted, problems, seed, cut_within)
    _check_not_empty(found.name, parts, problems)
    labels = parts.labels or ordered_labels(
        label for layouts in parts.splits.values() for layout in layouts for label in layout.labels
    )
    splits = {
        split: tuple(reorder(parts.splits.get(split, ()), order, labels, seed=(seed, index)))
        for index, split in enumerate(SPLITS)
    }
    longest = max((len(layout) for part in splits.values() for layout in part), default=0)
    removed = dict(problems.removed)
    if problems.count:
        removed["unreadable records"] = problems.count
    return Dataset(
        name=found.name,
        splits=MappingProxyType(splits),
        labels=labels,
        max_elements=wanted.max_elements or longest,
        split_note=parts.note,
        removed=MappingProxyType(removed),
    )


def _check_not_empty(name: str, parts: Parts, problems: Problems) -> None:
    """A data set without layouts is a mistake; so is a file that stands for an empty split."""
    empty = [split for split in parts.from_files if not parts.splits.get(split)]
    if any(parts.splits.values()) and not empty:
        return
    where = f"data set {name!r}"
    what = (
        f"split {empty[0]!r} ends up empty" if any(parts.splits.values()) else "no layout is left"
    )
    reasons = [f"{reason} {count}" for reason, count in problems.removed.items()]
    if problems.count:
        reasons.append(f"unreadable records {problems.count}")
    if reasons:
        raise LayoutdmError(
            f"{where}: {what} after leaving out {', '.join(reasons)}; "
            "loosen max_elements or portrait, or switch the filters off"
        )
    raise LayoutdmError(f"{where}: {what}; there should be at least one layout")

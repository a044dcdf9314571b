"""Splits: the files that name one, or a seeded cut that says so.

>>> split = cut(range(100), (0.85, 0.90), seed=0)
>>> [len(part) for part in split]
[85, 5, 10]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from layoutdm.data.permutation import permutation
from layoutdm.errors import LayoutdmError

Item = TypeVar("Item")

SPLITS = ("train", "val", "test")
_ALIASES = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}
# "val.jsonl.gz", "validation.parquet", "train-00000-of-00003.parquet", or a folder "val".
_FILE = re.compile(
    r"(train|val|valid|validation|test)(?P<shard>-\d+-of-\d+)?"
    r"(?P<ending>|\.jsonl|\.json|\.csv|\.parquet)(\.gz)?"
)

# Where the paper cuts Rico, which is also where any other unsplit data set is cut.
RICO_CUTS = (0.85, 0.90)
# Where it cuts PubLayNet's official training set into train and val.
PUBLAYNET_CUT = 0.95


def cut(items: Sequence[Item], shares: Sequence[float], seed: int) -> list[tuple[Item, ...]]:
    """Shuffle and cut at int(share * count): exactly the paper's split for the same seed."""
    shuffled = [items[i] for i in permutation(len(items), seed)]
    edges = [0, *(int(len(items) * share) for share in shares), len(items)]
    return [tuple(shuffled[start:stop]) for start, stop in pairwise(edges)]


def split_files(folder: Path) -> dict[str, list[Path]]:
    """The files or folders in `folder` that are named after a split; empty when there are none."""
    found: dict[str, dict[str, list[Path]]] = {}
    for path in sorted(folder.iterdir()):
        match = _FILE.fullmatch(path.name)
        if match and path.is_dir() == (match["ending"] == ""):
            # The same split in two forms (train.jsonl and train.csv) must not be read twice.
            form = path.name if match["shard"] is None else match["ending"]
            found.setdefault(_ALIASES[match[1]], {}).setdefault(form, []).append(path)
    for split, forms in found.items():
        if len(forms) > 1:
            names = " and ".join(paths[0].name for paths in forms.values())
            raise LayoutdmError(
                f"{folder}: {names} both name the split {split!r}; there should be only one"
            )
    return {split: next(iter(found[split].values())) for split in SPLITS if split in found}

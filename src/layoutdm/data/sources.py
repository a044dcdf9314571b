"""Where a data set's layouts come from: split files, one file, or the original Rico or PubLayNet.

>>> find("sample").name
'sample'
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from layoutdm import formats
from layoutdm.data.labels import PUBLAYNET, RICO25
from layoutdm.data.splits import PUBLAYNET_CUT, RICO_CUTS, SPLITS, cut, split_files
from layoutdm.errors import LayoutdmError
from layoutdm.formats import publaynet, rico
from layoutdm.formats.files import Progress, silent
from layoutdm.formats.filters import Filters, keep
from layoutdm.formats.problems import Problems
from layoutdm.formats.signs import SINGLE, is_unfinished_job, look
from layoutdm.formats.table import FORMATS
from layoutdm.layout import Layout

BUILT_IN = {"sample": Path(__file__).with_name("sample.jsonl.gz")}


@dataclass(frozen=True)
class Found:
    """A source before it is read: its kind, and its files by split (all in "" when unsplit)."""

    name: str
    path: Path
    format: str | None
    files: Mapping[str, list[Path]]


@dataclass(frozen=True)
class Parts:
    """What was read: layouts by split, how the split came about, and the labels if known."""

    splits: Mapping[str, tuple[Layout, ...]]
    note: str
    labels: tuple[str, ...] = ()
    from_files: tuple[str, ...] = field(default=())


def find(source: str | Path, format: str | None = None) -> Found:
    """Resolve a path or a built-in name and look for split files, without reading layouts."""
    path = Path(source)
    name = Path(os.path.realpath(path)).name.split(".")[0]
    if not path.exists():
        if str(source) not in BUILT_IN:
            raise LayoutdmError(
                f"{source}: no such file or folder, and no built-in data set of this name; "
                f"built in: {', '.join(BUILT_IN)}"
            )
        name, path = str(source), BUILT_IN[str(source)]
    format = format or _original(path)
    files = _files(path, format)
    if not files and path.is_dir() and not any(path.iterdir()):
        raise LayoutdmError(
            f"{path}: the folder is empty; it should hold files named train, val and test, "
            "or layouts in one of the readable formats"
        )
    return Found(name, path, format, files or {"": [_only_file(path) or path]})


def _only_file(path: Path) -> Path | None:
    """The one annotation file of a folder that holds no other and is in no format itself."""
    if not path.is_dir():
        return None
    found = look(path)
    if is_unfinished_job(found) or any(kind.sign and kind.sign(found) for kind in FORMATS):
        return None
    files = [name for name in found.names or () if Path(name).suffix.lower() in SINGLE]
    return path / files[0] if len(files) == 1 else None


def _original(path: Path) -> str | None:
    """ "rico" or "publaynet" when the path holds the original annotations, else None.

    A single COCO file is never taken for PubLayNet: its split could not be told.
    """
    if rico.recognise(path):
        return "rico"
    return "publaynet" if path.is_dir() and publaynet.recognise(path) else None


def _files(path: Path, format: str | None) -> dict[str, list[Path]]:
    """The files by split; empty when nothing names a split."""
    if format == "rico":
        return {}
    if format == "publaynet":
        official = publaynet.official_files(path) if path.is_dir() else [path]
        return {"train" if file.name.startswith("train") else "val": [file] for file in official}
    return split_files(path) if path.is_dir() else {}


def read_split(
    found: Found, split: str, filters: Filters, problems: Problems, progress: Progress = silent
) -> Iterator[Layout]:
    """Stream the filtered layouts of one split's files; what is removed counts in `problems`."""
    for path in found.files[split]:
        if found.format == "rico":
            yield from rico.read(path, problems, progress, filters)
        elif found.format == "publaynet":
            yield from publaynet.read(path, problems, progress, filters)
        else:
            layouts = formats.read(path, found.format, problems, progress)
            yield from keep(layouts, filters, problems.removed)


def read_parts(
    found: Found, filters: Filters, problems: Problems, seed: int, cut_within: int | None = None
) -> Parts:
    """Read everything and split it as the files say, as the paper does, or 85 / 5 / 10.

    `cut_within`: only layouts of so many elements take part in a cut; longer ones go to train.
    """
    read = {split: tuple(read_split(found, split, filters, problems)) for split in found.files}
    if found.format == "publaynet":
        return _publaynet_parts(read, seed, cut_within)
    only = next(iter(read)) if len(read) == 1 else None
    if only in ("", "train"):
        parts = _cut_within(cut_within, read[only], RICO_CUTS, seed)
        splits = dict(zip(SPLITS, parts, strict=True))
        sizes = " / ".join(str(len(splits[split])) for split in SPLITS)
        whole = "one set of layouts" if only == "" else "a train set alone"
        labels = RICO25 if found.format == "rico" else ()
        return Parts(
            splits, f"{whole}, shuffled with seed {seed} and cut 85 / 5 / 10 %: {sizes}", labels
        )
    missing = [split for split in SPLITS if split not in read]
    note = f"as the files say: {', '.join(path.name for p in found.files.values() for path in p)}"
    if missing:
        note += f" (no {' and no '.join(missing)})"
    return Parts(read, note, from_files=tuple(read))


def _cut_within(
    most: int | None, layouts: Sequence[Layout], shares: Sequence[float], seed: int
) -> list[tuple[Layout, ...]]:
    """The cut of the layouts of at most `most` elements; longer ones follow in the first part.

    A shuffle depends on how many there are, so a cut of all would not be the one that is made
    without the longer ones: layouts of one's val would be in the other's train.
    """
    room = most if most is not None else max(map(len, layouts), default=0)
    first, *others = cut([layout for layout in layouts if len(layout) <= room], shares, seed)
    return [first + tuple(layout for layout in layouts if len(layout) > room), *others]


def _publaynet_parts(
    read: Mapping[str, tuple[Layout, ...]], seed: int, cut_within: int | None
) -> Parts:
    """The paper's split: official train cut 95 / 5 into train and val, official val is test."""
    splits: dict[str, tuple[Layout, ...]] = {}
    notes = []
    if "train" in read:
        splits["train"], splits["val"] = _cut_within(
            cut_within, read["train"], (PUBLAYNET_CUT,), seed
        )
        notes.append(f"official train, shuffled with seed {seed}, as 95 % train and 5 % val")
    if "val" in read:
        splits["test"] = read["val"]
        notes.append("official val as test")
    return Parts(splits, "; ".join(notes), PUBLAYNET)

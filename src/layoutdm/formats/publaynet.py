"""PubLayNet's original COCO files, train.json and val.json, or the folder of both; read only.

    layoutdm convert publaynet/train.json pages.jsonl.gz --from publaynet

As COCO, except that the paper's rules hold: pages come sorted by image id, an element that leaves
its page or has no size is dropped while its page survives, and only portrait pages with 1 to 25
elements stay. What the rules remove is counted in `problems.removed`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from layoutdm.boxes import canvas_scale, from_left_top
from layoutdm.errors import LayoutdmError
from layoutdm.formats import coco
from layoutdm.formats.files import GZIP_MAGIC, Progress, head, silent
from layoutdm.formats.filters import LANDSCAPE, OTHER_LABEL, PAPER, Filters, element_flaw, keep
from layoutdm.formats.problems import Problems
from layoutdm.layout import Layout

LABELS = ("text", "title", "list", "table", "figure")
OFFICIAL = ("train.json", "val.json")

_SNIFF = 2**16
# Every page is named after its article in PubMed Central.
_PAGE_NAME = re.compile(rb'"file_name"\s*:\s*"PMC\d+_\d+\.')
_CATEGORIES = re.compile(r'"categories"\s*:\s*(?=\[)')


def read(
    path: Path,
    problems: Problems,
    progress: Progress = silent,
    filters: Filters = PAPER,
) -> Iterator[Layout]:
    """The pages that stay, of one file or of each official file in a folder."""
    if path.is_dir():
        seen: set[str] = set()
        for file in official_files(path):
            for layout in read(file, problems, progress, filters):
                if layout.id in seen:
                    problems.report(
                        f"{file}, image {layout.id}",
                        "an image of train.json has this id too; read the two files one by one",
                    )
                    continue
                seen.add(layout.id)
                yield layout
        return
    pages = coco.pages(path, problems, progress, by_id=True)
    layouts = (_layout(page, problems, filters) for page in pages)
    yield from keep((layout for layout in layouts if layout is not None), filters, problems.removed)


def recognise(path: Path) -> bool:
    """Whether this folder holds the official train.json or val.json, or this file is one."""
    if path.is_dir():
        if (path / "test.json").exists():
            return False
        files = [path / name for name in OFFICIAL if (path / name).is_file()]
        return bool(files) and all(recognise(file) for file in files)
    try:
        start = head(path, _SNIFF)
        return (
            bool(_PAGE_NAME.search(start)) or _has_categories(start) or _has_categories(_tail(path))
        )
    except OSError:
        return False


def _layout(page: coco.Page, problems: Problems, filters: Filters) -> Layout | None:
    """One page without its bad elements; None when it is landscape and these are filtered."""
    width, height, name = page.image.width, page.image.height, page.image.file_name
    if filters.portrait and height < width:  # first, so as not to count its elements
        problems.removed[LANDSCAPE] += 1
        return None
    kept = []
    for index, (label, box) in enumerate(zip(page.labels, page.left_top.tolist(), strict=True)):
        flaw = _flaw(label, box, width, height)
        if flaw:
            problems.removed[flaw] += 1
        else:
            kept.append(index)
    return Layout.create(
        [page.labels[index] for index in kept],
        from_left_top(page.left_top[kept]) / canvas_scale(width, height),
        width=width,
        height=height,
        id=page.id,
        metadata={"file_name": name} if name else {},
    )


def _flaw(label: str, box: Sequence[float], width: float, height: float) -> str | None:
    left, top, wide, high = box
    if label not in LABELS:
        return OTHER_LABEL
    return element_flaw((left, top, left + wide, top + high), width, height)


def official_files(folder: Path) -> list[Path]:
    """train.json and val.json, those of the two that are there."""
    files = [folder / name for name in OFFICIAL if (folder / name).is_file()]
    if not files:
        raise LayoutdmError(f"{folder}: holds neither train.json nor val.json; one should be there")
    return files


def _tail(path: Path) -> bytes:
    """The last bytes of a plain file, where the original keeps its categories."""
    with path.open("rb") as file:
        if file.read(2) == GZIP_MAGIC:
            return b""
        size = file.seek(0, 2)
        file.seek(max(0, size - _SNIFF))
        return file.read()


def _has_categories(piece: bytes) -> bool:
    """Whether the piece holds a whole category list and it is PubLayNet's."""
    text = piece.decode("utf-8", "replace")
    match = _CATEGORIES.search(text)
    if not match:
        return False
    try:
        categories, _ = json.JSONDecoder().raw_decode(text, match.end())
        return {category["name"] for category in categories} == set(LABELS)
    except (ValueError, KeyError, TypeError):
        return False

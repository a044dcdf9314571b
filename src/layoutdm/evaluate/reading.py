"""Read layouts to be scored: keep what can be kept, and count what cannot.

```python
found = read_set(Path("generated.jsonl"))
found.layouts, found.counts["invalid_elements"]
```

A generator's mistakes belong into its score sheet, not into an error message. In the native format
a box that leaves the canvas is cut at the edge, and a box that is not a box at all (no size, not a
number) is left out; both are counted. Other formats leave bad records out and count them.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from layoutdm import formats
from layoutdm.errors import LayoutdmError
from layoutdm.formats.files import Progress, silent
from layoutdm.formats.jsonl import from_record
from layoutdm.layout import EDGE_TOLERANCE, Layout

# More layouts than this are sampled down: neighbour metrics grow with the square of the number.
LIMIT = 50_000
# Nothing with this many elements is a layout; one such record would widen every array to its size.
MOST_ELEMENTS = 1_000
COUNTS = (
    "layouts",
    "elements",
    "empty",
    "invalid_layouts",
    "invalid_elements",
    "cut_elements",
    "scored",
)
# How the readers of element-wise formats call one element when they report a problem.
_ELEMENT_WORDS = (", annotation ", ", object ", ", result ", ", line ", ", row ")


@dataclass(frozen=True)
class LayoutSet:
    """Layouts to be scored; empty ones stay in, so that pairs keep their places."""

    path: Path
    layouts: tuple[Layout, ...]
    counts: Mapping[str, int]
    first_problem: str = ""


def read_set(
    path: Path,
    format: str | None = None,
    *,
    limit: int = LIMIT,
    seed: int = 0,
    strict: bool = False,
    progress: Progress = silent,
) -> LayoutSet:
    """All layouts of a file or folder, or `limit` of them drawn evenly (0 takes all).

    `strict` makes a record that cannot be read an error: where the i-th layout stands for the i-th
    of another file, none may be left out. Draws depend on the seed and the number of layouts only,
    so that two files of equal length keep the same places.
    """
    if not path.exists():
        raise LayoutdmError(f"{path}: no such file or folder; check the path")
    counts: Counter[str] = Counter()
    problems = formats.Problems(skip=not strict)
    native = (format or formats.detect(path)) == "jsonl"
    stream = (
        _native(path, problems, counts)
        if native
        else formats.read(path, format, problems, progress)
    )
    kept = _draw(_short(stream, problems), counts, limit, seed)
    counts["scored"] = len(kept)
    elements = 0 if native else sum(map(_is_element, problems.listed))
    counts["invalid_elements"] += elements
    counts["invalid_layouts"] += problems.count - elements
    first = str(problems.listed[0]) if problems.listed else ""
    return LayoutSet(path, tuple(kept), {name: counts[name] for name in COUNTS}, first)


def _short(stream: Iterator[Layout], problems: formats.Problems) -> Iterator[Layout]:
    for number, layout in enumerate(stream, start=1):
        if len(layout) > MOST_ELEMENTS:
            problems.report(
                f"layout {layout.id or number}",
                f"{len(layout):,} elements; at most {MOST_ELEMENTS:,} are scored",
            )
            continue
        yield layout


def _is_element(problem: formats.Problem) -> bool:
    return any(word in problem.where for word in _ELEMENT_WORDS)


def _draw(stream: Iterator[Layout], counts: Counter[str], limit: int, seed: int) -> list[Layout]:
    """Reservoir sampling, in file order: memory stays bounded however long the file is."""
    rng = np.random.default_rng(seed)
    kept: list[tuple[int, Layout]] = []
    for index, layout in enumerate(stream):
        counts["layouts"] += 1
        counts["elements"] += len(layout)
        counts["empty"] += not len(layout)
        if not limit or len(kept) < limit:
            kept.append((index, layout))
        elif (place := int(rng.integers(0, index + 1))) < limit:
            kept[place] = (index, layout)
    return [layout for _, layout in sorted(kept, key=lambda pair: pair[0])]


def _native(path: Path, problems: formats.Problems, counts: Counter[str]) -> Iterator[Layout]:
    """Lines of the native format, with boxes mended where that is possible."""
    with path.open("rb") as start:
        packed = start.read(2) == b"\x1f\x8b"
    found = False
    with _opened(path, packed) as stream:
        for number, line in enumerate(_lines(stream, path), start=1):
            if not line.strip():
                continue
            found = True
            where = f"{path}, line {number}"
            try:
                yield from_record(_mended(json.loads(line), counts))
            except LayoutdmError as error:
                problems.report(where, str(error))
            except (ValueError, RecursionError):
                problems.report(where, "not a JSON object; there should be one layout a line")
    if not found:
        raise LayoutdmError(f"{path}: is empty; it should hold one JSON object a line")


def _opened(path: Path, packed: bool) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(path, "rb")) if packed else path.open("rb")


def _lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    try:
        yield from stream
    except (EOFError, OSError, gzip.BadGzipFile) as error:
        raise LayoutdmError(f"{path}: damaged gzip file ({error})") from None


def _mended(record: Any, counts: Counter[str]) -> Any:
    """The record with boxes cut at the canvas and without those that are no boxes."""
    if not isinstance(record, dict):
        return record
    labels, boxes = record.get("labels"), record.get("boxes")
    if not isinstance(labels, list) or not isinstance(boxes, list) or len(labels) != len(boxes):
        return record  # the reader says what is wrong
    try:
        values = np.array(boxes, dtype=np.float64).reshape(len(boxes), 4)
    except (TypeError, ValueError):
        return record
    mended, good, cut = mend(values)
    counts["invalid_elements"] += int((~good).sum())
    counts["cut_elements"] += int(cut.sum())
    if good.all() and not cut.any():
        return record
    kept = [label for label, keep in zip(labels, good, strict=True) if keep]
    return {**record, "labels": kept, "boxes": mended[good].tolist()}


def mend(
    boxes: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Boxes cut at the canvas; which of them are boxes at all; which had to be cut.

    >>> boxes, good, cut = mend(np.array([[0.95, 0.5, 0.2, 0.2], [0.5, 0.5, 0.0, 0.2]]))
    >>> boxes[0].round(3).tolist(), good.tolist(), cut.tolist()
    ([0.925, 0.5, 0.15, 0.2], [True, False], [True, False])
    """
    finite = np.asarray(np.isfinite(boxes).all(axis=1))
    safe = np.where(finite[:, None], boxes, 0.5)
    low, high = safe[:, :2] - safe[:, 2:] / 2, safe[:, :2] + safe[:, 2:] / 2
    outside = (low < -EDGE_TOLERANCE) | (high > 1 + EDGE_TOLERANCE)
    low_in, high_in = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    good = np.asarray(finite & (safe[:, 2:] > 0).all(axis=1) & (high_in > low_in).all(axis=1))
    cut = np.asarray(good & outside.any(axis=1))
    inner = np.hstack([(low_in + high_in) / 2, high_in - low_in])
    return np.where(cut[:, None], inner, safe), good, cut

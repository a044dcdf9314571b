"""Maximum IoU: how well generated layouts match real ones with the same labels.

>>> import numpy as np
>>> bbox = np.array([[[0.3, 0.3, 0.2, 0.2], [0.7, 0.8, 0.4, 0.1]]])
>>> layouts = (bbox, np.array([[0, 1]]), np.ones((1, 2), dtype=bool))
>>> max_iou(layouts, layouts)
1.0

Layouts are grouped by their multiset of labels; only multisets that occur in both sets count. Two
layouts of a group score the mean IoU of their elements under the best one-to-one matching within
each label. In each group, layouts are matched one to one so that the total is largest, and the
figure is the mean over all matched pairs. Higher is better, 1 is a copy.

How it is fast: with sorted labels, each pair of layouts falls into blocks, one per label. All
blocks of one size, over all pairs of all groups, are solved together (see `assignment`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from layoutdm.boxes import shared_area, to_corners
from layoutdm.errors import LayoutdmError
from layoutdm.metrics.assignment import best_sums
from layoutdm.metrics.matching import best_matching
from layoutdm.metrics.pack import Floats, Layouts, Packed, as_packed

Index = NDArray[np.intp]

# Pairs scored before the next groups are begun, and IoUs of one piece of work: both bound memory.
PAIRS = 2_000_000
PIECE = 100_000
# One group's matrix must fit in memory and its matching must end: 7,000 layouts on either side.
LARGEST_GROUP = 50_000_000


@dataclass(frozen=True)
class _Side:
    """One set: corners of all elements, those of a layout together and sorted by label."""

    corners: Floats  # (4, elements)
    start: Index  # (layouts,) where a layout's elements begin
    groups: dict[bytes, list[int]]  # layouts by sorted labels


class _Group(NamedTuple):
    labels: list[int]
    rows: list[int]
    columns: list[int]
    pairs: int


def max_iou(
    generated: Layouts, reference: Layouts, *, published: bool = False, workers: int | None = None
) -> float:
    """Mean over matched pairs; 0 when no multiset of labels occurs in both sets.

    `published=True` gives the figure of the released code, which fills each group's score matrix in
    the wrong order when the two sides differ in size, so that a layout can be matched twice.
    """
    scores = max_ious(generated, reference, published=published, workers=workers)
    return float(scores.mean()) if scores.size else 0.0


def max_ious(
    generated: Layouts, reference: Layouts, *, published: bool = False, workers: int | None = None
) -> Floats:
    """The score of each matched pair, group after group; `workers` threads, one per core if None.

    >>> import numpy as np
    >>> one = (np.array([[[0.5, 0.5, 0.4, 0.4]]]), np.array([[0]]), np.array([[True]]))
    >>> other = (np.array([[[0.5, 0.5, 0.4, 0.2]]]), np.array([[0]]), np.array([[True]]))
    >>> max_ious(one, other).round(6).tolist()
    [0.5]
    """
    # Rows are the reference, as in the released code; that matters for its wrong order only.
    first, second = _side(as_packed(reference)), _side(as_packed(generated))
    shared = [
        _Group(np.frombuffer(key, np.int64).tolist(), rows, columns, len(rows) * len(columns))
        for key, rows in first.groups.items()
        if key and (columns := second.groups.get(key))
    ]
    for group in shared:
        if group.pairs > LARGEST_GROUP:
            raise LayoutdmError(
                f"Maximum IoU: {len(group.rows)} reference and {len(group.columns)} generated "
                "layouts have the same labels, too many to match; score a random sample of both"
            )
    threads = workers or os.cpu_count() or 1
    found = [np.zeros(0)]
    with ThreadPoolExecutor(threads) as pool:
        for batch in _batches(shared):
            pairs = [group.pairs for group in batch]
            total = np.zeros(sum(pairs))
            pieces = _pieces(batch)
            # A few at a time: the pool would otherwise take all pieces at once.
            while some := list(islice(pieces, 16 * threads)):
                for pair, best in pool.map(lambda piece: _solve(first, second, piece), some):
                    np.add.at(total, pair, best)
            total /= np.repeat([len(group.labels) for group in batch], pairs)
            found.append(_match(batch, total, published))
    return np.concatenate(found)


def _side(packed: Packed) -> _Side:
    counts, width = packed.counts, packed.mask.shape[1]
    last = np.iinfo(np.int64).max
    order = np.argsort(np.where(packed.mask, packed.label, last), axis=1, kind="stable")
    order += np.arange(len(packed))[:, None] * width
    # One bytes object, cut once per layout: far cheaper than as many small arrays.
    text, one = packed.label.ravel()[order].tobytes(), packed.label.itemsize
    groups: dict[bytes, list[int]] = {}
    for row, count in enumerate(counts.tolist()):
        start = row * width * one
        groups.setdefault(text[start : start + count * one], []).append(row)
    boxes = packed.bbox.reshape(-1, 4)[order[np.arange(width) < counts[:, None]]]
    return _Side(
        corners=np.ascontiguousarray(to_corners(boxes).T),
        start=(np.cumsum(counts) - counts).astype(np.intp),
        groups=groups,
    )


def _batches(groups: list[_Group]) -> Iterator[list[_Group]]:
    """Groups in order, so many at a time that their pairs stay below the bound."""
    batch: list[_Group] = []
    pairs = 0
    for group in groups:
        if batch and pairs + group.pairs > PAIRS:
            yield batch
            batch, pairs = [], 0
        batch.append(group)
        pairs += group.pairs
    if batch:
        yield batch


@dataclass(frozen=True)
class _Piece:
    """Blocks of one size: which pair each adds to, and where its elements begin on both sides."""

    size: int
    pair: Index
    row: Index
    column: Index
    offset: Index


def _pieces(groups: list[_Group]) -> Iterator[_Piece]:
    """All label blocks of all pairs, in pieces of one block size."""
    pairs = np.array([group.pairs for group in groups], dtype=np.intp)
    first_pair = np.cumsum(pairs) - pairs
    widths = np.array([len(group.columns) for group in groups], dtype=np.intp)
    heights = np.array([len(group.rows) for group in groups], dtype=np.intp)
    rows = np.array([row for group in groups for row in group.rows], dtype=np.intp)
    columns = np.array([column for group in groups for column in group.columns], dtype=np.intp)
    row_start, column_start = np.cumsum(heights) - heights, np.cumsum(widths) - widths
    by_size: dict[int, list[tuple[int, int]]] = {}
    for number, group in enumerate(groups):
        offset = 0
        for _, run in groupby(group.labels):
            size = len(list(run))
            by_size.setdefault(size, []).append((number, offset))
            offset += size

    for size, blocks in sorted(by_size.items()):
        which, offset = np.array(blocks, dtype=np.intp).T
        ends = np.cumsum(pairs[which])
        begins = ends - pairs[which]
        step = max(64, PIECE // size**2)
        for begin in range(0, int(ends[-1]), step):
            position = np.arange(begin, min(begin + step, int(ends[-1])))
            block = np.searchsorted(ends, position, side="right")
            group = which[block]
            local = position - begins[block]
            yield _Piece(
                size,
                first_pair[group] + local,
                rows[row_start[group] + local // widths[group]],
                columns[column_start[group] + local % widths[group]],
                offset[block],
            )


def _solve(first: _Side, second: _Side, piece: _Piece) -> tuple[Index, Floats]:
    span = np.arange(piece.size)[:, None]
    a = first.corners[:, first.start[piece.row] + piece.offset + span]
    b = second.corners[:, second.start[piece.column] + piece.offset + span]
    return piece.pair, best_sums(_iou(a, b))


def _iou(a: Floats, b: Floats) -> Floats:
    """(4, k, P) corners of both sides to (k, k, P)."""
    area_a, area_b = ((c[2] - c[0]) * (c[3] - c[1]) for c in (a, b))
    a, b = a[:, :, None], b[:, None]
    shared = shared_area(a, b)
    union = area_a[:, None] + area_b[None]
    union -= shared
    # Two boxes without area have no IoU; they count as not overlapping.
    return np.asarray(np.divide(shared, union, out=shared, where=union > 0))


def _match(groups: list[_Group], total: Floats, published: bool) -> Floats:
    """Best one-to-one matching of layouts within each group."""
    found = []
    begin = 0
    for group in groups:
        score = total[begin : begin + group.pairs]
        begin += group.pairs
        shape = (len(group.rows), len(group.columns))
        if min(shape) == 1:
            found.append(score.max(keepdims=True))
            continue
        score = score.reshape(shape)
        if published:
            score = score.T.reshape(shape)
        found.append(score[best_matching(score)])
    return np.concatenate(found)

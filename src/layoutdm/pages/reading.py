"""Reading order of a page: cut between what is above and below, then between columns, and again.

>>> order([(0, 0, 100, 10), (55, 12, 100, 50), (0, 12, 45, 30), (0, 32, 45, 50)])
[0, 2, 3, 1]
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutdm.pages.truth import Box


def order(boxes: Sequence[Box]) -> list[int]:
    """Indices as a person reads: what reaches across the columns parts them, above and below."""
    return _read(list(range(len(boxes))), boxes)


def _read(some: list[int], boxes: Sequence[Box]) -> list[int]:
    if len(some) <= 1:
        return some
    parts = _groups(some, boxes, 0)
    if len(parts) == 1:
        parts = _bands(_groups(some, boxes, 1), boxes)
    if len(parts) == 1:
        return sorted(some, key=lambda i: (boxes[i][1], boxes[i][0]))
    return [index for part in parts for index in _read(part, boxes)]


def _bands(rows: list[list[int]], boxes: Sequence[Box]) -> list[list[int]]:
    """Rows one below the other, put together as long as columns run through them.

    >>> _bands([[0], [1, 2], [3]], [(0, 0, 9, 1), (0, 2, 4, 3), (5, 2, 9, 3), (5, 4, 9, 5)])
    [[0], [1, 2, 3]]
    """
    bands = [list(rows[0])]
    for row in rows[1:]:
        if len(_groups(bands[-1] + row, boxes, 0)) > 1:
            bands[-1] += row
        else:
            bands.append(list(row))
    return bands


def _groups(some: list[int], boxes: Sequence[Box], axis: int) -> list[list[int]]:
    """Groups with a free strip between them, along one axis."""
    ordered = sorted(some, key=lambda i: (boxes[i][axis], boxes[i][1 - axis], i))
    groups = [[ordered[0]]]
    end = _end(boxes[ordered[0]], axis)
    for index in ordered[1:]:
        if boxes[index][axis] >= end:
            groups.append([])
        groups[-1].append(index)
        end = max(end, _end(boxes[index], axis))
    return groups


def _end(box: Box, axis: int) -> float:
    # A little short of the edge: boxes that touch or overlap by a hair are still apart.
    return box[axis + 2] - 0.02 * (box[axis + 2] - box[axis])

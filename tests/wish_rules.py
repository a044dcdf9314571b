"""Every wish a second time, in whole numbers: boxes are (left, top, right, bottom) on a lattice.

It shares no code with the package. Edges are whole numbers of STEPS to a canvas, a power of two, so
that equal means equal and nothing is rounded.
"""

from __future__ import annotations

import itertools
from typing import Any

STEPS = 32
Box = tuple[int, int, int, int]
CANVAS: Box = (0, 0, STEPS, STEPS)


def size(box: Box) -> tuple[int, int]:
    return box[2] - box[0], box[3] - box[1]


def area(box: Box) -> int:
    width, height = size(box)
    return width * height


def place(one: Box, other: Box) -> str:
    """Of one to other."""
    if one[3] <= other[1]:
        return "above"
    if other[3] <= one[1]:
        return "below"
    if one[2] <= other[0]:
        return "left_of"
    return "right_of" if other[2] <= one[0] else "overlapping"


def distance(kind: str, one: Box, other: Box) -> int:
    """Between the edges that face each other."""
    return {
        "above": other[1] - one[3],
        "below": one[1] - other[3],
        "left_of": other[0] - one[2],
        "right_of": one[0] - other[2],
    }[kind]


def relation(kind: str, one: Box, other: Box, gap: int | None = None) -> bool:
    """Whether a relation between two elements, or of one to the canvas, holds."""
    if kind in ("above", "below", "left_of", "right_of", "overlapping"):
        return place(one, other) == kind and (gap is None or distance(kind, one, other) == gap)
    if kind in ("top", "middle", "bottom"):
        third = 3 * (one[1] + one[3])  # of the centre, against 2 and 4 canvases
        where = "top" if third < 2 * STEPS else "middle" if third < 4 * STEPS else "bottom"
        return where == kind
    if kind in ("smaller", "larger", "equal_size"):
        mine, yours = 10 * area(one), area(other)
        if 9 * yours < mine < 11 * yours:
            return kind == "equal_size"
        return kind == ("smaller" if mine < 10 * yours else "larger")
    if kind == "apart":
        wide = min(one[2], other[2]) - max(one[0], other[0])
        high = min(one[3], other[3]) - max(one[1], other[1])
        return wide <= 0 or high <= 0
    if kind == "inside":
        return one[0] >= other[0] and one[1] >= other[1] and one[2] <= other[2] and (
            one[3] <= other[3]
        )  # fmt: skip
    measured = {
        "left_aligned": lambda box: box[0],
        "top_aligned": lambda box: box[1],
        "right_aligned": lambda box: box[2],
        "bottom_aligned": lambda box: box[3],
        "centered_with": lambda box: box[0] + box[2],
        "level_with": lambda box: box[1] + box[3],
        "same_width": lambda box: size(box)[0],
        "same_height": lambda box: size(box)[1],
    }[kind]
    return bool(measured(one) == measured(other))


def borderline(kind: str, one: Box, other: Box) -> bool:
    """Areas on the limit of the tolerance, which is no binary number: either is right."""
    return kind in ("smaller", "larger", "equal_size") and 10 * area(one) in (
        9 * area(other),
        11 * area(other),
    )


def line(boxes: list[Box], down: bool, gap: int | str | None, align: str | None) -> bool:
    """A column (down) or a row of boxes."""
    follows = "below" if down else "right_of"
    for one, other in itertools.pairwise(boxes):
        if not relation(follows, other, one, gap if isinstance(gap, int) else None):
            return False
    if gap == "equal":
        gaps = {distance(follows, other, one) for one, other in itertools.pairwise(boxes)}
        if len(gaps) > 1:
            return False
    ends: dict[Any, Any] = {
        "left": lambda b: b[0], "right": lambda b: b[2], "center": lambda b: b[0] + b[2],
        "top": lambda b: b[1], "bottom": lambda b: b[3], "middle": lambda b: b[1] + b[3],
        None: lambda b: 0,
    }  # fmt: skip
    return len({ends[align](box) for box in boxes}) == 1


def alike(boxes: list[Box], same: str | None) -> bool:
    """Boxes of the same width, height or both."""
    widths, heights = {size(box)[0] for box in boxes}, {size(box)[1] for box in boxes}
    wide, high = same in ("width", "size"), same in ("height", "size")
    return not (wide and len(widths) > 1) and not (high and len(heights) > 1)


def in_order(boxes: list[Box]) -> bool:
    """Nearer to the top left corner is read first."""
    squared = [box[0] ** 2 + box[1] ** 2 for box in boxes]
    return squared == sorted(squared)


def within_margins(boxes: list[Box], sides: Box) -> bool:
    left, top, right, bottom = sides
    return all(
        box[0] >= left and box[1] >= top and box[2] <= STEPS - right and box[3] <= STEPS - bottom
        for box in boxes
    )

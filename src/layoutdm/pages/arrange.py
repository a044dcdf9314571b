"""Boxes of a layout as places on the sheet: whole pixels, and little overlaps shared out.

>>> apart([(0, 0, 100, 52), (0, 48, 100, 90)])
[(0, 0, 100, 50), (0, 50, 100, 90)]
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

from layoutdm.layout import Layout
from layoutdm.pages import reading
from layoutdm.pages.truth import Box

HELD = 0.8  # of a box's area: so much of it lies in the one that holds it
SMALL = 0.35  # of the smaller side: an overlap below this is a slip, above it is meant


def places(layout: Layout, width: int, height: int, gap: int = 1) -> list[Box]:
    """One box an element in pixels of the page, never outside of it."""
    found: list[Box] = []
    for left, top, right, bottom in layout.corners().tolist():
        x0, y0 = max(0, ceil(left * width - 1e-6)), max(0, ceil(top * height - 1e-6))
        x1, y1 = min(width, floor(right * width + 1e-6)), min(height, floor(bottom * height + 1e-6))
        found.append((x0, y0, max(x1, min(x0 + 2, width)), max(y1, min(y0 + 2, height))))
    return apart(found, gap)


def apart(boxes: Sequence[Box], gap: int = 0) -> list[Box]:
    """Where two boxes overlap by a narrow strip, each gets half of it."""
    found = [list(box) for box in boxes]
    for i, a in enumerate(found):
        for b in found[i + 1 :]:
            wide = min(a[2], b[2]) - max(a[0], b[0])
            tall = min(a[3], b[3]) - max(a[1], b[1])
            if wide <= 0 or tall <= 0:
                continue
            upright = tall <= wide
            low, high = (1, 3) if upright else (0, 2)
            strip = tall if upright else wide
            if strip > SMALL * min(a[high] - a[low], b[high] - b[low]):
                continue
            first, second = (a, b) if a[low] + a[high] <= b[low] + b[high] else (b, a)
            middle = (max(first[low], second[low]) + min(first[high], second[high])) // 2
            first[high], second[low] = middle - gap // 2, middle + (gap + 1) // 2
    return [(box[0], box[1], box[2], box[3]) for box in found]


def holding(boxes: Sequence[Box]) -> list[bool]:
    """Which boxes hold a smaller one, as a toolbar holds its icons.

    >>> holding([(0, 0, 90, 20), (70, 2, 80, 18), (0, 30, 90, 40)])
    [True, False, False]
    """

    def area(box: Box) -> float:
        return (box[2] - box[0]) * (box[3] - box[1])

    def within(inner: Box, outer: Box) -> bool:
        wide = min(inner[2], outer[2]) - max(inner[0], outer[0])
        tall = min(inner[3], outer[3]) - max(inner[1], outer[1])
        held = max(wide, 0) * max(tall, 0) >= HELD * area(inner)
        return held and area(inner) < HELD * area(outer)

    return [any(within(other, box) for other in boxes if other is not box) for box in boxes]


def drawing_order(boxes: Sequence[Box], numbered: Sequence[bool] = ()) -> list[int]:
    """Large ones first, so that what lies on another is seen; numbered ones as they are read.

    >>> boxes = [(0, 0, 9, 2), (0, 3, 9, 9)]
    >>> drawing_order(boxes), drawing_order(boxes, [True, True])
    ([1, 0], [0, 1])
    """
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in boxes]
    found = sorted(range(len(boxes)), key=lambda i: (-areas[i], i))
    read = [i for i in reading.order(boxes) if numbered and numbered[i]]
    turns = iter(read)
    return [next(turns) if i in read else i for i in found]

"""Where the name of each box goes, so that names stay readable when boxes overlap.

>>> tags = place([(0, 0, 200, 100), (0, 0, 80, 30)], ["Card", "Text"], 12, 200, 100)
>>> [tag.text for tag in tags if tag]
['Card', 'Text']

Small boxes choose first, because they have the fewest places. A name may not touch another name;
it prefers to lie inside its own box and off smaller boxes; it shrinks a little or is shortened
before it is given up (the legend and the tool tip still name the box then). Of more than MOST boxes
only the largest have names: smaller ones would be specks, and placing takes time with the square.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from layoutdm.boxes import shared_area
from layoutdm.pictures.typeface import measure, shorten

Corners = tuple[float, float, float, float]

MOST = 120
LINE = 1.16  # height of a line of text, as a multiple of its size
BASELINE = 0.87  # baseline below the top of the line
_SHARES = (0.3, 0.7, 0.2, 0.8, 0.4, 0.6)  # places along a bar
_SMALL = 0.84  # a name may shrink to this share of the normal size
_MOST_OUTSIDE = 0.22  # share of a name that may lie outside its own box
_OVERHANG = 0.3  # how far it may stick out on the left and right, in heights of a line


@dataclass(frozen=True)
class Tag:
    """A name with its place: left, top, width and height of the line."""

    text: str
    size: float
    left: float
    top: float
    width: float

    @property
    def baseline(self) -> float:
        return self.top + BASELINE * self.size

    @property
    def corners(self) -> Corners:
        return (self.left, self.top, self.left + self.width, self.top + LINE * self.size)


def place(
    boxes: Sequence[Corners], names: Sequence[str], size: float, width: float, height: float
) -> list[Tag | None]:
    """One tag per box (left, top, right, bottom in pixels), or None where no place is left."""
    order = sorted(range(len(boxes)), key=lambda i: _area(boxes[i]))[-MOST:]
    tags: list[Tag | None] = [None] * len(boxes)
    taken: list[Corners] = []
    for rank, index in enumerate(order):
        smaller = [boxes[i] for i in order[:rank]]
        best, best_cost = None, float("inf")
        for cost, tag in _candidates(boxes[index], names[index], size):
            if cost < best_cost:
                cost += _cost(tag.corners, boxes[index], smaller, taken, width, height)
            if cost < best_cost:
                best, best_cost = tag, cost
        if best is not None:
            tags[index] = best
            taken.append(best.corners)
    return tags


def _candidates(box: Corners, name: str, size: float) -> Iterator[tuple[float, Tag]]:
    """Places from the most to the least natural, with what each costs in itself."""
    left, top, right, bottom = box
    for penalty, text, text_size in _wordings(name, size, right - left):
        wide, high, pad = measure(text, text_size), LINE * text_size, 0.35 * text_size
        middle_x, middle_y = (left + right - wide) / 2, (top + bottom - high) / 2
        one_line = bottom - top < 2.2 * high
        near = left + pad if wide + 2 * pad <= right - left else middle_x
        far = max(right - pad - wide, near)
        upper = middle_y if one_line else top + pad * 0.7
        lower = middle_y if one_line else bottom - pad * 0.7 - high
        spots = [(near, upper), (middle_x, middle_y), (far, upper), (middle_x, upper)]
        spots += [(near, middle_y), (near, lower), (far, lower), (middle_x, lower)]
        if wide < 0.5 * (right - left):  # a long bar has further gaps between what it holds
            room = right - left - wide
            spots += [(left + room * s, y) for s in _SHARES for y in (middle_y, upper, lower)]
        for rank, (x, y) in enumerate(spots):
            yield penalty + 0.03 * rank, Tag(text, text_size, x, y, wide)


def _wordings(name: str, size: float, room: float) -> Iterator[tuple[float, str, float]]:
    small = _SMALL * size
    yield 0.0, name, size
    yield 0.25, name, small
    cut = shorten(name, small, max(room - 0.4 * small, 2.6 * small))
    if cut != name:
        yield 0.5, cut, small


def _cost(
    tag: Corners,
    box: Corners,
    smaller: Sequence[Corners],
    taken: Sequence[Corners],
    width: float,
    height: float,
) -> float:
    if tag[0] < 0 or tag[1] < -1 or tag[2] > width or tag[3] > height + 1:
        return float("inf")
    if any(shared_area(tag, other) > 0 for other in taken):
        return float("inf")
    area = max(_area(tag), 1e-9)  # a name of letters without width has none
    outside: float = 1 - shared_area(tag, box) / area
    overhang = max(box[0] - tag[0], tag[2] - box[2]) / max(tag[3] - tag[1], 1e-9)
    if outside > _MOST_OUTSIDE or overhang > _OVERHANG:
        return float("inf")
    covered: float = sum(shared_area(tag, other) for other in smaller) / area
    return 2.0 * outside + 1.5 * min(covered, 1.0)


def _area(box: Corners) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])

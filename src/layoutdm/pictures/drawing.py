"""A picture as a list of rectangles and words, before it becomes SVG or pixels.

>>> Drawing(10, 10, (Rect(0, 0, 4, 4, fill="#0072b2"),)).moved(2, 0).items[0].left
2

Layouts, legends and contact sheets are composed once, here; `svg` and `png` only paint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

BACKGROUND = "#f4f5f7"
CANVAS = "#ffffff"
HAIRLINE = "#c9ced6"
INK = "#24292f"
QUIET_INK = "#646c76"


@dataclass(frozen=True)
class Rect:
    """A box with an optional outline. An element's box has a label."""

    left: float
    top: float
    width: float
    height: float
    fill: str
    opacity: float = 1.0
    stroke: str | None = None
    stroke_width: float = 0.0
    radius: float = 0.0
    label: str | None = None
    title: str | None = None
    name: str | None = None  # what the user calls this element


@dataclass(frozen=True)
class Words:
    """One line of text from a point on its baseline."""

    left: float
    baseline: float
    text: str
    size: float
    colour: str = INK
    halo: bool = False
    centred: bool = False


Item = Rect | Words


@dataclass(frozen=True)
class Drawing:
    """Items in painting order on a page of this size."""

    width: float
    height: float
    items: tuple[Item, ...]
    title: str = ""

    def moved(self, right: float, down: float) -> Drawing:
        """The same items, shifted."""
        return replace(self, items=tuple(moved(item, right, down) for item in self.items))


def moved(item: Item, right: float, down: float) -> Item:
    if isinstance(item, Rect):
        return replace(item, left=item.left + right, top=item.top + down)
    return replace(item, left=item.left + right, baseline=item.baseline + down)

"""Article pages for the sample set, in the manner and with the label names of PubLayNet.

>>> from layoutdm.data.sketch import Dice
>>> draw_page(Dice("any")).layout("a").width
596
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutdm.data.sketch import Dice, Sketch

WIDTH, HEIGHT = 596, 794
LINE = 11  # pixels of one line of text
SHORTEST = 3 * LINE  # what is worth starting at the end of a column


@dataclass(frozen=True)
class Page:
    """The text area of one page and how it is divided."""

    left: int
    right: int
    bottom: int
    columns: int
    gutter: int

    @property
    def width(self) -> int:
        return self.right - self.left

    def column(self, number: int) -> tuple[int, int]:
        """Left edge and width."""
        wide = (self.width - (self.columns - 1) * self.gutter) // self.columns
        return self.left + number * (wide + self.gutter), wide


def draw_page(dice: Dice) -> Sketch:
    """One page: a front matter or a wide float at the top, then columns of text."""
    sketch = Sketch(WIDTH, HEIGHT)
    edge = dice.between(44, 66)
    page = Page(
        left=edge,
        right=WIDTH - edge - dice.between(-4, 4),
        bottom=HEIGHT - dice.between(50, 84),
        columns=dice.one_of((1, 2, 2, 2)),
        gutter=dice.between(14, 26),
    )
    top = dice.between(46, 80)
    start = dice.one_of(("front", "wide", "plain", "plain"))
    if start == "front":
        top = _front(sketch, dice, page, top)
    elif start == "wide":
        top = _float(sketch, dice, page.left, page.width, top, page.bottom) + 12
    for number in range(page.columns):
        left, wide = page.column(number)
        _column(sketch, dice, left, wide, top, page.bottom)
    return sketch


def _front(sketch: Sketch, dice: Dice, page: Page, top: int) -> int:
    """Title, authors, affiliations and an abstract over the whole width."""
    top += dice.between(0, 60)
    indent = dice.one_of((0, 0, 40))
    sketch.add(
        "title", page.left, top, page.width - dice.between(0, 150), dice.one_of((22, 40, 58))
    )
    top += 70
    sketch.add("text", page.left + indent, top, page.width - indent - dice.between(40, 200), LINE)
    top += 2 * LINE
    for _ in range(dice.between(0, 3)):
        sketch.add("text", page.left + indent, top, dice.between(150, 330), LINE - 2)
        top += LINE + 4
    top += 8
    if dice.chance(0.5):
        sketch.add("title", page.left + indent, top, dice.between(48, 72), LINE)
        top += LINE + 6
    for _ in range(dice.one_of((1, 1, 3))):
        high = LINE * dice.between(4, 9)
        sketch.add("text", page.left + indent, top, page.width - indent, high)
        top += high + 8
    return top + dice.between(12, 24)


def _float(sketch: Sketch, dice: Dice, left: int, wide: int, top: int, bottom: int) -> int:
    """A figure with its caption below, or a table with its caption above; its lower edge."""
    high = min(dice.between(wide // 3, wide), (bottom - top) * 3 // 5)
    caption = LINE * dice.between(1, 4)
    shrunk = dice.one_of((0, 0, wide // 8))
    if dice.chance(0.5):
        sketch.add("figure", left + shrunk, top, wide - 2 * shrunk, high)
        sketch.add("text", left, top + high + 8, wide, caption)
    else:
        sketch.add("text", left, top, wide - dice.between(0, wide // 2), caption)
        sketch.add("table", left, top + caption + 6, wide, high)
    return top + high + caption + 8


def _column(sketch: Sketch, dice: Dice, left: int, wide: int, top: int, bottom: int) -> None:
    """Paragraphs down to the lower edge, with headings, lists and floats among them."""
    y, floats = top, 0
    if dice.chance(0.25):
        y, floats = _float(sketch, dice, left, wide, y, bottom) + 14, 1
    while bottom - y >= SHORTEST and sketch.room(3):
        if dice.chance(0.3) and bottom - y > 2 * SHORTEST:
            sketch.add("title", left, y, dice.between(wide // 5, wide * 4 // 5), LINE + 1)
            y += LINE + 7
        if dice.chance(0.12):
            high = min(LINE * dice.between(4, 14), bottom - y)
            indent = dice.between(8, 20)
            sketch.add("list", left + indent, y, wide - indent, high)
        elif dice.chance(0.12) and floats == 0 and bottom - y > 260:
            high = _float(sketch, dice, left, wide, y, bottom) - y
            floats = 1
        else:
            high = min(LINE * dice.between(3, 16), bottom - y)
            if bottom - y - high < SHORTEST:  # the last paragraph runs to the lower edge
                high = bottom - y
            sketch.add("text", left, y, wide, high)
        y += high + dice.one_of((2, 6, 10))

"""How one page looks: fonts, sizes, leading, colours. Drawn once a page, so its parts agree.

>>> from random import Random
>>> from layoutdm.pages.typefaces import BOX
>>> clean = draw(Random(1), BOX, 1000, "clean")
>>> clean.paper, clean.body.name.startswith("Layoutdm")
((255, 255, 255), True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from random import Random

from layoutdm.pages.sheet import Colour
from layoutdm.pages.typefaces import Face, Family

STYLES = ("clean", "varied", "scanned")
ACCENTS: tuple[Colour, ...] = (
    (20, 60, 120), (130, 24, 36), (16, 96, 88), (70, 52, 120), (30, 30, 30), (0, 84, 150),
    (150, 80, 10), (30, 100, 40),
)  # fmt: skip


SMALLEST, LARGEST = 7.0, 12.0  # points of running text
# Sizes of text as multiples of the page's own, by role; the roles that its size is chosen by.
SCALES = {"paragraph": 1.0, "list": 1.0, "item": 1.0, "caption": 0.9, "footnote": 0.8}


@dataclass(frozen=True)
class Style:
    body: Family
    head: Family
    size: float  # of running text, in pixels
    leading: float  # baseline to baseline, as a multiple of a line's ink
    justified: bool
    indent: float  # of a paragraph's first line, in sizes
    paper: Colour
    ink: Colour
    accent: Colour
    heads_in_colour: bool
    capitals: bool  # headings in capitals
    numbered: bool  # headings with numbers
    mark: str  # of lists: a bullet, or a kind of number
    table: str  # rules of tables
    caption: str  # how captions begin

    def face(self, scale: float = 1.0, kind: str = "regular") -> Face:
        return Face(getattr(self.body, kind), self.size * scale)

    def heading(self, size: float, kind: str = "bold") -> Face:
        return Face(getattr(self.head, kind), size)


def draw(random: Random, families: Sequence[Family], height: float, name: str) -> Style:
    """A style for a page of this height (of its longer side) in pixels."""
    body = random.choice(families)
    head = body if random.random() < 0.65 else random.choice(families)
    ink = random.choice(((0, 0, 0), (10, 10, 10), (34, 31, 32), (40, 40, 48)))
    paper: Colour = (255, 255, 255)
    if name != "clean":
        warm = random.randint(0, 16) if random.random() < 0.6 else 0
        light = 255 - random.randint(0, 8)
        paper = (light, light - warm // 4, light - warm)
    points = random.choice((8.5, 9.0, 9.0, 9.5, 10.0, 10.0, 10.5, 11.0))
    return Style(
        body=body,
        head=head,
        size=points * height / 792,
        leading=random.uniform(1.18, 1.42),
        justified=random.random() < 0.75,
        indent=random.choice((0.0, 0.0, 1.0, 1.5)),
        paper=paper,
        ink=ink,
        accent=random.choice(ACCENTS),
        heads_in_colour=random.random() < 0.3,
        capitals=random.random() < 0.2,
        numbered=random.random() < 0.35,
        mark=random.choice(("•", "•", "–", "▪", "1.", "(1)", "a)", "[1]")),
        table=random.choice(("book", "book", "rows", "grid", "zebra", "frame")),
        caption=random.choice(("Figure {}.", "Fig. {}.", "Figure {}:", "FIGURE {}")),
    )


def on_screen(style: Style, families: Sequence[Family]) -> Style:
    """The style of an app: ragged text without indents, without serifs where there is a choice."""
    if style.body.serif:
        plain = next((family for family in families if not family.serif), style.body)
        style = replace(style, body=plain, head=plain)
    return replace(style, justified=False, indent=0.0, capitals=False, numbered=False)


def suited(style: Style, boxes: Sequence[tuple[str, float]], height: float) -> Style:
    """The style with the one size of text that the boxes (role, height) of a page agree on best.

    Without it each box would bend the size to its own height, and no two paragraphs be alike.
    """
    known = [(SCALES[role], tall) for role, tall in boxes if role in SCALES]
    if not known:
        return style
    unit = style.face().line / style.size

    def cost(size: float) -> float:
        misfits = sum(_misfit(tall / (size * scale * unit), style.leading) for scale, tall in known)
        return misfits / len(known) + 0.3 * abs(log(size / style.size))

    step = 0.25 * height / 792
    sizes = [step * i for i in range(round(4 * SMALLEST), round(4 * LARGEST) + 1)]
    return replace(style, size=min([style.size, *sizes], key=cost))


def _misfit(lines: float, leading: float) -> float:
    """How badly a box of so many lines' height is filled by whole lines.

    >>> _misfit(1.0, 1.3), _misfit(2.3, 1.3) < 0.01, _misfit(1.7, 1.3) > 0.1, _misfit(0.5, 1.3)
    (0.0, True, True, 1.0)
    """
    if lines < 1:
        return min(1.0, 2 * (1 - lines))
    count = round((lines - 1) / leading) + 1
    return min(1.0, abs(lines / (1 + leading * (count - 1)) - 1))

"""How one page looks: fonts, sizes, leading, colours. Drawn once a page, so its parts agree.

>>> from random import Random
>>> from layoutdm.pages.typefaces import BOX
>>> clean = draw(Random(1), BOX, 1000, "clean")
>>> clean.paper, clean.body.name.startswith("Layoutdm")
((255, 255, 255), True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from layoutdm.pages.sheet import Colour
from layoutdm.pages.typefaces import Face, Family

STYLES = ("clean", "varied", "scanned")
ACCENTS: tuple[Colour, ...] = (
    (20, 60, 120), (130, 24, 36), (16, 96, 88), (70, 52, 120), (30, 30, 30), (0, 84, 150),
    (150, 80, 10), (30, 100, 40),
)  # fmt: skip


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

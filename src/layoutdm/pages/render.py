"""A layout becomes a page: an image, and everything that is known about it.

>>> from layoutdm.layout import Layout
>>> layout = Layout.create(["title", "text"], [[0.5, 0.1, 0.8, 0.04], [0.5, 0.5, 0.8, 0.6]])
>>> page = render(layout, seed=1, look=Look(height=400))
>>> page.image.size, [block.role for block in page.truth.blocks]
((309, 400), ['heading', 'paragraph'])
>>> " ".join(word.text for word in page.truth.blocks[1].words[:3])
'The fixed comparison'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from PIL import Image

from layoutdm.layout import Layout
from layoutdm.pages import arrange, pool, reading, scan, style
from layoutdm.pages.blocks import figures, formulas, icons, lists, prose, tables, widgets
from layoutdm.pages.blocks.brush import Brush
from layoutdm.pages.content import Text, filler, uncited
from layoutdm.pages.roles import OF_SCREENS, role_of
from layoutdm.pages.sheet import Mark, Sheet
from layoutdm.pages.truth import Block, Box, Truth
from layoutdm.pages.typefaces import BOX, Family

DRAW: dict[str, Callable[[Brush, Box], None]] = {
    "heading": prose.heading,
    "paragraph": prose.paragraph,
    "caption": prose.caption,
    "footnote": prose.footnote,
    "running": prose.running,
    "list": lists.listing,
    "item": partial(lists.listing, single=True),
    "table": tables.table,
    "figure": figures.figure,
    "formula": formulas.formula,
    "button": widgets.button,
    "field": widgets.field,
    "bar": widgets.bar,
    "card": widgets.card,
    "icon": icons.icon,
}
WORDS = ("heading", "paragraph", "caption", "footnote", "running", "list", "item", "formula")
LETTER = 8.5 / 11  # width over height of a page whose layout has no shape of its own


@dataclass(frozen=True)
class Voice:
    """Words, and the font families that have all their letters."""

    text: Text
    families: tuple[Family, ...]


@dataclass(frozen=True)
class Look:
    """What the pages of a set have in common."""

    height: int = 1000  # of an upright page in pixels; the width of a landscape one
    style: str = "varied"
    voices: tuple[Voice, ...] = field(default_factory=lambda: (Voice(filler("en"), BOX),))
    roles: Mapping[str, str] = field(default_factory=dict)
    pool: pool.Pool | None = None


@dataclass(frozen=True)
class Page:
    image: Image.Image
    truth: Truth
    marks: tuple[Mark, ...]  # what was drawn, for a PDF
    paper: tuple[int, int, int]
    scanned: bool = False


def render(layout: Layout, seed: int = 0, index: int = 0, look: Look | None = None,
           shape: float | None = None) -> Page:  # fmt: skip
    """The page of (seed, index). `shape` is width over height; the layout's own unless given."""
    look = look or Look()
    width, height = pixels(layout, look.height, shape)
    voice = Random(f"{seed}/{index}/text").choice(look.voices)
    drawn = style.draw(Random(f"{seed}/{index}/style"), voice.families, look.height, look.style)
    sheet = Sheet(width, height, drawn.paper)
    boxes = arrange.places(layout, width, height)
    roles = [role_of(label, look.roles) for label in layout.labels]
    tall = [box[3] - box[1] for box in boxes]
    drawn = style.suited(drawn, list(zip(roles, tall, strict=True)), look.height)
    text, holds = voice.text, [False] * len(boxes)
    screen = any(role in OF_SCREENS for role in roles)
    if screen:
        drawn, text = style.on_screen(drawn, voice.families), uncited(text)
        holds = arrange.holding(boxes)
        roles = [
            "card" if role in WORDS and held else role
            for role, held in zip(roles, holds, strict=True)
        ]
    blocks: list[Block | None] = [None] * len(boxes)
    for i in arrange.drawing_order(boxes, [role == "list" for role in roles]):
        brush = Brush(sheet, drawn, text, Random(f"{seed}/{index}/{i}"), index,
                      screen, holds[i])  # fmt: skip
        blocks[i] = _element(brush, layout.labels[i], roles[i], boxes[i], look.pool)
    seen = [block for block in blocks if block is not None]
    read = tuple(seen[i] for i in reading.order([block.place for block in seen]))
    truth = Truth(f"{seed}-{index}", width, height, read)
    image = sheet.image
    if look.style == "scanned":
        image, truth = scan.scanned(image, truth, Random(f"{seed}/{index}/scan"))
    return Page(image, truth, tuple(sheet.marks), drawn.paper, look.style == "scanned")


def pixels(layout: Layout, height: int, shape: float | None = None) -> tuple[int, int]:
    """Width and height of the page; the longer side has `height` pixels.

    >>> pixels(Layout.create([], []), 1000), pixels(Layout.create([], []), 1000, 1.25)
    ((773, 1000), (1000, 800))
    """
    if shape is None:
        shape = layout.width / layout.height if layout.width != layout.height else LETTER
    if shape > 1:
        return height, max(16, round(height / shape))
    return max(16, round(height * shape)), height


def _element(
    brush: Brush, label: str, role: str, box: Box, crops: pool.Pool | None
) -> Block | None:
    sheet = brush.sheet
    sheet.open(label, role, box)
    if role in WORDS and sheet.is_dark(box):
        brush = replace(brush, style=replace(brush.style, ink=(255, 255, 255)))
    crop = crops.pick(label, box, brush.random) if crops else None
    if crop is not None:
        pool.paste(sheet, crop, box)
    elif role in WORDS[:-1] and prose.is_sideways(brush, box):
        prose.sideways(brush, box)
    else:
        DRAW[role](brush, box)
    if not sheet.drawn and role in WORDS:
        prose.tiny(brush, box)
    if not sheet.drawn:  # too small for a letter: a stroke, as in a thumbnail
        sheet.area(box, brush.style.ink)
    return sheet.close()

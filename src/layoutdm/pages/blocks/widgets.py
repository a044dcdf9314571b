"""Parts of screens: buttons, inputs, bars, cards, so that any layout becomes a page."""

from __future__ import annotations

from PIL import ImageDraw

from layoutdm.pages.blocks.brush import Brush
from layoutdm.pages.fitting import fit_lines
from layoutdm.pages.sheet import Colour
from layoutdm.pages.truth import Box

SMOOTH = 3


def _shape(brush: Brush, box: Box, fill: Colour | None, outline: Colour, radius: float) -> None:
    left, top, right, bottom = (round(v) for v in box)
    size = (max(1, right - left), max(1, bottom - top))
    below = brush.sheet.image.crop((left, top, left + size[0], top + size[1]))
    image = below.resize((SMOOTH * size[0], SMOOTH * size[1]))  # what the round corners show
    ImageDraw.Draw(image).rounded_rectangle(
        (0, 0, image.width - 1, image.height - 1), radius=SMOOTH * radius,
        fill=fill, outline=outline, width=SMOOTH,
    )  # fmt: skip
    brush.sheet.picture(image.reduce(SMOOTH), left, top)


def _label(brush: Brush, box: Box, colour: Colour, *, centred: bool = True) -> None:
    left, top, right, bottom = box
    height = bottom - top
    base = brush.style.heading(min(brush.style.size * 1.4, height))
    lines = fit_lines(height * 0.6, base, 1.2, least=0.3, most=1.0)
    face = lines.face
    words = brush.text.phrase(brush.random, brush.random.randint(1, 3))
    words[0] = words[0].capitalize()
    while words and sum(face.width(w) for w in words) + face.space * len(words) > right - left - 8:
        words.pop()
    width = sum(face.width(w) for w in words) + face.space * max(len(words) - 1, 0)
    x = (left + right - width) / 2 if centred else left + 6
    y = (top + bottom) / 2 + (face.ascent - face.descent) / 2
    for word in words:
        brush.sheet.write(word, x, y, face, colour)
        x += face.width(word) + face.space


def button(brush: Brush, box: Box) -> None:
    """A filled shape with one to three words in its middle."""
    _shape(brush, box, brush.style.accent, brush.style.accent, min(8.0, (box[3] - box[1]) / 3))
    _label(brush, box, (255, 255, 255))


def field(brush: Brush, box: Box) -> None:
    """An input: a frame with a grey hint."""
    _shape(brush, box, (252, 252, 252), (150, 150, 150), min(5.0, (box[3] - box[1]) / 4))
    _label(brush, box, (110, 110, 110), centred=False)


def bar(brush: Brush, box: Box) -> None:
    """A toolbar or navigation bar across the screen; what holds other elements has no title."""
    brush.sheet.area(box, brush.style.accent)
    if not brush.holds:
        _label(brush, box, (255, 255, 255), centred=False)


def card(brush: Brush, box: Box) -> None:
    """A frame that holds other things."""
    _shape(brush, box, (247, 247, 249), (205, 205, 210), 6.0)

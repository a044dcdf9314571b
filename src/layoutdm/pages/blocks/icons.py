"""Icons, checkboxes, switches and sliders of screens."""

from __future__ import annotations

from collections.abc import Callable

from PIL import ImageDraw

from layoutdm.pages.blocks.brush import Brush
from layoutdm.pages.sheet import Colour
from layoutdm.pages.truth import Box

SMOOTH = 4
GREY: Colour = (95, 95, 100)
WIDE = 1.7  # width over height from which on a sign is a switch or a slider
Pen = ImageDraw.ImageDraw


def icon(brush: Brush, box: Box) -> None:
    """A sign with its own shape in the middle of the box: white where the ground is dark."""
    left, top, right, bottom = (round(v) for v in box)
    width, height = max(1, right - left), max(1, bottom - top)
    wide = width > WIDE * height
    side = min(width, height)
    size = (width, side) if wide else (side, side)
    left, top = left + (width - size[0]) // 2, top + (height - side) // 2
    below = brush.sheet.image.crop((left, top, left + size[0], top + side))
    dark = brush.sheet.is_dark((left, top, left + size[0], top + side))
    colour = (255, 255, 255) if dark else brush.random.choice((brush.style.accent, GREY, GREY))
    image = below.resize((SMOOTH * size[0], SMOOTH * side))
    draw = _slider if wide else brush.random.choice(SIGNS)
    draw(ImageDraw.Draw(image), image.width - 1, image.height - 1, colour)
    brush.sheet.picture(image.reduce(SMOOTH), left, top)


def _slider(pen: Pen, w: int, h: int, colour: Colour) -> None:
    """A track with its knob; a short one is a switch."""
    thin = h // 6 if w > 4 * h else h // 3
    pen.rounded_rectangle((0, h // 2 - thin, w, h // 2 + thin), radius=thin, outline=colour,
                          width=max(SMOOTH, h // 12))  # fmt: skip
    at = w - h if w <= 4 * h else round(0.4 * w)
    pen.ellipse((at, 0, at + h, h), fill=colour)


def _menu(pen: Pen, w: int, h: int, colour: Colour) -> None:
    for i in range(3):
        pen.rectangle((0, i * 0.43 * h, w, i * 0.43 * h + 0.14 * h), fill=colour)


def _dots(pen: Pen, w: int, h: int, colour: Colour) -> None:
    for i in range(3):
        pen.ellipse((0.4 * w, i * 0.4 * h, 0.6 * w, i * 0.4 * h + 0.2 * h), fill=colour)


def _search(pen: Pen, w: int, h: int, colour: Colour) -> None:
    pen.ellipse((0, 0, 0.72 * w, 0.72 * h), outline=colour, width=max(SMOOTH, w // 9))
    pen.line((0.62 * w, 0.62 * h, w, h), fill=colour, width=max(SMOOTH, w // 7))


def _back(pen: Pen, w: int, h: int, colour: Colour) -> None:
    thick = max(SMOOTH, w // 9)
    pen.line((0.45 * w, 0, 0, h / 2, 0.45 * w, h), fill=colour, width=thick, joint="curve")
    pen.line((0, h / 2, w, h / 2), fill=colour, width=thick)


def _plus(pen: Pen, w: int, h: int, colour: Colour) -> None:
    pen.rectangle((0.42 * w, 0, 0.58 * w, h), fill=colour)
    pen.rectangle((0, 0.42 * h, w, 0.58 * h), fill=colour)


def _person(pen: Pen, w: int, h: int, colour: Colour) -> None:
    pen.ellipse((0.27 * w, 0, 0.73 * w, 0.46 * h), fill=colour)
    pen.pieslice((0, 0.54 * h, w, 1.46 * h), 180, 360, fill=colour)


def _ring(pen: Pen, w: int, h: int, colour: Colour) -> None:
    pen.ellipse((0, 0, w, h), outline=colour, width=max(SMOOTH, w // 9))
    pen.ellipse((0.3 * w, 0.3 * h, 0.7 * w, 0.7 * h), fill=colour)


def _star(pen: Pen, w: int, h: int, colour: Colour) -> None:
    outer = ((0.5, 0), (1, 0.38), (0.81, 1), (0.19, 1), (0, 0.38))
    inner = ((0.65, 0.32), (0.74, 0.62), (0.5, 0.8), (0.26, 0.62), (0.35, 0.32))
    pen.polygon([(x * w, y * h) for pair in zip(outer, inner, strict=True) for x, y in pair],
                fill=colour)  # fmt: skip


def _check(pen: Pen, w: int, h: int, colour: Colour) -> None:
    thick = max(SMOOTH, w // 10)
    pen.rounded_rectangle((0, 0, w, h), radius=w // 8, outline=colour, width=thick)
    pen.line((0.25 * w, 0.5 * h, 0.43 * w, 0.7 * h, 0.77 * w, 0.3 * h), fill=colour, width=thick,
             joint="curve")  # fmt: skip


SIGNS: tuple[Callable[[Pen, int, int, Colour], None], ...] = (
    _menu, _dots, _search, _back, _plus, _person, _ring, _star, _check,
)  # fmt: skip

"""Figures: plots with axes, drawings, and pictures that look like photographs."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from PIL import Image, ImageDraw

from layoutdm.pages.blocks.brush import Brush
from layoutdm.pages.blocks.drawings import diagram, graph, photo
from layoutdm.pages.blocks.plots import bars, heat, scatter, trend
from layoutdm.pages.sheet import Colour
from layoutdm.pages.truth import Box
from layoutdm.pages.typefaces import Face

SMOOTH = 2  # figures are drawn this much larger and made smaller, so that their lines are smooth
SETS: tuple[tuple[Colour, ...], ...] = (
    ((31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40)),
    ((20, 20, 20), (110, 110, 110), (170, 170, 170), (70, 70, 70)),
    ((0, 63, 92), (188, 80, 144), (255, 166, 0), (88, 80, 141)),
    ((68, 119, 170), (238, 102, 119), (34, 136, 51), (204, 187, 68)),
)
PLOTS: tuple[Callable[..., None], ...] = (trend, bars, scatter, heat)


def figure(brush: Brush, box: Box) -> None:
    """A plot, several plots side by side, a drawing, or a photograph, as suits the box."""
    random = brush.random
    if brush.screen:
        return picture(brush, box)
    left, top, right, bottom = (round(v) for v in box)
    width, height = right - left, bottom - top
    if width < 40 or height < 40:
        return _small(brush, (left, top, right, bottom))
    roll = random.random()
    if roll < 0.22:
        image = photo(random, width, height)
        return brush.sheet.picture(image, left, top)
    if roll < 0.36:
        return _drawn(brush, left, top, width, height, random.choice((diagram, graph)))
    columns = max(1, min(4, round(width / max(height, 120) / 1.3)))
    rows = max(1, min(4, round(height / max(width, 120) / 1.1)))
    if columns == rows == 1 and width > 420 and height > 300 and random.random() < 0.4:
        columns = rows = 2
    chosen = random.choice(PLOTS)
    colours = random.choice(SETS)
    for row in range(rows):
        for column in range(columns):
            cell = (
                left + column * width // columns, top + row * height // rows,
                left + (column + 1) * width // columns, top + (row + 1) * height // rows,
            )  # fmt: skip
            tag = "abcdefghijklmnop"[row * columns + column] if rows * columns > 1 else ""
            _plot(brush, cell, chosen if random.random() < 0.8 else random.choice(PLOTS),
                  colours, tag)  # fmt: skip
    return None


def picture(brush: Brush, box: Box) -> None:
    """A photograph, whatever the box: what screens show."""
    left, top, right, bottom = (round(v) for v in box)
    if right - left < 12 or bottom - top < 12:
        return _small(brush, (left, top, right, bottom))
    image = photo(brush.random, right - left, bottom - top)
    return brush.sheet.picture(image, left, top)


def _small(brush: Brush, box: tuple[int, int, int, int]) -> None:
    """A logo: too small for anything with labels."""
    left, top, right, bottom = box
    size = (max(1, right - left), max(1, bottom - top))
    image = Image.new("RGB", size, brush.style.accent)
    pen = ImageDraw.Draw(image)
    inset = min(size) // 4
    if size[0] > 2 * inset + 2 and size[1] > 2 * inset + 2 and inset:
        pen.ellipse((inset, inset, size[0] - inset, size[1] - inset), fill=brush.style.paper)
    brush.sheet.picture(image, left, top)


def _drawn(brush: Brush, left: int, top: int, width: int, height: int,
           draw: Callable[..., list[tuple[str, float, float, float]]]) -> None:  # fmt: skip
    """A drawing fills its box; the texts that it asks for are written on it afterwards."""
    image = Image.new("RGB", (SMOOTH * width, SMOOTH * height), brush.style.paper)
    texts = draw(ImageDraw.Draw(image), image.size, brush, SMOOTH)
    image = image.reduce(SMOOTH)
    brush.sheet.picture(image, left, top, ink_of(image, brush.style.paper))
    face = brush.style.heading(brush.style.size * 0.72, "regular")
    for text, x, y, room in texts:
        for word in text.split():
            if face.width(word) <= room / SMOOTH:
                at = (left + x / SMOOTH - face.width(word) / 2, top + y / SMOOTH + face.ascent / 2)
                brush.sheet.write(word, *at, face, brush.style.ink)
        brush.sheet.line += 1


def ink_of(image: Image.Image, paper: Colour) -> Box:
    """The part of a picture that differs from the paper."""
    from PIL import ImageChops

    difference = ImageChops.difference(image, Image.new("RGB", image.size, paper)).convert("L")
    found = difference.point([255 if v > 40 else 0 for v in range(256)]).getbbox()
    return found or (0, 0, image.width, image.height)


def _plot(brush: Brush, cell: tuple[int, int, int, int], kind: Callable[..., None],
          colours: tuple[Colour, ...], tag: str) -> None:  # fmt: skip
    """One panel: the plot itself on a smooth picture, tick labels and titles as words."""
    sheet, style, random = brush.sheet, brush.style, brush.random
    left, top, right, bottom = cell
    size = min(max(0.07 * min(right - left, bottom - top), 5.5), 0.85 * style.size)
    face = Face(brush.style.head.regular, size)
    low, high, digits = _scale(random)
    labels = [f"{low + (high - low) * i / 4:.{digits}f}" for i in range(5)]
    gutter = round(max(face.width(label) for label in labels) + 2.2 * face.line + 5)
    foot = round(2.6 * face.line + 6)
    area = (left + gutter, top + round(face.line + 3 if tag else 0.6 * face.line + 1),
            right - round(0.5 * face.size) - 1, bottom - foot)  # fmt: skip
    if area[2] - area[0] < 20 or area[3] - area[1] < 20:
        return sheet.picture(photo(random, right - left, bottom - top), left, top)
    wide, tall = area[2] - area[0], area[3] - area[1]
    image = Image.new("RGB", (SMOOTH * wide, SMOOTH * tall), style.paper)
    pen = ImageDraw.Draw(image)
    kind(pen, image.size, random, colours, SMOOTH)
    _frame(pen, image.size, random)
    sheet.picture(image.reduce(SMOOTH), area[0], area[1])
    _ticks(brush, face, area, labels)
    _names(brush, face, cell, area)
    if tag:
        bold = Face(style.head.bold, size * 1.2)
        sheet.write(f"({tag})", left + 1, top + bold.ascent + 1, bold, style.ink)
    return None


def _scale(random: Random) -> tuple[float, float, int]:
    step = random.choice((0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250))
    low = 0.0 if random.random() < 0.7 else step * random.randint(-4, 8)
    return low, low + 4 * step, 2 if step < 0.1 or step == 0.25 else 1 if step < 1 else 0


def _frame(pen: ImageDraw.ImageDraw, size: tuple[int, int], random: Random) -> None:
    width, height = size[0] - 1, size[1] - 1
    if random.random() < 0.5:
        pen.rectangle((0, 0, width, height), outline=(0, 0, 0), width=SMOOTH)
    else:
        pen.line((1, 0, 1, height), fill=(0, 0, 0), width=SMOOTH + 1)
        pen.line((0, height - 1, width, height - 1), fill=(0, 0, 0), width=SMOOTH + 1)


def _ticks(brush: Brush, face: Face, area: tuple[int, int, int, int], labels: list[str]) -> None:
    sheet, ink = brush.sheet, brush.style.ink
    left, top, right, bottom = area
    for i, label in enumerate(labels):
        y = bottom - (bottom - top) * i / 4
        if i % 2 == 0 or bottom - top > 8 * face.line:
            sheet.area((left - 3, y, left, y + 1), ink)
            sheet.write(label, left - 5 - face.width(label), y + face.ascent / 2, face, ink)
            sheet.line += 1
    start, step = brush.random.choice(((0, 1), (0, 5), (0, 10), (2000, 4), (10, 10), (0, 20)))
    for i in range(5):
        x = left + (right - left) * i / 4
        label = str(start + i * step)
        if right - left > 7 * face.width(label) or i % 4 == 0:
            sheet.area((x, bottom, x + 1, bottom + 3), ink)
            at = min(x - face.width(label) / 2, right - face.width(label) / 2)
            sheet.write(label, at, bottom + 4 + face.ascent, face, ink)
            sheet.line += 1


def _names(brush: Brush, face: Face, cell: tuple[int, int, int, int],
           area: tuple[int, int, int, int]) -> None:  # fmt: skip
    """What the axes show: along the foot, and up the left side."""
    sheet, style, random = brush.sheet, brush.style, brush.random
    left, top, right, bottom = area
    words = brush.text.phrase(random, 2)
    words[0] = words[0][:1].upper() + words[0][1:]
    width = sum(face.width(w) for w in words) + face.space * (len(words) - 1)
    if width < right - left:
        x = (left + right - width) / 2
        for word in words:
            sheet.write(word, x, cell[3] - face.descent - 1, face, style.ink)
            x += face.width(word) + face.space
        sheet.line += 1
    name = brush.text.phrase(random, 1)[0].capitalize()
    if face.width(name) < bottom - top:
        y = (top + bottom + face.width(name)) / 2
        sheet.write(name, cell[0] + face.ascent + 1, y, face, style.ink, turned=True)
        sheet.line += 1

"""PNG pictures through Pillow: crisp edges, smooth corners, readable names (write only).

>>> from layoutdm import Layout
>>> to_image(Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]]), height=300, legend=False).mode
'RGB'

Boxes snap to whole pixels, so straight edges are never blurred; only corners and letters are
smoothed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from math import ceil, floor
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw

from layoutdm.layout import Layout
from layoutdm.pictures import palette, scene
from layoutdm.pictures.drawing import BACKGROUND, CANVAS, Drawing, Rect, Words
from layoutdm.pictures.output import write_pictures
from layoutdm.pictures.palette import Scheme
from layoutdm.pictures.typeface import drawable, font

LONGEST = 1280  # pixels on the longer side of a picture, unless a height is given
_SHORTEST = 24  # a very flat canvas keeps at least this many pixels
_SMOOTH = 8  # corners are drawn this many times larger and shrunk
_LETTERS = 4  # letters likewise
_HALO = 0.8  # opacity of the white around names


def to_image(
    layout: Layout,
    height: int | None = None,
    *,
    labels: bool = True,
    names: bool = False,
    legend: bool = True,
    scheme: Scheme | None = None,
) -> Image.Image:
    """One layout as an image whose canvas is `height` pixels high (1280 on the longer side)."""
    return paint(
        scene.framed(
            layout,
            *canvas_size(layout, height),
            labels=labels,
            names=names,
            legend=legend,
            name=drawable,
            scheme=scheme,
        )
    )


def write(
    layouts: Iterable[Layout],
    path: Path,
    *,
    height: int | None = None,
    labels: bool = True,
    names: bool = False,
    legend: bool = True,
    columns: int | None = None,
    captions: bool = True,
) -> Path:
    """One layout: its picture. Several: a contact sheet. A folder as path: one file each."""
    look = Look(height, labels, names, legend, columns, captions)
    return write_images(layouts, path, ".png", save, look)


@dataclass(frozen=True)
class Look:
    """The options that all formats made of pixels share."""

    height: int | None = None
    labels: bool = True
    names: bool = False
    legend: bool = True
    columns: int | None = None
    captions: bool = True

    def one(self, layout: Layout, scheme: Scheme | None = None) -> Image.Image:
        return to_image(
            layout,
            self.height,
            labels=self.labels,
            names=self.names,
            legend=self.legend,
            scheme=scheme,
        )

    def many(self, layouts: list[Layout]) -> Image.Image:
        from layoutdm.pictures.sheet import contact_sheet

        return contact_sheet(
            layouts,
            None if self.captions else [],
            self.columns,
            labels=self.labels,
            names=self.names,
            legend=self.legend,
        )


def write_images(
    layouts: Iterable[Layout],
    path: Path,
    suffix: str,
    save: Callable[[Image.Image, Path], None],
    look: Look,
) -> Path:
    """One picture, a contact sheet or a folder of pictures, each saved with `save`."""

    def one(layout: Layout, target: Path, scheme: Scheme) -> None:
        save(look.one(layout, scheme), target)

    def many(all_layouts: list[Layout], target: Path) -> None:
        save(look.many(all_layouts), target)

    return write_pictures(layouts, path, suffix, one, many)


def save(image: Image.Image, path: Path) -> None:
    """As PNG whatever the path is called, and the same bytes for the same picture."""
    image.save(path, format="PNG")


def canvas_size(layout: Layout, height: int | None = None) -> tuple[float, float]:
    """Whole pixels for the canvas, in its own proportions unless it is extremely flat."""
    scale = height / layout.height if height else LONGEST / max(layout.width, layout.height)
    width, high = layout.width * scale, layout.height * scale
    if width > 8 * LONGEST:  # a given height with an extremely wide canvas
        width, high = 8 * LONGEST, high * 8 * LONGEST / width
    return max(_SHORTEST, round(width)), max(_SHORTEST, round(high))


def paint(drawing: Drawing, background: str = BACKGROUND) -> Image.Image:
    """A drawing as pixels."""
    image = Image.new("RGB", (round(drawing.width), round(drawing.height)), background)
    for item in drawing.items:
        if isinstance(item, Rect):
            _rect(image, item)
        else:
            _words(image, item)
    return image


def _rect(image: Image.Image, rect: Rect) -> None:
    left, top = round(rect.left), round(rect.top)
    width = max(1, round(rect.left + rect.width) - left)
    height = max(1, round(rect.top + rect.height) - top)
    whole = _rounded(width, height, round(rect.radius))
    image.paste(palette.rgb(rect.fill), (left, top), whole.point(_fade(rect.opacity)))
    if rect.stroke:
        line = max(1, round(rect.stroke_width))
        outline = whole
        if width > 2 * line and height > 2 * line:
            inner = _rounded(width - 2 * line, height - 2 * line, round(rect.radius) - line)
            hole = Image.new("L", (width, height), 0)
            hole.paste(inner, (line, line))
            outline = ImageChops.subtract(whole, hole)
        image.paste(palette.rgb(rect.stroke), (left, top), outline)


@cache
def _fade(opacity: float) -> list[int]:
    """The table that makes a mask this opaque."""
    return [round(value * opacity) for value in range(256)]


def _rounded(width: int, height: int, radius: int) -> Image.Image:
    """A mask with rounded corners."""
    mask = Image.new("L", (width, height), 255)
    radius = min(radius, width // 2, height // 2)
    if radius > 0:
        corner = _corner(radius)
        flipped = corner.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
        right, bottom = width - radius, height - radius
        mask.paste(corner, (0, 0))
        mask.paste(flipped, (0, bottom))
        mask.paste(corner.transpose(Image.Transpose.FLIP_LEFT_RIGHT), (right, 0))
        mask.paste(flipped.transpose(Image.Transpose.FLIP_LEFT_RIGHT), (right, bottom))
    return mask


@cache
def _corner(radius: int) -> Image.Image:
    """The smooth top left quarter of a disc."""
    large = radius * _SMOOTH
    quarter = Image.new("L", (large, large), 0)
    ImageDraw.Draw(quarter).ellipse((0, 0, 2 * large - 1, 2 * large - 1), fill=255)
    return quarter.resize((radius, radius), Image.Resampling.BOX)


def _words(image: Image.Image, words: Words) -> None:
    """Letters are drawn large and shrunk: even spacing at small sizes, and any position."""
    if not words.text:
        return
    loaded = font(words.text, max(1, round(words.size * _LETTERS)))
    halo = round(words.size * _LETTERS / 8) if words.halo else 0
    anchor = "ms" if words.centred else "ls"
    box = loaded.getbbox(words.text, anchor=anchor, stroke_width=halo)
    x, y = words.left * _LETTERS, words.baseline * _LETTERS
    left, top = floor((x + box[0]) / _LETTERS), floor((y + box[1]) / _LETTERS)
    right, bottom = ceil((x + box[2]) / _LETTERS) + 1, ceil((y + box[3]) / _LETTERS) + 1
    shape = ((right - left) * _LETTERS, (bottom - top) * _LETTERS)
    origin = (round(x - left * _LETTERS), round(y - top * _LETTERS))
    for colour, stroke in ((CANVAS, halo), (words.colour, 0)):
        if colour == CANVAS and not halo:
            continue
        mask = Image.new("L", shape, 0)
        ImageDraw.Draw(mask).text(
            origin, words.text, 255, font=loaded, anchor=anchor, stroke_width=stroke
        )
        small = mask.resize((right - left, bottom - top), Image.Resampling.BOX)
        if colour == CANVAS:
            small = small.point(_fade(_HALO))
        image.paste(palette.rgb(colour), (left, top), small)

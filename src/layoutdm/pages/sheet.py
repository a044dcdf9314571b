"""The sheet of paper: draws text, rules, areas and pictures, and keeps a list of what it drew.

>>> from layoutdm.pages.typefaces import BOX, Face
>>> sheet = Sheet(200, 100, (255, 255, 255))
>>> sheet.open("text", "paragraph", (10, 10, 190, 40))
>>> sheet.write("Hello", 10, 30, Face(BOX[0].regular, 20), (0, 0, 0))
>>> block = sheet.close()
>>> block.words[0].text, block.box == block.words[0].box
('Hello', True)

The list (`marks`) is what a PDF is made of; the boxes of what was drawn are the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from PIL import Image, ImageDraw

from layoutdm.pages.content import JOINER
from layoutdm.pages.truth import Block, Box, Cell, Word, around
from layoutdm.pages.typefaces import Face

Colour = tuple[int, int, int]
DARK = 128  # of 255: ground below this takes light ink


@dataclass(frozen=True)
class Written:
    """A text on its baseline; `turned` by a quarter to the left, it runs upwards."""

    text: str
    x: float
    y: float
    face: Face
    colour: Colour
    turned: bool
    advance: float


@dataclass(frozen=True)
class Area:
    """A filled rectangle; rules are thin ones."""

    box: Box
    colour: Colour


@dataclass(frozen=True)
class Picture:
    image: Image.Image
    left: int
    top: int


Mark = Written | Area | Picture


class Sheet:
    """One page while it is drawn."""

    def __init__(self, width: int, height: int, paper: Colour) -> None:
        self.image = Image.new("RGB", (width, height), paper)
        self.paper = paper
        self.marks: list[Mark] = []
        self.entry = 0  # the last number of the page's bibliography, which its lists continue
        self._pen = ImageDraw.Draw(self.image)

    # An element ---------------------------------------------------------------------------------

    def open(self, label: str, role: str, place: Box) -> None:
        """What is drawn from here on belongs to this element."""
        self.label, self.role, self.place = label, role, place
        self.line = 0
        self._words: list[Word] = []
        self._cells: list[Cell] = []
        self._ink: list[Box] = []

    def close(self) -> Block | None:
        """The element as it was drawn; None if it was not."""
        found = around(self._ink)
        if found is None:
            return None
        return Block(
            self.label, self.role, found, self.place, tuple(self._words), tuple(self._cells)
        )

    @property
    def drawn(self) -> bool:
        """Whether anything of the element can be seen so far."""
        return bool(self._ink)

    # Drawing --------------------------------------------------------------------------------------

    def is_dark(self, box: Box) -> bool:
        """Whether what lies in the box so far is dark, so that only light ink can be read on it."""
        ground = self.image.crop(_whole(box)).convert("L")
        return ground.resize((1, 1), Image.Resampling.BOX).tobytes()[0] < DARK

    def write(
        self, text: str, x: float, y: float, face: Face, colour: Colour, *, turned: bool = False
    ) -> None:
        """One word with its pen at (x, y). A joined piece becomes part of the word before."""
        joined = text[0] == JOINER
        text = text.lstrip(JOINER)
        glyphs = face.word(text)
        left, top, right, bottom = glyphs.ink
        if right <= left:
            return
        px, py = round(x), round(y)
        shape = (top, -right, bottom, -left) if turned else (left, top, right, bottom)
        moved = _inside(self.place, px, py, shape)
        if moved is None:
            return
        px, py = moved
        if turned:
            mask = glyphs.mask.transpose(Image.Transpose.ROTATE_90)
            dx, dy = glyphs.at[1], -(glyphs.at[0] + glyphs.mask.width)
            box = (px + top, py - right, px + bottom, py - left)
            self.image.paste(colour, (px + dx, py + dy), mask)
        else:
            box = (px + left, py + top, px + right, py + bottom)
            self.image.paste(colour, (px + glyphs.at[0], py + glyphs.at[1]), glyphs.mask)
        self.marks.append(Written(text, px, py, face, colour, turned, glyphs.advance))
        self._ink.append(box)
        last = self._words[-1] if self._words else None
        if joined and last is not None and last.line == self.line:
            both = around([last.box, box])
            assert both is not None
            self._words[-1] = Word(last.text + text, both, self.line)
        else:
            self._words.append(Word(text, box, self.line))

    def baseline(self, words: Sequence[str], y: float, face: Face) -> float:
        """The baseline nearest to y on which a whole line stays in its element.

        Were each word kept inside alone, an `f` or a bracket would step out of its line.
        """
        inks = [face.word(word.lstrip(JOINER)).ink for word in words]
        low = ceil(self.place[1]) - min((ink[1] for ink in inks), default=0)
        high = floor(self.place[3]) - max((ink[3] for ink in inks), default=0)
        return min(max(round(y), low), high) if low <= high else y

    def area(self, box: Box, colour: Colour, *, ink: bool = True) -> None:
        """A filled rectangle in whole pixels, at least one pixel thick."""
        left, top = round(box[0]), round(box[1])
        right, bottom = max(round(box[2]), left + 1), max(round(box[3]), top + 1)
        self._pen.rectangle((left, top, right - 1, bottom - 1), fill=colour)
        self.marks.append(Area((left, top, right, bottom), colour))
        if ink:
            self._ink.append((left, top, right, bottom))

    def picture(self, image: Image.Image, left: int, top: int, ink: Box | None = None) -> None:
        """A picture; `ink` says which part of it (from its own corner) can be seen."""
        image = image.convert("RGB")
        self.image.paste(image, (left, top))
        self.marks.append(Picture(image, left, top))
        x0, y0, x1, y1 = ink or (0, 0, image.width, image.height)
        self._ink.append((left + x0, top + y0, left + x1, top + y1))

    def cell(self, cell: Cell) -> None:
        self._cells.append(cell)


def _whole(box: Box) -> tuple[int, int, int, int]:
    left, top, right, bottom = (round(v) for v in box)
    return left, top, max(right, left + 1), max(bottom, top + 1)


def _inside(place: Box, x: int, y: int, shape: tuple[int, int, int, int]) -> tuple[int, int] | None:
    """The pen moved by as little as keeps the ink in its element; None if it is too large.

    >>> _inside((0, 0, 50, 20), 45, 15, (0, -10, 10, 3)), _inside((0, 0, 5, 5), 0, 5, (0, -9, 9, 0))
    ((40, 15), None)
    """
    left, top, right, bottom = shape
    low_x, high_x = ceil(place[0]) - left, floor(place[2]) - right
    low_y, high_y = ceil(place[1]) - top, floor(place[3]) - bottom
    if low_x > high_x or low_y > high_y:
        return None
    return min(max(x, low_x), high_x), min(max(y, low_y), high_y)

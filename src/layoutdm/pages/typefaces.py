"""Fonts: the ones in the box, those of the system, those of the user; and what a text looks like.

>>> serif = BOX[0]
>>> face = Face(serif.regular, 20.0)
>>> word = face.word("page")
>>> word.ink[3] > 0 > word.ink[1]  # a descender below the baseline, the rest above
True
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import cast

from PIL import Image, ImageFont

from layoutdm.errors import LayoutdmError

FOLDER = Path(__file__).parent / "fonts"
INK = 48  # of 255: from this much on a pixel of a letter counts as ink
SPACE = 0.3  # of a size: the narrowest space between words
SYSTEM = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.fonts",
    "~/.local/share/fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
    "~/Library/Fonts",
    "C:/Windows/Fonts",
)
# Hebrew to Arabic, India to Burma, Khmer, and the shapes of the first.
SHAPED = ((0x0590, 0x08FF), (0x0900, 0x109F), (0x1780, 0x17FF), (0xFB1D, 0xFEFC))
ENDINGS = {".ttf", ".otf", ".ttc"}


@dataclass(frozen=True)
class Family:
    """A family by the files of its faces; where one is missing, the regular face stands in."""

    name: str
    regular: str
    bold: str
    italic: str
    serif: bool = False


def _box(name: str, serif: bool) -> Family:
    regular, bold, italic = (
        str(FOLDER / f"{name}-{face}.ttf") for face in ("Regular", "Bold", "Italic")
    )
    return Family(f"Layoutdm {name}", regular, bold, italic, serif)


BOX = (_box("Serif", True), _box("Sans", False), _box("Open", False))


@dataclass(frozen=True)
class Glyphs:
    """A text as pixels: `mask` stands at `at` from the pen on the baseline; `ink` is tight."""

    mask: Image.Image
    at: tuple[int, int]
    ink: tuple[int, int, int, int]  # left, top, right, bottom from the pen
    advance: float


class Face:
    """A font file at a size in pixels. Faces of the same file and size share their glyphs."""

    def __init__(self, path: str, size: float) -> None:
        self.path = path
        self.size = max(round(size * 2) / 2, 2.0)  # halves: sizes of a page meet in the cache
        self.ascent, self.descent = _heights(path, self.size)

    @property
    def line(self) -> float:
        """From the top of a `d` to the foot of a `p`."""
        return self.ascent + self.descent

    def width(self, text: str) -> float:
        return _width(self.path, self.size, text)

    def file(self, text: str) -> str:
        """The font file that the text is drawn with: one of the box where the own lacks letters."""
        return _file(self.path, text)

    @property
    def space(self) -> float:
        # Advances are whole pixels: letters are rounded up more than spaces, words would stick.
        return max(self.width(" "), SPACE * self.size)

    def word(self, text: str) -> Glyphs:
        return _glyphs(self.path, self.size, text)


@lru_cache(512)
def font(path: str, size: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(path, size, layout_engine=_engine(path))


@cache
def _engine(path: str) -> ImageFont.Layout:
    """Letters one by one are quick; scripts whose letters join need the shaping engine."""
    from PIL import features

    joins = _letters(path) & {0x628, 0x915, 0x995, 0xE01, 0x1000, 0x1780}
    shaped = joins and features.check("raqm")
    return ImageFont.Layout.RAQM if shaped else ImageFont.Layout.BASIC


@lru_cache(4096)
def _heights(path: str, size: float) -> tuple[float, float]:
    loaded = font(path, size)
    known = _letters(path)
    top, bottom = ("d", "p") if {0x64, 0x70} <= known else (chr(min(known)),) * 2
    if 0x4E00 in known and 0x64 not in known:
        top = bottom = "一"
    up, down = loaded.getbbox(top, anchor="ls"), loaded.getbbox(bottom, anchor="ls")
    tall = max(-up[1], 0.6 * size)
    return float(tall), float(max(down[3], 0.18 * size))


@lru_cache(200_000)
def _width(path: str, size: float, text: str) -> float:
    return float(font(_file(path, text), size).getlength(text))


@lru_cache(200_000)
def _file(path: str, text: str) -> str:
    wanted = {ord(c) for c in text if not c.isspace()}
    if wanted <= _letters(path):
        return path
    return next((f.regular for f in BOX if wanted <= _letters(f.regular)), path)


@lru_cache(40_000)
def _glyphs(path: str, size: float, text: str) -> Glyphs:
    loaded = font(_file(path, text), size)
    core, offset = loaded.getmask2(text, mode="L", anchor="ls")
    if not (core.size[0] and core.size[1]):
        return Glyphs(Image.new("L", (1, 1)), (0, 0), (0, 0, 0, 0), loaded.getlength(text))
    pixels = bytes(core)
    mask = Image.frombytes("L", core.size, pixels)
    # Image.point would round its table anew for each word, which took a seventh of a page's time.
    box = Image.frombytes("L", core.size, pixels.translate(_is_ink)).getbbox()
    x, y = int(offset[0]), int(offset[1])
    ink = (0, 0, 0, 0) if box is None else (box[0] + x, box[1] + y, box[2] + x, box[3] + y)
    return Glyphs(mask, (x, y), ink, loaded.getlength(text))


_is_ink = bytes(255 if value >= INK else 0 for value in range(256))


# Finding fonts ------------------------------------------------------------------------------


def families(names: Sequence[str]) -> tuple[Family, ...]:
    """The families of `--fonts`: files, folders, `system`, `box`; nothing means the box."""
    found: dict[str, Family] = {}
    for name in names or ("box",):
        if name == "box":
            new: Iterable[Family] = BOX
        elif name == "system":
            folders = [path for path in (Path(f).expanduser() for f in SYSTEM) if path.is_dir()]
            new = _grouped(f for folder in folders for f in sorted(folder.rglob("*")))
        else:
            path = Path(name).expanduser()
            if not path.exists():
                raise LayoutdmError(
                    f"--fonts {name}: no such file or folder; give fonts (.ttf, .otf, .ttc), "
                    "`system` or `box`"
                )
            new = _grouped([path] if path.is_file() else sorted(path.rglob("*")))
        found |= {family.regular: family for family in new}
    if not found:
        raise LayoutdmError(f"--fonts {' '.join(names)}: holds no font; .ttf, .otf or .ttc files")
    return tuple(found.values())


def _grouped(files: Iterable[Path]) -> list[Family]:
    """Families by the names in the files."""
    faces: dict[str, dict[str, str]] = {}
    for file in files:
        if file.suffix.lower() not in ENDINGS:
            continue
        try:
            family, face = ImageFont.truetype(str(file), 12).getname()
        except (OSError, ValueError):
            continue  # no font after all, or one that FreeType cannot open
        if family and _letters(str(file)):
            faces.setdefault(family, {}).setdefault((face or "Regular").lower(), str(file))
    found = []
    for name, by_face in sorted(faces.items()):
        plain = ("regular", "book", "roman", "normal", "medium")
        regular = next((by_face[f] for f in plain if f in by_face), None)
        if regular is None:
            regular = by_face[min(by_face)]
        bold = by_face.get("bold") or by_face.get("semibold") or regular
        italic = by_face.get("italic") or by_face.get("oblique") or regular
        found.append(Family(name, regular, bold, italic, "serif" in name.lower()))
    return found


@cache
def _letters(path: str) -> frozenset[int]:
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(path, fontNumber=0, lazy=True) as opened:
            return frozenset(cast(dict[int, str], opened.getBestCmap() or {}))
    except (TTLibError, OSError, KeyError, AssertionError):
        return frozenset()


def has(path: str, text: str) -> bool:
    """Whether the font has a glyph for every letter."""
    return {ord(c) for c in text if not c.isspace()} <= _letters(path)


def is_shaped(text: str) -> bool:
    """Whether letters join, change their shape, or run from the right.

    >>> is_shaped("Größe"), is_shaped("量子"), is_shaped("عام"), is_shaped("क")
    (False, False, True, True)
    """
    return any(low <= ord(c) <= high for c in text for low, high in SHAPED)


def covers(family: Family, text: str) -> bool:
    """Whether every face of the family has a glyph for every letter."""
    wanted = {ord(c) for c in text if not c.isspace() and c != "\u2060"}
    return all(wanted <= _letters(path) for path in {family.regular, family.bold, family.italic})


def missing(some: Sequence[Family], text: Iterable[str]) -> set[str]:
    """The letters that no regular face has."""
    have = frozenset().union(*(_letters(family.regular) for family in some))
    return {c for c in set(text) if ord(c) not in have and not c.isspace()}


def fingerprint(some: Sequence[Family]) -> str:
    """Tells two sets of font files apart, whatever their paths."""
    digest = hashlib.sha256()
    for family in some:
        for path in (family.regular, family.bold, family.italic):
            digest.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return digest.hexdigest()[:16]

"""Text for pictures: how wide it is, how to shorten it, and which font can draw it.

>>> shorten("Background Image", 12, 60)
'Backgrou…'
>>> clean("two\\nlines")
'two lines'
"""

from __future__ import annotations

import unicodedata
from functools import cache

from PIL import ImageFont

Font = ImageFont.FreeTypeFont

# Tried in this order for letters that Pillow's own font lacks; Pillow searches the system's
# font folders for these file names. A server may have none of them.
_SYSTEM_FONTS = (
    "DejaVuSans.ttf",
    "NotoSans-Regular.ttf",
    "NotoSansCJK-Regular.ttc",
    "NotoSansCJKsc-Regular.otf",
    "wqy-zenhei.ttc",
    "Arial Unicode.ttf",
    "PingFang.ttc",
    "Hiragino Sans GB.ttc",
    "AppleSDGothicNeo.ttc",
    "msyh.ttc",
    "YuGothM.ttc",
    "malgun.ttf",
    "arial.ttf",
)
_NEVER_A_LETTER = "\U0010ffff"


def clean(text: str) -> str:
    """One line without control characters, so that it is valid in XML and fits in a picture."""
    kept = (" " if unicodedata.category(c) == "Cc" else c for c in text)
    line = "".join("\ufffd" if unicodedata.category(c) in ("Cs", "Cn") else c for c in kept)
    line = " ".join(line.split())
    if line and all(_is_invisible(c) for c in line):
        return "".join(f"\\u{ord(c):04x}" for c in line)
    return line or "?"


# Letters that show nothing although their category says otherwise: fillers and an empty pattern.
_EMPTY = frozenset("\u115f\u1160\u3164\uffa0\u2800")


def _is_invisible(character: str) -> bool:
    """Whether nothing is seen of a character that stands alone.

    >>> _is_invisible("\u200b"), _is_invisible("a")
    (True, False)
    """
    kinds = ("Cf", "Mn", "Me", "Zs")
    return character in _EMPTY or unicodedata.category(character) in kinds


def drawable(text: str) -> str:
    """`clean`, and letters that no font of this machine holds lose their accents or, failing
    that, are written as their code, so that two names never look the same as empty squares."""
    line = clean(text)
    if _font_name(line) is not None:
        return line
    return "".join(c if _has(None, c) else _spelled(c) for c in line)


def _spelled(character: str) -> str:
    plain = unicodedata.normalize("NFKD", character)
    bare = "".join(c for c in plain if not unicodedata.combining(c))
    return bare if bare and all(_has(None, c) for c in bare) else f"\\u{ord(character):04x}"


@cache
def font(text: str, size: int) -> Font:
    """The first font that holds every letter of the text; Pillow's own where possible."""
    return _load(_font_name(text) or "", size)


def measure(text: str, size: float) -> float:
    """Width of the text in pixels; letters without a font count as a full square."""
    return _unit_width(text) * size


def shorten(text: str, size: float, width: float) -> str:
    """The text, cut with an ellipsis to fit the width; at least its first letter is kept."""
    if measure(text, size) <= width:
        return text
    low, high = 1, max(1, len(text) - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle].rstrip() + "…", size) <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…"


_REFERENCE = 64  # glyphs are measured once at this size; widths grow linearly


@cache
def _unit_width(text: str) -> float:
    name = _font_name(text)
    if name is None:
        return sum(_unit_width(c) if _has(None, c) else 1.0 for c in text)
    return _load(name, _REFERENCE).getlength(text) / _REFERENCE


@cache
def _font_name(text: str) -> str | None:
    """ "" for Pillow's own font, a file name for a system font, None when no font will do."""
    if all(_has(None, c) for c in text):
        return ""
    for name in _SYSTEM_FONTS:
        if _is_installed(name) and all(_has(name, c) for c in text):
            return name
    return None


@cache
def _has(name: str | None, character: str) -> bool:
    if character.isspace():
        return True
    loaded = _load(name or "", _REFERENCE)
    glyph, missing = loaded.getmask(character), loaded.getmask(_NEVER_A_LETTER)
    return glyph.size != missing.size or bytes(glyph) != bytes(missing)


@cache
def _is_installed(name: str) -> bool:
    try:
        _load(name, _REFERENCE)
    except OSError:
        return False
    return True


@cache
def _load(name: str, size: int) -> Font:
    loaded = ImageFont.truetype(name, size) if name else ImageFont.load_default(size)
    assert isinstance(loaded, ImageFont.FreeTypeFont)  # Pillow's wheels all have FreeType
    return loaded

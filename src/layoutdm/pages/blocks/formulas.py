"""Formulas: a line of terms with fractions, powers, roots and sums, and perhaps a number."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from layoutdm.pages.blocks.brush import Brush
from layoutdm.pages.truth import Box
from layoutdm.pages.typefaces import Face

LETTERS = "abcdfghkmnpqrstuvwxyzABCDEFGHKLMNPRSTVXYZ"
GREEK = "αβγδεθλμπρσφωΓΔΣΩ"
SIGNS = "=≤≥≈≠"
JOINS = "+−·±"


@dataclass(frozen=True)
class Piece:
    """What stands side by side: a symbol with what is raised or lowered, or a fraction."""

    symbol: str = ""
    upper: str = ""
    lower: str = ""
    over: tuple[str, str] | None = None


def formula(brush: Brush, box: Box) -> None:
    """One formula in the middle of its box, as large as the box allows."""
    style, random, sheet = brush.style, brush.random, brush.sheet
    left, top, right, bottom = box
    height = bottom - top
    tall = height > 2.6 * style.size  # else fractions would be smaller than the text
    size = min(style.size * 1.15, height / (2.6 if tall else 1.2))
    face, small = Face(style.body.italic, size), Face(style.body.italic, size * 0.68)
    plain = Face(style.body.regular, size)
    number = f"({random.randint(1, 24)})"
    numbered = right - left > 14 * size and random.random() < 0.6
    room = right - left - 2 - (plain.width(number) + size if numbered else 0)
    pieces = _pieces(random, tall, face, small, room)
    width = sum(_width(piece, face, small) for piece in pieces)
    x = left + 1 + max(0.0, (room - width) / 2)
    middle = (top + bottom) / 2
    y = middle + (face.ascent - face.descent) / 2
    for piece in pieces:
        _draw(brush, piece, x, y, middle, face, small)
        x += _width(piece, face, small)
    if numbered:
        sheet.line += 1
        sheet.write(number, right - 1 - plain.width(number), y, plain, style.ink)


def _pieces(random: Random, tall: bool, face: Face, small: Face, room: float) -> list[Piece]:
    pieces = [_term(random, False), Piece(random.choice(SIGNS))]
    while True:
        term = _term(random, tall)
        used = sum(_width(piece, face, small) for piece in (*pieces, term))
        if used > room or len(pieces) > 17:
            break
        pieces += [term, Piece(random.choice(JOINS))]
    if len(pieces) <= 2:  # no room for a second side
        return pieces[:1]
    return pieces[:-1]


def _term(random: Random, tall: bool) -> Piece:
    letter = random.choice(LETTERS + GREEK)
    roll = random.random()
    if tall and roll < 0.35:
        return Piece(over=(_side(random), _side(random)))
    if tall and roll < 0.5:
        return Piece("∑", upper=random.choice("nNmk"), lower=random.choice("ijk") + "=1")
    upper = random.choice(("2", "n", "−1", "*", "")) if roll > 0.6 else ""
    lower = random.choice(("i", "j", "0", "ij", "t", "")) if roll < 0.8 else ""
    return Piece(letter, upper, lower)


def _side(random: Random) -> str:
    parts = [random.choice(LETTERS + GREEK) for _ in range(random.randint(1, 2))]
    return f" {random.choice('+−')} ".join(parts)


def _width(piece: Piece, face: Face, small: Face) -> float:
    if piece.over is not None:
        return max(face.width(side) for side in piece.over) * 0.9 + 0.7 * face.size
    gap = 0.55 * face.size if piece.symbol in SIGNS + JOINS else 0.1 * face.size
    wings = max((small.width(t) for t in (piece.upper, piece.lower) if t), default=0.0)
    return face.width(piece.symbol) + wings + gap


def _draw(brush: Brush, piece: Piece, x: float, y: float, middle: float, face: Face,
          small: Face) -> None:  # fmt: skip
    sheet, ink = brush.sheet, brush.style.ink
    if piece.over is not None:
        width = _width(piece, face, small) - 0.3 * face.size
        sheet.area((x, middle, x + width, middle + 1), ink)
        inner = Face(face.path, face.size * 0.9)
        for side, line in zip(piece.over, (middle - inner.descent - 2,
                                           middle + inner.ascent + 3), strict=True):  # fmt: skip
            at = x + (width - inner.width(side)) / 2
            for part in side.split():
                sheet.write(part, at, line, inner, ink)
                at += inner.width(part + " ")
        return
    gap = 0.27 * face.size if piece.symbol in SIGNS + JOINS else 0.0
    sheet.write(piece.symbol, x + gap, y, face, ink)
    after = x + gap + face.width(piece.symbol) + 0.04 * face.size
    if piece.upper:
        sheet.write(piece.upper, after, y - 0.42 * face.size, small, ink)
    if piece.lower:
        sheet.write(piece.lower, after, y + 0.18 * face.size, small, ink)

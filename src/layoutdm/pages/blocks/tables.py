"""Tables: rules, a header, a column of names and columns of values; every cell is known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from random import Random

from layoutdm.pages.blocks.brush import Brush
from layoutdm.pages.content import Text, date
from layoutdm.pages.fitting import fit_lines, without_little
from layoutdm.pages.sheet import Colour
from layoutdm.pages.truth import Box, Cell
from layoutdm.pages.typefaces import Face

SMALLEST = 6.5  # points on a page of 11 inches
TRIES = 12  # words that may be too wide for a cell before it gets a letter
# The widest value of each kind but words, of which there are short ones.
WIDEST = {
    "whole": "99,999", "decimal": "-9.999", "percent": "99.9%", "spread": "99.9±9.9",
    "word": "average", "range": "9.99–9.99", "date": "2000-00-00",
}  # fmt: skip
KINDS = ("whole", "decimal", "percent", "spread", "word", "range", "date")
SHARES = (4, 4, 3, 2, 2, 1, 1)
PAD = 0.5  # of a size, left and right in a cell


@dataclass(frozen=True)
class Grid:
    """Edges of the columns and rows in pixels, and what each column holds."""

    x: tuple[int, ...]
    y: tuple[int, ...]
    kinds: tuple[str, ...]


def table(brush: Brush, box: Box) -> None:
    """Rows of about the body's leading; the rules are those of the page's style."""
    style, random = brush.style, brush.random
    left, top, right, bottom = (round(v) for v in box)
    least = SMALLEST * max(brush.sheet.image.size) / 792
    face = style.face(max(random.uniform(0.8, 0.95), least / style.size))
    airy = random.uniform(1.35, 1.9)
    rows = max(2, round((bottom - top) / (airy * face.line)))
    height = (bottom - top) / rows
    face = fit_lines(height * 0.86, face, 1.0, least=0.5, most=1.0).face
    columns = max(2, min(9, round((right - left) / (face.size * random.uniform(4.5, 8.5)))))
    edges = _columns(random, left, right, columns)
    rooms = [_room(face, a, b) for a, b in pairwise(edges[1:])]
    grid = Grid(
        edges,
        (*(round(top + i * height) for i in range(rows)), bottom),
        ("name", *(_kind(random, face, room) for room in rooms)),
    )
    header = 2 if rows > 5 and columns > 3 and random.random() < 0.3 else 1
    _rules(brush, grid, header)
    _fill(brush, grid, face, header)


def _columns(random: Random, left: int, right: int, count: int) -> tuple[int, ...]:
    weights = [random.uniform(1.3, 2.4)] + [random.uniform(0.8, 1.3) for _ in range(count - 1)]
    edges, at = [left], 0.0
    for weight in weights:
        at += weight
        edges.append(left + round((right - left) * at / sum(weights)))
    return tuple(edges)


def _room(face: Face, left: float, right: float) -> float:
    return right - left - 2 * max(3.0, PAD * face.size)


def _kind(random: Random, face: Face, room: float) -> str:
    """What a column of this width holds: values that it has room for."""
    kinds = [(k, s) for k, s in zip(KINDS, SHARES, strict=True) if face.width(WIDEST[k]) <= room]
    return random.choices([k for k, _ in kinds], [s for _, s in kinds])[0] if kinds else "digit"


def _rules(brush: Brush, grid: Grid, header: int) -> None:
    style, sheet = brush.style, brush.sheet
    left, right, top, bottom = grid.x[0], grid.x[-1], grid.y[0], grid.y[-1]
    thin = max(1, round(style.size / 14))
    thick = max(thin, round(style.size / 9))
    soft: Colour = tuple((2 * p + i) // 3 for p, i in zip(style.paper, style.ink, strict=True))  # type: ignore[assignment]
    tint: Colour = tuple((12 * p + a) // 13 for p, a in zip(style.paper, style.accent, strict=True))  # type: ignore[assignment]
    inner = grid.y[header]
    if style.table == "zebra":
        sheet.area((left, top, right, inner), tint)
        for row in range(header + 1, len(grid.y) - 1, 2):
            sheet.area((left, grid.y[row], right, grid.y[row + 1]), tint)
    if style.table in ("rows", "grid"):
        for y in grid.y[1:-1]:
            sheet.area((left, y, right, y + thin), soft if style.table == "rows" else style.ink)
    if style.table in ("grid", "frame"):
        for x in grid.x[1:-1] if style.table == "grid" else ():
            sheet.area((x, top, x + thin, bottom), style.ink)
        sheet.area((left, top, left + thin, bottom), style.ink)
        sheet.area((right - thin, top, right, bottom), style.ink)
    sheet.area((left, top, right, top + thick), style.ink)
    sheet.area((left, inner, right, inner + thin), style.ink)
    sheet.area((left, bottom - thick, right, bottom), style.ink)


def _fill(brush: Brush, grid: Grid, face: Face, header: int) -> None:
    style, random, text = brush.style, brush.random, brush.text
    bold = Face(style.body.bold if random.random() < 0.7 else style.body.regular, face.size)
    columns, rows = len(grid.kinds), len(grid.y) - 1
    decimals = [random.randint(0, 3) for _ in grid.kinds]
    at = 0
    if header == 2:  # a first header row whose cells span two columns each
        _cell(brush, grid, bold, (0, 0, 1, 1), "", True, "name")
        column = 1
        while column < columns:
            span = min(2, columns - column)
            room = _room(bold, grid.x[column], grid.x[column + span])
            word = _fitting(random, text, bold, room, 1)
            _cell(brush, grid, bold, (0, column, 1, span), word, True, "span")
            column += span
        at = 1
    for column, kind in enumerate(grid.kinds):
        room = _room(bold, grid.x[column], grid.x[column + 1])
        words = _fitting(random, text, bold, room, 1 if column else 2)
        _cell(brush, grid, bold, (at, column, 1, 1), words, True, kind)
    for row in range(at + 1, rows):
        for column, kind in enumerate(grid.kinds):
            room = _room(face, grid.x[column], grid.x[column + 1])
            value = _value(random, text, kind, decimals[column], face, room)
            _cell(brush, grid, face, (row, column, 1, 1), value, False, kind)


def _cell(brush: Brush, grid: Grid, face: Face, place: tuple[int, int, int, int], value: str,
          header: bool, kind: str) -> None:  # fmt: skip
    """Write what fits of the value, left for names and words, right or centred for numbers."""
    row, column, rows, columns = place
    left, right = grid.x[column], grid.x[column + columns]
    top, bottom = grid.y[row], grid.y[row + rows]
    pad = max(3.0, PAD * face.size)
    room = right - left - 2 * pad
    words = value.split() if face.width(value) <= room else []
    width = face.width(" ".join(words)) if words else 0.0
    x = left + pad
    if kind == "span":
        x = left + (right - left - width) / 2
    elif kind not in ("name", "word"):
        x = right - pad - width
    y = (top + bottom) / 2 + (face.ascent - face.descent) / 2 + 0.5
    for word in words:
        brush.sheet.write(word, x, y, face, brush.style.ink)
        x += face.width(word) + face.space
    brush.sheet.line += 1
    box = (float(left), float(top), float(right), float(bottom))
    brush.sheet.cell(Cell(row, column, rows, columns, header, " ".join(words), box))


def _fitting(random: Random, text: Text, face: Face, room: float, most: int,
             *, capital: bool = True) -> str:  # fmt: skip
    """At most so many words that fit, never a piece of one; else a letter."""
    for attempt in range(TRIES):
        words = without_little(text.phrase(random, most if attempt < TRIES // 3 else 1))
        found = " ".join(words)
        found = found[:1].upper() + found[1:] if capital else found
        if face.width(found) <= room:
            return found
    return random.choice("ABCDEFGHKLMNPRSTVXYZ")


def _value(random: Random, text: Text, kind: str, decimals: int, face: Face, room: float) -> str:
    if kind == "name":
        return _fitting(random, text, face, room, random.randint(1, 3))
    if kind == "word":
        return _fitting(random, text, face, room, 1, capital=False)
    if kind == "digit":
        return str(random.randint(0, 9))
    if random.random() < 0.04:
        return "–"
    if kind == "whole":
        return f"{int(10 ** random.uniform(0, 4.5)):,}"
    if kind == "percent":
        return f"{random.uniform(0, 100):.1f}%"
    if kind == "spread":
        return f"{random.uniform(0, 90):.1f}±{random.uniform(0, 9):.1f}"
    if kind == "range":
        low = random.uniform(0, 5)
        return f"{low:.2f}–{low + random.uniform(0, 4):.2f}"
    if kind == "date":
        days = (date(random) for _ in range(TRIES))
        return next(
            (day for day in days if face.width(day) <= room), str(random.randint(1978, 2026))
        )
    return f"{random.uniform(-2, 30):.{max(1, decimals)}f}"

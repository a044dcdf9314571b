"""Tables: rules, a header, a column of names and columns of values; every cell is known."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from layoutdm.pages.blocks.brush import Brush
from layoutdm.pages.content import Text, date
from layoutdm.pages.fitting import fit_lines
from layoutdm.pages.sheet import Colour
from layoutdm.pages.truth import Box, Cell
from layoutdm.pages.typefaces import Face

KINDS = ("whole", "decimal", "percent", "spread", "word", "range", "date")
SHARES = (4, 4, 3, 2, 2, 1, 1)
PAD = 0.35  # of a size, left and right in a cell


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
    face = style.face(random.uniform(0.8, 0.95))
    airy = random.uniform(1.35, 1.9)
    rows = max(2, round((bottom - top) / (airy * face.line)))
    height = (bottom - top) / rows
    face = fit_lines(height * 0.86, face, 1.0, least=0.5, most=1.0).face
    columns = max(2, min(9, round((right - left) / (face.size * random.uniform(4.5, 8.5)))))
    grid = Grid(
        _columns(random, left, right, columns),
        (*(round(top + i * height) for i in range(rows)), bottom),
        ("name", *random.choices(KINDS, SHARES, k=columns - 1)),
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
            word = text.phrase(random, 1)[0]
            _cell(brush, grid, bold, (0, column, 1, span), word, True, "span")
            column += span
        at = 1
    for column, kind in enumerate(grid.kinds):
        words = " ".join(text.phrase(random, 1 if column else 2))
        _cell(brush, grid, bold, (at, column, 1, 1), words[:1].upper() + words[1:], True, kind)
    for row in range(at + 1, rows):
        for column, kind in enumerate(grid.kinds):
            value = _value(random, text, kind, decimals[column])
            _cell(brush, grid, face, (row, column, 1, 1), value, False, kind)


def _cell(brush: Brush, grid: Grid, face: Face, place: tuple[int, int, int, int], value: str,
          header: bool, kind: str) -> None:  # fmt: skip
    """Write what fits of the value, left for names and words, right or centred for numbers."""
    row, column, rows, columns = place
    left, right = grid.x[column], grid.x[column + columns]
    top, bottom = grid.y[row], grid.y[row + rows]
    pad = max(2.0, PAD * face.size)
    room = right - left - 2 * pad
    words = value.split()
    while words and face.width(" ".join(words)) > room:
        words = words[:-1] if len(words) > 1 else _shorter(words[0])
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


def _shorter(word: str) -> list[str]:
    return [word[:-2]] if len(word) > 3 else []


def _value(random: Random, text: Text, kind: str, decimals: int) -> str:
    if kind == "name":
        words = " ".join(text.phrase(random, random.randint(1, 3)))
        return words[:1].upper() + words[1:]
    if kind == "word":
        return text.phrase(random, 1)[0]
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
        return date(random)
    return f"{random.uniform(-2, 30):.{max(1, decimals)}f}"

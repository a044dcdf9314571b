"""Composes the picture of one layout: canvas, boxes, names, legend.

>>> from layoutdm import Layout
>>> drawing = picture(Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]]), 200, 200)
>>> (drawing.width, drawing.height)
(200, 200)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import sqrt

from layoutdm.formats import palette
from layoutdm.formats.drawing import CANVAS, HAIRLINE, INK, QUIET_INK, Drawing, Item, Rect, Words
from layoutdm.formats.tags import Corners, place
from layoutdm.formats.typeface import clean, measure, shorten
from layoutdm.layout import Layout

Naming = Callable[[str], str]

_LEGEND_LINE = 1.75  # height of a legend row, as a multiple of the text size
_LEGEND_NAME = 15.0  # widest legend entry, likewise


def font_size(width: float, height: float) -> float:
    """Text size for names on a canvas of this many pixels: small, but readable at full size."""
    return min(max(sqrt(width * height) / 48, 9.0), 48.0, max(width, height) / 8)


def paint_order(layout: Layout) -> list[int]:
    """Large boxes first, so that none hides a smaller one; equal sizes keep their order."""
    return sorted(range(len(layout)), key=lambda i: -float(layout.areas[i]))


def opacity(area: float) -> float:
    """Containers stay faint and small parts show well."""
    return 0.36 - 0.26 * sqrt(min(area, 1.0))


def pixel_boxes(layout: Layout, width: float, height: float) -> list[Corners]:
    """(left, top, right, bottom) of every box on a canvas of this many pixels."""
    return [
        (float(a) * width, float(b) * height, float(c) * width, float(d) * height)
        for a, b, c, d in layout.corners().clip(0.0, 1.0)
    ]


def describe(label: str, box: Corners) -> str:
    """Tool tip of a box: its name and its place in percent of the canvas."""
    left, top, right, bottom = (round(100 * v, 1) for v in box)
    return f"{label}: x {left:g}–{right:g} %, y {top:g}–{bottom:g} %"


def picture(
    layout: Layout,
    width: float,
    height: float,
    *,
    font: float | None = None,
    labels: bool = True,
    name: Naming = clean,
) -> Drawing:
    """The canvas alone, width by height pixels, with boxes and their names."""
    size = font or font_size(width, height)
    hairline = max(1.0, size / 12)
    items: list[Item] = [Rect(0, 0, width, height, CANVAS, stroke=HAIRLINE, stroke_width=hairline)]
    boxes, names = pixel_boxes(layout, width, height), [name(label) for label in layout.labels]
    corners = [(float(a), float(b), float(c), float(d)) for a, b, c, d in layout.corners()]
    for index in paint_order(layout):
        label, (left, top, right, bottom) = layout.labels[index], boxes[index]
        items.append(
            Rect(
                left,
                top,
                right - left,
                bottom - top,
                palette.colour(label),
                opacity=opacity(float(layout.areas[index])),
                stroke=palette.edge(label),
                stroke_width=max(1.0, size / 9),
                radius=size / 5,
                label=clean(label),
                title=describe(clean(label), corners[index]),
            )
        )
    tags = place(boxes, names, size, width, height) if labels else []
    for label, tag in zip(layout.labels, tags, strict=False):
        if tag is not None:
            ink = palette.ink(label)
            items.append(Words(tag.left, tag.baseline, tag.text, tag.size, ink, halo=True))
    if not len(layout):
        text = shorten("empty layout", size, max(width * 0.9, 2 * size))
        items.append(Words(width / 2, height / 2 + 0.3 * size, text, size, QUIET_INK, centred=True))
    return Drawing(width, height, tuple(items), title=clean(layout.id) if layout.id else "")


def label_counts(layouts: Iterable[Layout]) -> list[tuple[str, int]]:
    """Labels with their numbers of elements, the most frequent first, then by name."""
    counts = Counter(label for layout in layouts for label in layout.labels)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def legend_rows(
    counts: Sequence[tuple[str, int]], width: float, font: float, name: Naming = clean
) -> Drawing:
    """Legend entries side by side, wrapped to the width."""
    items: list[Item] = []
    x, y, line = 0.0, 0.0, _LEGEND_LINE * font
    for label, count in counts:
        entry = legend_entry(label, count, font, name)
        if x > 0 and x + entry.width > width:
            x, y = 0.0, y + line
        items += entry.moved(x, y).items
        x += entry.width + 1.4 * font
    return Drawing(width, y + line if counts else 0.0, tuple(items))


def legend_columns(
    counts: Sequence[tuple[str, int]], height: float, font: float, name: Naming = clean
) -> Drawing:
    """Legend entries below each other, in as many columns as the height asks for."""
    line = _LEGEND_LINE * font
    rows = max(1, int(height / line))
    x, items = 0.0, list[Item]()
    for start in range(0, len(counts), rows):
        entries = [legend_entry(*pair, font, name) for pair in counts[start : start + rows]]
        for row, entry in enumerate(entries):
            items += entry.moved(x, row * line).items
        x += max(entry.width for entry in entries) + 1.6 * font
    return Drawing(max(0.0, x - 1.6 * font), min(rows, len(counts)) * line, tuple(items))


def legend_entry(label: str, count: int, font: float, name: Naming = clean) -> Drawing:
    """A swatch, the label and how many elements carry it."""
    text, number = shorten(name(label), font, _LEGEND_NAME * font), str(count)
    baseline, swatch = 1.06 * font, 1.05 * font
    gap = swatch + 0.5 * font
    after = gap + measure(text, font) + 0.5 * font
    items = (
        Rect(
            0,
            baseline - 0.88 * font,
            swatch,
            swatch,
            palette.colour(label),
            opacity=0.55,
            stroke=palette.edge(label),
            stroke_width=max(1.0, font / 9),
            radius=font / 5,
        ),
        Words(gap, baseline, text, font, INK),
        Words(after, baseline, number, font, QUIET_INK),
    )
    return Drawing(after + measure(number, font), _LEGEND_LINE * font, items)


def framed(
    layout: Layout,
    width: float,
    height: float,
    *,
    labels: bool = True,
    legend: bool = True,
    name: Naming = clean,
) -> Drawing:
    """The canvas with a margin and, when asked for, a legend beside it (below, if wide)."""
    size = max(font_size(width, height), min(14.0, max(width, height) / 12))
    margin = 1.5 * size
    canvas = picture(layout, width, height, labels=labels, name=name).moved(margin, margin)
    if not legend or not len(layout):
        return Drawing(width + 2 * margin, height + 2 * margin, canvas.items, canvas.title)
    counts = label_counts([layout])
    if height >= width and height >= 12 * size:
        key = legend_columns(counts, height, size, name).moved(2 * margin + width, margin)
        page = (width + key.width + 3.2 * margin, max(height, key.height) + 2 * margin)
    else:
        room = max(width, 36 * size)
        key = legend_rows(counts, room, size, name).moved(margin, 1.7 * margin + height)
        used = max((item.left for item in key.items), default=0.0) + 3 * size
        page = (max(width + margin, used) + margin, height + key.height + 2.4 * margin)
    return Drawing(*page, canvas.items + key.items, canvas.title)

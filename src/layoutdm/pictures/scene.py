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

from layoutdm.layout import Layout
from layoutdm.pictures import palette
from layoutdm.pictures.drawing import CANVAS, HAIRLINE, INK, QUIET_INK, Drawing, Item, Rect, Words
from layoutdm.pictures.palette import PLAIN, Scheme
from layoutdm.pictures.tags import Corners, place
from layoutdm.pictures.typeface import clean, measure, shorten

Naming = Callable[[str], str]

_LEGEND_LINE = 1.75  # height of a legend row, as a multiple of the text size
_LEGEND_NAME = 15.0  # widest legend entry, likewise


def font_size(width: float, height: float) -> float:
    """Text size for names on a canvas of this many pixels: small, but readable at full size."""
    return min(max(sqrt(width * height) / 48, 9.0), 48.0, max(width, height) / 8)


def paint_order(layout: Layout) -> list[int]:
    """Large boxes first, so that none hides a smaller one; equal sizes keep their order."""
    areas = layout.areas.tolist()
    return sorted(range(len(layout)), key=lambda i: -areas[i])


def opacity(area: float) -> float:
    """Containers stay faint and small parts show well."""
    return 0.36 - 0.26 * sqrt(min(area, 1.0))


def pixel_boxes(layout: Layout, width: float, height: float) -> list[Corners]:
    """(left, top, right, bottom) of every box on a canvas of this many pixels."""
    return [
        (float(a) * width, float(b) * height, float(c) * width, float(d) * height)
        for a, b, c, d in layout.corners().clip(0.0, 1.0)
    ]


def describe(label: str, box: Corners, name: str = "") -> str:
    """Tool tip of a box: its name and its place in percent of the canvas."""
    left, top, right, bottom = (round(100 * v, 1) for v in box)
    called = f"{name} ({label})" if name else label
    return f"{called}: x {left:g}–{right:g} %, y {top:g}–{bottom:g} %"


def own_names(layout: Layout) -> list[str]:
    """What the user calls each element, "" for those without a name.

    >>> page = Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]], metadata={"names": ["hero"]})
    >>> own_names(page)
    ['hero']
    """
    names = layout.metadata.get("names")
    if not isinstance(names, (list, tuple)) or len(names) != len(layout):
        return [""] * len(layout)
    return [name if isinstance(name, str) else "" for name in names]


def picture(
    layout: Layout,
    width: float,
    height: float,
    *,
    font: float | None = None,
    labels: bool = True,
    names: bool = False,
    name: Naming = clean,
    scheme: Scheme | None = None,
) -> Drawing:
    """The canvas alone, width by height pixels, with boxes and their labels.

    With `names`, what the user calls an element is written instead of its label.
    """
    colours = scheme or palette.scheme(layout.labels)
    size = font or font_size(width, height)
    hairline = max(1.0, size / 12)
    items: list[Item] = [Rect(0, 0, width, height, CANVAS, stroke=HAIRLINE, stroke_width=hairline)]
    boxes, called = pixel_boxes(layout, width, height), own_names(layout)
    texts = [c if names and c else label for c, label in zip(called, layout.labels, strict=True)]
    corners, areas = layout.corners().tolist(), layout.areas.tolist()
    for index in paint_order(layout):
        label, (left, top, right, bottom) = layout.labels[index], boxes[index]
        items.append(
            Rect(
                left,
                top,
                right - left,
                bottom - top,
                colours.colour(label),
                opacity=opacity(areas[index]),
                stroke=colours.edge(label),
                stroke_width=max(1.0, size / 9),
                radius=size / 5,
                label=clean(label),
                title=describe(clean(label), corners[index], _clean_name(called[index])),
                name=_clean_name(called[index]) or None,
            )
        )
    tags = place(boxes, list(map(name, texts)), size, width, height) if labels else []
    for label, tag in zip(layout.labels, tags, strict=False):
        if tag is not None:
            ink = colours.ink(label)
            items.append(Words(tag.left, tag.baseline, tag.text, tag.size, ink, halo=True))
    if not len(layout):
        text = shorten("empty layout", size, max(width * 0.9, 2 * size))
        items.append(Words(width / 2, height / 2 + 0.3 * size, text, size, QUIET_INK, centred=True))
    return Drawing(width, height, tuple(items), title=clean(layout.id) if layout.id else "")


def _clean_name(name: str) -> str:
    return clean(name) if name else ""


def label_counts(layouts: Iterable[Layout]) -> list[tuple[str, int]]:
    """Labels with their numbers of elements, the most frequent first, then by name."""
    counts = Counter(label for layout in layouts for label in layout.labels)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def legend_rows(
    counts: Sequence[tuple[str, int]],
    width: float,
    font: float,
    name: Naming = clean,
    scheme: Scheme = PLAIN,
) -> Drawing:
    """Legend entries side by side, wrapped to the width."""
    items: list[Item] = []
    x, y, line = 0.0, 0.0, _LEGEND_LINE * font
    for label, count in counts:
        entry = legend_entry(label, count, font, name, scheme)
        if x > 0 and x + entry.width > width:
            x, y = 0.0, y + line
        items += entry.moved(x, y).items
        x += entry.width + 1.4 * font
    return Drawing(width, y + line if counts else 0.0, tuple(items))


def legend_columns(
    counts: Sequence[tuple[str, int]],
    height: float,
    font: float,
    name: Naming = clean,
    scheme: Scheme = PLAIN,
) -> Drawing:
    """Legend entries below each other, in as many columns as the height asks for."""
    line = _LEGEND_LINE * font
    rows = max(1, int(height / line))
    x, items = 0.0, list[Item]()
    for start in range(0, len(counts), rows):
        entries = [legend_entry(*pair, font, name, scheme) for pair in counts[start : start + rows]]
        for row, entry in enumerate(entries):
            items += entry.moved(x, row * line).items
        x += max(entry.width for entry in entries) + 1.6 * font
    return Drawing(max(0.0, x - 1.6 * font), min(rows, len(counts)) * line, tuple(items))


def legend_entry(
    label: str, count: int, font: float, name: Naming = clean, scheme: Scheme = PLAIN
) -> Drawing:
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
            scheme.colour(label),
            opacity=0.55,
            stroke=scheme.edge(label),
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
    names: bool = False,
    legend: bool = True,
    name: Naming = clean,
    scheme: Scheme | None = None,
) -> Drawing:
    """The canvas with a margin and, when asked for, a legend beside it (below, if wide)."""
    size = max(font_size(width, height), min(14.0, max(width, height) / 12))
    margin = 1.5 * size
    colours = scheme or palette.scheme(layout.labels)
    shown = picture(layout, width, height, labels=labels, names=names, name=name, scheme=colours)
    canvas = shown.moved(margin, margin)
    if not legend or not len(layout):
        return Drawing(width + 2 * margin, height + 2 * margin, canvas.items, canvas.title)
    counts = label_counts([layout])
    if height >= width and height >= 12 * size:
        key = legend_columns(counts, height, size, name, colours).moved(2 * margin + width, margin)
        page = (width + key.width + 3.2 * margin, max(height, key.height) + 2 * margin)
    else:
        room = max(width, 36 * size)
        key = legend_rows(counts, room, size, name, colours).moved(margin, 1.7 * margin + height)
        used = max((item.left for item in key.items), default=0.0) + 3 * size
        page = (max(width + margin, used) + margin, height + key.height + 2.4 * margin)
    return Drawing(*page, canvas.items + key.items, canvas.title)

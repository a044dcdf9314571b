"""Contact sheets: many layouts in one picture or one page, with captions and one legend.

>>> from layoutdm import Layout
>>> layouts = [Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]])] * 6
>>> contact_sheet(layouts).width > contact_sheet(layouts, columns=2).width
True
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import median

from PIL import Image

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.pictures import palette, scene
from layoutdm.pictures.drawing import BACKGROUND, INK, QUIET_INK, Drawing, Item, Words
from layoutdm.pictures.scene import Naming
from layoutdm.pictures.typeface import clean, drawable, measure, shorten

_SHEET_PIXELS = 2400 * 1700  # what the tiles of one sheet share, within the limits below
_TILE_LIMITS = (300.0, 900.0)
_PROPORTION = 1.5  # width over height that a sheet aims for


@dataclass(frozen=True)
class Grid:
    """Cells of one size; every layout is fitted into its cell in its own proportions."""

    columns: int
    cell_width: float
    cell_height: float
    font: float
    gap: float


def plan(layouts: Sequence[Layout], columns: int | None = None) -> Grid:
    """Cells shaped like the typical canvas, and few empty places in the last row."""
    if columns is not None and columns < 1:
        raise LayoutdmError(f"columns must be at least 1, got {columns}")
    count = max(1, len(layouts))
    shape = median([item.width / item.height for item in layouts] or [1.0])
    shape = min(max(shape, 0.25), 4.0)
    side = min(max(0.9 * sqrt(_SHEET_PIXELS / count), _TILE_LIMITS[0]), _TILE_LIMITS[1])
    wide, high = round(side * sqrt(shape)), round(side / sqrt(shape))
    font = max(10.0, side / 34)
    gap = round(1.6 * font)
    if columns is None:
        ideal = sqrt(count * _PROPORTION * (high + 3.4 * font) / (wide + gap))
        tries = range(max(1, round(ideal * 0.8)), max(1, round(ideal * 1.25)) + 1)
        columns = min(
            (min(n, count) for n in tries),
            key=lambda n: (ceil(count / n) * n - count) / count + abs(n / ideal - 1) / 2,
        )
    return Grid(columns, wide, high, font, gap)


def compose(
    layouts: Sequence[Layout],
    captions: Sequence[str] | None = None,
    columns: int | None = None,
    *,
    labels: bool = True,
    names: bool = False,
    legend: bool = True,
    title: str = "",
    name: Naming = clean,
) -> Drawing:
    """The whole sheet as a drawing."""
    scheme = palette.scheme(label for layout in layouts for label in layout.labels)
    grid, texts = plan(layouts, columns), caption_texts(layouts, captions)
    font, margin = grid.font, round(2.2 * grid.font)
    caption_room = round(2.1 * font) if texts else 0
    width = grid.columns * (grid.cell_width + grid.gap) - grid.gap
    items, y, top = list[Item](), float(margin), 0.0
    if title:
        size = 1.8 * font
        items.append(Words(margin, y + size, shorten(name(title), size, width), size, INK))
        y += 2 * size
    sizes = [fit(layout, grid) for layout in layouts]
    for index, (layout, (wide, high)) in enumerate(zip(layouts, sizes, strict=True)):
        column = index % grid.columns
        if column == 0:
            top = y
            y += max(size[1] for size in sizes[index : index + grid.columns])
            y += caption_room + grid.gap
        left = margin + column * (grid.cell_width + grid.gap)
        inset = (left + round((grid.cell_width - wide) / 2), top)
        tile = scene.picture(
            layout, wide, high, font=font, labels=labels, names=names, name=name, scheme=scheme
        )
        items += tile.moved(*inset).items
        if texts:
            text = shorten(name(texts[index]), font, grid.cell_width)
            centre, baseline = left + grid.cell_width / 2, top + high + 1.5 * font
            items.append(Words(centre, baseline, text, font, QUIET_INK, centred=True))
    page = width
    if legend and layouts:
        room, counts = max(width, 40 * font), scene.label_counts(layouts)
        key = scene.legend_rows(counts, room, 1.15 * font, name, scheme).moved(margin, y)
        items += key.items
        y += key.height
        words = [item for item in key.items if isinstance(item, Words)]
        ends = (item.left + measure(item.text, item.size) - margin for item in words)
        page = max(page, *ends) if words else page
    return Drawing(page + 2 * margin, y + margin - grid.gap / 2, tuple(items), clean(title))


def fit(layout: Layout, grid: Grid) -> tuple[float, float]:
    """Pixels of a layout's canvas inside its cell."""
    scale = min(grid.cell_width / layout.width, grid.cell_height / layout.height)
    return max(8, round(layout.width * scale)), max(8, round(layout.height * scale))


def caption_texts(layouts: Sequence[Layout], captions: Sequence[str] | None) -> list[str]:
    """The captions given, or ids (numbers where there is none); an empty list means none."""
    if captions is None:
        return [layout.id or str(index + 1) for index, layout in enumerate(layouts)]
    if captions and len(captions) != len(layouts):
        raise LayoutdmError(
            f"a contact sheet of {len(layouts)} layouts needs as many captions, got {len(captions)}"
        )
    return list(captions)


def contact_sheet(
    layouts: Iterable[Layout],
    captions: Sequence[str] | None = None,
    columns: int | None = None,
    *,
    labels: bool = True,
    names: bool = False,
    legend: bool = True,
    title: str = "",
) -> Image.Image:
    """All layouts in one image; captions are the ids, unless given ([] for none)."""
    from layoutdm.pictures.png import paint

    chosen = list(layouts)
    return paint(
        compose(
            chosen,
            captions,
            columns,
            labels=labels,
            names=names,
            legend=legend,
            title=title,
            name=drawable,
        )
    )


def contact_svg(
    layouts: Iterable[Layout],
    captions: Sequence[str] | None = None,
    columns: int | None = None,
    *,
    labels: bool = True,
    names: bool = False,
    legend: bool = True,
    title: str = "",
) -> str:
    """All layouts in one SVG document."""
    from layoutdm.pictures.svg import paint

    drawing = compose(
        list(layouts), captions, columns, labels=labels, names=names, legend=legend, title=title
    )
    return paint(drawing, background=BACKGROUND)


def contact_page(
    layouts: Iterable[Layout],
    captions: Sequence[str] | None = None,
    columns: int | None = None,
    *,
    labels: bool = True,
    names: bool = False,
    legend: bool = True,
    title: str = "Layouts",
) -> str:
    """All layouts on one self-contained HTML page that adapts to the window's width."""
    from layoutdm.pictures.html import contact_html

    chosen = list(layouts)
    grid, texts = plan(chosen, columns), caption_texts(chosen, captions)
    return contact_html(
        chosen, texts, grid, columns, labels=labels, names=names, legend=legend, title=title
    )

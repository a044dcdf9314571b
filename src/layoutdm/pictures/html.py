"""HTML pages: one self-contained file without scripts (write only).

>>> from layoutdm import Layout
>>> page = to_html(Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]]), mode="grid")
>>> "grid-template-columns" in page
True

In mode "absolute" every element has its place in percent of the canvas. In mode "grid" the
canvas is a CSS grid whose lines are the layout's own edges, a start for a real page; a note says
which elements share cells. What the user calls an element is its `id`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.pictures import palette, scene, svg
from layoutdm.pictures.css_grid import MOST_PAIRS, TOLERANCE, Cell, CssGrid, derive, tracks
from layoutdm.pictures.drawing import BACKGROUND, HAIRLINE, INK, QUIET_INK
from layoutdm.pictures.output import write_pictures
from layoutdm.pictures.palette import Scheme
from layoutdm.pictures.sheet import Grid, contact_page, fit
from layoutdm.pictures.svg import number
from layoutdm.pictures.tags import Tag, place
from layoutdm.pictures.typeface import clean

MODES = ("absolute", "grid")
_LISTED = 8  # pairs of elements in a note
_TEXT_SIZE = 12.0  # pixels, of the names on a canvas of full size

_STYLE = f"""\
* {{ box-sizing: border-box; }}
body {{ margin: 0; padding: 24px; background: {BACKGROUND}; color: {INK};
  font: 14px/1.4 {svg.FONTS}; }}
h1 {{ font-size: 18px; font-weight: 600; margin: 0 0 16px; overflow-wrap: anywhere; }}
.legend {{ display: flex; flex-wrap: wrap; gap: 6px 18px; margin: 18px 0 0; padding: 0;
  list-style: none; }}
.legend li {{ display: flex; align-items: center; gap: 7px; max-width: 100%; }}
.legend i {{ flex: none; width: 14px; height: 14px; border-radius: 3px; }}
.legend span {{ overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  max-width: 240px; }}
.legend b, h1 b, figcaption, .empty, .note {{ font-weight: 400; color: {QUIET_INK}; }}
"""

_CANVAS_STYLE = f"""\
main {{ display: flex; flex-wrap: wrap; gap: 24px; align-items: flex-start; }}
main .legend {{ margin: 0; }}
main.column .legend {{ flex-direction: column; }}
.canvas {{ position: relative; max-width: 100%; container-type: inline-size; background: #fff;
  box-shadow: 0 0 0 1px {HAIRLINE}; }}
.element {{ border: 1.5px solid; border-radius: 3px; min-width: 0; min-height: 0; }}
.element:hover {{ outline: 2px solid {INK}; }}
.name {{ position: absolute; z-index: 1; line-height: 1.16; white-space: nowrap;
  pointer-events: none; paint-order: stroke; -webkit-text-stroke: 0.25em rgb(255 255 255 / 80%); }}
.empty {{ position: absolute; inset: 0; display: grid; place-items: center; overflow: hidden; }}
"""

_CONTACT_STYLE = """\
main { display: grid; gap: 22px; justify-content: start; }
figure { margin: 0; min-width: 0; }
figure svg { display: block; width: 100%; height: auto; max-height: 90vh; overflow: visible; }
figcaption { font-size: 12px; text-align: center; padding-top: 6px; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; }
figure rect[data-label]:hover { stroke-width: 2.5px; fill-opacity: 0.6; }
"""


def to_html(
    layout: Layout,
    mode: str = "absolute",
    *,
    labels: bool = True,
    names: bool = False,
    tolerance: float = TOLERANCE,
    scheme: Scheme | None = None,
) -> str:
    """One layout as a page; `tolerance` says how far apart edges may be to become one grid line."""
    if mode not in MODES:
        raise LayoutdmError(f"html mode must be one of {', '.join(MODES)}, got {mode!r}")
    colours = scheme or palette.scheme(layout.labels)
    width, height = _canvas(layout)
    grid = derive(layout, tolerance) if mode == "grid" else None
    if grid is None:
        style, note = "", ""
        places = [_percent(box) for box in (100 * layout.left_top()).tolist()]
        boxes = scene.pixel_boxes(layout, width, height)
    else:
        style, note = _grid_style(grid), overlap_note(layout, tolerance)
        places = [_area(cell) for cell in grid.cells]
        boxes = [
            (left * width, top * height, right * width, bottom * height)
            for left, top, right, bottom in grid.corners()
        ]
    lines = _elements(layout, places, colours)
    if labels:
        called = scene.own_names(layout)
        texts = [c if names and c else n for c, n in zip(called, layout.labels, strict=True)]
        tags = place(boxes, list(map(clean, texts)), _TEXT_SIZE, width, height)
        inks = [colours.ink(label) for label in layout.labels]
        lines += [_name(inks[i], tag, width, height) for i, tag in enumerate(tags) if tag]
    if not len(layout):
        lines.append('<div class="empty">empty layout</div>')
    shape = f"aspect-ratio: {number(width)} / {number(height)}; width: {number(width)}px;{style}"
    title = clean(layout.id) if layout.id else "Layout"
    direction = "row" if width > height else "column"
    body = [f"<h1>{escape(title)}</h1>", f'<main class="{direction}">']
    body += [f'<div class="canvas" style="{shape}">', *lines, "</div>"]
    body += [_legend([layout], colours), "</main>"]
    if note:
        body.append(f'<p class="note">{escape(note)}</p>')
    return _page(title, _CANVAS_STYLE, "\n".join(body))


def overlap_note(layout: Layout, tolerance: float = TOLERANCE) -> str:
    """What to know of a layout as a grid: which elements share cells; "" when none do.

    >>> overlap_note(Layout.create(["a", "b"], [[0.5, 0.5, 1, 1], [0.5, 0.5, 0.2, 0.2]]))
    '1 pair of elements shares cells and lies on top of each other: a and b'
    """
    pairs = derive(layout, tolerance).overlapping()
    if not pairs:
        return ""
    called = [
        clean(name or label)
        for name, label in zip(scene.own_names(layout), layout.labels, strict=True)
    ]
    listed = ", ".join(f"{called[a]} and {called[b]}" for a, b in pairs[:_LISTED])
    more = f", and {len(pairs) - _LISTED:,} more" if len(pairs) > _LISTED else ""
    if len(pairs) == 1:
        return f"1 pair of elements shares cells and lies on top of each other: {listed}"
    least = "at least " if len(pairs) >= MOST_PAIRS else ""
    many = f"{least}{len(pairs):,} pairs of elements share cells and lie on top of each other"
    return f"{many}: {listed}{more}"


def _grid_style(grid: CssGrid) -> str:
    return (
        f" display: grid; grid-template-columns: {tracks(grid.columns)}; "
        f"grid-template-rows: {tracks(grid.rows)};"
    )


def _elements(layout: Layout, places: Sequence[str], colours: Scheme) -> list[str]:
    """One element of the page for each box, the largest first."""
    called, ids, areas = scene.own_names(layout), svg.Unique(), layout.areas.tolist()
    lines = []
    for index in scene.paint_order(layout):
        label = layout.labels[index]
        named = ""
        if called[index]:
            name = clean(called[index])
            named = f'id="{escape(ids.take(name))}" data-name="{escape(name)}" '
        lines.append(_element(label, named, areas[index], places[index], colours))
    return lines


def write(
    layouts: Iterable[Layout],
    path: Path,
    *,
    mode: str = "absolute",
    labels: bool = True,
    names: bool = False,
    legend: bool = True,
    columns: int | None = None,
    captions: bool = True,
    tolerance: float = TOLERANCE,
) -> Path:
    """One layout: its page. Several: a contact page. A folder as path: one page each."""

    def one(layout: Layout, target: Path, scheme: Scheme) -> None:
        page = to_html(layout, mode, labels=labels, names=names, tolerance=tolerance, scheme=scheme)
        target.write_text(page, encoding="utf-8")

    def many(all_layouts: list[Layout], target: Path) -> None:
        given: list[str] | None = None if captions else []
        page = contact_page(all_layouts, given, columns, labels=labels, names=names, legend=legend)
        target.write_text(page, encoding="utf-8")

    if mode not in MODES:
        raise LayoutdmError(f"html mode must be one of {', '.join(MODES)}, got {mode!r}")
    return write_pictures(layouts, path, ".html", one, many)


def contact_html(
    layouts: Sequence[Layout],
    captions: Sequence[str],
    grid: Grid,
    columns: int | None,
    *,
    labels: bool,
    names: bool,
    legend: bool,
    title: str,
) -> str:
    """The page behind `sheet.contact_page`: every layout as inline SVG with its caption."""
    colours = palette.scheme(label for layout in layouts for label in layout.labels)
    width = round(min(grid.cell_width, 360))
    repeat = str(columns) if columns else "auto-fill"
    track = f"minmax(0, {width}px)" if columns else f"minmax(min(100%, {width}px), {width}px)"
    figures = []
    for index, layout in enumerate(layouts):
        wide, high = fit(layout, grid)
        drawing = scene.picture(
            layout, wide, high, font=grid.font, labels=labels, names=names, scheme=colours
        )
        share = number(100 * wide / grid.cell_width)
        picture = svg.paint(drawing, inline=True).replace(
            "<svg ", f'<svg style="width: {share}%; margin: 0 auto" ', 1
        )
        caption = f"<figcaption>{escape(clean(captions[index]))}</figcaption>" if captions else ""
        figures.append(f"<figure>{picture}{caption}</figure>")
    style = _CONTACT_STYLE + f"main {{ grid-template-columns: repeat({repeat}, {track}); }}\n"
    heading = f"<h1>{escape(clean(title))} <b>{len(layouts)}</b></h1>"
    body = [heading, "<main>", *figures, "</main>", _legend(layouts, colours) if legend else ""]
    return _page(clean(title), style, "\n".join(body))


def _page(title: str, style: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE}{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _canvas(layout: Layout) -> tuple[float, float]:
    """Pixels of the canvas on the page: as large as fits an ordinary window."""
    scale = min(1100 / layout.width, 860 / layout.height)
    return max(layout.width * scale, 24.0), max(layout.height * scale, 24.0)


def _percent(box: Sequence[float]) -> str:
    left, top, wide, high = box
    return (
        f"position: absolute; left: {left:.4g}%; top: {top:.4g}%; "
        f"width: {wide:.4g}%; height: {high:.4g}%;"
    )


def _area(cell: Cell) -> str:
    return f"grid-area: {cell.row[0]} / {cell.column[0]} / {cell.row[1]} / {cell.column[1]};"


def _element(label: str, named: str, area: float, where: str, scheme: Scheme) -> str:
    red, green, blue = palette.rgb(scheme.colour(label))
    share = round(100 * scene.opacity(area))
    colours = (
        f"background: rgb({red} {green} {blue} / {share}%); border-color: {scheme.edge(label)};"
    )
    name = escape(clean(label))
    start = f'<div class="element" {named}data-label="{name}" title="{name}"'
    return f'{start} style="{where} {colours}"></div>'


def _name(ink: str, tag: Tag, width: float, height: float) -> str:
    """Sizes in cqw, hundredths of the canvas's width, so that names scale with the canvas."""
    style = (
        f"left: {100 * tag.left / width:.4g}%; top: {100 * tag.top / height:.4g}%; "
        f"font-size: {100 * tag.size / width:.4g}cqw; color: {ink};"
    )
    return f'<span class="name" style="{style}">{escape(tag.text)}</span>'


def _legend(layouts: Sequence[Layout], scheme: Scheme) -> str:
    entries = []
    for label, count in scene.label_counts(layouts):
        red, green, blue = palette.rgb(scheme.colour(label))
        swatch = (
            f"background: rgb({red} {green} {blue} / 55%); "
            f"border: 1.5px solid {scheme.edge(label)};"
        )
        name = escape(clean(label))
        entries.append(
            f'<li title="{name}"><i style="{swatch}"></i><span>{name}</span> <b>{count}</b></li>'
        )
    return f'<ul class="legend">{"".join(entries)}</ul>' if entries else ""

"""SVG pictures: clean vector files whose text stays text (write only).

>>> from layoutdm import Layout
>>> to_svg(Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]]))[:4]
'<svg'

Units are the canvas's own pixels when it has a plausible pixel size, else 1000 on the longer side.
Every box lies exactly where its element does; its label is its tool tip and its `data-label`, and
what the user calls the element is its `id` and its `data-name`. A small window shows the picture
smaller.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from layoutdm.layout import Layout
from layoutdm.pictures import scene
from layoutdm.pictures.drawing import BACKGROUND, Drawing, Rect, Words
from layoutdm.pictures.output import write_pictures
from layoutdm.pictures.palette import Scheme

FONTS = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Noto Sans', sans-serif"


def to_svg(
    layout: Layout,
    *,
    labels: bool = True,
    names: bool = False,
    legend: bool = False,
    scheme: Scheme | None = None,
) -> str:
    """One layout as an SVG document; without a legend, the picture is the bare canvas."""
    width, height = units(layout)
    if legend:
        drawing = scene.framed(layout, width, height, labels=labels, names=names, scheme=scheme)
        return paint(drawing, background=BACKGROUND, ids=True)
    drawing = scene.picture(layout, width, height, labels=labels, names=names, scheme=scheme)
    return paint(drawing, ids=True)


def write(
    layouts: Iterable[Layout],
    path: Path,
    *,
    labels: bool = True,
    names: bool = False,
    legend: bool = False,
    columns: int | None = None,
    captions: bool = True,
) -> Path:
    """One layout: its picture. Several: a contact sheet. A folder as path: one file each."""

    def one(layout: Layout, target: Path, scheme: Scheme) -> None:
        text = to_svg(layout, labels=labels, names=names, legend=legend, scheme=scheme)
        target.write_text(text + "\n", encoding="utf-8")

    def many(all_layouts: list[Layout], target: Path) -> None:
        from layoutdm.pictures.sheet import contact_svg

        given: list[str] | None = None if captions else []
        text = contact_svg(all_layouts, given, columns, labels=labels, names=names)
        target.write_text(text + "\n", encoding="utf-8")

    return write_pictures(layouts, path, ".svg", one, many)


def units(layout: Layout) -> tuple[float, float]:
    """Width and height of the SVG canvas."""
    longest = max(layout.width, layout.height)
    scale = 1.0 if 64 <= longest <= 20_000 else 1000 / longest
    return layout.width * scale, layout.height * scale


def paint(
    drawing: Drawing, *, background: str | None = None, inline: bool = False, ids: bool = False
) -> str:
    """A drawing as an SVG document, or as an element to stand in an HTML page.

    With `ids` the elements' own names become ids; a page of several drawings must do without.
    """
    size = "" if inline else f' width="{number(drawing.width)}" height="{number(drawing.height)}"'
    size += "" if inline else ' style="max-width:100vw;max-height:100vh"'
    unique = Unique() if ids else None
    box = f"0 0 {number(drawing.width)} {number(drawing.height)}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg"{size} viewBox="{box}" role="img" '
        f"font-family={quoteattr(FONTS)}>"
    ]
    if drawing.title:
        lines.append(f"<title>{escape(drawing.title)}</title>")
    if background:
        lines.append(f'<rect width="100%" height="100%" fill="{background}"/>')
    for item in drawing.items:
        lines.append(_rect(item, unique) if isinstance(item, Rect) else _words(item))
    return "\n".join([*lines, "</svg>"])


def number(value: float) -> str:
    """Two decimals at most: finer than any screen shows, and short."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


class Unique:
    """Ids for a document: what the user calls the elements, without blanks and never twice."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def take(self, name: str) -> str:
        """
        >>> ids = Unique()
        >>> [ids.take(name) for name in ("hero", "main text", "hero")]
        ['hero', 'main-text', 'hero-2']
        """
        base = found = "-".join(name.split()) or "element"
        count = 1
        while found in self._used:
            count += 1
            found = f"{base}-{count}"
        self._used.add(found)
        return found


def _rect(rect: Rect, unique: Unique | None) -> str:
    # SVG outlines straddle the edge. Those of elements may: their boxes must be exact.
    inset = min(rect.stroke_width, rect.width, rect.height) / 2 if rect.stroke else 0.0
    moved = inset if rect.label is None else 0.0
    values = {"id": unique.take(rect.name)} if unique and rect.name else {}
    values |= {
        "x": number(rect.left + moved),
        "y": number(rect.top + moved),
        "width": number(max(rect.width - 2 * moved, 0.01)),
        "height": number(max(rect.height - 2 * moved, 0.01)),
        "fill": rect.fill,
    }
    if rect.radius:
        values["rx"] = number(min(rect.radius, rect.width / 2, rect.height / 2))
    if rect.opacity < 1:
        values["fill-opacity"] = number(rect.opacity)
    if rect.stroke:
        values |= {"stroke": rect.stroke, "stroke-width": number(2 * inset)}
    if rect.label is not None:
        values["data-label"] = rect.label
    if rect.name is not None:
        values["data-name"] = rect.name
    attributes = " ".join(f"{key}={quoteattr(value)}" for key, value in values.items())
    if rect.title is None:
        return f"<rect {attributes}/>"
    return f"<rect {attributes}><title>{escape(rect.title)}</title></rect>"


def _words(words: Words) -> str:
    values = {
        "x": number(words.left),
        "y": number(words.baseline),
        "font-size": number(words.size),
        "fill": words.colour,
    }
    if words.centred:
        values["text-anchor"] = "middle"
    if words.halo:
        values |= {
            "stroke": "#ffffff",
            "stroke-opacity": "0.85",
            "stroke-width": number(words.size / 4),
            "stroke-linejoin": "round",
            "paint-order": "stroke",
            "pointer-events": "none",
        }
    attributes = " ".join(f"{key}={quoteattr(value)}" for key, value in values.items())
    return f"<text {attributes}>{escape(words.text)}</text>"

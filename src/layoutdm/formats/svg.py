"""SVG pictures: clean vector files whose text stays text (write only).

>>> from layoutdm import Layout
>>> to_svg(Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]]))[:4]
'<svg'

Units are the canvas's own pixels when it has a plausible pixel size, else 1000 on the longer side.
Every box carries its name as tool tip and as `data-label`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from layoutdm.formats import scene
from layoutdm.formats.drawing import BACKGROUND, Drawing, Rect, Words
from layoutdm.formats.pages import write_pictures
from layoutdm.layout import Layout

FONTS = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Noto Sans', sans-serif"


def to_svg(layout: Layout, *, labels: bool = True, legend: bool = False) -> str:
    """One layout as an SVG document; without a legend, the picture is the bare canvas."""
    width, height = units(layout)
    if legend:
        return paint(scene.framed(layout, width, height, labels=labels), background=BACKGROUND)
    return paint(scene.picture(layout, width, height, labels=labels))


def write(
    layouts: Iterable[Layout],
    path: Path,
    *,
    labels: bool = True,
    legend: bool = False,
    columns: int | None = None,
    captions: bool = True,
) -> Path:
    """One layout: its picture. Several: a contact sheet. A folder as path: one file each."""

    def one(layout: Layout, target: Path) -> None:
        target.write_text(to_svg(layout, labels=labels, legend=legend) + "\n", encoding="utf-8")

    def many(all_layouts: list[Layout], target: Path) -> None:
        from layoutdm.formats.sheet import contact_svg

        text = contact_svg(all_layouts, None if captions else [], columns=columns, labels=labels)
        target.write_text(text + "\n", encoding="utf-8")

    return write_pictures(layouts, path, ".svg", one, many)


def units(layout: Layout) -> tuple[float, float]:
    """Width and height of the SVG canvas."""
    longest = max(layout.width, layout.height)
    scale = 1.0 if 64 <= longest <= 20_000 else 1000 / longest
    return layout.width * scale, layout.height * scale


def paint(drawing: Drawing, *, background: str | None = None, inline: bool = False) -> str:
    """A drawing as an SVG document, or as an element to stand in an HTML page."""
    size = "" if inline else f' width="{number(drawing.width)}" height="{number(drawing.height)}"'
    box = f"0 0 {number(drawing.width)} {number(drawing.height)}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg"{size} viewBox="{box}" role="img" '
        f"font-family={quoteattr(FONTS)}>"
    ]
    if drawing.title:
        lines.append(f"<title>{escape(drawing.title)}</title>")
    if background:
        lines.append(f'<rect width="100%" height="100%" fill="{background}"/>')
    lines += [_rect(item) if isinstance(item, Rect) else _words(item) for item in drawing.items]
    return "\n".join([*lines, "</svg>"])


def number(value: float) -> str:
    """Two decimals at most: finer than any screen shows, and short."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def _rect(rect: Rect) -> str:
    # SVG outlines straddle the edge; ours lie inside the box.
    inset = min(rect.stroke_width, rect.width, rect.height) / 2 if rect.stroke else 0.0
    values = {
        "x": number(rect.left + inset),
        "y": number(rect.top + inset),
        "width": number(max(rect.width - 2 * inset, 0.01)),
        "height": number(max(rect.height - 2 * inset, 0.01)),
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

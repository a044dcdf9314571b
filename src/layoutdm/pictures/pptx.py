"""PowerPoint: one slide per layout, every element a native rectangle (write only).

>>> from layoutdm import Layout
>>> write([Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]])], Path("deck.pptx"))  # doctest: +SKIP
PosixPath('deck.pptx')

Needs python-pptx, which the extra `pptx` brings. A deck has one slide size: that of the first
canvas; a canvas of other proportions is centred on its slide.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from layoutdm.atomic import replacing
from layoutdm.layout import Layout
from layoutdm.pictures import palette, scene
from layoutdm.pictures.output import limited
from layoutdm.pictures.typeface import clean, measure

EMU_PER_POINT = 12_700
LONGEST = 12_192_000  # 13.33 inches, the longer side of PowerPoint's usual slide
# PowerPoint's own limits: 1 to 56 inches on either side.
SHORTEST_ALLOWED, LONGEST_ALLOWED = 914_400, 51_206_400
_LARGEST_TEXT, _SMALLEST_TEXT = 14, 4  # points
_BLANK = 6  # the empty slide layout of python-pptx's own template


def write(
    layouts: Iterable[Layout], path: Path, *, labels: bool = True, names: bool = False
) -> Path:
    """One slide per layout, in order; shapes are called what the user calls the elements."""
    from pptx import Presentation

    chosen = limited(layouts, path)
    deck: Any = Presentation()
    width, height = slide_size(chosen[0]) if chosen else (LONGEST, LONGEST * 9 // 16)
    deck.slide_width, deck.slide_height = width, height
    scheme = palette.scheme(label for layout in chosen for label in layout.labels)
    for layout in chosen:
        slide = deck.slides.add_slide(deck.slide_layouts[_BLANK])
        if layout.id:
            slide._element.cSld.set("name", clean(layout.id))  # the library only reads it
        _fill(slide, layout, (width, height), labels, names, scheme)
    with replacing(Path(path)) as part:
        deck.save(str(part))
    return Path(path)


def slide_size(layout: Layout) -> tuple[int, int]:
    """EMU width and height in the canvas's proportions, within what PowerPoint allows."""
    scale = LONGEST / max(layout.width, layout.height)
    scale = max(scale, SHORTEST_ALLOWED / min(layout.width, layout.height))
    scale = min(scale, LONGEST_ALLOWED / max(layout.width, layout.height))
    sides = (round(side * scale) for side in (layout.width, layout.height))
    width, height = (min(max(side, SHORTEST_ALLOWED), LONGEST_ALLOWED) for side in sides)
    return width, height


def _fill(
    slide: Any,
    layout: Layout,
    size: tuple[int, int],
    labels: bool,
    names: bool,
    scheme: palette.Scheme,
) -> None:
    from pptx.enum.shapes import MSO_SHAPE

    width, height = size
    called, boxes = scene.own_names(layout), layout.left_top().tolist()
    areas = layout.areas.tolist()
    scale = min(width / layout.width, height / layout.height)
    wide, high = layout.width * scale, layout.height * scale
    right, down = (width - wide) / 2, (height - high) / 2
    for index in scene.paint_order(layout):
        label = layout.labels[index]
        left, top, w, h = boxes[index]
        place = [right + left * wide, down + top * high, max(1, w * wide), max(1, h * high)]
        shape = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, *(round(v) for v in place))
        shape.name = clean(called[index] or label)
        _paint(shape, label, areas[index], scheme)
        if labels:
            text = called[index] if names and called[index] else label
            _caption(shape, clean(text), place[2], place[3], scheme.ink(label))


def _paint(shape: Any, label: str, area: float, scheme: palette.Scheme) -> None:
    from pptx.oxml.ns import qn
    from pptx.util import Pt

    shape.shadow.inherit = False
    shape.fill.solid()
    shape.fill.fore_color.rgb = _rgb(scheme.colour(label))
    # python-pptx has no name for transparency; the file format says it in thousandths of a percent.
    colour = shape.fill._xPr.find(qn("a:solidFill"))[0]
    alpha = colour.makeelement(qn("a:alpha"), {"val": str(round(100_000 * scene.opacity(area)))})
    colour.append(alpha)
    shape.line.color.rgb = _rgb(scheme.edge(label))
    shape.line.width = Pt(1)


def _rgb(hex_colour: str) -> Any:
    from pptx.dml import color

    make: Any = color.RGBColor  # the library leaves it untyped
    return make(*palette.rgb(hex_colour))


def _caption(shape: Any, text: str, width: float, height: float, ink: str) -> None:
    from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
    from pptx.util import Pt

    room = (width / EMU_PER_POINT - 4, height / EMU_PER_POINT)
    size = min(_LARGEST_TEXT, room[1] / 1.25, room[0] / max(measure(text, 1.0), 0.1))
    frame = shape.text_frame
    frame.margin_left = frame.margin_right = Pt(2)
    frame.margin_top = frame.margin_bottom = 0
    frame.word_wrap = False
    frame.vertical_anchor = MSO_ANCHOR.TOP
    paragraph = frame.paragraphs[0]
    paragraph.alignment = PP_ALIGN.LEFT
    run = paragraph.add_run()
    run.text = text
    run.font.size = Pt(max(round(size), _SMALLEST_TEXT))
    run.font.color.rgb = _rgb(ink)

"""A page as a PDF: text that can be selected, rules, and pictures, at the same places.

A scanned page is one picture with the words invisible above it, as text recognition leaves it; so
is a page in a script whose letters join or run from the right, since a PDF's writer knows neither.
"""

from __future__ import annotations

import hashlib
import io
from functools import cache
from typing import Any

from PIL import Image

from layoutdm.errors import LayoutdmError
from layoutdm.pages.render import Page
from layoutdm.pages.sheet import Area, Picture, Written
from layoutdm.pages.typefaces import BOX, has, is_shaped

POINTS = 842.0  # height of an upright page, or width of a landscape one


def to_pdf(page: Page) -> bytes:
    """One page, the same bytes for the same page."""
    try:
        from reportlab.pdfgen.canvas import Canvas
    except ImportError:
        raise LayoutdmError("--pdf needs the package reportlab; install layoutdm[pages]") from None
    width, height = page.image.size
    scale = POINTS / max(width, height)
    store = io.BytesIO()
    canvas = Canvas(store, pagesize=(width * scale, height * scale), invariant=1)
    canvas.setTitle(page.truth.id)
    canvas.scale(scale, scale)
    written = [mark for mark in page.marks if isinstance(mark, Written)]
    files = {mark.face.file(mark.text) for mark in written}
    joined = any(is_shaped(mark.text) for mark in written)
    if page.scanned or joined or any(_font(file) is None for file in files):
        _picture(canvas, page.image, 0, 0, height)
        _invisible(canvas, page, [BOX[0].regular, *sorted(files)], height)
    else:
        canvas.setFillColorRGB(*(v / 255 for v in page.paper))
        canvas.rect(0, 0, width, height, stroke=0, fill=1)
        for mark in page.marks:
            if isinstance(mark, Written):
                _write(canvas, mark, height)
            elif isinstance(mark, Area):
                left, top, right, bottom = mark.box
                canvas.setFillColorRGB(*(v / 255 for v in mark.colour))
                canvas.rect(left, height - bottom, right - left, bottom - top, stroke=0, fill=1)
            elif isinstance(mark, Picture):
                _picture(canvas, mark.image, mark.left, mark.top, height)
    canvas.showPage()
    canvas.save()
    return store.getvalue()


def _write(canvas: Any, mark: Written, height: int) -> None:
    from reportlab.pdfbase.pdfmetrics import stringWidth

    name = _font(mark.face.file(mark.text))
    natural = stringWidth(mark.text, name, mark.face.size)
    text = canvas.beginText()
    text.setFont(name, mark.face.size)
    text.setFillColorRGB(*(v / 255 for v in mark.colour))
    if natural > 0:  # as wide as in the picture, where advances are whole pixels
        text.setHorizScale(100 * mark.advance / natural)
    if mark.turned:
        text.setTextTransform(0, 1, -1, 0, mark.x, height - mark.y)
    else:
        text.setTextOrigin(mark.x, height - mark.y)
    text.textOut(mark.text + " ")
    canvas.drawText(text)


def _invisible(canvas: Any, page: Page, files: list[str], height: int) -> None:
    """The words above a picture, each in a font of the page that has its letters."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    usable = [file for file in files if _font(file) is not None]
    for block in page.truth.blocks:
        for word in block.words:
            name = _font(next((file for file in usable if has(file, word.text)), usable[0]))
            left, top, right, bottom = word.box
            size = max(1.0, bottom - top)
            natural = stringWidth(word.text, name, size)
            text = canvas.beginText()
            text.setTextRenderMode(3)
            text.setFont(name, size)
            if natural > 0:
                text.setHorizScale(100 * (right - left) / natural)
            text.setTextOrigin(left, height - bottom)
            text.textOut(word.text + " ")
            canvas.drawText(text)


def _picture(canvas: Any, image: Image.Image, left: int, top: int, height: int) -> None:
    from reportlab.lib.utils import ImageReader

    # Twice encoded pictures would be larger and worse; PDF keeps JPEG data as it is.
    store = io.BytesIO()
    image.save(store, "JPEG", quality=90)
    store.seek(0)
    place = (left, height - top - image.height, image.width, image.height)
    canvas.drawImage(ImageReader(store), *place)


@cache
def _font(path: str) -> str | None:
    """The font's name in the PDF; None if it is of a kind that cannot be put into one."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFError, TTFont

    name = "F" + hashlib.sha256(path.encode()).hexdigest()[:10]
    try:
        pdfmetrics.registerFont(TTFont(name, path))
    except (TTFError, OSError):
        return None
    return name

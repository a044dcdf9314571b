"""Running text: paragraphs, headings, captions, footnotes, page headers and footers."""

from __future__ import annotations

from collections.abc import Iterator

from layoutdm.pages import vocabulary
from layoutdm.pages.blocks.brush import Brush
from layoutdm.pages.content import JOINER, Text, date, person
from layoutdm.pages.fitting import (
    Flow,
    Lines,
    fit_lines,
    flow,
    last_share,
    lead_in,
    one_line,
    set_line,
    set_text,
)
from layoutdm.pages.truth import Box

TITLE_FROM = 0.45  # of the page's width: a heading this wide near the top is the page's title
TITLE_WITHIN = 0.35
NARROW = 7.0  # sizes: a heading of so little width has one or two words
SHORT = 9.0  # sizes: a line of so little width is no sentence
STRIP = 2.4  # sizes: a narrower box that is much taller than wide has its text sideways
PATIENCE = 40  # words that may be too wide for a heading one after the other
TALL = 2.0  # lines: from this height on a page header has several


def paragraph(brush: Brush, box: Box) -> None:
    """Body text, justified or ragged, with the page's own size."""
    style, random = brush.style, brush.random
    lines = fit_lines(box[3] - box[1], style.face(), style.leading)
    indent = style.indent * lines.face.size if lines.count > 2 else 0.0
    how = Flow(style.justified, min(indent, 0.2 * (box[2] - box[0])),
               last=last_share(random, lines.count), stop=not brush.text.own)  # fmt: skip
    words = brush.text.prose(random)
    if lines.count == 1 and box[2] - box[0] < SHORT * lines.face.size:
        words = _heading_words(brush, True, lines, box[2] - box[0], False)  # a name, a label
        how = Flow(justified=False, title=True)
    set_text(brush.sheet, box, words, lines, style.ink, how)


def heading(brush: Brush, box: Box) -> None:
    """A title or section heading: its size comes from the box, within what is usual."""
    style, random, sheet = brush.style, brush.random, brush.sheet
    width, height = box[2] - box[0], box[3] - box[1]
    top = box[1] < TITLE_WITHIN * sheet.image.height and width > TITLE_FROM * sheet.image.width
    largest = 2.6 if top and height > 1.6 * style.size else 1.35
    base = style.heading(style.size)
    wanted = min(max(height / base.line, 0.8), largest)
    if wanted * base.line * 1.6 < height:  # too tall for one line: two or more
        wanted = min(wanted, max(1.2, height / base.line / 2.2))
    size = min(style.size * wanted, max(width / 4, 5.0))  # a word has about four sizes' width
    lines = fit_lines(height, style.heading(size), 1.15, least=0.8, most=1.2)
    flat = lines.count == 1 and lines.face.size < 0.95 * style.size
    capitals = style.capitals and not top and lines.count == 1
    if flat or capitals:  # capitals have no descenders, so that a flat box holds a larger size
        most = style.size * (1.35 if capitals else 1.0)
        size = min(most, lines.face.size * height / max(lines.face.ascent + 0.5, 1))
        face = style.heading(size)
        lines = Lines(face, 1, min(face.ascent, height), 0.0)
    words = _heading_words(brush, top, lines, width, flat)
    colour = style.accent if style.heads_in_colour else style.ink
    last = 1.0 if lines.count == 1 else random.uniform(0.5, 1.0)
    set_text(sheet, box, words, lines, colour, Flow(justified=False, last=last, title=True))


def _heading_words(
    brush: Brush, top: bool, lines: Lines, width: float, flat: bool
) -> Iterator[str]:
    """Words that are no wider than the box, so that none is left out and the first is a capital."""
    style, random, text = brush.style, brush.random, brush.text
    sizes = width / max(lines.face.size, 1)
    capitals = flat or (style.capitals and not top)
    start: list[str] = []
    if not top and not text.own and text.name == "en" and random.random() < 0.6:
        fitting = [s for s in vocabulary.SECTIONS if 0.3 * sizes < 0.52 * len(s) < 0.95 * sizes]
        if fitting and lines.count == 1:
            chosen = random.choice(fitting)
            yield from (chosen.upper() if capitals else chosen).split()
            return
    if style.numbered and not top and sizes >= NARROW:
        start = [f"{random.randint(1, 7)}.{random.randint(1, 5)}"]
    # A narrow box holds a word or two: names of things, not the little words between them.
    narrow = sizes < NARROW * min(lines.count, 2)
    index = 0
    for word in lead_in(start, _phrases(text, brush, 1 if narrow else 9 * lines.count)):
        shown = word.upper() if capitals else word
        shown = shown[:1].upper() + shown[1:] if index == len(start) else shown
        if lines.face.width(shown) <= width - 2:
            index += 1
            yield shown


def _phrases(text: Text, brush: Brush, count: int) -> Iterator[str]:
    for _ in range(PATIENCE):
        yield from text.phrase(brush.random, count)


def is_sideways(brush: Brush, box: Box) -> bool:
    """Whether a box is a strip along the page's edge, whose text runs upwards."""
    width, height = box[2] - box[0], box[3] - box[1]
    return width < STRIP * brush.style.size and height > 3 * width


def sideways(brush: Brush, box: Box) -> None:
    """Lines that run from the foot of a narrow strip to its top, as stamps in margins do."""
    style, sheet = brush.style, brush.sheet
    left, top, right, bottom = box
    lines = fit_lines(right - left, style.face(0.9), style.leading)
    words = brush.text.prose(brush.random)
    rows = flow(words, lines.face, bottom - top - 2, lines.count, Flow(justified=False))
    for number, row in enumerate(rows):
        y = bottom - 1.0
        for word in row:
            y -= 0.0 if word is row[0] or word[0] == JOINER else lines.face.space
            x = left + lines.first_baseline + number * lines.leading
            sheet.write(word, x, y, lines.face, style.ink, turned=True)
            y -= lines.face.width(word.lstrip(JOINER))
        sheet.line += 1


def tiny(brush: Brush, box: Box) -> None:
    """One short word or number, as large as fits: for boxes in which no line found room."""
    left, top, right, bottom = box
    for size in range(min(round(bottom - top) + 2, 14), 3, -1):
        face = brush.style.face(size / brush.style.size)
        for word in (*brush.text.phrase(brush.random, 3), str(brush.page % 9 + 1)):
            glyphs = face.word(word)
            wide, tall = glyphs.ink[2] - glyphs.ink[0], glyphs.ink[3] - glyphs.ink[1]
            if 0 < wide <= right - left and 0.6 * (bottom - top) <= tall <= bottom - top:
                return brush.sheet.write(word, left, bottom - glyphs.ink[3], face, brush.style.ink)
    return None


def caption(brush: Brush, box: Box, lead: list[str] | None = None) -> None:
    """`Figure 3.` and a sentence, smaller than the body; `lead` are other words to begin with."""
    style, random = brush.style, brush.random
    lines = fit_lines(box[3] - box[1], style.face(0.9), style.leading)
    number = random.randint(1, 9)
    if lead is None:
        # The word for a figure is known in English only.
        english = not brush.text.own and brush.text.name == "en"
        lead = style.caption.format(number).split() if english else [f"{number}."]
    how = Flow(style.justified, last=last_share(random, lines.count), stop=not brush.text.own)
    set_text(brush.sheet, box, lead_in(lead, brush.text.prose(random)), lines, style.ink, how)


def footnote(brush: Brush, box: Box) -> None:
    """A small note with its number in front."""
    style, random = brush.style, brush.random
    lines = fit_lines(box[3] - box[1], style.face(0.8), style.leading)
    mark = random.choice(("1", "2", "3", "*", "†"))
    words = lead_in([mark], brush.text.prose(random))
    how = Flow(style.justified, last=last_share(random, lines.count), stop=not brush.text.own)
    set_text(brush.sheet, box, words, lines, style.ink, how)


def running(brush: Brush, box: Box) -> None:
    """A page header or footer: a number, a running title, a date, a name."""
    style, random, sheet = brush.style, brush.random, brush.sheet
    left, top, right, bottom = box
    height = bottom - top
    if height > TALL * style.face().line:  # an address, a notice: as running text
        return caption(brush, box, lead=[])
    # Figures have no descenders, so a line of them is to fill two thirds of the box.
    size = max(0.82 * style.size, height)
    face = one_line(height, style.face(size / style.size)).face
    y = top + (height + face.ascent - face.descent) / 2
    number = str(brush.page + 1)
    title = brush.text.phrase(random, 4)
    title[0] = title[0][:1].upper() + title[0][1:]
    side = random.choice((title, date(random).split(), [person(random)], title))
    fits = sum(face.width(w) + face.space for w in side) + 3 * face.space
    if right - left < fits + face.width(number):
        words = [number] if face.width(number) < right - left else ["1"]
        if right - left > 4 * face.size:
            words = _fitting(side, face.width, face.space, right - left)
        set_line(sheet, words or [number], (left, right), y, face, style.ink, justified=False)
        return None
    set_line(sheet, side, (left + 1, right), y, face, style.ink, justified=False)
    sheet.line += 1
    sheet.write(number, right - face.width(number) - 1, y, face, style.ink)
    return None


def _fitting(words: list[str], width: object, space: float, room: float) -> list[str]:
    kept: list[str] = []
    used = 0.0
    for word in words:
        used += width(word) + (space if kept else 0.0)  # type: ignore[operator]
        if used > room:
            break
        kept.append(word)
    return kept

"""Lists: items with marks and a hanging indent; bibliographies, too."""

from __future__ import annotations

from collections.abc import Iterator

from layoutdm.pages.blocks.brush import Brush
from layoutdm.pages.content import reference
from layoutdm.pages.fitting import NARROW, Flow, ended, fit_lines, flow, lead_in, set_line
from layoutdm.pages.truth import Box


def listing(brush: Brush, box: Box, *, single: bool = False) -> None:
    """As many items as the box holds; `single` is one item alone."""
    style, random, sheet = brush.style, brush.random, brush.sheet
    left, top, right, bottom = box
    references = not single and style.mark in ("[1]", "1.") and random.random() < 0.6
    references = references or (not single and sheet.entry > 0)
    lines = fit_lines(bottom - top, style.face(0.92 if references else 1.0), style.leading)
    face = lines.face
    number = random.randint(1, 6) if single else 1
    if references:
        number = sheet.entry + 1 if sheet.entry else random.randint(1, 30)
    widest = 13 if "a" in style.mark else number + 9  # m, or one figure more
    hang = min(max(face.width(_mark(style.mark, widest)) + face.space, face.size),
               0.3 * (right - left))  # fmt: skip
    done = 0
    while done < lines.count:
        rest = lines.count - done
        count = rest if single else min(rest, random.choice((1, 1, 2, 2, 3)))
        words: Iterator[str] = brush.text.prose(random)
        if references:
            words = lead_in(reference(random, brush.text), iter(()))
            count = min(rest, 3)
        last = random.uniform(0.4, 1.0) if not references and lines.count > 1 else 1.0
        room = right - left - hang - 2
        justified = style.justified and room >= NARROW * face.size
        rows = flow(words, face, room, count, Flow(justified, last=last))
        if not rows:
            return
        if not references and not brush.text.own:
            rows = ended(rows, face, room)
        y = top + lines.first_baseline + done * lines.leading
        sheet.write(_mark(style.mark, number), left + 1, y, face, style.ink)
        for index, row in enumerate(rows):
            full = justified and index < len(rows) - 1
            y = top + lines.first_baseline + (done + index) * lines.leading
            set_line(sheet, row, (left + hang + 1, right - 1), y, face, style.ink, justified=full)
            sheet.line += 1
        done += len(rows)
        sheet.entry = number if references else sheet.entry
        number += 1


def _mark(mark: str, number: int) -> str:
    """
    >>> _mark("(1)", 3), _mark("a)", 3), _mark("•", 3)
    ('(3)', 'c)', '•')
    """
    if "1" in mark:
        return mark.replace("1", str(number))
    return mark.replace("a", chr(ord("a") + (number - 1) % 26)) if "a" in mark else mark

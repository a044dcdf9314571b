"""Text into a box by the line: how many lines, which size, where each word stands.

>>> from layoutdm.pages.typefaces import BOX, Face
>>> plan = fit_lines(60.0, Face(BOX[0].regular, 12.0), 1.25)
>>> plan.count, plan.first_baseline + (plan.count - 1) * plan.leading <= 60
(4, True)
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from random import Random

from layoutdm.pages import vocabulary
from layoutdm.pages.content import JOINER
from layoutdm.pages.hyphens import parted
from layoutdm.pages.sheet import Colour, Sheet
from layoutdm.pages.truth import Box
from layoutdm.pages.typefaces import Face

TIGHTEST = 1.04  # leading of the closest lines, as a multiple of a line's ink
SMALLER, LARGER = 0.985, 1.015  # how far a size may leave the page's own to fill a box
WIDEST = 16.0  # spaces of a justified line, as a multiple of the font's
NARROW = 13.0  # sizes: narrower columns are ragged, since their spaces would be rivers
LEAST_FILLED = 0.78  # of a box by one line; what has no descenders is a fifth lower
STANDS_OUT = 2.5  # what another size than the page's costs, against an empty part of the box

BEGUN = 5  # words: a sentence of fewer at the end of a text is a piece of one

# Words that no English sentence ends with.
LITTLE = {"a", "an", "and", "at", "because", "between", "but", "by", "each", "et", "for", "from"}
LITTLE |= {"in", "of", "or", "that", "the", "this", "to", "under", "whereas", "while", "with"}
OPEN = LITTLE | set(vocabulary.ADJECTIVES) | {"al.,"}


@dataclass(frozen=True)
class Lines:
    """So many lines of this face; the first baseline and the rest below it, from the box's top."""

    face: Face
    count: int
    first_baseline: float
    leading: float


def fit_lines(height: float, face: Face, leading: float, *, least: float = SMALLER,
              most: float = LARGER) -> Lines:  # fmt: skip
    """The number of lines that fills the height best with a size near the face's.

    The first line's ascenders reach the top of the box and the last line's descenders its foot.
    """
    best: tuple[float, Lines] | None = None
    usual = max(1, round((height - face.line) / (leading * face.line)) + 1)
    for count in {max(1, usual - 1), usual, usual + 1}:
        ideal = height / (face.line * (1 + leading * (count - 1)))
        scale = min(max(ideal, least), most)
        sized = _at_most(
            face, scale, height if count == 1 else height / (1 + TIGHTEST * (count - 1))
        )
        step = (height - sized.line) / (count - 1) if count > 1 else 0.0
        step = min(step, 1.25 * leading * sized.line)
        filled = (sized.line + step * (count - 1)) / height
        cost = STANDS_OUT * abs(sized.size / face.size - 1) + 1.5 * (1 - filled)
        cost += 1.0 if count == 1 and filled < LEAST_FILLED else 0.0
        cost += 0.5 * abs(step / (leading * sized.line) - 1) if count > 1 else 0.0
        if best is None or cost < best[0]:
            best = (cost, Lines(sized, count, sized.ascent, step))
    assert best is not None
    return best[1]


def one_line(height: float, face: Face) -> Lines:
    """The face, or a smaller size of it that fits the height, on a single line."""
    sized = _at_most(face, 1.0, height)
    return Lines(sized, 1, sized.ascent, 0.0)


def _at_most(face: Face, scale: float, line: float) -> Face:
    """The face scaled, and smaller still if a line of it would be taller than `line`."""
    sized = Face(face.path, face.size * scale)
    while sized.line > line and sized.size > 2.0:
        sized = Face(face.path, min(sized.size * line / sized.line, sized.size - 0.5))
    return sized


@dataclass(frozen=True)
class Flow:
    """How words run: `last` is the share of the width that the last line fills."""

    justified: bool = True
    indent: float = 0.0
    hang: float = 0.0  # what later lines are moved in by
    last: float = 1.0
    centred: bool = False
    stop: bool = False  # the last word ends a sentence, whatever it was
    title: bool = False  # the last word is no little one, such as "of"

    def skips(self, word: str) -> bool:
        """Whether the text may go on without this word: filler inside a sentence, never one's own.

        >>> Flow(stop=True).skips("area"), Flow(stop=True).skips("(Fig."), Flow().skips("area")
        (True, False, False)
        """
        return (self.stop or self.title) and word.isalpha()


def flow(words: Iterator[str], face: Face, width: float, count: int, how: Flow) -> list[list[str]]:
    """The words of each of `count` lines; words come from the iterator as they are needed."""
    lines: list[list[str]] = []
    kept: str | None = None
    for number in range(count):
        room = width - (how.indent if number == 0 else how.hang)
        if number == count - 1:
            room *= how.last
        line: list[str] = []
        used = 0.0
        tries = 0
        while True:
            word = kept if kept is not None else next(words, None)
            kept = None
            if word is None:
                break
            size = face.width(word.lstrip(JOINER))
            gap = face.space if line and word[0] != JOINER else 0.0
            if used + gap + size <= room:
                line.append(word)
                used += gap + size
                continue
            tries += 1
            if not line and tries < 8:
                continue  # a word wider than the line: a shorter one may come
            if not line:  # none did: as much of it as fits
                short = _cut(word, face, room)
                if short:
                    line.append(short)
                break
            if number == count - 1 and tries < 4 and used < 0.9 * room and how.skips(word):
                continue  # another word may fill the last line better
            kept = word
            if how.justified and number < count - 1:
                head, rest = parted(word, face, room - used - gap)
                if head:
                    line.append(head)
                    kept = rest
            break
        if not line:
            break
        lines.append(line)
    return lines


def _cut(word: str, face: Face, room: float) -> str:
    for end in range(len(word) - 1, 0, -1):
        if face.width(word[:end].lstrip(JOINER)) <= room:
            return word[:end] if word[:end] != JOINER else ""
    return ""


def right_to_left(words: list[str]) -> bool:
    """Whether most letters of a line belong to a script that is written from the right."""
    if all(word.isascii() for word in words):
        return False
    kinds = [unicodedata.bidirectional(c) for c in "".join(words)]
    return 2 * sum(k in ("R", "AL") for k in kinds) > sum(k in ("L", "R", "AL") for k in kinds)


def set_line(
    sheet: Sheet, words: list[str], box: tuple[float, float], y: float, face: Face,
    colour: Colour, *, justified: bool, centred: bool = False,
) -> None:  # fmt: skip
    """Write one line between left and right; from the right where its script runs so."""
    left, right = box
    y = sheet.baseline(words, y, face)
    sizes = [face.width(word.lstrip(JOINER)) for word in words]
    gaps = sum(word[0] != JOINER for word in words[1:])
    free = right - left - sum(sizes)
    space = face.space
    if justified:
        if gaps and free / gaps <= WIDEST * max(space, 1.0):
            space = free / gaps
        elif not gaps and len(words) > 3 and free / (len(words) - 1) < 0.3 * face.size:
            return _spread(sheet, words, sizes, left, free / (len(words) - 1), y, face, colour)
    x = left + max(0.0, (free - gaps * space) / 2) if centred else left
    if right_to_left(words):
        x = right - (x - left)
        for index, (word, size) in enumerate(zip(words, sizes, strict=True)):
            x -= size + (space if index and word[0] != JOINER else 0.0)
            sheet.write(word, x, y, face, colour)
        return None
    for index, (word, size) in enumerate(zip(words, sizes, strict=True)):
        x += space if index and word[0] != JOINER else 0.0
        sheet.write(word, min(x, right - size), y, face, colour)
        x += size
    return None


def _spread(
    sheet: Sheet, words: list[str], sizes: list[float], x: float, gap: float, y: float,
    face: Face, colour: Colour,
) -> None:  # fmt: skip
    """Letters of a script without spaces, evenly over the line."""
    for word, size in zip(words, sizes, strict=True):
        sheet.write(word, x, y, face, colour)
        x += size + gap


def set_text(
    sheet: Sheet, box: Box, words: Iterator[str], lines: Lines, colour: Colour, how: Flow
) -> None:
    """Fill a box with running words."""
    left, top, right, _ = box
    # A pixel on each side: letters may reach a little out of their own width.
    left, right = left + 1, right - 1
    if right - left < NARROW * lines.face.size:
        how = replace(how, justified=False)
    rows = flow(words, lines.face, right - left, lines.count, how)
    if how.stop and rows:
        rows = ended(rows, lines.face, right - left)
    if how.title and rows:
        rows[-1] = without_little(rows[-1])
    for number, row in enumerate(rows):
        start = left + (how.indent if number == 0 else how.hang)
        full = how.justified and number < len(rows) - 1
        y = top + lines.first_baseline + number * lines.leading
        set_line(sheet, row, (start, right), y, lines.face, colour, justified=full,
                 centred=how.centred)  # fmt: skip
        sheet.line += 1


def ended(rows: list[list[str]], face: Face, room: float) -> list[list[str]]:
    """The rows with an end: a sentence that has hardly begun is left out, another gets its stop.

    >>> from layoutdm.pages.typefaces import BOX, Face
    >>> ended([["it", "grows."], ["Here,", "the"]], Face(BOX[0].regular, 12), 400)
    [['it', 'grows.'], ['Here.']]
    >>> ended([["it", "does", "not", "grow.", "Here,", "the"]], Face(BOX[0].regular, 12), 400)
    [['it', 'does', 'not', 'grow.']]
    """
    last = rows[-1]
    stops = [at for at, word in enumerate(last[:-1]) if word.endswith((".", "?", "!"))]
    if stops and len(last) - 1 - stops[-1] < BEGUN and stops[-1] >= 2:
        return [*rows[:-1], last[: stops[-1] + 1]]
    last = stopped(last, face, room)
    if len(rows) > 4 and last[0].lower().rstrip(".,") in LITTLE:  # nothing of it is left
        return [*rows[:-2], stopped(rows[-2], face, room)]
    return [*rows[:-1], last]


def stopped(row: list[str], face: Face, room: float) -> list[str]:
    """
    >>> from layoutdm.pages.typefaces import BOX, Face
    >>> stopped(["growth", "of", "an", "et", "al.,"], Face(BOX[0].regular, 12), 400)
    ['growth.']
    """
    row = without_little(row)
    word = row[-1].rstrip(",;:")
    if not word.isascii() or word.endswith((".", "?", "!")) or face.width(word + ".") > room:
        return row
    used = sum(face.width(w) + face.space for w in row[:-1])
    return [*row[:-1], word + "."] if used + face.width(word + ".") <= room else row


def without_little(row: list[str]) -> list[str]:
    """
    >>> without_little(["growth", "of", "the"])
    ['growth']
    """
    while len(row) > 1 and (row[-1].lower() in OPEN or row[-1][:1] in "(["):
        row = row[:-1]
    return row


def lead_in(lead: list[str], words: Iterator[str]) -> Iterator[str]:
    """Some words of one's own before the others."""
    return chain(lead, words)


def last_share(random: Random, count: int) -> float:
    """How far the last of so many lines goes."""
    return 1.0 if count == 1 else random.uniform(0.35, 1.0)

"""What makes a page look real at a glance: even lines, numbered lists, screens one can read."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from layoutdm import Layout
from layoutdm.pages import Look, render
from layoutdm.pages.content import filler, own
from layoutdm.pages.fitting import Flow, fit_lines, set_text
from layoutdm.pages.pdf import to_pdf
from layoutdm.pages.render import Voice
from layoutdm.pages.sheet import Sheet, Written
from layoutdm.pages.typefaces import BOX, Face, families

ARABIC = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def page_of(*rows: tuple[str, float, float, float, float], width: int = 612) -> Layout:
    return Layout.create([row[0] for row in rows], [list(row[1:]) for row in rows],
                         width=width, height=792)  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_all_words_of_a_line_stand_on_one_baseline(seed: int) -> None:
    """An `f` or a bracket is taller than a `d`; in a first line it must not step down alone."""
    page = render(page_of(("text", 0.5, 0.5, 0.7, 0.3)), seed, look=Look(style="clean"))
    words = page.truth.blocks[0].words
    written = [mark for mark in page.marks if isinstance(mark, Written)]
    assert len(written) == len(words) > 40
    for line in {word.line for word in words}:
        heights = {m.y for m, word in zip(written, words, strict=True) if word.line == line}
        assert len(heights) == 1


@pytest.mark.parametrize("seed", range(8))
def test_no_line_inside_a_justified_paragraph_ends_early(seed: int) -> None:
    from random import Random

    sheet = Sheet(400, 400, (255, 255, 255))
    box = (10, 10, 210, 390)
    sheet.open("text", "paragraph", box)
    lines = fit_lines(380, Face(BOX[2].regular, 13.0), 1.3)
    words = filler("en").prose(Random(seed))
    set_text(sheet, box, words, lines, (0, 0, 0), Flow(justified=True))
    block = sheet.close()
    assert block is not None
    last = max(word.line for word in block.words)
    for line in range(last):
        assert max(word.box[2] for word in block.words if word.line == line) >= 207


def test_a_bibliography_goes_on_in_the_next_column() -> None:
    layout = page_of(("list", 0.27, 0.6, 0.4, 0.4), ("list", 0.73, 0.3, 0.4, 0.5))
    found = 0
    for seed in range(60):
        page = render(layout, seed, look=Look(height=600))
        marks = [
            [int(m[1]) for w in block.words if (m := re.fullmatch(r"\[(\d+)\]", w.text))
             and w.box[0] < block.box[0] + 6] for block in page.truth.blocks
        ]  # fmt: skip
        if all(marks) and marks[0][0] > 1:  # references, not a list of the text
            both = marks[0] + marks[1]
            assert both == list(range(both[0], both[0] + len(both)))
            found += 1
    assert found


def test_text_on_a_toolbar_can_be_read() -> None:
    layout = page_of(("Toolbar", 0.5, 0.06, 1.0, 0.1), ("Icon", 0.07, 0.06, 0.08, 0.05),
                     ("Text", 0.4, 0.06, 0.4, 0.04), ("List Item", 0.5, 0.5, 0.9, 0.3),
                     ("Text", 0.5, 0.45, 0.6, 0.08), ("Image", 0.3, 0.8, 0.3, 0.2))  # fmt: skip
    for seed in range(4):
        page = render(layout, seed, look=Look(height=700))
        blocks = {(block.label, block.role): block for block in page.truth.blocks}
        assert not blocks["Toolbar", "bar"].words, "its own title would lie under the text"
        assert ("List Item", "card") in blocks, "it holds a text, so it is a frame"
        texts = [block for block in page.truth.blocks if block.label == "Text"]
        for block in texts:
            assert not any(word.text[0] in "[(" for word in block.words), "screens cite nobody"
            left, top, right, bottom = (int(v) for v in block.words[0].box)
            seen = np.asarray(page.image.convert("L"))[top:bottom, left:right].astype(int)
            assert seen.max() - seen.min() > 90
        assert not blocks["Image", "figure"].words, "no plot with axes on a screen"


def test_joined_letters_are_a_picture_in_the_pdf() -> None:
    """A PDF's writer neither joins letters nor turns their order: as text they would be wrong."""
    if not ARABIC.exists():
        pytest.skip("no font with Arabic letters here")
    text = own("تزداد كمية البيانات كل عام، ويتطلب تحليلها أساليب جديدة. " * 9, "ar")
    voice = Voice(text, families([str(ARABIC)]))
    layout = page_of(("text", 0.5, 0.5, 0.7, 0.3))
    page = render(layout, 1, look=Look(height=500, voices=(voice,)))
    pypdf = pytest.importorskip("pypdf")
    import io

    read = pypdf.PdfReader(io.BytesIO(to_pdf(page))).pages[0]
    assert len(read.images) == 1
    latin = pypdf.PdfReader(io.BytesIO(to_pdf(render(layout, 1)))).pages[0]
    assert len(latin.images) == 0
    letters = set("".join(word.text for word in page.truth.blocks[0].words))
    assert letters & set(read.extract_text())

"""Pages' boxes against what can be seen: nothing outside, words tight, text fills its box."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm import Layout
from layoutdm.data.sources import BUILT_IN
from layoutdm.pages import Look, render
from layoutdm.pages.content import vocabulary_of
from layoutdm.pages.fitting import LITTLE
from layoutdm.pages.render import DRAW, Voice
from layoutdm.pages.roles import ROLES
from layoutdm.pages.sheet import Written
from layoutdm.pages.typefaces import BOX
from layoutdm.pages.vocabulary import MONTHS
from layoutdm.pages.voices import of_languages
from page_cases import article, box_of, ink, iou

TEXT = ("paragraph", "list", "item", "caption", "footnote", "heading", "running")


def sample_pages(count: int) -> list[Layout]:
    """Pages of the built-in sample."""
    with gzip.open(Path(BUILT_IN["sample"]), "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    found = [
        Layout.create(r["labels"], r["boxes"], width=r["width"], height=r["height"])
        for r in records
        if "title" in [label.lower() for label in r["labels"]]
    ]
    return found[:count]


@pytest.mark.parametrize("seed", range(6))
def test_word_boxes_are_tight(seed: int) -> None:
    page = render(article(), seed, look=Look(style="clean"))
    seen = ink(page.image, page.paper, 60)
    scores = []
    for block in page.truth.blocks:
        if block.role in ("figure", "table", "formula"):
            continue  # rules and plots stand between their words
        for word in block.words:
            left, top, right, bottom = (int(v) for v in word.box)
            found = box_of(seen[max(0, top - 2) : bottom + 2, max(0, left - 1) : right + 1])
            assert found is not None, word
            back = (found[0] + max(0, left - 1), found[1] + max(0, top - 2),
                    found[2] + max(0, left - 1), found[3] + max(0, top - 2))  # fmt: skip
            scores.append(iou(back, word.box))
    assert len(scores) > 150
    assert np.mean(scores) >= 0.9


@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_drawn_outside(seed: int) -> None:
    layout = article()
    page = render(layout, seed, look=Look(style="varied"))
    seen = ink(page.image, page.paper)
    allowed = np.zeros_like(seen)
    for block in page.truth.blocks:
        left, top, right, bottom = (int(v) for v in block.place)
        allowed[top:bottom, left:right] = True
    # A letter's faint edge may reach one pixel further; it is not ink at this threshold.
    assert not (seen & ~allowed).any()
    for block in page.truth.blocks:
        assert block.box[0] >= block.place[0] and block.box[1] >= block.place[1]
        assert block.box[2] <= block.place[2] and block.box[3] <= block.place[3]


@pytest.mark.parametrize("seed", range(8))
def test_boxes_are_tight_around_ink(seed: int) -> None:
    page = render(article(), seed, look=Look(style="clean"))
    seen = ink(page.image, page.paper)
    for block in page.truth.blocks:
        left, top, right, bottom = (int(v) for v in block.place)
        found = box_of(seen[top:bottom, left:right])
        assert found is not None
        back = (found[0] + left, found[1] + top, found[2] + left, found[3] + top)
        least = 0.75 if min(back[2] - back[0], back[3] - back[1]) < 12 else 0.9
        assert iou(back, block.box) >= least, (block.label, back, block.box)


@pytest.mark.parametrize("seed", range(8))
def test_text_fills_its_box(seed: int) -> None:
    page = render(article(), seed, look=Look(style="clean"))
    for block in page.truth.blocks:
        if block.role in TEXT:
            share = (block.box[3] - block.box[1]) / (block.place[3] - block.place[1])
            assert share >= 0.6, (block.label, share)


def test_pages_of_the_sample_hold_too() -> None:
    short = 0
    for index, layout in enumerate(sample_pages(25)):
        page = render(layout, 5, index, Look(style="clean", height=800))
        assert len(page.truth.blocks) == len(layout)
        for block in page.truth.blocks:
            if block.role in TEXT:
                tall = (block.box[3] - block.box[1]) / (block.place[3] - block.place[1])
                short += tall < 0.6
    assert short == 0


def test_every_role_draws_something_in_any_box() -> None:
    assert set(DRAW) == set(ROLES)
    sizes = ((0.5, 0.5), (0.9, 0.02), (0.03, 0.6), (0.02, 0.01), (0.3, 0.012))
    for role in ROLES:
        for width, height in sizes:
            layout = Layout.create(["x"], [[0.5, 0.5, width, height]])
            page = render(layout, 2, look=Look(style="clean", roles={"x": role}))
            place = (0.5 - width / 2) * page.image.width, (0.5 - height / 2) * page.image.height
            for block in page.truth.blocks:
                assert block.box[0] >= int(place[0]) and block.box[1] >= int(place[1])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["text", "title", "list", "table", "figure", "formula", "caption"]),
            st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(0.005, 0.9),
            st.floats(0.005, 0.9),
        ),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_any_layout_becomes_a_page(rows: list[tuple[str, float, float, float, float]]) -> None:
    boxes = []
    for _, x, y, width, height in rows:
        w, h = min(width, 2 * min(x, 1 - x)), min(height, 2 * min(y, 1 - y))
        boxes.append([x, y, w, h])
    layout = Layout.create([row[0] for row in rows], boxes)
    page = render(layout, 1, look=Look(height=300))
    for block in page.truth.blocks:
        assert 0 <= block.box[0] < block.box[2] <= page.image.width
        assert 0 <= block.box[1] < block.box[3] <= page.image.height
        for word in block.words:
            assert block.box[0] <= word.box[0] and word.box[2] <= block.box[2]


def test_cells_lie_in_their_table_and_cover_it() -> None:
    for seed in range(10):
        page = render(article(), seed, look=Look(style="clean"))
        table = next(block for block in page.truth.blocks if block.role == "table")
        area = sum((c.box[2] - c.box[0]) * (c.box[3] - c.box[1]) for c in table.cells)
        whole = (table.place[2] - table.place[0]) * (table.place[3] - table.place[1])
        assert area == pytest.approx(whole, rel=0.01)
        places = [
            (c.row + i, c.column + j)
            for c in table.cells
            for i in range(c.rows)
            for j in range(c.columns)
        ]
        assert len(places) == len(set(places))
        words = {word.text for word in table.words}
        for cell in table.cells:
            assert set(cell.text.split()) <= words


def test_scanned_boxes_follow_the_skew() -> None:
    for seed in range(4):
        page = render(article(), seed, look=Look(style="scanned"))
        grey = np.asarray(page.image.convert("L"), dtype=np.float32)
        for block in page.truth.blocks:
            if block.role != "paragraph":
                continue
            left, top, right, bottom = (int(v) for v in block.box)
            inside = grey[top:bottom, left:right]
            margin = grey[max(0, top - 9) : top - 4, left:right]
            assert inside.mean() < margin.mean() - 8  # ink inside, paper above


def test_same_seed_same_page_and_another_seed_another() -> None:
    first, again = render(article(), 3), render(article(), 3)
    assert first.image.tobytes() == again.image.tobytes()
    assert first.truth == again.truth
    assert render(article(), 4).image.tobytes() != first.image.tobytes()


def test_an_element_does_not_change_another() -> None:
    layout = article()
    whole, part = render(layout, 3), render(layout.take(range(5)), 3)
    words = {block.place: block.words for block in whole.truth.blocks}
    for block in part.truth.blocks:
        assert words[block.place] == block.words


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "ru", "el"])
def test_languages(language: str) -> None:
    look = Look(voices=of_languages([language], BOX))
    page = render(article(), 1, look=look)
    text = "".join(word.text for block in page.truth.blocks for word in block.words)
    letters = {"ru": "о", "el": "α"}.get(language, "e")
    assert text.count(letters) > 40
    assert isinstance(look.voices[0], Voice)


def narrow(label: str, width: float, height: float) -> Layout:
    return Layout.create([label], [[0.5, 0.5, width, height]], width=612, height=792)


@pytest.mark.parametrize("width", [0.08, 0.15, 0.3, 0.6])
def test_cells_hold_whole_words_and_values(width: float) -> None:
    """A narrow column gets shorter words and values, never pieces of them."""
    known = {word.lower() for word in vocabulary_of("en")} | {"of", "and", "in", "for", "with"}
    for seed in range(8):
        page = render(narrow("table", width, 0.4), seed, look=Look(style="clean"))
        for cell in page.truth.blocks[0].cells:
            for word in cell.text.split():
                if word.isalpha() and len(word) > 1 and word not in MONTHS:
                    assert word.lower() in known, cell
            if cell.text.count("±") or cell.text.count("–"):
                assert cell.text == "–" or cell.text[-1].isdigit(), cell


def test_paragraphs_of_a_page_have_one_size() -> None:
    """Boxes of any height: the page's size is chosen for all, and each keeps near it."""
    boxes = [[0.3, 0.1 + 0.1 * i, 0.4, height] for i, height in
             enumerate((0.012, 0.027, 0.04, 0.058, 0.073, 0.081))]  # fmt: skip
    for seed in range(6):
        layout = Layout.create(["text"] * len(boxes), boxes, width=612, height=792)
        page = render(layout, seed, look=Look(style="clean"))
        sizes = [mark.face.size for mark in page.marks if isinstance(mark, Written)]
        assert max(sizes) <= 1.2 * min(sizes), seed


def test_a_strip_in_the_margin_has_its_text_sideways() -> None:
    page = render(narrow("text", 0.015, 0.4), 1, look=Look(style="clean"))
    block = page.truth.blocks[0]
    assert all(mark.turned for mark in page.marks if isinstance(mark, Written))
    assert len(block.words) > 5 and all(len(word.text) > 0 for word in block.words)
    assert block.box[3] - block.box[1] >= 0.6 * (block.place[3] - block.place[1])


@pytest.mark.parametrize("width", [0.04, 0.07, 0.1, 0.2, 0.4])
def test_headings_begin_with_a_capital_and_end_with_a_name(width: float) -> None:
    for seed in range(12):
        page = render(narrow("title", width, 0.03), seed, look=Look(style="clean"))
        words = [word.text for word in page.truth.blocks[0].words]
        assert words[0][0].isupper() or words[0][0].isdigit(), words
        assert len(words) == 1 or words[-1].lower() not in LITTLE, words

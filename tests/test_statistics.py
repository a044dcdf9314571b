"""Statistics: every count against a count by hand, and the page that shows them."""

import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm import Layout, LayoutdmError
from layoutdm.data import plots, statistics
from layoutdm.data.report import report
from layoutdm.data.statistics import HEAT_COLUMNS, HEAT_ROWS, Tally, fingerprint
from layoutdm.data.statistics_page import to_page
from layoutdm.formats import write


def page(*elements, width=600, height=800, id=""):
    return Layout.create(
        [label for label, *_ in elements],
        [box for _, *box in elements],
        width=width,
        height=height,
        id=id,
    )


TITLE = ("title", 0.5, 0.1, 0.8, 0.1)
TEXT = ("text", 0.25, 0.6, 0.4, 0.7)


def test_counts_by_hand():
    wide = page(TEXT, width=800, height=600)
    result = statistics([page(TITLE, TEXT, TEXT), page(TEXT), page(TEXT), page(), wide])
    assert (result.layouts, result.elements) == (5, 6)
    assert dict(result.lengths) == {0: 1, 1: 3, 3: 1}
    assert (result.mean_length, result.median_length, result.longest) == (1.2, 1, 3)
    assert list(result.labels) == ["text", "title"]
    assert (result.labels["text"].elements, result.labels["text"].layouts) == (5, 4)
    assert result.labels["title"].mean_width == pytest.approx(0.8)
    assert result.labels["title"].mean_height == pytest.approx(0.1)
    assert dict(result.canvases) == {(600, 800): 4, (800, 600): 1}
    assert dict(result.outside_paper) == {"no elements": 1, "landscape": 1}
    assert result.duplicates == 2  # the second page(TEXT), and the wide one with the same boxes


def test_the_middle_of_the_canvas_is_the_middle_cell():
    heat = statistics([page(("text", 0.5, 0.5, 0.1, 0.1))]).labels["text"].heat
    assert heat[HEAT_ROWS // 2, HEAT_COLUMNS // 2] == heat.sum() == 1


def test_duplicates_ignore_ids_and_rounding_but_not_order():
    shifted = ("title", 0.5 + 1e-9, 0.1, 0.8, 0.1)
    assert fingerprint(page(TITLE, TEXT, id="a")) == fingerprint(page(shifted, TEXT, id="b"))
    assert fingerprint(page(TITLE, TEXT)) != fingerprint(page(TEXT, TITLE))
    assert fingerprint(page(("ab", *TEXT[1:]))) != fingerprint(page(("a", *TEXT[1:])))


elements = st.tuples(
    st.sampled_from(["a", "b", "c"]), *[st.sampled_from([0.3, 0.5, 0.7])] * 2, *[st.just(0.2)] * 2
)
layouts = st.lists(st.lists(elements, max_size=3).map(lambda e: page(*e)), max_size=8)


@settings(max_examples=40, deadline=None)
@given(layouts, layouts)
def test_two_tallies_add_up(first, second):
    whole, half = Tally(), Tally()
    for layout in first:
        whole.add(layout)
    for layout in second:
        half.add(layout)
    whole.update(half)
    result, direct = whole.result(), statistics([*first, *second])
    assert result.as_dict() == direct.as_dict()
    assert result.fingerprints == direct.fingerprints
    for label, stats in direct.labels.items():
        assert np.array_equal(result.labels[label].heat, stats.heat)
        assert stats.heat.sum() == stats.elements
    labels = Counter(label for layout in [*first, *second] for label in layout.labels)
    assert {label: stats.elements for label, stats in direct.labels.items()} == labels


@pytest.fixture
def folder(tmp_path):
    a, b, c = page(TITLE, TEXT), page(TEXT), page(TEXT, TEXT, TEXT)
    write([a, b, b], tmp_path / "set" / "train.jsonl")
    write([a, c], tmp_path / "set" / "val.jsonl")
    write([b, b], tmp_path / "set" / "test.jsonl")
    return tmp_path / "set"


def test_report_by_split(folder):
    result = report(folder)
    assert {name: stats.layouts for name, stats in result.splits.items()} == {
        "train": 3,
        "val": 2,
        "test": 2,
    }
    assert result.total.layouts == 7
    assert result.total.duplicates == 4
    assert dict(result.seen_in_train) == {"val": 1, "test": 1}
    assert report(folder, split="val").total.layouts == 2


def test_report_of_one_split_of_an_unsplit_file(tmp_path):
    write([page(TEXT, id=str(i)) for i in range(100)], tmp_path / "a.jsonl")
    result = report(tmp_path / "a.jsonl", split="test")
    assert result.total.layouts == 10
    assert "seed 0" in result.note
    with pytest.raises(LayoutdmError, match="split 'dev' is unknown"):
        report(tmp_path / "a.jsonl", split="dev")


def test_report_with_the_papers_filters(tmp_path):
    write([page(TEXT), page(*[TEXT] * 30)], tmp_path / "a.jsonl")
    assert report(tmp_path / "a.jsonl").total.outside_paper == {"too many elements": 1}
    filtered = report(tmp_path / "a.jsonl", filters=True)
    assert filtered.total.layouts == 1
    assert filtered.removed == {"too many elements": 1}


class Tags(HTMLParser):
    """Checks that every tag that opens also closes, in order."""

    EMPTY = frozenset({"meta", "rect", "path"})

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], Counter()

    def handle_starttag(self, tag, attrs):
        self.seen[tag] += 1
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen[tag] += 1

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def test_page_is_whole_and_needs_nothing_else(folder):
    text = to_page(report(folder))
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.seen["figure"] == 2  # one map a label
    assert "script" not in tags.seen
    assert not re.search(r"https?://|src=|@import|url\(", text)


def test_page_escapes_what_the_data_says(tmp_path):
    write([page(("<b>&", 0.5, 0.5, 0.2, 0.2))], tmp_path / "a.jsonl")
    text = to_page(report(tmp_path / "a.jsonl"))
    assert "<b>&" not in text
    assert "&lt;b&gt;&amp;" in text


def test_page_of_an_unusual_set(tmp_path):
    many = [(f"label {i}", 0.5, 0.5, 0.1, 0.1) for i in range(300)]
    write([page(*many, width=5000, height=100), page()], tmp_path / "a.jsonl")
    text = to_page(report(tmp_path / "a.jsonl"))
    assert "180 rarer labels are not drawn" in text
    assert len(text) < 1_000_000


def test_heat_levels_keep_rare_cells_visible():
    heat = np.zeros((HEAT_ROWS, HEAT_COLUMNS), dtype=np.int64)
    heat[0, 0], heat[1, 1] = 1, 10_000
    levels = plots.heat_levels(heat)
    assert (levels[0, 0], levels[1, 1], levels[2, 2]) == (1, plots.HEAT_LEVELS, 0)
    assert not plots.heat_levels(np.zeros((2, 2), dtype=np.int64)).any()

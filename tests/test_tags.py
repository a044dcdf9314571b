"""Names on boxes: readable, or left out."""

from __future__ import annotations

from itertools import combinations
from xml.etree.ElementTree import fromstring
from xml.sax.saxutils import escape

from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.pictures.tags import Corners, place
from layoutdm.pictures.typeface import clean, drawable, measure, shorten

WIDTH, HEIGHT = 675.0, 1200.0


def boxes() -> st.SearchStrategy[list[Corners]]:
    def corner(a: float, b: float, w: float, h: float) -> Corners:
        return (a * (1 - w) * WIDTH, b * (1 - h) * HEIGHT, (a * (1 - w) + w) * WIDTH,
                (b * (1 - h) + h) * HEIGHT)  # fmt: skip

    share, size = st.floats(0, 1), st.floats(0.005, 1)
    return st.lists(st.builds(corner, share, share, size, size), max_size=25)


def touch(a: Corners, b: Corners) -> bool:
    return min(a[2], b[2]) > max(a[0], b[0]) and min(a[3], b[3]) > max(a[1], b[1])


@settings(max_examples=60, deadline=None)
@given(boxes())
def test_names_never_touch_and_stay_on_the_canvas_and_on_their_box(found: list[Corners]) -> None:
    names = [f"Label {i}" for i in range(len(found))]
    tags = place(found, names, 18, WIDTH, HEIGHT)
    assert len(tags) == len(found)
    kept = [tag for tag in tags if tag]
    assert not any(touch(a.corners, b.corners) for a, b in combinations(kept, 2))
    for tag, box in zip(tags, found, strict=True):
        if tag:
            left, top, right, bottom = tag.corners
            assert left >= 0 and right <= WIDTH and top >= -1 and bottom <= HEIGHT + 1
            assert touch(tag.corners, box)


def test_a_box_alone_wears_its_name_in_its_top_left_corner() -> None:
    (tag,) = place([(100, 100, 500, 400)], ["Image"], 18, WIDTH, HEIGHT)
    assert tag is not None
    assert tag.text == "Image"
    assert 100 < tag.left < 115 and 100 < tag.top < 115


def test_a_container_moves_its_name_off_what_it_holds() -> None:
    card, image = place(
        [(100, 100, 500, 400), (100, 100, 400, 300)], ["Card", "Image"], 18, WIDTH, HEIGHT
    )
    assert card is not None and image is not None
    assert not touch(card.corners, (100, 100, 400, 300))


def test_25_equal_boxes_show_as_many_names_as_have_room() -> None:
    tags = place([(0, 0, WIDTH, HEIGHT)] * 25, ["Image"] * 25, 18, WIDTH, HEIGHT)
    assert sum(tag is not None for tag in tags) >= 15


def test_long_names_are_cut_and_tiny_boxes_go_without() -> None:
    long, tiny = place(
        [(10, 10, 210, 60), (300, 300, 306, 306)], ["A very long name " * 9, "Icon"], 18, 675, 1200
    )
    assert long is not None and long.text.startswith("A very") and long.text.endswith("…")
    assert long.left >= 10 and long.left + long.width <= 210
    assert tiny is None


@settings(deadline=None)
@given(st.text(min_size=1, max_size=40), st.floats(20, 300))
def test_shortened_text_fits(text: str, width: float) -> None:
    line = clean(text)
    short = shorten(line, 12, width)
    assert measure(short, 12) <= width or len(short) <= 2
    assert short == line or line.startswith(short.rstrip("…").rstrip())


@settings(deadline=None)
@given(st.text(max_size=30))
def test_clean_text_is_one_line_that_xml_and_utf8_take(text: str) -> None:
    line = clean(text)
    assert line
    assert len(line.splitlines()) == 1
    assert fromstring(f"<a>{escape(line)}</a>".encode()).text == line


def test_letters_without_a_font_are_spelled_and_stay_distinct() -> None:
    private = "\ue123\ue456"  # in no font
    assert drawable(private) == "\\ue123\\ue456"
    assert drawable("Text") == "Text"
    assert drawable("two\nlines\x00") == "two lines"

"""Exports carry the user's names and exact places; formats of pixels; notes of grids."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image, PdfParser

from layoutdm import Layout, LayoutdmError
from layoutdm.formats import PICTURES, detect, write
from layoutdm.pictures import css_grid, html, scene
from layoutdm.pictures.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"
NAMED = Layout.create(
    ["Image", "Text", "Text"],
    [[0.5, 0.25, 1.0, 0.5], [0.5, 0.6, 0.8, 0.1], [0.5, 0.8, 0.8, 0.1]],
    width=400,
    height=800,
    id="page",
    metadata={"names": ["hero", "main text", None]},
)


def rects(text: str) -> list[dict[str, str]]:
    root = ElementTree.fromstring(text)
    return [dict(r.attrib) for r in root.iter(f"{SVG}rect") if r.get("data-label")]


def test_svg_boxes_have_names_as_ids_and_exact_places() -> None:
    hero, main, third = rects(to_svg(NAMED))
    assert (hero["id"], hero["data-name"]) == ("hero", "hero")
    assert (main["id"], main["data-name"]) == ("main-text", "main text")
    assert "id" not in third and "data-name" not in third
    assert [hero[k] for k in ("x", "y", "width", "height")] == ["0", "0", "400", "400"]
    assert [main[k] for k in ("x", "y", "width", "height")] == ["40", "440", "320", "80"]
    assert "hero (Image): x 0–100 %" in to_svg(NAMED)


def test_svg_fits_the_window() -> None:
    style = ElementTree.fromstring(to_svg(NAMED)).get("style", "")
    assert "max-width:100vw" in style and "max-height:100vh" in style


@pytest.mark.parametrize(
    "names", [["a", "a", "a b"], ["a-2", "a", "a"], ['"><x', "&", "'"], ["", " ", "\u200b"]]
)
def test_ids_are_valid_and_never_twice(names: list[str]) -> None:
    layout = Layout.create(NAMED.labels, NAMED.boxes, metadata={"names": names})
    ids = [r["id"] for r in rects(to_svg(layout)) if "id" in r]
    assert len(set(ids)) == len(ids)
    assert not any(re.search(r"\s", id) for id in ids)
    assert len(re.findall(r' id="', html.to_html(layout))) == len(ids)


@pytest.mark.parametrize("names", [None, "hero", ["hero"], [1, 2, 3], {"a": 1}, [["x"]] * 3])
def test_names_of_other_kinds_are_passed_over(names: object, tmp_path: Path) -> None:
    layout = Layout.create(NAMED.labels, NAMED.boxes, metadata={"names": names})
    assert scene.own_names(layout) == ["", "", ""]
    for format in PICTURES:
        write([layout], tmp_path / f"a.{format}", format, names=True)


def test_a_sheet_of_several_has_names_but_no_ids(tmp_path: Path) -> None:
    text = write([NAMED, NAMED], tmp_path / "a.svg").read_text()
    assert text.count('data-name="hero"') == 2
    assert ' id="' not in text
    page = write([NAMED, NAMED], tmp_path / "a.html").read_text()
    assert page.count('data-name="hero"') == 2
    assert ' id="' not in page


@pytest.mark.parametrize("mode", ["absolute", "grid"])
def test_html_elements_have_names_as_ids(mode: str) -> None:
    page = html.to_html(NAMED, mode)
    assert 'id="hero" data-name="hero"' in page
    assert 'id="main-text" data-name="main text"' in page


def test_powerpoint_shapes_are_called_what_the_user_calls_them(tmp_path: Path) -> None:
    pptx = pytest.importorskip("pptx")
    path = write([NAMED], tmp_path / "a.pptx")
    shapes = list(pptx.Presentation(str(path)).slides[0].shapes)
    assert [shape.name for shape in shapes] == ["hero", "main text", "Text"]
    assert [shape.text_frame.text for shape in shapes] == ["Image", "Text", "Text"]
    path = write([NAMED], tmp_path / "b.pptx", names=True)
    shapes = list(pptx.Presentation(str(path)).slides[0].shapes)
    assert [shape.text_frame.text for shape in shapes] == ["hero", "main text", "Text"]


def test_names_are_written_into_pictures_on_request(tmp_path: Path) -> None:
    usual = write([NAMED], tmp_path / "a.svg").read_text()
    named = write([NAMED], tmp_path / "b.svg", names=True).read_text()
    assert re.findall(r">([^<>]+)</text>", usual) == ["Image", "Text", "Text"]
    assert re.findall(r">([^<>]+)</text>", named) == ["hero", "main text", "Text"]
    for end in ("png", "jpg", "pdf"):
        paths = [write([NAMED], tmp_path / f"{n}.{end}", names=n == "b") for n in "ab"]
        assert paths[0].read_bytes() != paths[1].read_bytes()


# Formats of pixels -----------------------------------------------------------------------------


def test_jpg_is_the_same_picture_as_png(tmp_path: Path) -> None:
    png = Image.open(write([NAMED], tmp_path / "a.png"))
    jpg = Image.open(write([NAMED], tmp_path / "a.jpg"))
    assert jpg.format == "JPEG"
    assert jpg.size == png.size
    difference = [abs(a - b) for a, b in zip(jpg.tobytes(), png.tobytes(), strict=True)]
    assert sum(difference) / len(difference) < 1.5
    assert Image.open(write([NAMED], tmp_path / "b.jpeg")).format == "JPEG"


@pytest.mark.parametrize("count", [1, 2, 41])
def test_pdf_has_a_page_for_each_layout(count: int, tmp_path: Path) -> None:
    path = write([NAMED] * count, tmp_path / "a.pdf", height=100)
    data = path.read_bytes()
    assert data.startswith(b"%PDF-")
    with PdfParser.PdfParser(str(path)) as document:
        assert len(document.pages) == count
    write([NAMED] * count, tmp_path / "b.pdf", height=100)
    assert (tmp_path / "b.pdf").read_bytes() == data
    assert b"CreationDate" not in data and b"ModDate" not in data


@pytest.mark.parametrize("format", ["png", "jpg", "svg", "pdf", "html"])
def test_a_folder_gets_a_file_for_each_layout(format: str, tmp_path: Path) -> None:
    write([NAMED, NAMED], tmp_path / "out", format)
    assert len(list((tmp_path / "out").glob(f"*.{format}"))) == 2


@pytest.mark.parametrize("format", PICTURES)
def test_no_layout_at_all_gives_a_picture_too(format: str, tmp_path: Path) -> None:
    assert write([], tmp_path / f"a.{format}", format).stat().st_size


def test_pictures_are_never_taken_for_layouts(tmp_path: Path) -> None:
    for end in ("jpg", "pdf"):
        with pytest.raises(LayoutdmError, match="holds no layouts"):
            detect(write([NAMED], tmp_path / f"a.{end}"))


def test_a_label_looks_the_same_in_all_files_of_a_folder(tmp_path: Path) -> None:
    labels = ["nav", "legend", "field", "pager"]
    layouts = [Layout.create([label], [[0.5, 0.5, 0.5, 0.5]], id=label) for label in labels]
    together = Layout.create(labels, [[0.5, 0.5, 0.5, 0.5]] * 4, id="all")
    write([*layouts, together], tmp_path / "out", "svg")
    fills = {r["data-label"]: r["fill"] for r in rects((tmp_path / "out" / "all.svg").read_text())}
    for label in labels:
        (only,) = rects((tmp_path / "out" / f"{label}.svg").read_text())
        assert only["fill"] == fills[label]
    assert len(set(fills.values())) == 4


# Grids -----------------------------------------------------------------------------------------


def test_a_grid_says_which_elements_share_cells() -> None:
    apart = Layout.create(["a", "b"], [[0.25, 0.5, 0.5, 1], [0.75, 0.5, 0.5, 1]])
    assert css_grid.derive(apart).overlapping() == []
    assert "on top of each other" not in html.to_html(apart, "grid")
    nearly = Layout.create(["a", "b"], [[0.252, 0.5, 0.504, 1], [0.75, 0.5, 0.5, 1]])
    assert css_grid.derive(nearly).overlapping() == []  # the edges became one line
    over = Layout.create(
        ["a", "b", "a"],
        [[0.3, 0.5, 0.6, 1], [0.75, 0.5, 0.5, 1], [0.1, 0.1, 0.1, 0.1]],
        metadata={"names": [None, "menu", None]},
    )
    assert css_grid.derive(over).overlapping() == [(0, 1), (0, 2)]
    note = "2 pairs of elements share cells and lie on top of each other: a and menu, a and a"
    assert note in html.to_html(over, "grid")
    assert note not in html.to_html(over, "absolute")


def test_a_long_list_of_pairs_is_cut() -> None:
    many = Layout.create(["a"] * 20, [[0.5, 0.5, 0.5, 0.5]] * 20)
    assert html.overlap_note(many).startswith("190 pairs of elements share cells")
    assert html.overlap_note(many).endswith("and 182 more")


# Many elements ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("format", ["svg", "html", "png"])
def test_thousands_of_elements_are_drawn_in_one_pass(format: str, tmp_path: Path) -> None:
    """When every name looked at every other one, these took many minutes."""
    many = Layout.create(["a"] * 6_000, [[0.5, 0.5, 0.5, 0.5]] * 6_000)
    write([many], tmp_path / f"a.{format}", format)
    assert html.overlap_note(many).startswith("at least 10,000 pairs")

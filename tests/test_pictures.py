"""SVG, PNG, HTML and PowerPoint: right places, right colours, valid files, hard cases."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from pptx import Presentation

from layoutdm import Layout, LayoutdmError
from layoutdm.formats import write
from layoutdm.pictures import palette, png, pptx, svg
from layoutdm.pictures.html import to_html
from layoutdm.pictures.output import SHEET_LIMIT, file_name
from picture_cases import CASES

TWO = Layout.create(
    ["Card", "Text"],
    [[0.5, 0.5, 0.8, 0.6], [0.5, 0.5, 0.4, 0.1]],
    width=400,
    height=600,
    id="two",
)
SVG = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    """Collects elements and fails on tags that do not match."""

    VOID = ("meta", "rect")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag

    def elements(self) -> list[dict[str, str | None]]:
        return [attrs for _, attrs in self.found if attrs.get("class") == "element"]


# SVG -------------------------------------------------------------------------------------------


def test_svg_has_every_box_at_its_place_in_canvas_pixels() -> None:
    root = ElementTree.fromstring(svg.to_svg(TWO))
    assert (root.get("width"), root.get("height")) == ("400", "600")
    card, text = [r for r in root.iter(f"{SVG}rect") if r.get("data-label")]
    assert (card.get("data-label"), text.get("data-label")) == ("Card", "Text")
    outer = [float(text.get(k, "nan")) for k in ("x", "y", "width", "height")]
    assert np.allclose(outer, [120, 270, 160, 60], atol=0.02)
    assert text.get("fill") == palette.colour("Text")
    assert text.findtext(f"{SVG}title", "").startswith("Text: x 30–70 %")
    assert [t.text for t in root.iter(f"{SVG}text")] == ["Card", "Text"]


def test_large_boxes_are_painted_first() -> None:
    turned = TWO.take([1, 0])
    root = ElementTree.fromstring(svg.to_svg(turned))
    assert [r.get("data-label") for r in root.iter(f"{SVG}rect")][1:] == ["Card", "Text"]


@pytest.mark.parametrize("name", CASES)
def test_hard_cases_give_valid_files_of_every_kind(name: str, tmp_path: Path) -> None:
    layout = CASES[name]
    for legend in (False, True):
        ElementTree.fromstring(svg.to_svg(layout, legend=legend))
    for mode in ("absolute", "grid"):
        page = Page(to_html(layout, mode))
        assert len(page.elements()) == len(layout)
        assert not any(tag == "script" for tag, _ in page.found)
    image = png.to_image(layout)
    assert 24 <= image.width <= 3000 and 24 <= image.height <= 3000
    deck = Presentation(write([layout], tmp_path / "a.pptx"))
    assert [len(slide.shapes) for slide in deck.slides] == [len(layout)]


# PNG -------------------------------------------------------------------------------------------


def test_png_paints_the_label_colour_inside_and_white_outside() -> None:
    image = png.to_image(TWO, height=600, legend=False, labels=False)
    margin = (image.width - 400) // 2
    assert image.size == (400 + 2 * margin, 600 + 2 * margin)

    def at(x: float, y: float) -> tuple[int, ...]:
        value = image.getpixel((margin + round(x), margin + round(y)))
        assert isinstance(value, tuple)
        return value

    assert at(10, 10) == (255, 255, 255)
    assert at(40, 300) == palette.rgb(palette.edge("Card"))
    inside = np.array(at(60, 150))
    tint = np.array(palette.rgb(palette.colour("Card")))
    share = (255 - inside[1:]) / (255 - tint[1:])
    assert np.allclose(share, share[0], atol=0.03) and 0.08 < share[0] < 0.4


def test_edges_are_crisp() -> None:
    """A box on whole pixels has no half-tones across its straight edges."""
    plain = Layout.create(["text"], [[0.5, 0.5, 0.5, 0.5]], width=400, height=400)
    image = png.to_image(plain, height=400, legend=False, labels=False)
    row = np.asarray(image)[image.height // 2]
    assert len({tuple(int(v) for v in pixel) for pixel in row}) == 5  # page, hairline, white, box


def test_png_is_the_same_every_time_and_shows_names_and_legend(tmp_path: Path) -> None:
    first, second = (write([TWO], tmp_path / n).read_bytes() for n in ("a.png", "b.png"))
    assert first == second
    bare = png.to_image(TWO, legend=False, labels=False)
    assert png.to_image(TWO, legend=False).tobytes() != bare.tobytes()
    assert png.to_image(TWO).width > bare.width


def test_letters_are_drawn_in_the_dark_shade_of_their_label() -> None:
    image = np.asarray(png.to_image(Layout.create(["Input"], [[0.5, 0.5, 0.9, 0.9]]), legend=False))
    ink = np.array(palette.rgb(palette.ink("Input")))
    assert int((np.abs(image.astype(int) - ink).sum(axis=-1) < 12).sum()) > 100


# HTML ------------------------------------------------------------------------------------------


def test_absolute_html_places_elements_in_percent() -> None:
    card, text = Page(to_html(TWO)).elements()
    assert card["data-label"] == "Card"
    assert "left: 10%; top: 20%; width: 80%; height: 60%;" in str(card["style"])
    assert "left: 30%; top: 45%; width: 40%; height: 10%;" in str(text["style"])


def test_grid_html_places_elements_between_lines() -> None:
    page = Page(to_html(TWO, "grid"))
    card, text = page.elements()
    assert "grid-area: 2 / 2 / 5 / 5;" in str(card["style"])
    assert "grid-area: 3 / 3 / 4 / 4;" in str(text["style"])
    canvas = next(attrs for _, attrs in page.found if attrs.get("class") == "canvas")
    assert "grid-template-columns: minmax(0, 10fr) minmax(0, 20fr)" in str(canvas["style"])


def test_html_needs_nothing_from_elsewhere() -> None:
    text = to_html(TWO) + to_html(CASES["letters"])
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "src=" not in text and "url(" not in text


def test_html_mode_must_exist() -> None:
    with pytest.raises(LayoutdmError, match="one of absolute, grid, got 'flex'"):
        to_html(TWO, "flex")


# PowerPoint ------------------------------------------------------------------------------------


def test_pptx_has_native_rectangles_at_emu_positions(tmp_path: Path) -> None:
    deck = Presentation(write([TWO, CASES["one"]], tmp_path / "deck.pptx"))
    assert (deck.slide_width, deck.slide_height) == (8_128_000, 12_192_000)
    card, text = deck.slides[0].shapes
    assert (card.name, card.text_frame.text) == ("Card", "Card")
    assert (text.left, text.top) == (round(0.3 * 8_128_000), round(0.45 * 12_192_000))
    assert (text.width, text.height) == (round(0.4 * 8_128_000), round(0.1 * 12_192_000))
    assert str(text.fill.fore_color.rgb) == palette.colour("Text")[1:].upper()
    assert deck.slides[0].name == "two"
    square = deck.slides[1].shapes[0]  # a square canvas is centred on the portrait slide
    assert square.left + square.width / 2 == pytest.approx(8_128_000 / 2, abs=2)
    assert square.width == pytest.approx(0.8 * 8_128_000, abs=2)


@pytest.mark.parametrize("name", CASES)
def test_slides_stay_within_what_powerpoint_allows(name: str) -> None:
    for side in pptx.slide_size(CASES[name]):
        assert 914_400 <= side <= 51_206_400


def test_pptx_without_its_package_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pptx'] = None\n"
        "from layoutdm import Layout\n"
        "Layout.create([], []).save('a.pptx')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (
        "needs the package pptx, which is not installed; run: pip install 'layoutdm[pptx]'"
        in run.stderr
    )
    assert not (tmp_path / "a.pptx").exists()


# Files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_a_folder_gets_one_file_per_layout(kind: str, tmp_path: Path) -> None:
    layouts = [TWO, TWO, CASES["one"], CASES["letters"]]
    write(layouts, tmp_path / "pictures", kind)
    names = sorted(path.name for path in (tmp_path / "pictures").glob("[!.]*"))
    assert names == sorted(f"{n}.{kind}" for n in ("two", "two-0001", "0002", "script-ü"))


def test_file_names_are_safe() -> None:
    assert file_name("../../etc/passwd", 0) == "etc-passwd"
    assert file_name("...", 7) == "0007"


def test_too_many_for_one_file_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    endless = (TWO for _ in range(SHEET_LIMIT + 5))
    with pytest.raises(LayoutdmError, match=f"at most {SHEET_LIMIT} layouts"):
        write(endless, tmp_path / "a.svg")
    assert not list(tmp_path.iterdir())


def test_one_liners_of_layout(tmp_path: Path) -> None:
    assert TWO.as_svg().startswith("<svg")
    assert "grid-area" in TWO.as_html("grid")
    with Image.open(TWO.save(tmp_path / "two.png")) as image:
        assert image.format == "PNG"

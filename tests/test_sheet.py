"""Contact sheets: everything on them, captions, columns, proportions."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from layoutdm import Layout, LayoutdmError
from layoutdm.data import sample
from layoutdm.formats import write
from layoutdm.pictures import sheet
from picture_cases import CASES

SVG = "{http://www.w3.org/2000/svg}"
SCREENS = sample.generate("screen", 30)


def texts(layouts: list[Layout], **options: object) -> list[str]:
    drawn = sheet.contact_svg(layouts, **options)  # type: ignore[arg-type]
    return [t.text or "" for t in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


def test_a_sheet_shows_every_box_every_caption_and_one_legend() -> None:
    drawn = ElementTree.fromstring(sheet.contact_svg(SCREENS))
    boxes = [r for r in drawn.iter(f"{SVG}rect") if r.get("data-label")]
    assert len(boxes) == sum(len(layout) for layout in SCREENS)
    found = texts(SCREENS, labels=False)
    assert [t for t in found if t.startswith("screen-")] == [layout.id for layout in SCREENS]
    labels = {label for layout in SCREENS for label in layout.labels}
    assert labels <= set(found)
    count = sum(layout.labels.count("Icon") for layout in SCREENS)
    assert found[found.index("Icon") + 1] == str(count)


def test_captions_can_be_given_or_left_out() -> None:
    given = [f"step {i}" for i in range(30)]
    assert set(given) <= set(texts(SCREENS, captions=given))
    assert not any("screen-" in t for t in texts(SCREENS, captions=[]))
    with pytest.raises(LayoutdmError, match="needs as many captions, got 1"):
        sheet.contact_sheet(SCREENS, ["only one"])


@pytest.mark.parametrize("count", [1, 2, 3, 6, 24, 100, 1000])
def test_sheets_of_any_number_have_pleasant_proportions(count: int) -> None:
    chosen = [SCREENS[i % 30] for i in range(count)]
    grid = sheet.plan(chosen)
    rows = -(-count // grid.columns)
    width = grid.columns * (grid.cell_width + grid.gap)
    height = rows * (grid.cell_height + 3.7 * grid.font)
    assert 0.5 < width / height < 2.6
    assert grid.font >= 10
    assert grid.columns * rows - count < grid.columns


def test_columns_are_obeyed() -> None:
    assert sheet.plan(SCREENS, columns=4).columns == 4
    with pytest.raises(LayoutdmError, match="columns must be at least 1, got 0"):
        sheet.contact_sheet(SCREENS, columns=0)


def test_canvases_keep_their_proportions_on_a_mixed_sheet() -> None:
    grid = sheet.plan(list(CASES.values()))
    for layout in CASES.values():
        wide, high = sheet.fit(layout, grid)
        assert wide <= grid.cell_width + 0.5 and high <= grid.cell_height + 0.5
        if 0.2 < layout.width / layout.height < 5:
            assert wide / high == pytest.approx(layout.width / layout.height, rel=0.02)


def test_hard_cases_share_one_sheet_of_every_kind(tmp_path: Path) -> None:
    for name in ("a.png", "a.svg", "a.html", "a.pptx"):
        assert write(CASES.values(), tmp_path / name).stat().st_size > 1000
    ElementTree.parse(tmp_path / "a.svg")


def test_an_empty_sheet_is_still_a_picture(tmp_path: Path) -> None:
    for name in ("a.png", "a.svg", "a.html", "a.pptx"):
        assert write([], tmp_path / name).exists()


def test_a_contact_page_is_one_html_file_with_inline_pictures() -> None:
    page = sheet.contact_page(SCREENS, title="Screens & more")
    assert page.count("<svg ") == 30
    assert "<h1>Screens &amp; more <b>30</b></h1>" in page
    assert "grid-template-columns: repeat(auto-fill" in page
    assert "repeat(5, " in sheet.contact_page(SCREENS, columns=5)


@pytest.mark.slow
def test_a_sheet_of_one_hundred_is_drawn_in_a_moment_and_stays_small(tmp_path: Path) -> None:
    path = write(sample.generate("page", 100), tmp_path / "hundred.png")
    assert path.stat().st_size < 2_000_000

"""Selecting: click, again, Shift, marquee, all, none."""

from __future__ import annotations

from hands import Studio

STACK = [("Card", 50, 50, 300, 300), ("Image", 80, 80, 200, 200), ("Icon", 120, 120, 60, 60)]
ROW = [("Icon", 40, 100, 60, 60), ("Image", 150, 100, 60, 60), ("Text", 260, 100, 100, 60)]


def test_a_click_selects_the_smallest_and_again_the_one_beneath(studio: Studio) -> None:
    studio.open_layout(STACK)
    found = []
    for _ in range(4):
        studio.click(150, 150)
        found += studio.selected()
    assert found == ["Icon", "Image", "Card", "Icon"]


def test_a_click_elsewhere_begins_with_the_smallest_again(studio: Studio) -> None:
    studio.open_layout(STACK)
    studio.click(150, 150)
    studio.click(150, 150)
    studio.sees(studio.selected, ["Image"])
    studio.click(135, 160)
    studio.sees(studio.selected, ["Icon"])


def test_shift_click_adds_and_removes(studio: Studio) -> None:
    studio.open_layout(ROW)
    studio.click(70, 130)
    studio.click(180, 130, modifiers=["Shift"])
    studio.sees(studio.selected, ["Icon", "Image"])
    studio.click(70, 130, modifiers=["Shift"])
    studio.sees(studio.selected, ["Image"])


def test_a_marquee_selects_what_it_touches(studio: Studio) -> None:
    studio.open_layout(ROW)
    studio.drag((20, 80), (170, 200))
    studio.sees(studio.selected, ["Icon", "Image"])
    studio.drag((240, 80), (380, 200), modifiers=["Shift"])
    studio.sees(studio.selected, ["Icon", "Image", "Text"])


def test_all_and_none(studio: Studio) -> None:
    studio.open_layout(ROW)
    studio.keys("Control+a")
    studio.settle()
    studio.sees(lambda: len(studio.selected()), 3)
    studio.keys("Escape")
    studio.settle()
    studio.sees(studio.selected, [])
    studio.keys("Control+a")
    studio.click(200, 400)
    studio.sees(studio.selected, [])


def test_the_list_of_elements_selects_too(studio: Studio) -> None:
    studio.open_layout(STACK)
    studio.page.locator("[data-element]").nth(0).click()
    studio.settle()
    studio.sees(studio.selected, ["Card"])
    studio.page.locator("[data-element]").nth(2).click(modifiers=["Shift"])
    studio.settle()
    studio.sees(studio.selected, ["Card", "Icon"])

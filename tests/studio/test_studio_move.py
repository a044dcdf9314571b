"""Moving and resizing, with snapping; nudging; aligning; locking."""

from __future__ import annotations

import pytest
from hands import HEIGHT, WIDTH, Studio

ONE = [("Image", 100, 100, 120, 80)]
TWO = [("Image", 100, 100, 120, 80), ("Text", 250, 300, 100, 40)]


def test_a_small_tremble_moves_nothing(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.drag((150, 140), (153, 142))
    studio.sees(studio.rects, [(100, 100, 120, 80)])
    studio.sees(studio.selected, ["Image"])


def test_drag_moves_and_undo_takes_one_step_back(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.drag((150, 140), (187, 161), modifiers=["Control"])
    studio.sees(studio.rects, [(137, 121, 120, 80)])
    studio.keys("Control+z")
    studio.settle()
    studio.sees(studio.rects, [(100, 100, 120, 80)])
    studio.keys("Control+Shift+z")
    studio.settle()
    studio.sees(studio.rects, [(137, 121, 120, 80)])
    studio.keys("Control+z", "Control+y")
    studio.settle()
    studio.sees(studio.rects, [(137, 121, 120, 80)])


def test_shift_keeps_one_axis(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.drag((150, 140), (213, 157), modifiers=["Shift", "Control"])
    studio.sees(studio.rects, [(163, 100, 120, 80)])


def test_alt_drag_leaves_the_original(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.drag((150, 140), (163, 317), modifiers=["Alt", "Control"])
    studio.sees(lambda: sorted(studio.rects()), [(100, 100, 120, 80), (113, 277, 120, 80)])
    studio.keys("Control+z")
    studio.settle()
    studio.sees(studio.rects, [(100, 100, 120, 80)])


def test_the_canvas_holds_boxes_back(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.drag((150, 140), (700, -200))
    studio.sees(studio.rects, [(WIDTH - 120, 0, 120, 80)])


def test_several_move_together(studio: Studio) -> None:
    studio.open_layout(TWO)
    studio.keys("Control+a")
    studio.drag((150, 140), (137, 173), modifiers=["Control"])
    studio.sees(studio.rects, [(87, 133, 120, 80), (237, 333, 100, 40)])


def test_moving_snaps_to_a_neighbour_and_shows_the_line(studio: Studio) -> None:
    studio.open_layout(TWO)
    # The text's left edge comes within four pixels of the image's.
    studio.drag((300, 320), (154, 330), drop=False)
    studio.sees(lambda: studio.page.locator(".guides line").count() >= 1)
    studio.page.mouse.up()
    studio.settle()
    studio.sees(lambda: studio.rects()[1][0], 100)
    studio.sees(lambda: studio.page.locator(".guides line").count(), 0)


def test_control_switches_snapping_off(studio: Studio) -> None:
    studio.open_layout(TWO)
    studio.drag((300, 320), (154, 330), modifiers=["Control"])
    studio.sees(lambda: studio.rects()[1][:2], (104, 310))


def test_equal_gaps_snap_and_are_measured(studio: Studio) -> None:
    studio.open_layout(
        [("Icon", 20, 60, 60, 60), ("Icon", 290, 60, 60, 60), ("Text", 160, 71, 70, 31)]
    )
    studio.drag((190, 85), (183, 86), drop=False)
    studio.sees(lambda: studio.page.locator(".guides .gap").count(), 2)
    studio.sees(lambda: studio.page.locator(".guides .gap text").all_text_contents(), ["70", "70"])
    studio.page.mouse.up()
    studio.settle()
    studio.sees(lambda: studio.rects()[2][0], 150)


@pytest.mark.parametrize(
    ("handle", "rect"),
    [
        ("nw", (117, 113, 103, 67)), ("n", (100, 113, 120, 67)), ("ne", (100, 113, 137, 67)),
        ("e", (100, 100, 137, 80)), ("se", (100, 100, 137, 93)), ("s", (100, 100, 120, 93)),
        ("sw", (117, 100, 103, 93)), ("w", (117, 100, 103, 80)),
    ],
)  # fmt: skip
def test_eight_handles(studio: Studio, handle: str, rect: tuple[int, ...]) -> None:
    studio.open_layout(ONE)
    studio.click(150, 140)
    studio.pull(handle, (17, 13), modifiers=["Control"])
    studio.sees(studio.rects, [rect])


def test_shift_keeps_the_ratio_and_alt_the_centre(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.click(150, 140)
    studio.pull("se", (60, 0), modifiers=["Shift"])
    studio.sees(studio.rects, [(100, 100, 180, 120)])
    studio.keys("Control+z")
    studio.settle()
    studio.pull("e", (20, 0), modifiers=["Alt", "Control"])
    studio.sees(studio.rects, [(80, 100, 160, 80)])


def test_resizing_snaps(studio: Studio) -> None:
    studio.open_layout(TWO)
    studio.click(150, 140)
    studio.pull("e", (27, 0))  # 220 + 27 is near the text's left edge at 250
    studio.sees(lambda: studio.rects()[0], (100, 100, 150, 80))


def test_several_are_resized_together(studio: Studio) -> None:
    studio.open_layout([("Icon", 100, 100, 50, 50), ("Icon", 150, 150, 50, 50)])
    studio.keys("Control+a")
    studio.settle()
    studio.pull("se", (100, 100), modifiers=["Control"])
    studio.sees(studio.rects, [(100, 100, 100, 100), (200, 200, 100, 100)])


def test_arrows_nudge_and_alt_arrows_resize(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.page.clock.set_fixed_time(0)  # on a slow machine, keys in a row would be too far apart
    studio.click(150, 140)
    studio.keys("ArrowRight", "ArrowRight", "Shift+ArrowDown")
    studio.settle()
    studio.sees(studio.rects, [(102, 110, 120, 80)])
    studio.keys("Alt+ArrowRight", "Alt+Shift+ArrowUp")
    studio.settle()
    studio.sees(studio.rects, [(102, 110, 121, 70)])
    studio.keys("Control+z", "Control+z")
    studio.settle()
    studio.sees(studio.rects, [(100, 100, 120, 80)], "nudges in a row are one step")


ROW = [("Icon", 40, 90, 60, 60), ("Image", 150, 110, 60, 40), ("Text", 320, 100, 60, 20)]


@pytest.mark.parametrize(
    ("button", "values"),
    [
        ("Align left", [40, 40, 40]), ("Centre", [180, 180, 180]), ("Align right", [320, 320, 320]),
        ("Align top", [90, 90, 90]), ("Align middle", [90, 100, 110]),
        ("Align bottom", [90, 110, 130]),
    ],
)  # fmt: skip
def test_aligning(studio: Studio, button: str, values: list[int]) -> None:
    studio.open_layout(ROW)
    studio.keys("Control+a")
    studio.page.get_by_role("button", name=button, exact=True).click()
    studio.settle()
    across = button in ("Align left", "Centre", "Align right")
    studio.sees(lambda: [r[0 if across else 1] for r in studio.rects()], values)


def test_aligning_and_spacing_by_keys(studio: Studio) -> None:
    studio.open_layout(ROW)
    studio.keys("Control+a", "Control+Shift+ArrowUp", "Alt+h")
    studio.settle()
    studio.sees(studio.rects, [(40, 90, 60, 60), (180, 90, 60, 40), (320, 90, 60, 20)])
    studio.keys("Control+Shift+ArrowLeft", "Alt+v")
    studio.settle()
    studio.sees(lambda: [r[0] for r in studio.rects()], [40, 40, 40])


def test_locked_boxes_can_be_selected_but_not_moved(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.click(150, 140)
    studio.keys("Control+Shift+L")
    studio.settle()
    studio.sees(lambda: studio.boxes()[0].locked)
    studio.sees(lambda: studio.page.locator("[data-handle]").count(), 0)
    studio.drag((150, 140), (200, 240))
    studio.click(150, 140)
    studio.keys("ArrowRight")
    studio.settle()
    studio.sees(studio.rects, [(100, 100, 120, 80)])
    studio.sees(studio.selected, ["Image"])
    studio.keys("Control+Shift+L", "ArrowRight")
    studio.settle()
    studio.sees(studio.rects, [(101, 100, 120, 80)])


def test_escape_gives_a_movement_up(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.drag((150, 140), (250, 300), drop=False)
    studio.keys("Escape")
    studio.page.mouse.up()
    studio.settle()
    studio.sees(studio.rects, [(100, 100, 120, 80)])


def test_numbers_can_be_typed(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.click(150, 140)
    for side, value in (("x", "20"), ("h", "1000")):
        studio.page.fill(f"#field-{side}", value)
        studio.keys("Enter")
    studio.settle()
    studio.sees(studio.rects, [(20, 0, 120, HEIGHT)], "a box that would stand out is held back")


def test_keys_belong_to_the_field_that_is_typed_in(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.click(150, 140)
    studio.page.fill("#field-name", "")
    studio.page.type("#field-name", "rvg hero")
    studio.keys("Backspace")
    studio.settle()
    studio.sees(lambda: [b.title for b in studio.boxes()], ["rvg her"])
    studio.sees(lambda: studio.page.evaluate("document.documentElement.dataset.tool"), "select")


def test_a_space_that_is_typed_before_the_page_has_drawn_stays(studio: Studio) -> None:
    studio.open_layout(ONE)
    studio.click(150, 140)
    studio.page.focus("#field-name")
    typed = """values => values.forEach(value => {
      const field = document.getElementById("field-name");
      field.value = value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    })"""
    studio.page.evaluate(typed, ["my", "my "])  # both between two frames
    studio.settle()
    assert studio.page.input_value("#field-name") == "my "
    studio.page.keyboard.type("hero")
    studio.sees(lambda: [b.title for b in studio.boxes()], ["my hero"])

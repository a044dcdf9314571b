"""Drawing, labels, copying, the view, help, menus, touch."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hands import Studio

CARD = [("Card", 50, 50, 300, 300)]


@pytest.mark.parametrize("key", ["r", "b"])
def test_draw_inside_another_box(studio: Studio, key: str) -> None:
    studio.open_layout(CARD)
    studio.keys(key)
    studio.drag((101, 111), (203, 158), modifiers=["Control"])
    studio.sees(studio.rects, [(50, 50, 300, 300), (101, 111, 102, 47)])
    studio.sees(studio.selected, ["Text"])
    studio.sees(lambda: studio.page.evaluate("document.documentElement.dataset.tool"), "select")


def test_drawing_may_begin_and_end_outside(studio: Studio) -> None:
    studio.open_layout(CARD)
    studio.keys("r")
    studio.drag((-60, 420), (500, 500))
    studio.sees(lambda: studio.rects()[1], (0, 420, 400, 80))


def test_a_label_is_found_by_search_and_drawn_with(studio: Studio) -> None:
    studio.open_layout(CARD)
    studio.keys("/")
    studio.page.keyboard.type("switch")
    studio.sees(lambda: studio.page.locator(".labels li").count(), 1)
    studio.keys("Enter")
    studio.drag((100, 400), (160, 440))
    studio.sees(lambda: [b.label for b in studio.boxes()], ["Card", "On/Off Switch"])
    studio.sees(lambda: studio.page.input_value("#label-search"), "")


def test_a_label_is_given_to_what_is_selected(studio: Studio) -> None:
    studio.open_layout(CARD)
    studio.click(200, 200)
    studio.page.locator(".labels li button", has_text="Map View").click()
    studio.settle()
    studio.sees(lambda: [b.label for b in studio.boxes()], ["Map View"])
    studio.page.select_option("#field-label", "Video")
    studio.settle()
    studio.sees(lambda: [b.label for b in studio.boxes()], ["Video"])


def test_copy_cut_paste_duplicate(studio: Studio) -> None:
    studio.open_layout([("Icon", 100, 100, 50, 50)])
    studio.click(125, 125)
    studio.keys("Control+c", "Control+v")
    studio.settle()
    studio.sees(studio.rects, [(100, 100, 50, 50), (112, 112, 50, 50)])
    studio.keys("Control+Shift+v")
    studio.settle()
    studio.sees(lambda: studio.rects()[2], (100, 100, 50, 50))
    studio.keys("Control+d")
    studio.settle()
    studio.sees(lambda: studio.rects()[3], (112, 112, 50, 50))
    studio.keys("Control+x")
    studio.settle()
    studio.sees(lambda: len(studio.rects()), 3)


def test_the_clipboard_holds_a_layout(studio: Studio) -> None:
    studio.open_layout([("Icon", 100, 150, 50, 60)])
    studio.click(125, 175)
    studio.keys("Control+c")
    studio.sees(lambda: "Icon" in studio.page.evaluate("navigator.clipboard.readText()"))
    record = json.loads(studio.page.evaluate("navigator.clipboard.readText()"))
    assert record["labels"] == ["Icon"]
    assert record["boxes"] == [[0.3125, 0.3, 0.125, 0.1]]


def test_a_layout_from_elsewhere_is_pasted(studio: Studio) -> None:
    studio.open_layout(CARD)
    other = {"id": "", "width": 1, "height": 1, "labels": ["Icon"], "boxes": [[0.5, 0.5, 0.1, 0.1]]}
    studio.page.evaluate("text => navigator.clipboard.writeText(text)", json.dumps(other))
    studio.keys("Control+v")
    studio.settle()
    studio.sees(lambda: studio.rects()[1], (180, 270, 40, 60))


def test_delete_takes_relations_along(studio: Studio) -> None:
    studio.open_layout([("Icon", 40, 40, 50, 50), ("Text", 200, 200, 80, 40)], ["a", "b"])
    studio.keys("Control+a", "l")
    studio.choose("above b")
    studio.settle()
    studio.sees(lambda: len(studio.wishes()), 1)
    studio.click(65, 65)
    studio.keys("Delete")
    studio.settle()
    studio.sees(lambda: [b.title for b in studio.boxes()], ["b"])
    studio.keys("Escape")
    studio.sees(studio.wishes, [])


def test_zoom_and_pan(studio: Studio) -> None:
    studio.open_layout(CARD)
    zoom = studio.page.locator("#top .zoom")
    studio.sees(zoom.inner_text, "100 %")
    x, y = studio.at(100, 100)
    studio.page.mouse.move(x, y)
    studio.page.keyboard.down("Control")
    studio.page.mouse.wheel(0, -300)
    studio.page.keyboard.up("Control")
    studio.settle()
    studio.sees(zoom.inner_text, "193 %")
    studio.sees(
        lambda: studio.at(100, 100), pytest.approx((x, y), abs=2), "what is under the pointer stays"
    )
    studio.page.keyboard.down(" ")
    studio.press(x, y, x + 40, y + 30)
    studio.page.keyboard.up(" ")
    studio.sees(lambda: studio.at(100, 100), pytest.approx((x + 40, y + 30), abs=2))
    studio.page.mouse.wheel(0, 50)
    studio.settle()
    studio.sees(lambda: studio.at(100, 100), pytest.approx((x + 40, y - 20), abs=2))
    studio.keys("Shift+1")
    studio.settle()
    fitted = studio.page.locator("#stage > .page").bounding_box()
    stage = studio.page.locator("#stage").bounding_box()
    assert fitted["height"] < stage["height"]
    size = fitted["width"]
    for name, factor in (("Zoom in", 1.25), ("Zoom out", 1.0)):
        studio.page.get_by_role("button", name=name).click()
        studio.settle()
        width = studio.page.locator("#stage > .page").bounding_box()["width"]
        assert width == pytest.approx(factor * size, rel=0.01), name
    studio.sees(studio.rects, [(50, 50, 300, 300)], "the view is not the document")


def test_question_mark_lists_the_keys(studio: Studio) -> None:
    studio.keys("?")
    dialog = studio.page.get_by_role("dialog", name="Keys")
    studio.sees(dialog.is_visible)
    studio.sees(lambda: "Regenerate the rest" in dialog.inner_text())
    studio.keys("Escape")
    studio.sees(lambda: not dialog.is_visible())


def test_the_context_menu_locks(studio: Studio) -> None:
    studio.open_layout(CARD)
    studio.page.mouse.click(*studio.at(200, 200), button="right")
    studio.choose("Lock")
    studio.settle()
    studio.sees(lambda: studio.boxes()[0].locked)


def test_fingers(open_studio: Callable[..., Studio]) -> None:
    studio = open_studio(has_touch=True).ready().open_layout(CARD)
    studio.page.touchscreen.tap(*studio.at(200, 200))
    studio.settle()
    studio.sees(studio.selected, ["Card"])
    touch = studio.page.context.new_cdp_session(studio.page)

    def send(kind: str, *points: tuple[float, float]) -> None:
        spots = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": spots})

    start, end = studio.at(200, 200), studio.at(243, 290)
    send("touchStart", start)
    for share in (0.3, 0.6, 1.0):
        x, y = (s + (e - s) * share for s, e in zip(start, end, strict=True))
        send("touchMove", (x, y))
    send("touchEnd")
    studio.settle()
    studio.sees(lambda: studio.rects()[0][:2], pytest.approx((93, 140), abs=7))
    before = studio.page.locator("#stage > .page").bounding_box()
    a, b = studio.at(150, 300), studio.at(250, 300)
    send("touchStart", a, b)
    for grow in (20, 50):
        send("touchMove", (a[0] - grow, a[1]), (b[0] + grow, b[1]))
    send("touchEnd")
    studio.settle()
    after = studio.page.locator("#stage > .page").bounding_box()
    assert after["width"] == pytest.approx(2 * before["width"], rel=0.05), "pinching zooms"
    studio.sees(lambda: len(studio.rects()), 1)


def test_enter_takes_the_label_that_was_typed_even_before_it_is_shown(studio: Studio) -> None:
    studio.open_layout(CARD)
    studio.page.focus("#label-search")
    studio.page.evaluate(
        """() => {
          const field = document.getElementById("label-search");
          field.value = "toolbar";
          field.dispatchEvent(new Event("input", { bubbles: true }));
          field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
        }"""
    )  # both between two frames
    studio.settle()
    studio.keys("n")
    studio.sees(lambda: [b.label for b in studio.boxes()][-1], "Toolbar")


def test_copies_keep_what_relates_them(studio: Studio) -> None:
    studio.open_layout([("Icon", 40, 40, 50, 50), ("Text", 200, 200, 80, 40)], ["a", "b"])
    studio.keys("Control+a", "l")
    studio.choose("above b")
    studio.settle()
    studio.keys("Control+a", "Control+d", "Escape")
    studio.settle()
    studio.sees(
        lambda: [w.splitlines()[0] for w in studio.wishes()], ["a above b", "Icon above Text"]
    )
    studio.keys("Control+z", "Control+a", "Control+x")
    studio.settle()
    studio.sees(lambda: len(studio.boxes()), 0)
    studio.keys("Control+v", "Escape")
    studio.settle()
    studio.sees(lambda: [box.title for box in studio.boxes()], ["a", "b"])
    studio.sees(lambda: [w.splitlines()[0] for w in studio.wishes()], ["a above b"])

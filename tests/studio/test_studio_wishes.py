"""Wishes: the three states of a field, relations, their verdicts, problems, the canvas."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hands import Studio

PAIR = [("Toolbar", 0, 20, 400, 50), ("Image", 50, 200, 200, 150)]


def pair(studio: Studio) -> Studio:
    return studio.open_layout(PAIR, ["bar", "hero"])


def element(studio: Studio, index: int) -> dict[str, object]:
    found: dict[str, object] = studio.request()["elements"][index]
    return found


def test_what_is_opened_or_drawn_is_a_draft(studio: Studio) -> None:
    pair(studio)
    studio.sees(lambda: element(studio, 1)["width"], {"about": 0.5, "within": 0.05})


def test_one_click_on_the_box_changes_a_field(studio: Studio) -> None:
    pair(studio)
    studio.click(150, 270)
    chip = studio.page.locator('[data-chip="w"]')
    studio.sees(lambda: chip.get_attribute("aria-label"), "width is about; make it fixed")
    chip.click()
    studio.settle()
    studio.sees(lambda: element(studio, 1)["width"], 0.5)
    chip.click()
    studio.settle()
    studio.sees(lambda: "width" not in element(studio, 1))
    chip.click()
    studio.settle()
    studio.sees(lambda: element(studio, 1)["width"], {"about": 0.5, "within": 0.05})
    studio.page.locator('[data-chip="label"]').click()
    studio.settle()
    studio.sees(lambda: "label" not in element(studio, 1))


def test_the_panel_changes_a_field_too(studio: Studio) -> None:
    pair(studio)
    studio.click(150, 270)
    group = studio.page.get_by_role("radiogroup", name="Height is")
    group.get_by_role("radio", name="fixed").click()
    studio.settle()
    studio.sees(lambda: element(studio, 1)["height"], 0.25)


def test_moving_a_free_value_makes_it_a_draft(studio: Studio) -> None:
    pair(studio)
    studio.click(150, 270)
    for _ in range(2):
        studio.page.locator('[data-chip="x"]').click()
        studio.settle()
    studio.sees(lambda: "x" not in element(studio, 1))
    studio.drag((150, 270), (171, 270), modifiers=["Control"])
    studio.sees(lambda: element(studio, 1)["x"], {"about": 0.4275, "within": 0.05})


def test_locking_fixes_everything(studio: Studio) -> None:
    pair(studio)
    studio.click(150, 40)
    studio.page.get_by_role("button", name="Lock (Ctrl Shift L)").click()
    studio.settle()
    bar = element(studio, 0)
    assert (bar["x"], bar["y"], bar["width"], bar["label"]) == (0.5, 0.075, 1, "Toolbar")


def test_the_slider_says_how_far(studio: Studio) -> None:
    pair(studio)
    studio.page.focus("#within")
    studio.keys("ArrowRight", "ArrowRight")
    studio.settle()
    studio.sees(lambda: element(studio, 1)["width"], {"about": 0.5, "within": 0.06})


def test_a_relation_by_dragging_from_box_to_box(studio: Studio) -> None:
    pair(studio)
    studio.click(150, 270)
    port = studio.page.locator("[data-link]").bounding_box()
    middle = port["x"] + port["width"] / 2, port["y"] + port["height"] / 2
    studio.press(*middle, *studio.at(300, 45))
    studio.choose("below bar")
    studio.settle()
    studio.sees(lambda: studio.request()["relations"], [{"of": "hero", "is": "below", "to": "bar"}])
    studio.sees(studio.wishes, ["hero below bar\nnot tried yet"])


def test_a_relation_with_the_tool_and_to_the_canvas(studio: Studio) -> None:
    pair(studio)
    studio.keys("l")
    studio.drag((150, 270), (300, 550))
    studio.choose("in the bottom third of the canvas")
    studio.settle()
    studio.sees(
        lambda: studio.request()["relations"], [{"of": "hero", "is": "bottom", "to": "canvas"}]
    )


def test_a_relation_from_the_menus(studio: Studio) -> None:
    pair(studio)
    studio.click(150, 40)
    studio.click(150, 270, modifiers=["Shift"])
    studio.page.get_by_role("button", name="Relate…").click()
    studio.choose("smaller than hero")
    studio.settle()
    studio.sees(
        lambda: studio.request()["relations"], [{"of": "bar", "is": "smaller", "to": "hero"}]
    )
    studio.page.get_by_role("button", name="Remove the wish").click()
    studio.settle()
    studio.sees(lambda: "relations" not in studio.request())


def test_badges_tell_what_is_met_and_what_is_missed_by_how_much(studio: Studio) -> None:
    """The verdicts are the server's: every wish of its report is found at its relation."""
    pair(studio)
    studio.keys("Control+a", "l")
    studio.choose("above hero")
    studio.keys("Control+a", "l")
    studio.choose("smaller than hero")
    studio.settle()
    studio.keys("Escape")
    with studio.page.expect_response("**/v1/generate") as answer:
        studio.page.click("#generate")
    studio.settle()
    results = answer.value.json()["results"]
    for index, result in enumerate(results):
        studio.page.locator(f'[data-variant="{index}"]').hover()
        studio.settle()
        missed = {wish["path"]: wish for wish in result["report"]["missed"]}
        lines = studio.wishes()
        for place in (0, 1):
            wish = missed.get(f"relations[{place}]")
            verdict = lines[place].splitlines()[1]
            assert verdict.startswith("missed by") if wish else verdict == "met"
        badges = studio.page.locator(".relation.met .badge").count()
        assert badges == 2 - sum(path.startswith("relations") for path in missed)


def test_a_change_makes_the_verdict_old(studio: Studio) -> None:
    pair(studio)
    studio.keys("Control+a", "l")
    studio.choose("above hero")
    studio.settle()
    studio.generate()
    studio.sees(lambda: "not tried" not in studio.wishes()[0])
    studio.keys("Control+a", "ArrowDown", "Escape")
    studio.settle()
    studio.sees(lambda: "not tried yet" in studio.wishes()[0])


def test_problems_are_shown_at_their_box_while_one_types(studio: Studio) -> None:
    pair(studio)
    studio.click(150, 270)
    with studio.page.expect_response("**/v1/check"):
        studio.page.fill("#field-name", "bar")
    alert = studio.page.locator("#right .problems")
    alert.wait_for()
    studio.sees(lambda: "bar" in alert.inner_text())
    studio.sees(lambda: studio.page.locator(".box.wrong").count(), 1)
    with studio.page.expect_response("**/v1/check"):
        studio.page.fill("#field-name", "hero")
    alert.wait_for(state="detached")
    studio.sees(lambda: studio.page.locator(".box.wrong").count(), 0)


def test_wishes_that_contradict_each_other_are_told(studio: Studio) -> None:
    pair(studio)
    for relation in ("above hero", "below hero"):
        studio.keys("Control+a", "l")
        with studio.page.expect_response("**/v1/check"):
            studio.choose(relation)
    studio.page.locator(".wishes li.missed, #right .problems").first.wait_for()


@pytest.mark.parametrize(("preset", "size"), [("A4 page", (595, 842)), ("Slide 16:9", (1280, 720))])
def test_another_canvas_keeps_the_shares(
    studio: Studio, preset: str, size: tuple[int, int]
) -> None:
    pair(studio)
    studio.keys("Escape")
    studio.page.select_option("#preset", preset)
    studio.settle()
    studio.sees(studio.canvas, size)
    shares = zip((0.125, 1 / 3, 0.5, 0.25), size * 2, strict=True)
    studio.sees(
        lambda: studio.rects()[1], pytest.approx([share * side for share, side in shares], abs=1)
    )
    hint = studio.page.locator("#right .hint", has_text="learned from canvases")
    studio.sees(hint.count, 1 if preset == "Slide 16:9" else 0)


def test_an_own_size(studio: Studio) -> None:
    pair(studio)
    studio.page.get_by_label("Canvas width in pixels").fill("800")
    studio.keys("Enter")
    studio.settle()
    studio.sees(studio.canvas, (800, 600))
    studio.sees(lambda: studio.rects()[1], (100, 200, 400, 150))


def test_how_many_elements(studio: Studio) -> None:
    pair(studio)
    studio.page.get_by_label("Fewest elements").fill("5")
    studio.page.get_by_label("Most elements").fill("7")
    studio.keys("Enter")
    studio.settle()
    studio.sees(lambda: studio.request()["number_of_elements"], {"min": 5, "max": 7})
    studio.generate()
    studio.sees(lambda: 5 <= len(studio.boxes()) <= 7)
    studio.page.get_by_label("The model may add elements").uncheck()
    studio.settle()
    studio.sees(lambda: studio.request()["more"] is False)


def test_groups_where_the_server_knows_them(open_studio: Callable[..., Studio]) -> None:
    studio = open_studio().ready()
    known = studio.page.request.get(studio.page.url.split("#")[0] + "v1/schema").json()
    studio.open_layout([("Text", 40, 40 + 60 * i, 120, 40) for i in range(3)], ["a", "b", "c"])
    studio.keys("Control+a")
    studio.settle()
    button = studio.page.get_by_role("button", name="Column", exact=True)
    if "groups" not in known["properties"]:
        studio.sees(button.count, 0)
        return
    button.click()
    studio.settle()
    studio.sees(
        lambda: studio.request()["groups"],
        [{"column": ["a", "b", "c"], "gap": "equal", "align": "left"}],
    )
    studio.page.get_by_role("button", name="Same width").click()
    studio.settle()
    studio.sees(lambda: {"of": "b", "is": "same_width", "to": "a"} in studio.request()["relations"])
    studio.keys("Escape")
    studio.generate()
    left = {box.x for box in studio.boxes() if box.title in ("a", "b", "c")}
    assert len(left) == 1, "the column is aligned"


def test_a_problem_is_told_whatever_is_selected(studio: Studio) -> None:
    studio.open_layout(
        [("Icon", 20, 20, 50, 50), ("Text", 20, 200, 80, 40), ("Image", 20, 300, 80, 80)]
    )
    studio.click(45, 45)
    with studio.page.expect_response("**/v1/check"):
        studio.page.fill("#field-name", "canvas")
    problem = studio.page.locator("#right .problems")
    problem.wait_for()
    for place in ((60, 220), (300, 500)):  # another box, and none
        studio.click(*place)
        studio.sees(lambda: "canvas" in problem.inner_text())
    problem.get_by_role("button").click()
    studio.settle()
    studio.sees(lambda: studio.page.input_value("#field-name"), "canvas")


def test_arrows_choose_what_a_value_is(studio: Studio) -> None:
    pair(studio)
    studio.click(150, 270)
    before = studio.rects()
    studio.page.locator('[aria-label="Left is"] [aria-checked=true]').focus()
    studio.keys("ArrowRight")
    studio.settle()
    chosen = studio.page.locator('[aria-label="Left is"] [aria-checked=true]')
    assert chosen.get_attribute("aria-label") == "fixed"
    assert chosen.evaluate("it => it === document.activeElement")
    assert studio.rects() == before


def test_no_line_crosses_out_the_words_of_a_badge(studio: Studio) -> None:
    pair(studio)
    studio.keys("Control+a", "l")
    studio.choose("above hero")
    studio.keys("Control+a", "l")
    studio.choose("smaller than hero")
    studio.settle()
    order = studio.page.eval_on_selector_all(
        ".relation", "all => all.map(it => it.querySelector('line') ? 'line' : 'badge')"
    )
    assert order == ["line", "line", "badge", "badge"]

"""Variants: taking, hovering, refining, completing, tidying, seeds, live, the film."""

from __future__ import annotations

from collections.abc import Callable

from hands import Studio

DRAFT = [("Toolbar", 0, 20, 400, 50), ("Image", 50, 120, 300, 200), ("Text", 60, 360, 280, 40)]


def draft(studio: Studio) -> Studio:
    return studio.open_layout(DRAFT, ["bar", "hero", "words"])


def lock(studio: Studio, x: float, y: float) -> None:
    studio.click(x, y)
    studio.keys("Control+Shift+L", "Escape")
    studio.settle()


def test_from_nothing(studio: Studio) -> None:
    studio.page.get_by_role("button", name="Surprise me").click()
    studio.page.wait_for_selector('[data-variant="7"]')
    studio.settle()
    boxes = studio.boxes()
    assert boxes and all(box.made for box in boxes)


def test_eight_variants_and_a_regeneration_is_one_step(studio: Studio) -> None:
    draft(studio)
    lock(studio, 150, 40)
    before = studio.rects()
    studio.generate()
    studio.sees(lambda: studio.page.locator("[data-variant]").count(), 8)
    after = studio.rects()
    assert after[0] == before[0], "what is locked stays"
    assert len(after) >= 3
    studio.keys("Control+z")
    studio.settle()
    studio.sees(studio.rects, before)
    studio.keys("Control+y")
    studio.settle()
    studio.sees(studio.rects, after)


def test_pointing_shows_and_clicking_takes(studio: Studio) -> None:
    draft(studio)
    studio.generate()
    taken = int(studio.page.locator(".taken [data-variant]").get_attribute("data-variant"))
    other = (taken + 3) % 8
    first = studio.rects()
    studio.page.locator(f'[data-variant="{other}"]').hover()
    studio.settle()
    seen = studio.page.locator(".boxes [data-box]").count()
    studio.page.mouse.move(700, 300)
    studio.settle()
    studio.sees(studio.rects, first, "looking takes nothing")
    studio.page.locator(f'[data-variant="{other}"]').click()
    studio.page.mouse.move(700, 300)
    studio.settle()
    studio.sees(lambda: len(studio.rects()), seen)
    studio.sees(lambda: studio.rects() != first)
    studio.keys(str(taken + 1))
    studio.settle()
    studio.sees(studio.rects, first, "number keys take, too")


def test_a_preview_glides(open_studio: Callable[..., Studio]) -> None:
    studio = draft(open_studio(reduced_motion="no-preference").ready())
    studio.generate()
    taken = int(studio.page.locator(".taken [data-variant]").get_attribute("data-variant"))
    places = set()
    studio.freeze()
    studio.page.locator(f'[data-variant="{(taken + 1) % 8}"]').dispatch_event("mouseenter")
    for _ in range(8):
        studio.page.clock.run_for(40)
        look = "all => all.map(e => e.getAttribute('y')).join()"
        places.add(studio.page.eval_on_selector_all(".boxes .body", look))
    assert len(places) > 3, "there are places between"


def test_regenerate_the_rest_keeps_locked_and_selected(studio: Studio) -> None:
    draft(studio)
    lock(studio, 150, 40)
    studio.click(150, 200)
    studio.generate('[data-act="rest"]')
    after = studio.boxes()
    assert (after[0].x, after[0].y, after[0].w, after[0].h) == (0, 20, 400, 50)
    assert (after[1].x, after[1].y, after[1].w, after[1].h) == (50, 120, 300, 200)


def test_complete_keeps_all_and_adds(studio: Studio) -> None:
    draft(studio)
    studio.generate('[data-act="complete"]')
    studio.sees(
        lambda: studio.rects()[:3], [(0, 20, 400, 50), (50, 120, 300, 200), (60, 360, 280, 40)]
    )
    studio.sees(lambda: len(studio.rects()) > 3)
    studio.sees(lambda: all(box.made for box in studio.boxes()[3:]))


def test_more_like_this_stays_near(studio: Studio) -> None:
    draft(studio)
    with studio.page.expect_request("**/v1/generate") as asked:
        studio.page.click('[data-act="refine"]')
    studio.page.wait_for_selector("[data-variant]")
    spec = asked.value.post_data_json["spec"]
    assert spec["more"] is False
    assert all(e["x"]["within"] == 0.05 for e in spec["elements"])
    studio.settle()
    studio.sees(lambda: len(studio.rects()), 3)


def test_made_boxes_are_replaced_until_they_are_kept(studio: Studio) -> None:
    draft(studio)
    studio.generate('[data-act="complete"]')
    made = studio.page.locator("[data-element].made")
    kept = made.first.get_attribute("data-element")
    made.first.click()
    studio.page.get_by_role("button", name="Keep it").click()
    studio.settle()
    studio.sees(lambda: len(studio.request()["elements"]), 4)
    studio.keys("Escape")
    studio.generate()
    still = studio.page.locator(f'[data-element="{kept}"]')
    studio.sees(lambda: "made" not in (still.get_attribute("class") or ""))


def test_seeds_make_the_same_and_others(studio: Studio) -> None:
    draft(studio)
    studio.generate()
    first = studio.rects()
    studio.keys("Control+z")
    studio.generate()
    studio.sees(studio.rects, first, "the same seed, the same layouts")
    studio.keys("Control+z")
    with studio.page.expect_request("**/v1/generate") as asked:
        studio.page.get_by_role("button", name="Another seed (D)").click()
    assert asked.value.post_data_json["seed"] == 1
    studio.sees(lambda: studio.page.input_value("#seed"), "1")


def test_live_follows_the_hand_and_undo_takes_both_back(studio: Studio) -> None:
    draft(studio)
    studio.page.check("#live")
    studio.page.wait_for_selector("[data-variant]")
    studio.settle()
    before = studio.rects()
    with studio.page.expect_response("**/v1/generate"):
        studio.drag((150, 200), (163, 287), modifiers=["Control"])
    studio.settle()
    studio.sees(lambda: studio.rects()[1][:2], (63, 207), "a draft stays where the hand put it")
    studio.page.uncheck("#live")
    studio.keys("Control+z")
    studio.settle()
    studio.sees(studio.rects, before)


def test_the_denoising_is_shown_as_a_film(studio: Studio) -> None:
    draft(studio)
    studio.generate()
    final = studio.rects()
    studio.freeze()  # a slow machine would miss the first frames
    with studio.page.expect_response("**/v1/generate") as answer:
        studio.page.get_by_role("button", name="Show how variant 3 came to be").click()
    frames = answer.value.json()["results"][2]["trace"]
    assert len(frames) > 5
    opacities = "all => all.map(e => Number(e.getAttribute('opacity')))"
    while not (faint := studio.page.eval_on_selector_all(".boxes.preview [data-box]", opacities)):
        studio.page.clock.run_for(20)
    assert min(faint) < 0.9, "it begins with noise"
    studio.page.clock.resume()
    studio.page.wait_for_selector(".boxes:not(.preview)")
    studio.settle()
    studio.sees(studio.rects, final, "a film takes nothing")


def test_tidy_lines_up_and_spares_what_is_locked(open_studio: Callable[..., Studio]) -> None:
    # A server without tidy answers 404, which the page tells and Chromium logs.
    studio = open_studio(expect_errors=True).ready()
    studio.open_layout([("Text", 100, 100, 120, 40), ("Text", 103, 180, 121, 41)])
    lock(studio, 150, 120)
    with studio.page.expect_response("**/v1/tidy") as answer:
        studio.page.click('[data-act="tidy"]')
    studio.settle()
    assert answer.value.status == 200
    rects = studio.rects()
    assert rects[0] == (100, 100, 120, 40)
    assert rects[1][0] == 100, "nearly the same left edge is the same"
    studio.keys("Control+z")
    studio.settle()
    studio.sees(lambda: studio.rects()[1], (103, 180, 121, 41))


def test_a_refused_request_says_why(open_studio: Callable[..., Studio]) -> None:
    studio = open_studio(expect_errors=True).ready()
    studio.open_layout(DRAFT, ["same", "same", "words"])
    studio.page.click("#generate")
    note = studio.page.locator("#note.bad")
    note.wait_for()
    studio.sees(lambda: "same" in note.inner_text())
    studio.sees(lambda: studio.page.locator(".box.wrong").count() >= 1)


def test_who_goes_on_drawing_loses_nothing(studio: Studio) -> None:
    """Variants that come late wait in the strip, and taking one says what it replaces."""
    draft(studio)
    held: list[object] = []
    studio.page.route("**/v1/generate", lambda route: held.append(route))
    studio.page.click("#generate")
    studio.sees(lambda: len(held), 1)
    studio.keys("Control+a", "ArrowDown", "Escape")
    held[0].continue_()  # type: ignore[attr-defined]
    studio.page.locator('[data-variant="7"]').wait_for()
    studio.settle()
    moved = [(x, y + 1, w, h) for _, x, y, w, h in DRAFT]
    assert studio.rects() == moved
    note = studio.page.locator("#note")
    assert "click a variant" in note.inner_text()
    studio.page.click('[data-variant="2"]')
    studio.settle()
    assert "Ctrl Z brings it back" in note.inner_text()
    studio.keys("Control+z")
    studio.settle()
    assert studio.rects() == moved

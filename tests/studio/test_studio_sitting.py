"""Whole sittings: a designer with a mouse, the keyboard alone, a phone, no network, no server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hands import Studio

from studio_server import Server


@pytest.mark.slow
def test_a_designers_sitting(studio: Studio) -> None:
    """Draw, lock, relate, regenerate, take, undo, tidy, export, reload."""
    page = studio.page
    page.get_by_role("button", name="Draw a box", exact=True).click()
    page.locator(".labels li button", has_text="Toolbar").click()
    studio.drag((0, 25), (390, 85))
    page.fill("#field-name", "bar")
    page.get_by_role("button", name="Lock (Ctrl Shift L)").click()
    studio.keys("Escape", "Escape")
    page.locator(".labels li button", has_text="Image").first.click()
    studio.drag((30, 120), (360, 380))
    page.fill("#field-name", "hero")
    studio.keys("Escape", "Escape")
    page.locator(".labels li button", has_text="Text Button").click()
    studio.drag((30, 740), (360, 800))
    page.fill("#field-name", "buy")
    studio.settle()
    studio.sees(lambda: [b.title for b in studio.boxes()], ["bar", "hero", "buy"])

    port = page.locator("[data-link]").bounding_box()
    start = port["x"] + port["width"] / 2, port["y"] + port["height"] / 2
    studio.press(*start, *studio.at(100, 250))
    studio.choose("below hero")
    studio.settle()

    studio.generate()
    bar = studio.rects()[0]
    studio.generate('[data-act="rest"]')
    studio.sees(lambda: studio.rects()[0], bar, "the locked bar never moves")
    page.locator('[data-variant="2"]').click()
    page.mouse.move(700, 300)
    studio.settle()
    taken = studio.rects()
    studio.keys("Control+z")
    studio.settle()
    studio.sees(lambda: studio.rects() != taken or len(taken) == 3)
    studio.keys("Control+y")
    studio.settle()
    studio.sees(studio.rects, taken)

    studio.expect_errors = True  # a server that cannot tidy answers 404
    with page.expect_response("**/v1/tidy"):
        studio.keys("Escape", "t")
    studio.settle()
    with page.expect_download() as svg:
        studio.menu("Export", "SVG drawing")
    assert "<svg" in Path(svg.value.path()).read_text("utf-8")
    last = studio.rects()
    page.reload()
    studio.ready()
    studio.settle()
    studio.sees(studio.rects, last)


@pytest.mark.slow
def test_the_keyboard_alone(studio: Studio) -> None:
    page = studio.page
    studio.keys("n")  # a box
    studio.settle()
    studio.keys("/")
    page.keyboard.type("navbar" if has_alias(studio, "navbar") else "toolbar")
    studio.keys("Enter")  # its label
    studio.settle()
    studio.keys("Control+Shift+ArrowUp", "Shift+ArrowDown")  # to the top, then down by 10
    studio.keys("Control+Shift+l", "Escape", "n")
    studio.settle()
    studio.sees(lambda: [b.label for b in studio.boxes()], ["Toolbar", "Toolbar"])
    studio.sees(lambda: studio.boxes()[0].y == 10 and studio.boxes()[0].locked)

    studio.keys("Escape")
    page.focus("#stage")
    studio.keys("Enter")  # into the canvas
    studio.settle()
    focused = "document.activeElement.getAttribute('aria-label')"
    studio.sees(lambda: "locked" in page.evaluate(focused))
    studio.keys(" ", "Tab")  # keep it, and on to the next
    studio.settle()
    studio.sees(lambda: "locked" not in page.evaluate(focused))
    studio.sees(lambda: len(studio.selected()), 2)
    studio.keys("l")
    page.get_by_role("menu").wait_for()
    studio.keys("ArrowDown", "ArrowUp", "Enter")  # the first entry of the menu
    studio.settle()
    studio.sees(lambda: studio.request()["relations"][0]["is"], "above")

    studio.keys("Escape", "Escape")
    with page.expect_response("**/v1/generate") as answer:
        studio.keys("g")
    assert answer.value.ok
    studio.settle()
    studio.sees(lambda: studio.boxes()[0].y, 10)
    page.focus("[data-variant='0']")
    for _ in range(2):
        studio.keys("Tab")
    studio.keys("Enter")  # the second variant
    studio.settle()
    studio.sees(lambda: page.locator(".taken [data-variant='1']").count(), 1)
    with page.expect_response("**/v1/generate"):
        studio.keys("Escape", "c")
    studio.settle()
    count = len(studio.boxes())
    assert count > 2
    studio.keys("Control+z")
    studio.settle()
    studio.sees(lambda: len(studio.boxes()) != count or count > 2)


def has_alias(studio: Studio, word: str) -> bool:
    models = studio.page.request.get(studio.page.url.split("#")[0] + "v1/models").json()["models"]
    return any(word in map(str.lower, label["aliases"]) for m in models for label in m["labels"])


def test_tab_leaves_the_canvas_at_its_ends(studio: Studio) -> None:
    studio.open_layout([("Icon", 50, 50, 40, 40), ("Text", 50, 150, 100, 40)])
    studio.page.focus("#stage")
    studio.keys("Enter", "Tab")
    studio.settle()
    studio.sees(studio.selected, ["Text"])
    studio.keys("Shift+Tab")
    studio.settle()
    studio.sees(studio.selected, ["Icon"])
    studio.keys("Shift+Tab")
    studio.sees(lambda: studio.page.evaluate("document.activeElement.id"), "stage")
    studio.keys("Enter")
    studio.settle()
    studio.keys("Tab")
    studio.settle()
    studio.keys("Tab")
    studio.sees(lambda: studio.page.evaluate("document.activeElement.id"), "generate")
    studio.page.focus("#stage")
    studio.keys("Enter")
    studio.settle()
    studio.keys("Escape")
    studio.settle()
    studio.sees(studio.selected, [])
    studio.sees(lambda: studio.page.evaluate("document.activeElement.id"), "stage")


@pytest.mark.parametrize("width", [360, 390, 700])
def test_a_narrow_window(open_studio: Callable[..., Studio], width: int) -> None:
    studio = open_studio(viewport={"width": width, "height": 780})
    page = studio.page
    overflow = "document.documentElement.scrollWidth - innerWidth"
    studio.sees(lambda: page.evaluate(overflow) <= 0)
    studio.page.locator(".example", has_text="Login").click()
    page.wait_for_selector(".boxes [data-box]")
    studio.generate()
    panel = page.locator("#right")
    studio.sees(lambda: not panel.is_visible())
    page.get_by_role("button", name="Properties", exact=True).click()
    studio.settle()
    studio.sees(panel.is_visible)
    box = panel.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width + 1
    studio.keys("Escape")
    studio.settle()
    studio.sees(lambda: not panel.is_visible())
    page.get_by_role("button", name="Menu", exact=True).click()
    studio.choose("Dark colours")
    studio.settle()
    studio.sees(lambda: page.evaluate("document.documentElement.dataset.theme"), "dark")
    studio.sees(lambda: page.evaluate(overflow) <= 0)


def test_nothing_else_is_asked(open_studio: Callable[..., Studio], server: Server) -> None:
    """Offline: whatever is not on the loopback address is refused, and nothing asks for it."""
    studio = open_studio()
    asked: list[str] = []
    studio.page.context.route(
        lambda url: not url.startswith(server.url), lambda route: route.abort()
    )
    studio.page.on("request", lambda request: asked.append(request.url))
    studio.page.reload()
    studio.ready()
    studio.example("Login")
    studio.generate()
    studio.settle()
    foreign = [url for url in asked if not url.startswith((server.url, "blob:", "data:"))]
    assert asked and foreign == []


@pytest.mark.slow
def test_a_server_that_dies_and_comes_back(open_studio: Callable[..., Studio]) -> None:
    own = Server().start()
    try:
        studio = open_studio(url=own.url, expect_errors=True).ready()
        studio.open_layout([("Toolbar", 0, 20, 400, 50)])
        own.stop()
        studio.page.click("#generate")
        banner = studio.page.locator("#banner")
        banner.wait_for()
        studio.click(100, 40)
        studio.keys("ArrowDown")
        studio.settle()
        studio.sees(studio.rects, [(0, 21, 400, 50)], "one can go on editing")
        own.start()
        banner.wait_for(state="hidden")
        studio.page.wait_for_selector('[data-variant="7"]')
    finally:
        own.stop()

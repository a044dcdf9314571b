"""What a person does in the studio: hands on the mouse and the keys, eyes on the page."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

# Chromium as root in a machine without a network: nothing is fetched, nothing phones home.
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

PATIENCE = 240  # seconds until what should be seen must be seen; machines may be slow and busy

# The page does nothing any more, and has shown all of it: two frames after its last change.
AT_REST = """() => new Promise(done => {
  const root = document.documentElement;
  let calm = 0;
  const look = () => {
    calm = root.dataset.underWay === "" ? calm + 1 : 0;
    if (calm > 2) done(); else requestAnimationFrame(look);
  };
  look();
})"""

WIDTH, HEIGHT = 400, 600  # the canvas of most tests, seen at 100 %


class Seen(NamedTuple):
    """A box as its accessible name tells it."""

    title: str
    label: str
    x: int
    y: int
    w: int
    h: int
    locked: bool
    made: bool


NAME = re.compile(
    r"^(?:(?P<name>.+), )?(?P<label>[^,]+), (?P<w>\d+) by (?P<h>\d+) at (?P<x>-?\d+), (?P<y>-?\d+)"
    r"(?P<locked>, locked)?(?P<made>, made by the model)?(?:\. Problem: .*)?$",
    re.DOTALL,
)


class Studio:
    """One open page."""

    def __init__(self, page: Any, expect_errors: bool = False) -> None:
        self.page = page
        self.errors: list[str] = []
        self.expect_errors = expect_errors
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)

    def ready(self) -> Studio:
        """The models are there."""
        self.page.locator(".labels li button").nth(1).wait_for()
        self.settle()
        return self

    # Documents ---------------------------------------------------------------------------------

    def open_layout(
        self,
        boxes: Sequence[tuple[str, float, float, float, float]],
        names: Sequence[str | None] | None = None,
        width: int = WIDTH,
        height: int = HEIGHT,
    ) -> Studio:
        """Open a file with boxes (label, left, top, width, height in pixels), at 100 %."""
        record = {
            "id": "test", "width": width, "height": height,
            "labels": [b[0] for b in boxes],
            "boxes": [
                [(x + w / 2) / width, (y + h / 2) / height, w / width, h / height]
                for _, x, y, w, h in boxes
            ],
            "metadata": {"names": list(names or [None] * len(boxes))},
        }  # fmt: skip
        self.open_file("layout.json", json.dumps(record).encode(), "application/json")
        self.page.locator("[data-element]").nth(len(boxes) - 1).wait_for()
        self.settle()
        self.keys("Control+0")
        self.settle()
        return self

    def open_file(self, name: str, content: bytes, media: str = "application/json") -> None:
        with self.page.expect_file_chooser() as chooser:
            self.menu("File", "Open…")
        chooser.value.set_files({"name": name, "mimeType": media, "buffer": content})

    def example(self, title: str) -> None:
        self.page.locator(".example", has_text=title).click()
        self.page.wait_for_selector("[data-element]")

    def menu(self, name: str, item: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()
        self.choose(item)

    def choose(self, item: str) -> None:
        """An entry of the open menu."""
        self.page.get_by_role("menuitem", name=item).first.click()

    # Hands -------------------------------------------------------------------------------------

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A canvas point on the screen."""
        box = self.page.locator("#stage > .page").bounding_box()
        size = self.canvas()
        return box["x"] + x * box["width"] / size[0], box["y"] + y * box["height"] / size[1]

    def canvas(self) -> tuple[float, float]:
        doc = self.saved()["doc"]
        return doc["canvas"]["width"], doc["canvas"]["height"]

    def keys(self, *names: str) -> None:
        for name in names:
            self.page.keyboard.press(name)

    def click(self, x: float, y: float, *, modifiers: Sequence[str] = ()) -> None:
        for key in modifiers:
            self.page.keyboard.down(key)
        self.page.mouse.click(*self.at(x, y))
        for key in modifiers:
            self.page.keyboard.up(key)
        self.settle()

    def drag(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        modifiers: Sequence[str] = (),
        drop: bool = True,
    ) -> None:
        self.press(*self.at(*start), *self.at(*end), modifiers=modifiers, drop=drop)

    def press(
        self, x0: float, y0: float, x1: float, y1: float,
        *, modifiers: Sequence[str] = (), drop: bool = True,
    ) -> None:  # fmt: skip
        """Screen coordinates; held keys are pressed before and let go after."""
        mouse = self.page.mouse
        mouse.move(x0, y0)
        for key in modifiers:
            self.page.keyboard.down(key)
        mouse.down()
        mouse.move((x0 + x1) / 2, (y0 + y1) / 2, steps=3)
        mouse.move(x1, y1, steps=3)
        if drop:
            mouse.up()
        for key in modifiers:
            self.page.keyboard.up(key)
        self.settle()

    def pull(self, handle: str, by: tuple[float, float], *, modifiers: Sequence[str] = ()) -> None:
        """Drag one of the eight handles by canvas pixels; 100 % is assumed."""
        box = self.page.locator(f'[data-handle="{handle}"] .knob').bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.press(x, y, x + by[0], y + by[1], modifiers=modifiers)

    def generate(self, button: str = "#generate") -> None:
        with self.page.expect_response("**/v1/generate") as answer:
            self.page.click(button)
        assert answer.value.ok, answer.value.text()
        self.settle()

    def settle(self) -> None:
        """Until the page is at rest: all is shown, checked and kept."""
        self.page.evaluate(AT_REST)

    def freeze(self) -> None:
        """The page's clock stands still; `page.clock.run_for` lets time pass."""
        self.page.clock.install()
        self.page.clock.pause_at(self.page.evaluate("Date.now() / 1000 + 1"))

    def sees(self, look: Callable[[], Any], want: Any = True, why: str = "") -> None:
        """What is looked at is, sooner or later, what is wanted."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                if look() == want:
                    return
            except LookupError:
                pass  # a box that is not there yet
            self.page.wait_for_timeout(50)
        assert look() == want, why

    # Eyes --------------------------------------------------------------------------------------

    def boxes(self) -> list[Seen]:
        """All boxes that are seen, in the order of the list of elements."""
        order = self.page.eval_on_selector_all(
            "[data-element]", "all => all.map(e => e.getAttribute('data-element'))"
        )
        named = self.page.eval_on_selector_all(
            ".boxes [data-box]:not([aria-hidden])",
            "all => Object.fromEntries(all.map(e => [e.dataset.box, e.ariaLabel]))",
        )
        return [_seen(named[key]) for key in order]

    def rects(self) -> list[tuple[int, int, int, int]]:
        return [(b.x, b.y, b.w, b.h) for b in self.boxes()]

    def selected(self) -> list[str]:
        """Titles of what is selected."""
        names = self.page.eval_on_selector_all(
            ".boxes [data-box][aria-pressed=true]",
            "all => all.map(e => e.getAttribute('aria-label'))",
        )
        return sorted(_seen(name).title for name in names)

    def saved(self) -> dict[str, Any]:
        """What the browser keeps for a reload."""
        text = self.page.evaluate("localStorage.getItem('layoutdm-studio')")
        return json.loads(text) if text else {"doc": {"canvas": {"width": 390, "height": 844}}}

    def request(self) -> dict[str, Any]:
        """The request as the export shows it."""
        self.page.get_by_role("button", name="Export", exact=True).click()
        self.page.get_by_role("menuitem", name="JSON", exact=True).click()
        text = self.page.input_value("dialog textarea")
        self.page.keyboard.press("Escape")
        return json.loads(text)

    def wishes(self) -> list[str]:
        return self.page.locator(".wishes li .plain").all_inner_texts()


def _seen(name: str) -> Seen:
    found = NAME.match(name)
    assert found, name
    g = found.groupdict()
    return Seen(
        g["name"] or g["label"], g["label"], int(g["x"]), int(g["y"]), int(g["w"]), int(g["h"]),
        bool(g["locked"]), bool(g["made"]),
    )  # fmt: skip

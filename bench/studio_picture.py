"""The studio at work, as a picture and as a short animation.

    python bench/studio_picture.py [--out docs]

Writes studio.png and studio.gif: a designer's request, generated in a real Chromium, looked
through and taken. Nothing is drawn by hand; the layouts are what the models make.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from studio_browser import browser, open_page, running_studio

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZE = (1280, 800)
SHOWN = (960, 600)  # of the animation


class Film:
    """Screenshots with the time that each is shown."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def shot(self, milliseconds: int) -> None:
        picture = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append(picture.resize(SHOWN, Image.Resampling.LANCZOS))
        self.times.append(milliseconds)

    def glide(self, act: Callable[[], object], last: int) -> None:
        """An act, and what is seen while boxes glide."""
        act()
        for _ in range(3):
            self.shot(70)
        self.page.wait_for_timeout(300)
        self.shot(last)

    def save(self, path: Path) -> None:
        # One palette for all frames, or the colours would flicker.
        sheet = Image.new("RGB", (SHOWN[0], SHOWN[1] * len(self.frames[::4])))
        for row, frame in enumerate(self.frames[::4]):
            sheet.paste(frame, (0, row * SHOWN[1]))
        palette = sheet.quantize(256, dither=Image.Dither.NONE)
        flat = [f.quantize(palette=palette, dither=Image.Dither.NONE) for f in self.frames]
        flat[0].save(
            path, save_all=True, append_images=flat[1:], duration=self.times, loop=0, optimize=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs"))
    out = parser.parse_args().out
    with running_studio() as studio, browser() as opened:
        page = open_page(opened, studio.url, *SIZE)
        film = Film(page)
        film.shot(1400)
        film.glide(lambda: page.locator(".example", has_text="Login").click(), 1400)
        page.locator("#generate").click()
        page.locator("[data-variant]").nth(7).wait_for()
        film.glide(lambda: page.wait_for_timeout(20), 1500)
        for variant in (1, 4, 6):
            film.glide(page.locator(f'[data-variant="{variant}"]').hover, 900)
        film.glide(page.locator('[data-variant="6"]').click, 600)
        page.mouse.move(640, 60)
        film.glide(page.locator("[data-element]").nth(1).click, 1500)
        page.screenshot(path=out / "studio.png")
        film.save(out / "studio.gif")
    for name in ("studio.png", "studio.gif"):
        print(out / name, f"{(out / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

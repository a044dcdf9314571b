"""The pictures of docs/pages.md: pages of the model in each style, and the truth drawn on one.

python bench/pages_pictures.py docs/pages
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image, ImageDraw

from layoutdm import load
from layoutdm.pages import Look, Page, render

COLOURS = {"text": "#1f77b4", "title": "#d62728", "list": "#2ca02c", "table": "#9467bd"}
HEIGHT, GAP = 560, 12


def row(images: list[Image.Image]) -> Image.Image:
    small = [image.resize((round(image.width * HEIGHT / image.height), HEIGHT)) for image in images]
    sheet = Image.new("RGB", (sum(i.width + GAP for i in small) + GAP, HEIGHT + 2 * GAP), "#8a8a8a")
    at = GAP
    for image in small:
        sheet.paste(image, (at, GAP))
        at += image.width + GAP
    return sheet


def shown(page: Page) -> Image.Image:
    """The page with its boxes, their reading order, and the boxes of words."""
    image = page.image.copy()
    pen = ImageDraw.Draw(image)
    for number, block in enumerate(page.truth.blocks, start=1):
        colour = COLOURS.get(block.label, "#ff7f0e")
        for word in block.words:
            pen.rectangle(word.box, outline="#b0b0b0")
        for cell in block.cells:
            pen.rectangle(cell.box, outline="#e377c2")
        pen.rectangle(block.box, outline=colour, width=2)
        pen.text((block.box[0] - 12, block.box[1]), str(number), fill=colour)
    return image


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    layouts = [result.layout for result in load("publaynet", threads=1).generate(None, 10, seed=6)]
    rich = sorted(layouts, key=lambda layout: -len(set(layout.labels)))[:3]
    for style in ("clean", "varied", "scanned"):
        pages = [render(layout, 11, i, Look(style=style)) for i, layout in enumerate(rich)]
        row([page.image for page in pages]).save(folder / f"{style}.jpg", quality=80)
        if style == "varied":
            row([shown(page) for page in pages[:3]]).save(folder / "truth.jpg", quality=85)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""The inside of plots: lines, bars, points and maps of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from PIL import Image, ImageDraw

Colour = tuple[int, int, int]
Size = tuple[int, int]
LIGHT = 0.25  # how strong bands and other soft parts are


def _soft(colour: Colour, share: float = LIGHT) -> Colour:
    r, g, b = (round(255 - (255 - v) * share) for v in colour)
    return (r, g, b)


def _walk(random: Random, count: int) -> list[float]:
    """A smooth curve within 0..1."""
    phase, speed = random.uniform(0, 6), random.uniform(2, 9)
    rise, wave = random.uniform(-0.7, 0.7), random.uniform(0, 0.25)
    base = 0.5 - rise / 2
    points = []
    for i in range(count):
        t = i / (count - 1)
        value = base + rise * t + wave * math.sin(phase + speed * t) + random.gauss(0, 0.015)
        points.append(min(max(value, 0.03), 0.97))
    return points


def _grid(pen: ImageDraw.ImageDraw, size: Size, unit: int) -> None:
    for i in range(1, 4):
        y = size[1] * i // 4
        pen.line((0, y, size[0], y), fill=(225, 225, 225), width=unit)


def trend(pen: ImageDraw.ImageDraw, size: Size, random: Random, colours: Sequence[Colour],
          unit: int) -> None:  # fmt: skip
    """One to four curves, some with a band or with marks."""
    if random.random() < 0.4:
        _grid(pen, size, unit)
    count = random.choice((8, 12, 25, 60))
    band, marks = random.random() < 0.25, count < 20 and random.random() < 0.6
    for colour in colours[: random.randint(1, 4)]:
        curve = [((i + 0.4) * size[0] / count, size[1] * (1 - v))
                 for i, v in enumerate(_walk(random, count))]  # fmt: skip
        if band:
            wide = random.uniform(0.03, 0.08) * size[1]
            upper = [(x, y - wide) for x, y in curve]
            pen.polygon(upper + [(x, y + wide) for x, y in reversed(curve)], fill=_soft(colour))
        pen.line(curve, fill=colour, width=round(1.6 * unit), joint="curve")
        if marks:
            r = 2 * unit
            for x, y in curve:
                pen.ellipse((x - r, y - r, x + r, y + r), fill=colour)


def bars(pen: ImageDraw.ImageDraw, size: Size, random: Random, colours: Sequence[Colour],
         unit: int) -> None:  # fmt: skip
    """Groups of bars, or one row of them as in a histogram; some with error bars."""
    kinds = random.choice((1, 1, 2, 3))
    groups = random.randint(3, 7) if kinds > 1 else random.randint(4, 18)
    spread = 0.95 if groups > 10 else 0.7
    errors = random.random() < 0.35
    slot = size[0] / groups
    for group in range(groups):
        bell = math.exp(-(((group - groups / 2) / (groups / 3)) ** 2)) if groups > 10 else 1.0
        for kind in range(kinds):
            value = size[1] * min(0.93, bell * random.uniform(0.35, 0.9))
            wide = slot * spread / kinds
            x = group * slot + slot * (1 - spread) / 2 + kind * wide
            y = size[1] - value
            pen.rectangle((x, y, x + wide * 0.92, size[1]), fill=colours[kind],
                          outline=(30, 30, 30) if groups > 10 else None, width=unit)  # fmt: skip
            if errors:
                middle, reach = x + wide * 0.46, min(y, random.uniform(0.02, 0.06) * size[1])
                pen.line((middle, y - reach, middle, y + reach), fill=(0, 0, 0), width=unit)


def scatter(pen: ImageDraw.ImageDraw, size: Size, random: Random, colours: Sequence[Colour],
            unit: int) -> None:  # fmt: skip
    """Clouds of points, some with a line through them."""
    if random.random() < 0.3:
        _grid(pen, size, unit)
    for colour in colours[: random.randint(1, 3)]:
        slope, base = random.uniform(-0.5, 0.5), random.uniform(0.35, 0.65)
        noise = random.uniform(0.04, 0.16)
        r = random.uniform(1.2, 2.4) * unit
        for _ in range(random.randint(25, 110)):
            t = random.random()
            v = min(max(base + slope * (t - 0.5) + random.gauss(0, noise), 0.03), 0.97)
            x, y = size[0] * (0.02 + 0.96 * t), size[1] * (1 - v)
            pen.ellipse((x - r, y - r, x + r, y + r), fill=colour)
        if random.random() < 0.5:
            ends = (base - slope / 2, base + slope / 2)
            pen.line((0, size[1] * (1 - ends[0]), size[0], size[1] * (1 - ends[1])),
                     fill=colour, width=unit)  # fmt: skip


def heat(pen: ImageDraw.ImageDraw, size: Size, random: Random, colours: Sequence[Colour],
         unit: int) -> None:  # fmt: skip
    """A map of values in cells, from light to dark."""
    columns, rows = random.randint(4, 14), random.randint(4, 14)
    dark = colours[random.randrange(len(colours))]
    cx, cy = random.random() * columns, random.random() * rows
    for column in range(columns):
        for row in range(rows):
            far = math.hypot((column - cx) / columns, (row - cy) / rows)
            value = min(max(1 - 1.2 * far + random.gauss(0, 0.14), 0.03), 1.0)
            pen.rectangle(
                (column * size[0] // columns, row * size[1] // rows,
                 (column + 1) * size[0] // columns, (row + 1) * size[1] // rows),
                fill=_soft(dark, value),
            )  # fmt: skip


def blank(size: Size) -> Image.Image:
    return Image.new("RGB", size, (255, 255, 255))

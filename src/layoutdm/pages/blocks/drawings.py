"""Drawings (boxes with arrows, nodes with edges) and pictures that look like photographs."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from layoutdm.pages.blocks.brush import Brush

Texts = list[tuple[str, float, float, float]]  # text, centre x, centre y, room
RAMPS = (
    ((12, 12, 14), (128, 128, 130), (244, 244, 244)),
    ((60, 20, 70), (190, 80, 140), (250, 226, 236)),
    ((18, 40, 74), (92, 138, 160), (226, 226, 200)),
    ((30, 46, 20), (120, 140, 80), (214, 206, 178)),
    ((46, 26, 18), (170, 120, 84), (246, 230, 206)),
)


def diagram(pen: ImageDraw.ImageDraw, size: tuple[int, int], brush: Brush, unit: int) -> Texts:
    """Boxes in rows, with arrows from each row to the next."""
    random, style = brush.random, brush.style
    width, height = size
    rows = max(1, min(6, round(height / (unit * random.uniform(55, 90)))))
    columns = max(1, min(5, round(width / (unit * random.uniform(110, 170)))))
    rounded = random.random() < 0.5
    light = tuple(round(255 - (255 - v) * 0.14) for v in style.accent)
    texts: Texts = []
    before: list[tuple[float, float]] = []
    step = height / rows
    for row in range(rows):
        count = columns if row % 2 == 0 else max(1, columns - random.randint(0, 1))
        slot = width / count
        now = []
        for column in range(count):
            x0, x1 = (column + 0.12) * slot, (column + 0.88) * slot
            y0, y1 = row * step + (1 if row == 0 else 0.14 * step), (row + 0.68) * step
            if row == rows - 1:
                y0, y1 = row * step + 0.3 * step if rows > 1 else 1, height - 2
            pen.rounded_rectangle(
                (x0, y0, x1, y1),
                radius=(y1 - y0) / 4 if rounded else 0,
                fill=light,
                outline=style.accent,
                width=round(1.2 * unit),
            )
            texts.append((brush.text.phrase(random, 1)[0].capitalize(), (x0 + x1) / 2,
                          (y0 + y1) / 2, x1 - x0))  # fmt: skip
            now.append(((x0 + x1) / 2, y0))
            if before:
                _arrow(pen, before[min(column, len(before) - 1)], now[-1], unit)
        before = [(x, (row + 0.68) * step) for x, _ in now]
    return texts


def _arrow(pen: ImageDraw.ImageDraw, start: tuple[float, float], end: tuple[float, float],
           unit: int) -> None:  # fmt: skip
    pen.line((*start, *end), fill=(40, 40, 40), width=unit)
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    tips = [(end[0] - 5 * unit * math.cos(angle + turn), end[1] - 5 * unit * math.sin(angle + turn))
            for turn in (0.4, -0.4)]  # fmt: skip
    pen.polygon([end, *tips], fill=(40, 40, 40))


def graph(pen: ImageDraw.ImageDraw, size: tuple[int, int], brush: Brush, unit: int) -> Texts:
    """Nodes anywhere, each tied to a few others."""
    random, style = brush.random, brush.style
    radius = min(size) * random.uniform(0.035, 0.06)
    nodes: list[tuple[float, float]] = []
    for _ in range(200):
        x = random.uniform(radius + 2, size[0] - radius - 3)
        y = random.uniform(radius + 2, size[1] - radius - 3)
        if all(math.hypot(x - a, y - b) > 3.2 * radius for a, b in nodes):
            nodes.append((x, y))
        if len(nodes) == 22:
            break
    for node in nodes:
        near = sorted(nodes, key=lambda other: math.dist(node, other))[1 : random.randint(2, 4)]
        for other in near:
            pen.line((*node, *other), fill=(120, 120, 120), width=unit)
    light = tuple(round(255 - (255 - v) * 0.3) for v in style.accent)
    texts: Texts = []
    for number, (x, y) in enumerate(nodes):
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=light,
                    outline=style.accent, width=round(1.2 * unit))  # fmt: skip
        texts.append((str(number + 1), x, y, 2 * radius))
    return texts


def photo(random: Random, width: int, height: int) -> Image.Image:
    """Soft noise at several scales, in a ramp of colours: a micrograph, an aerial view, a scan."""
    generator = np.random.default_rng(random.getrandbits(64))
    field = np.zeros((height, width), dtype=np.float32)
    rough = random.uniform(0.45, 0.8)
    for octave in range(5):
        cells = (2 + width * 2**octave // 260, 2 + height * 2**octave // 260)
        grain = Image.fromarray(generator.random((cells[1], cells[0]), dtype=np.float32))
        resized = grain.resize((width, height), Image.Resampling.BICUBIC)
        field += np.asarray(resized) * np.float32(rough**octave)
    if random.random() < 0.5:  # cells or grains
        field += 0.9 * _discs(random, width, height)
    low, high = np.percentile(field[::4, ::4], (1, 99))
    level = np.clip((field - low) / max(high - low, 1e-6), 0, 1)
    ramp = np.array(random.choice(RAMPS), dtype=np.float32)
    table = np.stack(
        [np.interp(np.arange(256) / 255, (0, 0.5, 1), ramp[:, c]) for c in range(3)], 1
    )
    colours = table.astype(np.uint8)[(level * 255).astype(np.uint8)]
    colours[0, :] = colours[-1, :] = colours[:, 0] = colours[:, -1] = ramp[0].astype(np.uint8)
    return Image.fromarray(colours)


def _discs(random: Random, width: int, height: int) -> NDArray[np.float32]:
    image = Image.new("L", (width, height))
    pen = ImageDraw.Draw(image)
    largest = max(4.0, min(width, height) / random.uniform(8, 16))
    for _ in range(random.randint(12, 70)):
        r = largest * random.uniform(0.4, 1.0)
        x, y = random.uniform(0, width), random.uniform(0, height)
        pen.ellipse((x - r, y - 0.8 * r, x + r, y + 0.8 * r), fill=random.randint(120, 255))
    return np.asarray(image.filter(ImageFilter.BoxBlur(2)), dtype=np.float32) / np.float32(255)

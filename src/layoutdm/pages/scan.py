"""What paper and scanner do to a page: skew, blur, noise, stains, uneven light, jpeg."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from random import Random

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from layoutdm.pages.truth import Block, Box, Truth

SKEW = 0.9  # degrees at most


def scanned(image: Image.Image, truth: Truth, random: Random) -> tuple[Image.Image, Truth]:
    """The page as a scanner would give it; all boxes follow the skew."""
    angle = max(-SKEW, min(SKEW, random.gauss(0, 0.4)))
    paper = image.getpixel((0, 0))
    turned = image.rotate(angle, Image.Resampling.BICUBIC, fillcolor=paper)
    turned = turned.filter(ImageFilter.GaussianBlur(random.uniform(0.2, 0.7)))
    values = np.asarray(turned, dtype=np.float32)
    values = values * _light(random, image.width, image.height)[:, :, None]
    if random.random() < 0.5:
        values *= _stains(random, image.width, image.height)[:, :, None]
    generator = np.random.default_rng(random.getrandbits(64))
    grain = generator.standard_normal(values.shape[:2], dtype=np.float32)
    values += (grain * np.float32(random.uniform(1.5, 7)))[:, :, None]
    if random.random() < 0.6:
        values = values.mean(axis=2, keepdims=True).repeat(3, axis=2)
    low = random.uniform(8, 45)  # ink is never quite black
    values = low + values * ((255 - low) / 255)
    page = Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))
    store = io.BytesIO()
    page.save(store, "JPEG", quality=random.randint(35, 80))
    return Image.open(store).convert("RGB"), turn(truth, angle)


def _light(random: Random, width: int, height: int) -> NDArray[np.float32]:
    """Darker towards one side, as at a book's fold."""
    strength = random.uniform(0.0, 0.14)
    across = np.linspace(0, 1, width, dtype=np.float32) ** random.uniform(1, 4)
    if random.random() < 0.5:
        across = across[::-1]
    down = np.linspace(-1, 1, height, dtype=np.float32) * np.float32(random.uniform(-0.04, 0.04))
    light = 1 - np.float32(strength) * across[None, :] - np.abs(down)[:, None]
    return np.asarray(light, dtype=np.float32)


def _stains(random: Random, width: int, height: int) -> NDArray[np.float32]:
    small = Image.new("L", (width // 4 + 1, height // 4 + 1), 255)
    pen = ImageDraw.Draw(small)
    for _ in range(random.randint(1, 5)):
        r = random.uniform(2, 0.09 * small.height)
        x, y = random.uniform(0, small.width), random.uniform(0, small.height)
        tone = random.randint(205, 245)
        if random.random() < 0.3:
            pen.ellipse((x - r, y - r, x + r, y + r), outline=tone, width=2)
        else:
            pen.ellipse((x - r, y - r * 0.7, x + r, y + r * 0.7), fill=tone)
    soft = small.filter(ImageFilter.GaussianBlur(3)).resize((width, height))
    return np.asarray(soft, dtype=np.float32) / np.float32(255)


def turn(truth: Truth, angle: float) -> Truth:
    """Every box after a turn of the page around its middle, by degrees to the left."""

    def moved(box: Box) -> Box:
        return _turned(box, angle, truth.width, truth.height)

    def block(old: Block) -> Block:
        # The box of tight parts is tighter than the turned box of all of them.
        whole = moved(old.box)
        words = tuple(replace(word, box=moved(word.box)) for word in old.words)
        cells = tuple(replace(cell, box=moved(cell.box)) for cell in old.cells)
        return replace(old, box=whole, place=moved(old.place), words=words, cells=cells)

    return replace(truth, blocks=tuple(block(old) for old in truth.blocks))


def _turned(box: Box, angle: float, width: int, height: int) -> Box:
    """
    >>> [round(v) for v in _turned((0, 0, 10, 10), 90, 10, 10)]
    [0, 0, 10, 10]
    """
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    cx, cy = width / 2, height / 2
    xs, ys = [], []
    for x, y in ((box[0], box[1]), (box[2], box[1]), (box[2], box[3]), (box[0], box[3])):
        xs.append(cx + (x - cx) * cosine + (y - cy) * sine)
        ys.append(cy - (x - cx) * sine + (y - cy) * cosine)
    left, top = max(0.0, min(xs)), max(0.0, min(ys))
    return (left, top, min(float(width), max(xs)), min(float(height), max(ys)))

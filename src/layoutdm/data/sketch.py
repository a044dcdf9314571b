"""What the sample generator draws with: dice that fall the same everywhere, and a pixel canvas.

>>> sketch = Sketch(100, 200)
>>> sketch.add("Text", 10, 20, 50, 40)
>>> sketch.layout("a").boxes.tolist()
[[0.35, 0.2, 0.5, 0.2]]
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from layoutdm.layout import Layout

T = TypeVar("T")

MOST_ELEMENTS = 25


class Dice:
    """Random choices from `Random.random` alone, whose sequence Python promises to keep."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def one_of(self, options: Sequence[T]) -> T:
        return options[self.between(0, len(options) - 1)]

    def chance(self, probability: float) -> bool:
        return self._random() < probability


class Sketch:
    """A canvas in pixels that takes at most 25 boxes and refuses the rest."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._items: list[tuple[str, int, int, int, int]] = []

    def room(self, boxes: int) -> bool:
        """Whether this many boxes more may be added."""
        return len(self._items) + boxes <= MOST_ELEMENTS

    def add(self, label: str, left: int, top: int, width: int, height: int) -> None:
        """A box by its left top corner and size, cut at the canvas."""
        right, bottom = min(left + width, self.width), min(top + height, self.height)
        left, top = max(left, 0), max(top, 0)
        if self.room(1) and right > left and bottom > top:
            self._items.append((label, left, top, right, bottom))

    def layout(self, id: str) -> Layout:
        boxes = [
            [
                round((left + right) / 2 / self.width, 6),
                round((top + bottom) / 2 / self.height, 6),
                round((right - left) / self.width, 6),
                round((bottom - top) / self.height, 6),
            ]
            for _, left, top, right, bottom in self._items
        ]
        labels = [item[0] for item in self._items]
        return Layout.create(labels, boxes, width=self.width, height=self.height, id=id)

"""Layouts that are hard to draw well."""

from __future__ import annotations

import numpy as np

from layoutdm import Layout
from layoutdm.data.labels import RICO25


def overlapping() -> Layout:
    """All 25 labels of Rico on top of each other."""
    random = np.random.default_rng(0)
    size = random.uniform(0.08, 0.6, (25, 2))
    centre = size / 2 + random.uniform(0, 1, (25, 2)) * (1 - size)
    boxes = np.concatenate([centre, size], axis=1)
    return Layout.create(RICO25, boxes, width=1440, height=2560, id="overlapping")


LONG = "A label name that goes on and on, longer than anybody would ever want to read " * 3

CASES = {
    "empty": Layout.create([], [], width=600, height=800, id="empty"),
    "one": Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]]),
    "long": Layout.create([LONG, "x"], [[0.5, 0.2, 0.8, 0.2], [0.8, 0.8, 0.1, 0.1]], id=LONG),
    "letters": Layout.create(
        ["标题", "Überschrift", "العنوان", '<b>&"quoted"</b>', "two\nlines\x00", "\ud800"],
        [[0.5, 0.1 + 0.15 * i, 0.8, 0.1] for i in range(6)],
        width=600,
        height=800,
        id="<script>&\x01ü",
    ),
    "wide": Layout.create(["text", "Icon"], [[0.2, 0.5, 0.3, 0.8], [0.8, 0.5, 0.01, 0.5]],
                          width=20_000, height=100),
    "tall": Layout.create(["text", "Icon"], [[0.5, 0.2, 0.8, 0.3], [0.5, 0.8, 0.5, 0.001]],
                          width=3, height=3000),
    "overlapping": overlapping(),
    "edge": Layout.create(["text"], [[0.5, 0.5, 1.0001, 1.0001]], width=50, height=50),
}  # fmt: skip

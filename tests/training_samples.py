"""Small made-up layouts for the training tests: pages with a header, rows of text and a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from layoutdm import Layout
from layoutdm.formats import write

LABELS = ("text", "title", "picture")


def make_layouts(count: int, seed: int = 0, names: tuple[str, str, str] = LABELS) -> list[Layout]:
    """Pages whose parts hang together: the title tells where the rows begin."""
    text, title, picture = names
    rng = np.random.default_rng(seed)
    layouts = []
    for index in range(count):
        top = rng.uniform(0.05, 0.2)
        labels, boxes = [title], [[0.5, top, rng.uniform(0.4, 0.9), 0.06]]
        for row in range(int(rng.integers(1, 5))):
            labels.append(text)
            boxes.append([0.5, top + 0.1 + 0.1 * row, 0.8, 0.08])
        if rng.random() < 0.5:
            labels.append(picture)
            boxes.append([rng.choice([0.3, 0.7]), 0.85, 0.3, 0.2])
        layouts.append(
            Layout.create(labels, boxes, width=600, height=800, id=f"page-{seed}-{index}")
        )
    return layouts


def write_dataset(folder: Path, train: int = 120, val: int = 24, **options: object) -> Path:
    """A folder with train and val files."""
    for split, size, seed in (("train", train, 1), ("val", val, 2)):
        write(make_layouts(size, seed, **options), folder / f"{split}.jsonl", format="jsonl")  # type: ignore[arg-type]
    return folder

"""Batches for the feature network: noise drawn afresh, elements sorted after it.

Nothing here changes the layouts it is given: noise is added to a copy, and whether a layout is
noisy travels with the batch, never in the data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout


@dataclass(frozen=True)
class Example:
    """One layout as arrays: boxes (n, 4) float32 and label indices (n,)."""

    boxes: NDArray[np.float32]
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class FeatureBatch:
    """Sorted, possibly noisy layouts, padded to the longest."""

    boxes: NDArray[np.float32]  # (batch, elements, 4)
    labels: NDArray[np.int64]  # (batch, elements)
    mask: NDArray[np.bool_]  # (batch, elements)
    noisy: NDArray[np.float32]  # (batch,), 1 where noise was added


def examples(
    layouts: Sequence[Layout], labels: Sequence[str], max_elements: int
) -> tuple[list[Example], int]:
    """Layouts as arrays, and how many were left out: those that are empty or too long."""
    index = {label: i for i, label in enumerate(labels)}
    kept: list[Example] = []
    for layout in layouts:
        if not 1 <= len(layout) <= max_elements:
            continue
        unknown = next((label for label in layout.labels if label not in index), None)
        if unknown is not None:
            raise LayoutdmError(
                f"layout {layout.id!r}: label {unknown!r} is not one of the network's "
                f"{len(labels)} labels; pass every label that the data use"
            )
        ids = np.array([index[label] for label in layout.labels], dtype=np.int64)
        kept.append(Example(layout.boxes.astype(np.float32), ids))
    return kept, len(layouts) - len(kept)


def make_batch(
    chosen: Sequence[Example], rng: np.random.Generator, noise: float, noise_share: float
) -> FeatureBatch:
    """Pad to the longest, add noise to a share of the layouts, then sort by top and left edge."""
    length = max(len(e.labels) for e in chosen)
    boxes = np.zeros((len(chosen), length, 4), dtype=np.float32)
    labels = np.zeros((len(chosen), length), dtype=np.int64)
    mask = np.zeros((len(chosen), length), dtype=np.bool_)
    for row, example in enumerate(chosen):
        n = len(example.labels)
        boxes[row, :n], labels[row, :n], mask[row, :n] = example.boxes, example.labels, True
    noisy = (rng.random(len(chosen)) < noise_share).astype(np.float32)
    added = rng.normal(0.0, noise, boxes.shape).astype(np.float32)
    boxes += added * (noisy[:, None] * mask)[..., None]
    left = np.where(mask, boxes[..., 0] - boxes[..., 2] / 2, np.inf)
    top = np.where(mask, boxes[..., 1] - boxes[..., 3] / 2, np.inf)
    order = np.lexsort((left, top), axis=-1)
    boxes = np.take_along_axis(boxes, order[..., None], axis=1)
    return FeatureBatch(boxes, np.take_along_axis(labels, order, axis=1), mask, noisy)


def epoch(
    data: Sequence[Example], batch_size: int, rng: np.random.Generator
) -> Iterator[list[Example]]:
    """Every example once, in random order. Lengths are mixed: batches of one length alone are
    cheaper to compute but teach less, and the network does not compute padding anyway."""
    order = rng.permutation(len(data))
    for start in range(0, len(data), batch_size):
        yield [data[i] for i in order[start : start + batch_size]]


def fixed_batches(
    data: Sequence[Example], batch_size: int, noise: float, noise_share: float, seed: int = 0
) -> list[FeatureBatch]:
    """The same batches with the same noise every time, for a validation loss that can be
    compared between checkpoints."""
    rng = np.random.default_rng(seed)
    order = np.argsort([len(e.labels) for e in data], kind="stable")
    parts = np.split(order, np.arange(batch_size, len(data), batch_size))
    return [make_batch([data[i] for i in part], rng, noise, noise_share) for part in parts]

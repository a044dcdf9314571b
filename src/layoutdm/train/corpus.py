"""Layouts as packed arrays, and batches made from them without a loop over layouts.

Elements are stored in top-left order, one layout after another, so that a batch is one gather.
All random choices of a batch come from the generator that is passed in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.tokens import Tokenizer
from layoutdm.train.config import TASKS, TrainConfig
from layoutdm.train.losses import Batch

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

UNCONDITIONAL, LABELS, LABELS_SIZES, COMPLETION, REFINEMENT = range(len(TASKS))
ORDERED_TASKS = (UNCONDITIONAL, LABELS, COMPLETION)  # those that may come in top-left order
CHUNK = 8  # batches sorted by length together: little padding, still random batches


@dataclass(frozen=True, eq=False)
class Corpus:
    """tokens (N, 5) and boxes (N, 4) of all elements; layout i starts at starts[i]."""

    tokenizer: Tokenizer
    tokens: Ints
    boxes: Floats
    starts: Ints
    counts: Ints

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def fingerprint(self) -> str:
        """A short hash of the data, so that a resumed run can tell that it has changed."""
        digest = hashlib.sha256(self.tokens.tobytes())
        digest.update(self.counts.tobytes())
        return digest.hexdigest()[:16]


def pack(layouts: Sequence[Layout], tokenizer: Tokenizer) -> Corpus:
    """Tokens and boxes of these layouts, each in top-left order."""
    if not layouts:
        raise LayoutdmError("no layouts to train on; there should be at least one")
    ordered = [layout.sorted_top_left() for layout in layouts]
    counts = np.array([len(layout) for layout in ordered], dtype=np.int64)
    longest = int(counts.max())
    if longest > tokenizer.max_elements:
        raise LayoutdmError(
            f"a layout has {longest} elements, but the model has room for "
            f"{tokenizer.max_elements}; leave long layouts out or raise the maximum"
        )
    boxes = np.concatenate([np.asarray(layout.boxes) for layout in ordered])
    names = [label for layout in ordered for label in layout.labels]
    tokens = np.column_stack([tokenizer.label_ids(names), tokenizer.bins.encode(boxes)])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    return Corpus(tokenizer, tokens, boxes, starts, counts)


def label_sequences(corpus: Corpus) -> list[Ints]:
    """The labels of each layout, in top-left order."""
    return np.split(corpus.tokens[:, 0], corpus.starts[1:])


def epoch_batches(counts: Ints, batch_size: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Layout indices of one epoch's batches: random, but of similar length within a batch.

    The rest that does not fill a batch waits for another epoch; there is always one batch.
    """
    size = min(batch_size, len(counts))
    order = rng.permutation(len(counts))
    order = order[: len(order) // size * size]
    for begin in range(0, len(order), size * CHUNK):
        chunk = order[begin : begin + size * CHUNK]
        chunk = chunk[np.argsort(counts[chunk], kind="stable")].reshape(-1, size)
        yield from chunk[rng.permutation(len(chunk))]


def batches_per_epoch(layouts: int, batch_size: int) -> int:
    return layouts // min(batch_size, layouts)


def make_batch(
    corpus: Corpus,
    indices: Ints,
    config: TrainConfig,
    rng: np.random.Generator,
    *,
    task: int | None = None,
    ordered: bool | None = None,
) -> Batch:
    """Put these layouts into arrays, and decide what of each the network may see.

    Number-first networks get as many slots as the longest layout needs, others all slots with PAD
    as a state to be learned. `task` and `ordered` fix what is otherwise drawn.
    """
    counts, number_first = corpus.counts[indices], config.kind == "element"
    size, slots = len(indices), int(counts.max()) if number_first else config.max_elements
    tasks = _draw_tasks(size, config, rng) if task is None else np.full(size, task)
    in_order = rng.random(size) < config.ordered
    in_order = (
        (in_order & np.isin(tasks, ORDERED_TASKS if config.ordered_tasks else UNCONDITIONAL))
        if ordered is None
        else np.full(size, ordered)
    )
    rank = np.arange(slots)
    present = rank < counts[:, None]

    chances = rng.random((size, slots))
    given = _given(tasks, counts, config.completion_share, rng)
    areas = _areas(corpus, indices, present) if config.ordered_tasks else None
    order = _order(tasks, in_order, given, present, chances, areas)
    source = np.where(present, corpus.starts[indices][:, None] + order, 0)
    pad = corpus.tokenizer.pad
    tokens = np.where(present[..., None], corpus.tokens[source], pad)
    labels_only = np.zeros(size, dtype=bool)
    if config.ordered_tasks:
        labels_only = in_order & (tasks != COMPLETION) & (rng.random(size) < config.label_order)
    bagged = labels_only & (tasks == LABELS)
    known = _known(np.where(bagged, UNCONDITIONAL, tasks), given, present)
    about = position = None
    if number_first:
        position = np.where(
            in_order[:, None] & present, np.maximum(1 + rank - given[:, None], 0), 0
        )
    if number_first and config.about_levels:
        about = _drafts(corpus, source, present & (tasks == REFINEMENT)[:, None], config, rng)
    return Batch(
        torch.from_numpy(tokens),
        torch.from_numpy(present if number_first else np.ones_like(present)),
        torch.from_numpy(known),
        None if about is None else torch.from_numpy(about),
        None if position is None else torch.from_numpy(position),
        torch.from_numpy(labels_only) if config.ordered_tasks and number_first else None,
        torch.from_numpy(bagged) if config.ordered_tasks and number_first else None,
    )


def take_rows(batch: Batch, rows: slice | Tensor) -> Batch:
    """Some layouts of a batch, such as the share of one process."""
    return _each(batch, lambda part: part[rows])


def to_device(batch: Batch, device: torch.device) -> Batch:
    return _each(batch, lambda part: part.to(device))


def _each(batch: Batch, change: Callable[[Tensor], Tensor]) -> Batch:
    parts: dict[str, Any] = {}
    for field in fields(batch):
        part = getattr(batch, field.name)
        parts[field.name] = None if part is None else change(part)
    return Batch(**parts)


def _draw_tasks(size: int, config: TrainConfig, rng: np.random.Generator) -> Ints:
    steps = np.cumsum(config.tasks) / np.sum(config.tasks)
    drawn = np.searchsorted(steps, rng.random(size), side="right")
    return np.minimum(drawn, len(TASKS) - 1).astype(np.int64)


def _order(
    tasks: Ints, in_order: Bools, given: Ints, present: Bools, chances: Floats, areas: Floats | None
) -> Ints:
    """(B, S): which element, counted from the top left, comes into each slot.

    Any, or from the top left. Completion in order begins with the given elements, any of them;
    known sizes come with the largest first, where areas are told.
    """
    slots = present.shape[1]
    rank = np.arange(slots)
    keys = np.where((in_order & (tasks != COMPLETION))[:, None], rank / slots, chances)
    if areas is not None:
        keys = np.where((tasks == LABELS_SIZES)[:, None], 1 - areas, keys)
    order = np.argsort(np.where(present, keys, 2.0), axis=1, kind="stable")
    first = rank < np.where(in_order & (tasks == COMPLETION), given, slots)[:, None]
    return np.where(first, order, np.sort(np.where(first, -1, order)))


def _areas(corpus: Corpus, indices: Ints, present: Bools) -> Floats:
    """(B, S) areas of the layouts' elements, in the corpus's own order."""
    rank = np.arange(present.shape[1])
    boxes = corpus.boxes[np.where(present, corpus.starts[indices][:, None] + rank, 0)]
    return np.asarray(boxes[..., 2] * boxes[..., 3])


def _given(tasks: Ints, counts: Ints, share: float, rng: np.random.Generator) -> Ints:
    """How many whole elements completion begins with."""
    most = np.maximum(1, (share * (counts - 1)).astype(np.int64))
    given = 1 + np.floor(rng.random(len(tasks)) * most).astype(np.int64)
    return np.where(tasks == COMPLETION, given, 0)


def _known(tasks: Ints, given: Ints, present: Bools) -> Bools:
    """Which tokens the task gives: labels, labels and sizes, or the first `given` elements."""
    known = np.zeros((*present.shape, 5), dtype=bool)
    known[..., 0] = np.isin(tasks, (LABELS, LABELS_SIZES, REFINEMENT))[:, None]
    known[..., 3:] = (tasks == LABELS_SIZES)[:, None, None]
    known |= (np.arange(present.shape[1]) < given[:, None])[..., None]
    return known & present[..., None]


def _drafts(
    corpus: Corpus, source: Ints, drafted: Bools, config: TrainConfig, rng: np.random.Generator
) -> Ints:
    """Noisy boxes as tokens: 0 for none, else 1 + noise level * bins + bin."""
    about = np.zeros((*source.shape, 4), dtype=np.int64)
    rows = np.flatnonzero(drafted.any(axis=1))
    levels = len(config.about_noise)
    usual = rng.random(len(rows)) < config.about_usual
    level = np.where(usual, min(2, levels - 1), rng.integers(0, levels, len(rows)))
    deviation = np.array(config.about_noise)[level][:, None, None]
    boxes = corpus.boxes[source[rows]]
    noisy = boxes + deviation * rng.standard_normal(boxes.shape)
    bins = corpus.tokenizer.bins
    ids = 1 + level[:, None, None] * np.array(bins.counts) + bins.encode(noisy)
    about[rows] = np.where(drafted[rows][..., None], ids, 0)
    return about

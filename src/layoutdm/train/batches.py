"""Batches made from packed layouts without a loop over them: what is shown, and in which order.

All random choices of a batch come from the generator that is passed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from layoutdm.train.corpus import Corpus
from layoutdm.train.recipe import TASKS, Recipe

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

UNCONDITIONAL, LABELS, LABELS_SIZES, COMPLETION, REFINEMENT = range(len(TASKS))
ORDERED_TASKS = (UNCONDITIONAL, LABELS, COMPLETION)  # those that may come in reading order
PARTLY = 0.25  # of completion shows given elements without their place, or with labels alone
USUAL_DRAFT, USUAL_LEVEL = 0.6, 2  # drafts have the third noise (the paper's) this often, else any


@dataclass(frozen=True)
class Batch:
    """Clean tokens and what the network may see of them.

    tokens (B, S, 5); valid (B, S); known (B, S, 5) marks tokens that stay clean, as conditions do;
    about, position: see Query.
    """

    tokens: Tensor
    valid: Tensor
    known: Tensor
    about: Tensor | None
    position: Tensor | None


def make_batch(
    corpus: Corpus,
    indices: Ints,
    recipe: Recipe,
    rng: np.random.Generator,
    *,
    task: int | None = None,
    ordered: bool | None = None,
) -> Batch:
    """Put these layouts into arrays, and decide what of each the network may see.

    Number-first networks get as many slots as the longest layout needs; the published recipe has
    all slots, with PAD as a state to be learned. `task` and `ordered` fix what is otherwise drawn.
    """
    counts, number_first = corpus.counts[indices], not recipe.published
    size = len(indices)
    slots = int(counts.max()) if number_first else corpus.tokenizer.max_elements
    tasks = _draw_tasks(size, recipe, rng) if task is None else np.full(size, task)
    in_order = (rng.random(size) < recipe.ordered) & np.isin(tasks, ORDERED_TASKS)
    in_order = in_order if ordered is None else np.full(size, ordered)
    in_order = in_order & number_first
    rank = np.arange(slots)
    present = rank < counts[:, None]

    chances = rng.random((size, slots))
    given = _given(tasks, counts, recipe.completion_share, rng)
    order = _order(tasks, in_order, given, present, chances, _areas(corpus, indices, present))
    source = np.where(present, corpus.starts[indices][:, None] + order, 0)
    tokens = np.where(present[..., None], corpus.tokens[source], corpus.tokenizer.pad)
    known = _known(tasks, given, present, rng)
    about = position = None
    if number_first:
        ranks = np.maximum(1 + rank - given[:, None], 0)
        position = torch.from_numpy(np.where(in_order[:, None] & present, ranks, 0))
        drafted = present & (tasks == REFINEMENT)[:, None]
        about = torch.from_numpy(_drafts(corpus, source, drafted, recipe, rng))
    return Batch(
        torch.from_numpy(tokens),
        torch.from_numpy(present if number_first else np.ones_like(present)),
        torch.from_numpy(known),
        about,
        position,
    )


def take_rows(batch: Batch, rows: slice | Tensor) -> Batch:
    """Some layouts of a batch."""
    return _each(batch, lambda part: part[rows])


def to_device(batch: Batch, device: torch.device) -> Batch:
    return _each(batch, lambda part: part.to(device))


def tensors(batch: Batch) -> dict[str, Tensor]:
    """As a learner's batch has it."""
    named = {field.name: getattr(batch, field.name) for field in fields(batch)}
    return {name: part for name, part in named.items() if part is not None}


def from_tensors(named: Any) -> Batch:
    return Batch(**{field.name: named.get(field.name) for field in fields(Batch)})


def _each(batch: Batch, change: Callable[[Tensor], Tensor]) -> Batch:
    return from_tensors({name: change(part) for name, part in tensors(batch).items()})


def _draw_tasks(size: int, recipe: Recipe, rng: np.random.Generator) -> Ints:
    steps = np.cumsum(recipe.tasks) / np.sum(recipe.tasks)
    drawn = np.searchsorted(steps, rng.random(size), side="right")
    return np.minimum(drawn, len(TASKS) - 1).astype(np.int64)


def _order(
    tasks: Ints, in_order: Bools, given: Ints, present: Bools, chances: Floats, areas: Floats
) -> Ints:
    """(B, S): which element, counted in reading order, comes into each slot.

    Any, or in reading order. Completion in order begins with the given elements, any of them;
    known sizes come with the largest first, as the sampler places them.
    """
    slots = present.shape[1]
    rank = np.arange(slots)
    keys = np.where((in_order & (tasks != COMPLETION))[:, None], rank / slots, chances)
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
    """How many elements completion begins with."""
    most = np.maximum(1, (share * (counts - 1)).astype(np.int64))
    given = 1 + np.floor(rng.random(len(tasks)) * most).astype(np.int64)
    return np.where(tasks == COMPLETION, given, 0)


def _known(tasks: Ints, given: Ints, present: Bools, rng: np.random.Generator) -> Bools:
    """Which tokens the task gives: labels, labels and sizes, or the first `given` elements.

    People list elements of which they know a part, too, so some completion shows only that.
    """
    known = np.zeros((*present.shape, 5), dtype=bool)
    known[..., 0] = np.isin(tasks, (LABELS, LABELS_SIZES, REFINEMENT))[:, None]
    known[..., 3:] = (tasks == LABELS_SIZES)[:, None, None]
    shown = np.ones((len(tasks), 5), dtype=bool)
    drawn = rng.random((2, len(tasks)))
    shown[:, 1:3] = (drawn[0] >= PARTLY)[:, None]
    shown[:, 3:] = ((drawn[0] >= PARTLY) | (drawn[1] < 0.5))[:, None]
    known |= (np.arange(present.shape[1]) < given[:, None])[..., None] & shown[:, None]
    return known & present[..., None]


def _drafts(
    corpus: Corpus, source: Ints, drafted: Bools, recipe: Recipe, rng: np.random.Generator
) -> Ints:
    """Noisy boxes as tokens: 0 for none, else 1 + noise level * bins + bin."""
    about = np.zeros((*source.shape, 4), dtype=np.int64)
    rows = np.flatnonzero(drafted.any(axis=1))
    levels = len(recipe.about_noise)
    usual = rng.random(len(rows)) < USUAL_DRAFT
    level = np.where(usual, min(USUAL_LEVEL, levels - 1), rng.integers(0, levels, len(rows)))
    deviation = np.array(recipe.about_noise)[level][:, None, None]
    boxes = corpus.boxes[source[rows]]
    noisy = boxes + deviation * rng.standard_normal(boxes.shape)
    bins = corpus.tokenizer.bins
    ids = 1 + level[:, None, None] * np.array(bins.counts) + bins.encode(noisy)
    about[rows] = np.where(drafted[rows][..., None], ids, 0)
    return about

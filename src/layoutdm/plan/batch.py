"""`Batch`: what is decided about some layouts before their boxes are drawn.

The parts of the plan (number, labels and reading order) each return a batch with more of it fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.network import Bools, Ints, Query, Traits
from layoutdm.spec import Condition
from layoutdm.spec.drafts import CAREFUL
from layoutdm.tokens import Tokenizer

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Batch:
    """B layouts of up to S slots; listed element k of a layout sits in slot k.

    Slots that only fill up a shorter layout are not valid; all their tokens count as fixed.
    """

    conditions: tuple[Condition, ...]
    tokens: Ints  # (B, S, 5): fixed tokens, MASK elsewhere
    fixed: Bools  # (B, S, 5)
    valid: Bools  # (B, S)
    boxes: Floats  # (B, S, 4): exact values of what is fixed, NaN elsewhere
    rank: Ints  # (B, S): place in reading order from 1, for the network; 0: no order
    turn: Ints  # (B, S): which element is decided first
    pad: Bools | None = None  # (B, S): slots that may turn out empty; None: none of them
    draft: Ints | None = None  # (B, S, 4): drafts for the network; None: it reads none

    @property
    def counts(self) -> Ints:
        """(B,): number of valid slots of each layout."""
        return np.asarray(self.valid.sum(axis=1), dtype=np.int64)

    def query(
        self, tokens: Ints, level: int, rows: Ints | None = None, asked: Ints | None = None
    ) -> Query:
        """The network's question about all layouts, or about these rows of them."""
        some = slice(None) if rows is None else rows
        draft = None if self.draft is None else self.draft[some]
        whole = self.fixed[some].all(axis=2)  # what is given is there before anybody's turn
        turn = self.turn[some] - whole * self.turn.shape[1]
        now = tokens[some]
        levels = np.full(len(now), level, dtype=np.int64)
        return Query(now, levels, self.valid[some], draft, self.rank[some], asked, turn)


@dataclass(frozen=True, eq=False)
class Encoded:
    """A condition's n listed elements as tokens."""

    tokens: Ints  # (n, 5): MASK where free
    fixed: Bools  # (n, 5)


def encode(condition: Condition, tokenizer: Tokenizer) -> Encoded:
    """Tokens of what a condition fixes: labels without a choice, and values."""
    tokens = np.tile(tokenizer.mask, (len(condition), 1))
    single = condition.label_choices.sum(axis=1) == 1
    given = np.isfinite(condition.fixed)
    fixed = np.concatenate([single[:, None], given], axis=1)
    tokens[single, 0] = condition.label_choices[single].argmax(axis=1)
    nearest = tokenizer.bins.encode(np.nan_to_num(condition.fixed))
    tokens[:, 1:] = np.where(given, nearest, tokens[:, 1:])
    return Encoded(tokens, fixed)


def encode_all(conditions: Sequence[Condition], tokenizer: Tokenizer) -> list[Encoded]:
    """One for each condition; a condition that comes again is not encoded again."""
    different = {id(condition): condition for condition in conditions}
    found = {key: encode(condition, tokenizer) for key, condition in different.items()}
    return [found[id(condition)] for condition in conditions]


def begin(
    conditions: Sequence[Condition],
    counts: Sequence[int] | None,
    tokenizer: Tokenizer,
    traits: Traits,
) -> Batch:
    """The batch of some conditions; `counts` are the numbers of elements, None: PAD is drawn.

    With counts, slots beyond a layout's own number only fill up. Without, as published, every
    layout has all slots: PAD is fixed beyond its largest number and free beyond its smallest.
    """
    encoded = encode_all(conditions, tokenizer)
    size, slots = len(conditions), max(counts) if counts is not None else tokenizer.max_elements
    tokens = np.tile(tokenizer.mask, (size, slots, 1))
    fixed = np.zeros((size, slots, 5), dtype=bool)
    valid = np.ones((size, slots), dtype=bool)
    boxes = np.full((size, slots, 4), np.nan)
    pad = np.zeros((size, slots), dtype=bool)
    for row, (condition, item) in enumerate(zip(conditions, encoded, strict=True)):
        n, end = len(condition), condition.max_elements
        if counts is not None:
            end = counts[row]
            valid[row, end:] = False
        else:
            pad[row, condition.min_elements : end] = True
        tokens[row, :n], fixed[row, :n], boxes[row, :n] = item.tokens, item.fixed, condition.fixed
        tokens[row, end:], fixed[row, end:] = tokenizer.pad, True
    return Batch(
        conditions=tuple(conditions),
        tokens=tokens,
        fixed=fixed,
        valid=valid,
        boxes=boxes,
        rank=np.zeros((size, slots), dtype=np.int64),
        turn=np.tile(np.arange(slots), (size, 1)),
        pad=pad if pad.any() else None,
        draft=_drafts(conditions, slots, tokenizer, traits),
    )


def is_draft(condition: Condition) -> bool:
    """Whether a condition says of every listed box where about it is: a draft of the layout.

    The network has learned from whole drafts; single values are left to a term (terms/near.py).
    """
    wished = np.isfinite(condition.about)
    return bool(wished.any() and (wished | np.isfinite(condition.fixed)).all())


def _drafts(
    conditions: Sequence[Condition], slots: int, tokenizer: Tokenizer, traits: Traits
) -> Ints | None:
    if not traits.about_levels or not any(is_draft(condition) for condition in conditions):
        return None
    draft = np.zeros((len(conditions), slots, 4), dtype=np.int64)
    for row, condition in enumerate(conditions):
        if is_draft(condition):
            draft[row, : len(condition)] = draft_ids(condition, tokenizer, traits)
    return draft


def draft_ids(condition: Condition, tokenizer: Tokenizer, traits: Traits) -> Ints:
    """(n, 4) inputs of a network that reads drafts: noise level and bin of each value."""
    noise = np.array(traits.about_noise[: traits.about_levels])
    # A fixed value is no draft, but the network expects one: its own value, at the usual noise.
    margin = np.where(np.isfinite(condition.about), condition.within, np.nan)
    if condition.noise < CAREFUL:  # what the draft itself shows says more than a usual margin
        margin = np.minimum(margin, condition.noise)
    usual = np.nanmedian(margin)
    level = np.abs(np.where(np.isnan(margin), usual, margin)[..., None] - noise).argmin(axis=-1)
    values = np.where(np.isfinite(condition.about), condition.about, condition.fixed)
    bins = tokenizer.bins.encode(np.nan_to_num(values))
    return np.asarray(1 + level * np.array(tokenizer.bins.counts) + bins, dtype=np.int64)


def unknown(batch: int, slots: int, sizes: tuple[int, ...]) -> Batch:
    """A batch of which nothing is known but the number of slots; sizes: values of each modality."""
    return Batch(
        conditions=(Condition.unknown([str(label) for label in range(sizes[0])]),) * batch,
        tokens=np.tile(np.array(sizes, dtype=np.int64) + 1, (batch, slots, 1)),
        fixed=np.zeros((batch, slots, 5), dtype=bool),
        valid=np.ones((batch, slots), dtype=bool),
        boxes=np.full((batch, slots, 4), np.nan),
        rank=np.zeros((batch, slots), dtype=np.int64),
        turn=np.tile(np.arange(slots), (batch, 1)),
    )

"""From conditions to what a sampler knows: tokens, masks, priors, drafts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.constraints import Edges, Guide, condition_priors
from layoutdm.constraints.reading import ANYWHERE, Reading, reading
from layoutdm.diffusion.apart import Apart
from layoutdm.diffusion.known import Known, Readings
from layoutdm.diffusion.network import Bools, Ints, Traits
from layoutdm.diffusion.settings import Settings
from layoutdm.spec import Condition, Spec
from layoutdm.tokens import Tokenizer

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Prepared:
    """One condition, ready to be put into batches; n listed elements."""

    condition: Condition
    tokens: Ints  # (n, 5): MASK where free
    fixed: Bools  # (n, 5)
    labels: Bools | None  # (n, labels), when an element has a choice of some labels
    priors: tuple[Floats, ...] | None
    about: Ints | None  # (n, 4)
    ordered: bool
    bag: Ints | None = None  # (labels,): how often each comes, where the sampler sets the order
    turns: Ints | None = None  # (n,): when each element has its turn, if not as listed
    reading: Reading | None = None  # where the sampler draws who is read first

    @property
    def guided(self) -> bool:
        return self.condition.guided


def explicit_strength(spec: Spec) -> Bools:
    """(n, 4): weak wishes whose strength the request itself gives."""
    given = np.zeros((len(spec.elements), 4), dtype=bool)
    for row, element in enumerate(spec.elements):
        for column, name in enumerate(("x", "y", "width", "height")):
            given[row, column] = "strength" in getattr(
                getattr(element, name), "model_fields_set", ()
            )
    return given


def only_labels(condition: Condition) -> bool:
    """Whether labels are all that is known of the elements, and these are all elements.

    Relations between them may be known too.
    """
    return bool(
        len(condition)
        and condition.min_elements == condition.max_elements == len(condition)
        and (condition.label_choices.sum(axis=1) == 1).all()
        and not np.isfinite(condition.fixed).any()
        and not np.isfinite(condition.about).any()
    )


def in_listed_order(tokens: Ints, prepared: Prepared) -> Ints:
    """Which slot holds each listed element, where the sampler had set the order.

    Of elements with the same label the first listed is the first in reading order.
    """
    wished = prepared.condition.label_choices.argmax(axis=1)
    slots = np.empty(len(wished), dtype=np.int64)
    for label in np.unique(wished):
        slots[wished == label] = np.flatnonzero(tokens[:, 0] == label)
    return slots


def prepare(
    spec: Spec,
    condition: Condition,
    tokenizer: Tokenizer,
    traits: Traits,
    settings: Settings,
    *,
    bags: bool = False,
) -> Prepared:
    """Tokens of what is fixed, and where weak wishes go: into the network, a prior, or both.

    bags: the sampler can draw labels in reading order from those that are wished, and who is read
    first among elements that have relations.
    """
    n = len(condition)
    in_order = bags and settings.ordered and only_labels(condition)
    if in_order and not condition.guided:  # any element may stand in any place
        nothing = np.zeros((n, 5), dtype=bool)
        return Prepared(
            condition, np.tile(tokenizer.mask, (n, 1)), nothing, None, None, None, ordered=True,
            bag=condition.label_choices.sum(axis=0),
        )  # fmt: skip
    tokens = np.tile(tokenizer.mask, (n, 1))
    fixed = np.zeros((n, 5), dtype=bool)
    choices = condition.label_choices.sum(axis=1)
    fixed[:, 0] = choices == 1
    tokens[fixed[:, 0], 0] = condition.label_choices[fixed[:, 0]].argmax(axis=1)
    fixed[:, 1:] = np.isfinite(condition.fixed)
    nearest = tokenizer.bins.encode(np.nan_to_num(condition.fixed))
    tokens[:, 1:] = np.where(fixed[:, 1:], nearest, tokens[:, 1:])
    some = bool(((choices > 1) & (choices < len(condition.labels))).any())
    drafts, priors = _weak(spec, condition, tokenizer, traits, settings)
    # Elements that are added come in top-left order, where the network has learned that.
    whole = n == 0 or (traits.ahead and bool(fixed.all()))
    return Prepared(
        condition=condition,
        tokens=tokens,
        fixed=fixed,
        labels=condition.label_choices if some else None,
        priors=priors,
        about=drafts,
        ordered=settings.ordered and whole,
        turns=_largest_first(condition) if traits.ahead else None,
        reading=reading(condition) if in_order else None,
    )


def _largest_first(condition: Condition) -> Ints | None:
    """Turns of listed elements: those of known size by their area, then the others as listed.

    What is large finds a place while there is room, as when one packs a box.
    """
    areas = condition.fixed[:, 2] * condition.fixed[:, 3]
    if not np.isfinite(areas).any():
        return None
    return np.argsort(np.argsort(-np.nan_to_num(areas), kind="stable"), kind="stable")


def _weak(
    spec: Spec, condition: Condition, tokenizer: Tokenizer, traits: Traits, settings: Settings
) -> tuple[Ints | None, tuple[Floats, ...] | None]:
    wished = np.isfinite(condition.about)
    if not wished.any():
        return None, None
    reads = traits.about_levels > 0
    drafts = None
    if reads and settings.about in ("auto", "network", "both"):
        drafts = draft_ids(condition, tokenizer, traits)
    priors = condition_priors(condition, tokenizer.bins.centres)
    if priors is None or (reads and settings.about == "network"):
        return drafts, None
    if reads and settings.about == "auto" and wished.all():
        # The network reads whole drafts better than a fixed prior does; a strength asks for more.
        # It has not learned from single values, so there the prior helps.
        explicit = explicit_strength(spec)
        if not explicit.any():
            return drafts, None
        priors = [np.where(explicit[:, a, None], prior, 0.0) for a, prior in enumerate(priors)]
    return drafts, tuple(priors)


def draft_ids(condition: Condition, tokenizer: Tokenizer, traits: Traits) -> Ints:
    """(n, 4) inputs of a network that reads drafts: 0 for none, else noise level and bin."""
    wished = np.isfinite(condition.about)
    noise = np.array(traits.about_noise[: traits.about_levels])
    margin = np.nan_to_num(condition.within)
    level = np.abs(margin[..., None] - noise).argmin(axis=-1)
    bins = tokenizer.bins.encode(np.nan_to_num(condition.about))
    counts = np.array(tokenizer.bins.counts)
    return np.where(wished, 1 + level * counts + bins, 0).astype(np.int64)


def listed(group: Sequence[Prepared], tokenizer: Tokenizer) -> tuple[Ints, Bools]:
    """The listed elements alone, (B, S, 5) tokens and (B, S) valid slots, at least one slot."""
    slots = max(1, *(len(item.tokens) for item in group))
    tokens = np.tile(tokenizer.pad, (len(group), slots, 1))
    valid = np.zeros((len(group), slots), dtype=bool)
    for row, item in enumerate(group):
        n = len(item.tokens)
        tokens[row, :n] = item.tokens
        valid[row, :n] = True
    return tokens, valid


def batch(
    group: Sequence[Prepared],
    counts: Sequence[int] | None,
    tokenizer: Tokenizer,
    apart: Apart | None = None,
) -> Known:
    """What is known about a batch; `counts` are the numbers of elements, None: PAD is drawn.

    With counts, slots beyond a layout's own number only fill up. Without, as published, every
    layout has all slots: PAD is forced beyond its largest number and free beyond its smallest.
    """
    slots = max(counts) if counts is not None else tokenizer.max_elements
    size = len(group)
    tokens = np.tile(tokenizer.mask, (size, slots, 1))
    fixed = np.zeros((size, slots, 5), dtype=bool)
    valid = np.ones((size, slots), dtype=bool)
    pad = None if counts is not None else np.zeros((size, slots), dtype=bool)
    for row, item in enumerate(group):
        n = len(item.tokens)
        tokens[row, :n] = item.tokens
        fixed[row, :n] = item.fixed
        condition = item.condition
        if counts is not None:
            valid[row, counts[row] :] = False
        elif pad is not None:
            pad[row, condition.min_elements : condition.max_elements] = True
        end = counts[row] if counts is not None else condition.max_elements
        tokens[row, end:] = tokenizer.pad
        fixed[row, end:] = True
    if pad is not None and not pad.any():
        pad = None
    position = None
    if any(item.ordered for item in group):
        position = np.stack([_ranks(item, slots) for item in group])
    turns = None
    if any(item.turns is not None for item in group):
        turns = np.tile(np.arange(slots), (size, 1))
        for row, item in enumerate(group):
            if item.turns is not None:
                turns[row, : len(item.turns)] = item.turns
    bag = None
    if any(item.bag is not None for item in group):
        none = np.zeros(len(tokenizer.labels), dtype=np.int64)
        bag = np.stack([none if item.bag is None else item.bag for item in group])
    return Known(
        tokens=tokens,
        fixed=fixed,
        valid=valid,
        pad=pad,
        labels=_labels(group, slots, len(tokenizer.labels)),
        priors=_priors(group, slots, tokenizer.bins.counts),
        about=_drafts(group, slots),
        position=position,
        bag=bag,
        turns=turns,
        reading=_readings(group, slots),
        guide=_guide(group, tokenizer),
        on_canvas=(tokenizer.bins.on_canvas(0), tokenizer.bins.on_canvas(1)),
        apart=apart,
    )


def _readings(group: Sequence[Prepared], slots: int) -> Readings | None:
    rows = np.array([item.reading is not None for item in group])
    if not rows.any():
        return None
    before = np.zeros((len(group), slots, slots), dtype=bool)
    third = np.full((len(group), slots), ANYWHERE, dtype=np.int64)
    for row, item in enumerate(group):
        if item.reading is not None:
            n = len(item.tokens)
            before[row, :n, :n] = item.reading.before
            third[row, :n] = item.reading.third
    return Readings(rows, before, third)


def _ranks(item: Prepared, slots: int) -> Ints:
    """Ranks in top-left order, 0 for elements that are given."""
    if not item.ordered:
        return np.zeros(slots, dtype=np.int64)
    given = 0 if item.bag is not None else len(item.tokens)
    return np.maximum(np.arange(1, slots + 1) - given, 0)


def _labels(group: Sequence[Prepared], slots: int, labels: int) -> Bools | None:
    if all(item.labels is None for item in group):
        return None
    allowed = np.ones((len(group), slots, labels), dtype=bool)
    for row, item in enumerate(group):
        if item.labels is not None:
            allowed[row, : len(item.labels)] = item.labels
    return allowed


def _priors(
    group: Sequence[Prepared], slots: int, counts: tuple[int, ...]
) -> tuple[Floats, ...] | None:
    if all(item.priors is None for item in group):
        return None
    priors = tuple(np.zeros((len(group), slots, count)) for count in counts)
    for row, item in enumerate(group):
        for a, prior in enumerate(item.priors or ()):
            priors[a][row, : len(prior)] = prior
    return priors


def _drafts(group: Sequence[Prepared], slots: int) -> Ints | None:
    if all(item.about is None for item in group):
        return None
    about = np.zeros((len(group), slots, 4), dtype=np.int64)
    for row, item in enumerate(group):
        if item.about is not None:
            about[row, : len(item.about)] = item.about
    return about


def _guide(group: Sequence[Prepared], tokenizer: Tokenizer) -> Guide | None:
    if not any(item.guided for item in group):
        return None
    edges = Edges.from_conditions([item.condition for item in group])
    return None if edges.empty else Guide(edges, tokenizer.bins.centres)

"""Labels and reading order, drawn before any box.

A network that was trained on elements in reading order places them far better when it knows who
comes first. The label network says which label comes next; the condition says which elements may
have it, and what is known of their places says whose turn it may be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.draw import keep_top_p
from layoutdm.diffusion.network import Bools, Ints
from layoutdm.plan.batch import Batch, is_draft
from layoutdm.plan.labels import LAST, LabelModel, features
from layoutdm.plan.reading import Reading, reading
from layoutdm.spec import Condition

Floats = NDArray[np.float64]

# The k-th of n elements stands about (k + 1/2) / n down the page, give or take this much: on real
# pages 62 % of the second sixth in reading order lie in the upper third, on screens 87 %.
SPREAD = 0.15
SELDOM = 0.01  # no place is quite impossible for an element


def in_reading_order(condition: Condition, count: int) -> bool:
    """Whether all elements of a layout get ranks.

    Not where elements are added to boxes that are known, where all sizes are known (the largest is
    placed first then), or where every box has a draft: the network has learned these without an
    order.
    """
    if len(condition) == 0:
        return True
    if is_draft(condition):
        return False
    known = np.isfinite(condition.fixed)
    placed, sized = known[:, :2].all(axis=1), known[:, 2:].all(axis=1)
    if count > len(condition):
        return not bool((placed & sized).all())
    return not bool((placed | sized).all())


def set_order(
    batch: Batch,
    model: LabelModel | None,
    uniform: Floats,
    top_p: float = 1.0,
    *,
    ranked: bool = True,
) -> Batch:
    """The batch with turns and ranks and, where all elements have ranks, labels; uniform (B, S).

    ranked False: the network has not learned from ranks, so there are only turns.
    """
    rank, turn = batch.rank.copy(), batch.turn.copy()
    chosen = np.zeros(len(batch.tokens), dtype=bool)
    for row, (condition, count) in enumerate(zip(batch.conditions, batch.counts, strict=True)):
        n = len(condition)
        chosen[row] = in_reading_order(condition, int(count))
        if not chosen[row]:
            turn[row, :n] = largest_first(condition, np.arange(n))
        if ranked and (n == 0 or not chosen[row]):
            rank[row, n:count] = np.arange(1, count - n + 1)
    batch = replace(batch, rank=rank, turn=turn)
    if model is None or not ranked or not chosen.any():
        return batch
    return _draw_order(batch, model, np.flatnonzero(chosen), uniform, top_p)


def largest_first(condition: Condition, turn: Ints) -> Ints:
    """Turns of a layout: listed elements of known size by their area, then the others as before.

    What is large finds a place while there is room, as when one packs a box. Of the others those
    come first that are wished near a place, so that it is still free.
    """
    areas, near = np.zeros(len(turn)), np.zeros(len(turn), dtype=bool)
    areas[: len(condition)] = np.nan_to_num(condition.fixed[:, 2] * condition.fixed[:, 3])
    near[: len(condition)] = np.isfinite(condition.about[:, :2]).any(axis=1)
    return np.argsort(np.lexsort((turn, ~near, -areas)))


@dataclass(eq=False)
class _Draw:
    """R layouts whose elements get their ranks, one after the other; S slots, L labels."""

    choices: Bools  # (R, S, L): labels that each element may have
    counts: Ints  # (R,)
    ahead: Ints  # (R, L): how often each label is still to come; 0 where nobody knows
    before: Bools  # (R, S, S): i before j, also by way of others
    after: Floats  # (R, S): 1 + how many come after each for sure
    due: Floats | None  # (R, S, ranks): chance of each rank, for elements whose place is known
    left: Bools  # (R, S): without a rank so far
    listed: Bools  # (R, S): elements that the request lists; the others are added


def _draw_order(
    batch: Batch, model: LabelModel, rows: Ints, uniform: Floats, top_p: float
) -> Batch:
    state = _begin(batch, rows, model.labels)
    tokens, fixed = batch.tokens.copy(), batch.fixed.copy()
    rank, turn = batch.rank.copy(), batch.turn.copy()
    used = np.zeros((len(rows), model.labels), dtype=np.int64)
    last = np.full((len(rows), LAST), -1)
    known: Bools = np.asarray(state.ahead.any(axis=1))
    for place in range(int(state.counts.max())):
        live = np.flatnonzero(state.counts > place)
        seen = features(used[live], state.ahead[live], state.counts[live] - place, last[live])
        chances = np.exp(model.log_probs(seen, state.ahead[live]))
        element, label = _next(state, live, place, keep_top_p(chances, top_p), uniform[rows[live]])
        state.left[live, element] = False
        tokens[rows[live], element, 0] = label
        rank[rows[live], element], turn[rows[live], element] = place + 1, place
        used[live, label] += 1
        state.ahead[live, label] -= known[live]
        last[live] = np.column_stack([label, last[live, :-1]])
    fixed[rows, :, 0] = True
    _keep_listed_order(batch, rows, rank, turn, tokens)
    for row in rows:
        condition, count = batch.conditions[row], batch.counts[row]
        if np.isfinite(condition.fixed[:, 2:]).any() or np.isfinite(condition.about[:, :2]).any():
            turn[row, :count] = largest_first(condition, turn[row, :count])
    return replace(batch, tokens=tokens, fixed=fixed, rank=rank, turn=turn)


def _begin(batch: Batch, rows: Ints, labels: int) -> _Draw:
    size, slots = len(rows), batch.tokens.shape[1]
    valid = batch.valid[rows]
    choices = np.ones((size, slots, labels), dtype=bool) & valid[..., None]
    before = np.zeros((size, slots, slots), dtype=bool)
    spans = np.full((size, slots, 2), np.nan)
    readings: dict[int, Reading] = {}
    for i, row in enumerate(rows):
        condition = batch.conditions[row]
        n = len(condition)
        if not n:
            continue
        choices[i, :n] = condition.label_choices
        known = readings.setdefault(id(condition), reading(condition))
        before[i, :n, :n], spans[i, :n] = known.before, known.span
    alone: Bools = np.asarray(((choices.sum(axis=2) == 1) | ~valid).all(axis=1))
    counts = batch.counts[rows]
    above = through_others(before)
    # Of two elements whose places are known, the one that ends higher up is read first.
    apart = spans[:, :, None, 1] <= spans[:, None, :, 0]
    return _Draw(
        choices=choices,
        counts=counts,
        ahead=choices.sum(axis=1) * alone[:, None],
        before=above | apart,
        after=1.0 + above.sum(axis=2),
        due=_due(spans, counts) if np.isfinite(spans).any() else None,
        left=valid.copy(),
        listed=np.arange(slots) < np.array([[len(batch.conditions[row])] for row in rows]),
    )


def _next(
    state: _Draw, live: Ints, place: int, chances: Floats, uniform: Floats
) -> tuple[Ints, Ints]:
    """Who is read next in these layouts, and its label; chances (R, L) of the next label."""
    left, choices = state.left[live], state.choices[live]
    waits = (state.before[live] & left[:, :, None]).any(axis=1)
    free = left & ~waits
    # Wishes that contradict each other: whoever is left may be next.
    free = np.where(free.any(axis=1, keepdims=True), free, left)
    # Of all orders that a tree of relations allows, this share begins with the element.
    weight = np.where(free, state.after[live], 0.0)
    if state.due is not None:
        due = state.due[live][:, :, place:]
        later = state.counts[live, None] - place
        weight *= due[:, :, 0] * later / np.maximum(due.sum(axis=2), 1e-12)
    able = _able(choices, left, weight, state.listed[live])
    joint = able * weight[..., None] * (chances / np.maximum(able.sum(axis=1), 1))[:, None, :]
    lost = ~joint.any(axis=(1, 2))  # top-p may have cut off every label that may come
    joint[lost] = (choices * weight[..., None])[lost]
    at = uniform[:, place]
    label, rest = _split(joint.sum(axis=1), at)
    element, _ = _split(np.take_along_axis(joint, label[:, None, None], axis=2)[..., 0], rest)
    return element, label


def _able(choices: Bools, left: Bools, weight: Floats, listed: Bools) -> Bools:
    """(R, S, L): who may have each label. What a request lists comes before what is added.

    Else a toolbar that is listed would wait while others are added at the top.
    """
    able = np.asarray(choices & left[..., None])
    mine = able & (listed & (weight > 0))[..., None]
    wanted: Bools = np.asarray(mine.any(axis=1))
    return np.where(wanted[:, None, :], mine, able)


def _split(weights: Floats, uniform: Floats) -> tuple[Ints, Floats]:
    """One index a row, and what is left of the number within its interval."""
    through = np.cumsum(weights, axis=1)
    total = through[:, -1]
    target = np.minimum(uniform * total, np.nextafter(total, 0.0))
    index = np.asarray((through > target[:, None]).argmax(axis=1), dtype=np.int64)
    at = np.arange(len(index))
    inside = (target - through[at, index] + weights[at, index]) / weights[at, index]
    return index, np.clip(inside, 0.0, 1.0)


def _keep_listed_order(batch: Batch, rows: Ints, rank: Ints, turn: Ints, tokens: Ints) -> None:
    """Of elements of which the same is known, the first slot is read first; in place."""
    groups: dict[int, list[Ints]] = {}
    for row in rows:
        condition = batch.conditions[row]
        if id(condition) not in groups:
            groups[id(condition)] = _alike(condition)
        own = groups[id(condition)] if len(condition) else [np.arange(batch.counts[row])]
        for alike in own:
            read = alike[np.argsort(rank[row, alike])]
            rank[row, alike], turn[row, alike] = rank[row, read], turn[row, read]
            tokens[row, alike, 0] = tokens[row, read, 0]


def _alike(condition: Condition) -> list[Ints]:
    """Groups of slots of which nothing is known but the label, and that has no relation."""
    known = np.isfinite(condition.fixed) | np.isfinite(condition.about)
    plain = ~known.any(axis=1) & np.isnan(condition.area) & np.isnan(condition.aspect_ratio)
    named = np.concatenate([condition.relations[:, [0, 2]].ravel(), condition.reading_order])
    plain[named[named >= 0]] = False
    choices = condition.label_choices
    single = plain & (choices.sum(axis=1) == 1)
    labels = choices.argmax(axis=1)
    groups = [np.flatnonzero(single & (labels == label)) for label in np.unique(labels[single])]
    return [group for group in groups if len(group) > 1]


def _due(spans: Floats, counts: Ints) -> Floats:
    """(R, S, ranks): how likely each rank is for elements that stand in a span; 1 for others."""
    due = np.ones((*spans.shape[:2], int(counts.max())))
    for row, slot in np.argwhere(np.isfinite(spans[..., 0])):
        count = int(counts[row])
        top, bottom = spans[row, slot]
        due[row, slot, :count] = span_chances(float(top), float(bottom), count)
        due[row, slot, count:] = 0.0
    unbound = np.isnan(spans[..., 0])
    due[unbound] *= np.arange(due.shape[2]) < counts[np.nonzero(unbound)[0], None]
    return due


def span_chances(top: float, bottom: float, count: int) -> Floats:
    """(count,): how likely the element of each rank has its centre between top and bottom.

    >>> span_chances(0, 1 / 3, 3).round(2).tolist()
    [0.87, 0.13, 0.01]
    """
    chances = []
    for rank in range(count):
        place = NormalDist((rank + 0.5) / count, SPREAD)
        above = place.cdf(top) if top > 0 else 0.0
        below = place.cdf(bottom) if bottom < 1 else 1.0
        chances.append(max(below - above, SELDOM))
    return np.array(chances)


def through_others(before: Bools) -> Bools:
    """(R, S, S): i before j if it is said, or if some k comes after i and before j.

    >>> chain = np.array([[[0, 1, 0], [0, 0, 1], [0, 0, 0]]], dtype=bool)
    >>> through_others(chain).astype(int).tolist()
    [[[0, 1, 1], [0, 0, 1], [0, 0, 0]]]
    """
    if not before.any():
        return before
    closed = before.copy()
    for k in range(before.shape[1]):
        closed |= closed[:, :, k, None] & closed[:, None, k, :]
    return closed

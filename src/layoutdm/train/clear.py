"""A loss for places on top of other elements, after sizes that the network itself has drawn.

In a real layout there is room for the next element, so real layouts do not teach where to put one
that turned out a little too tall. A sampler meets such elements on every page. Here the network
draws size and x of an element after real ones, and is told how much of them its y would cover.
Only labels count that keep apart in the data: text on text, but not text on a card.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from layoutdm.boxes import Boxes
from layoutdm.train.corpus import Corpus, take_rows
from layoutdm.train.losses import Batch
from layoutdm.train.networks import Network, Query

X, Y, WIDTH, HEIGHT = 1, 2, 3, 4
SHARE = 0.2  # of the layouts: each takes three calls of the network, two without gradients
APART = 0.02  # labels keep apart if fewer pairs of elements than this share room
SEEN = 20  # fewer ordered pairs than this say nothing
SLIVER = 0.1  # of the smaller box: what boxes that touch may share
ALMOST_ALL = 0.95  # of a box may be covered: a bound for the gradient where no place is free


@dataclass(frozen=True)
class _Turn:
    """Rows of a batch just before an element's y is decided, and what the network is asked."""

    tokens: Tensor  # (R, S, 5)
    slot: Tensor  # (R,): the element
    batch: Batch  # these rows


def labels_apart(corpus: Corpus) -> Tensor:
    """(labels, labels): 1 where elements of these labels hardly ever share room, else 0."""
    count = len(corpus.tokenizer.labels)
    pairs, sharing = np.zeros(count * count), np.zeros(count * count)
    for start, size in zip(corpus.starts, corpus.counts, strict=True):
        one = slice(start, start + size)
        labels, share = corpus.tokens[one, 0], shared_room(corpus.boxes[one]) > SLIVER
        pair = labels[:, None] * count + labels
        other = ~np.eye(size, dtype=bool)
        pairs += np.bincount(pair[other], minlength=count * count)
        sharing += np.bincount(pair[other & share], minlength=count * count)
    apart = (pairs >= SEEN) & (sharing < APART * pairs)
    return torch.from_numpy(apart.reshape(count, count).astype(np.float64))


def shared_room(boxes: Boxes) -> Boxes:
    """(n, n): the area that two of these boxes (centre, size) share, of the smaller one's."""
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    sides = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    areas = boxes[:, 2] * boxes[:, 3]
    smaller = np.minimum(areas[:, None], areas)
    return np.asarray(np.clip(sides, 0, None).prod(axis=-1) / np.maximum(smaller, 1e-12))


def covering_loss(
    network: Network, batch: Batch, noise: Tensor, apart: Tensor, free: float = 0.0
) -> Tensor:
    """Mean of -log(1 - the share of boxes that the next y is expected to cover), over some layouts.

    apart: see `labels_apart`. noise: (2, B, S, 5) uniform numbers that decide which layouts, which
    element and its values. free: see `covered_by_y`. Each process takes the mean over its own
    layouts that take part.
    """
    turn = _element_in_turn(network, batch, noise)
    if turn is None:
        return torch.zeros((), dtype=torch.float64, device=batch.tokens.device)
    chances = _predict(network, turn)[Y].exp().double()[:, : network.config.sizes[Y]]
    chances = chances / chances.sum(dim=-1, keepdim=True)
    expected = (chances * covered_by_y(network, turn.tokens, turn.slot, apart, free)).sum(dim=-1)
    return -torch.log1p(-expected * ALMOST_ALL).mean()


def _element_in_turn(network: Network, batch: Batch, noise: Tensor) -> _Turn | None:
    """Some layouts up to a random element, whose unknown size and x the network has drawn."""
    asked = batch.valid & ~batch.known[..., Y]
    chosen = (noise[0, :, 0, 0] < SHARE) & (asked.sum(dim=1) > 1)
    if batch.labels_only is not None:
        chosen = chosen & ~batch.labels_only
    rows = chosen.nonzero()[:, 0]
    if not len(rows):
        return None
    part = take_rows(batch, rows)
    slot = _random_slot(asked[rows], noise[0, rows, 0, 1])
    later = torch.arange(part.tokens.shape[1], device=rows.device) >= slot[:, None]
    hidden = later[..., None] & ~part.known & part.valid[..., None]
    hidden[..., 0] = False  # labels are drawn before boxes
    mask = torch.tensor(network.config.sizes, device=rows.device) + 1
    turn = _Turn(torch.where(hidden, mask, part.tokens), slot, part)
    at = torch.arange(len(rows), device=rows.device)
    uniform = noise[1, rows, slot]
    with torch.no_grad():
        for together in ((WIDTH, HEIGHT), (X,)):  # as the sampler takes its turns
            predicted = _predict(network, turn)
            for m in together:
                values, now = _draw(predicted[m], uniform[:, m]), turn.tokens[at, slot, m]
                turn.tokens[at, slot, m] = torch.where(hidden[at, slot, m], values, now)
    return turn


def _random_slot(asked: Tensor, uniform: Tensor) -> Tensor:
    """One of the slots that are asked about, (R,); uniform (R,) decides."""
    nth = (uniform * asked.sum(dim=1)).long() + 1
    return (asked.cumsum(dim=1) < nth[:, None]).sum(dim=1)


def _predict(network: Network, turn: _Turn) -> tuple[Tensor, ...]:
    """log p of each attribute of the elements in turn, (R, K + 1)."""
    batch, level = turn.batch, None
    if network.config.time == "adaln":
        level = torch.full_like(turn.slot, network.config.steps)
    query = Query(turn.tokens, level, batch.valid, batch.about, batch.position)
    at = torch.arange(len(turn.slot), device=turn.slot.device)
    return tuple(part[at, turn.slot] for part in network(query).log_probs)


def _draw(log_probs: Tensor, uniform: Tensor) -> Tensor:
    """Values (R,), never PAD."""
    through = log_probs[:, :-1].double().exp().cumsum(dim=-1)
    below = through < uniform[:, None] * through[:, -1:]
    return below.sum(dim=-1).clamp(max=through.shape[1] - 1)


def covered_by_y(
    network: Network, tokens: Tensor, slot: Tensor, apart: Tensor, free: float = 0.0
) -> Tensor:
    """How much each y of these elements would cover, (R, values of y), from 0 to 1.

    Of each other decided box whose label keeps apart, the shared area counts as a share of the
    smaller of both; the sum of these shares, at most 1. tokens (R, S, 5) with size and x of the
    elements `slot` (R,) decided. free: shares up to this are left alone, since rounding to few
    bins makes them of real boxes that touch; those above count from there on.
    """
    config = network.config
    x, y, width, height = (
        torch.tensor([*part, 0.0, 0.0], dtype=torch.float64, device=tokens.device)
        for part in config.centres
    )
    decided = (tokens[..., 1:] < torch.tensor(config.sizes[1:], device=tokens.device)).all(dim=-1)
    at = torch.arange(len(slot), device=slot.device)
    mine = tokens[at, slot]
    my_x, my_width, my_height = x[mine[:, X]], width[mine[:, WIDTH]], height[mine[:, HEIGHT]]
    others = x[tokens[..., X]], y[tokens[..., Y]], width[tokens[..., WIDTH]]
    their_height = height[tokens[..., HEIGHT]]
    wide = _shared(my_x[:, None], my_width[:, None], others[0], others[2])
    tall = _shared(
        y[None, None, :-2], my_height[:, None, None], others[1][..., None], their_height[..., None]
    )
    smaller = torch.minimum((my_width * my_height)[:, None], others[2] * their_height)
    share = wide[..., None] * tall / smaller.clamp(min=1e-9)[..., None]
    if free:
        share = (share - free).clamp(min=0) / (1 - free)
    last = len(apart) - 1  # slots that only fill up have no label, and are not decided
    weight = apart[mine[:, 0].clamp(max=last)[:, None], tokens[..., 0].clamp(max=last)] * decided
    weight[at, slot] = 0.0
    return (share * weight[..., None]).sum(dim=1).clamp(max=1.0)


def _shared(centre: Tensor, size: Tensor, other_centre: Tensor, other_size: Tensor) -> Tensor:
    """The length that two intervals share."""
    end = torch.minimum(centre + size / 2, other_centre + other_size / 2)
    start = torch.maximum(centre - size / 2, other_centre - other_size / 2)
    return (end - start).clamp(min=0)

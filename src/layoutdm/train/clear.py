"""A loss for boxes on top of other elements, after sizes that the network itself has drawn.

In a real layout there is room for the next element, so real layouts do not teach where to put one
that turned out a little too tall. A sampler meets such elements on every page. Here the network
draws size and x of an element after real ones, and is told how much of them its y would cover.
Only labels count that keep apart in the data: text on text, but not text on a card.

Sizes and x are told as well, since an element that fits nowhere has no good y; what leaves the
canvas counts as covered; and a second element follows the drawn one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from layoutdm.boxes import shared_span
from layoutdm.train.batches import Batch, take_rows
from layoutdm.train.networks import Network, Query

X, Y, WIDTH, HEIGHT = 1, 2, 3, 4
SHARE = 0.6  # of the layouts: each takes six calls of the network
ALMOST_ALL = 0.95  # of a box may be covered: a bound for the gradient where no place is free


@dataclass(eq=False)
class _Turns:
    """Rows of a batch up to an element that the network is to draw; the tokens change."""

    batch: Batch  # these rows
    uniform: Tensor  # (R, S, 5): decides the values
    tokens: Tensor  # (R, S, 5)
    hidden: Tensor  # (R, S, 5): not decided at the beginning
    slot: Tensor  # (R,): the element

    @property
    def rows(self) -> Tensor:
        return torch.arange(len(self.slot), device=self.slot.device)


def covering_loss(
    network: Network, batch: Batch, uniform: Tensor, apart: Tensor, free: float = 0.0
) -> Tensor:
    """Mean of -log(1 - the share of boxes that the next y is expected to cover), over some layouts.

    apart: see `labels_apart`, as 1 or 0. uniform: (B, 2, S, 5) numbers that decide which layouts,
    which element and its values. free: see `covered_by_y`. Each process takes the mean over its
    own layouts that take part. The gradient is that of the mean over sizes and x, too.
    """
    turns = _begin(network, batch, uniform)
    if turns is None:
        return torch.zeros((), dtype=torch.float64, device=batch.tokens.device)
    first, log_y = _cost_of_box(network, turns, apart, free)
    _set(turns, Y, _draw(log_y.detach(), turns.uniform[turns.rows, turns.slot, Y]))
    second = _next_element(turns)
    if second is None:
        return first.mean()
    return torch.cat([first, _cost_of_box(network, second, apart, free)[0]]).mean()


def _begin(network: Network, batch: Batch, uniform: Tensor) -> _Turns | None:
    """Some layouts up to a random element, of which only the label is known.

    Later labels are known, since they are drawn before boxes; but not in completion.
    """
    asked = batch.valid & ~batch.known[..., Y]
    chosen = (uniform[:, 0, 0, 0] < SHARE) & (asked.sum(dim=1) > 1)
    rows = chosen.nonzero()[:, 0]
    if not len(rows):
        return None
    part = take_rows(batch, rows)
    slot = _random_slot(asked[rows], uniform[rows, 0, 0, 1])
    slots = torch.arange(part.tokens.shape[1], device=rows.device)
    hidden = (slots >= slot[:, None])[..., None] & ~part.known & part.valid[..., None]
    completes = (part.known.all(dim=-1) & part.valid).any(dim=1)[:, None]
    hidden[..., 0] = completes & (slots > slot[:, None]) & ~part.known[..., 0] & part.valid
    mask = torch.tensor(network.config.sizes, device=rows.device) + 1
    tokens = torch.where(hidden, mask, part.tokens)
    return _Turns(part, uniform[rows, 1], tokens, hidden, slot)


def _next_element(turns: _Turns) -> _Turns | None:
    """The layouts that have another element to place, at its turn."""
    slots = torch.arange(turns.tokens.shape[1], device=turns.slot.device)
    later = turns.hidden[..., Y] & (slots > turns.slot[:, None])
    rows = later.any(dim=1).nonzero()[:, 0]
    if not len(rows):
        return None
    slot = later[rows].long().argmax(dim=1)
    part = take_rows(turns.batch, rows)
    tokens = turns.tokens[rows]
    at = torch.arange(len(rows), device=rows.device)
    tokens[at, slot, 0] = part.tokens[at, slot, 0]
    return _Turns(part, turns.uniform[rows], tokens, turns.hidden[rows], slot)


def _cost_of_box(
    network: Network, turns: _Turns, apart: Tensor, free: float
) -> tuple[Tensor, Tensor]:
    """What y costs (R,), with the gradient for sizes and x as well; and log p(y).

    That of a mean over what is drawn: cost times log p, less what others cost (REINFORCE with the
    others of the batch as its baseline).
    """
    log_chance = _draw_size_and_x(network, turns)
    cost, log_y = _cost_of_y(network, turns, apart, free)
    told = cost.detach()
    others = (told.sum() - told) / max(len(told) - 1, 1)
    reward = (told - others) * log_chance
    return cost + reward - reward.detach(), log_y


def _cost_of_y(
    network: Network, turns: _Turns, apart: Tensor, free: float
) -> tuple[Tensor, Tensor]:
    """-log(1 - the share that y is expected to cover), (R,), and log p(y)."""
    log_y = _predict(network, turns)[Y]
    chances = log_y.exp().double()[:, : network.config.sizes[Y]]
    chances = chances / chances.sum(dim=-1, keepdim=True)
    covered = covered_by_y(network, turns.tokens, turns.slot, apart, free)
    return -torch.log1p(-(chances * covered).sum(dim=-1) * ALMOST_ALL), log_y


def _draw_size_and_x(network: Network, turns: _Turns) -> Tensor:
    """Draw what is not known of them, as the sampler takes its turns; log p of it, (R,)."""
    rows, slot = turns.rows, turns.slot
    total = torch.zeros(len(slot), dtype=torch.float64, device=slot.device)
    for together in ((WIDTH, HEIGHT), (X,)):
        predicted = _predict(network, turns)
        for m in together:
            values = _draw(predicted[m].detach(), turns.uniform[rows, slot, m])
            chance = predicted[m].gather(1, values[:, None])[:, 0]
            total = total + torch.where(turns.hidden[rows, slot, m], chance.double(), 0.0)
            _set(turns, m, values)
    return total


def _set(turns: _Turns, modality: int, values: Tensor) -> None:
    """Decide this value of the elements, where it is not known."""
    rows, slot = turns.rows, turns.slot
    now = turns.tokens[rows, slot, modality]
    unknown = turns.hidden[rows, slot, modality]
    # A new tensor: the network's gradient still needs the tokens that it has seen.
    turns.tokens = turns.tokens.clone()
    turns.tokens[rows, slot, modality] = torch.where(unknown, values, now)


def _random_slot(asked: Tensor, uniform: Tensor) -> Tensor:
    """One of the slots that are asked about, (R,); uniform (R,) decides."""
    nth = (uniform * asked.sum(dim=1)).long() + 1
    return (asked.cumsum(dim=1) < nth[:, None]).sum(dim=1)


def _predict(network: Network, turns: _Turns) -> tuple[Tensor, ...]:
    """log p of each attribute of the elements in turn, (R, K + 1)."""
    batch = turns.batch
    asked = turns.slot[:, None]
    query = Query(turns.tokens, None, batch.valid, batch.about, batch.position, asked)
    return tuple(part[:, 0] for part in network(query).log_probs)


def _draw(log_probs: Tensor, uniform: Tensor) -> Tensor:
    """Values (R,), never PAD."""
    through = log_probs[:, :-1].double().exp().cumsum(dim=-1)
    below = through < uniform[:, None] * through[:, -1:]
    return below.sum(dim=-1).clamp(max=through.shape[1] - 1)


def covered_by_y(
    network: Network,
    tokens: Tensor,
    slot: Tensor,
    apart: Tensor,
    free: float = 0.0,
) -> Tensor:
    """How much each y of these elements would cover, (R, values of y), from 0 to 1.

    Of each other decided box whose label keeps apart, the shared area counts as a share of the
    smaller of both; the sum of these shares, at most 1. tokens (R, S, 5) with size and x of the
    elements `slot` (R,) decided. free: shares up to this are left alone, since real boxes that
    touch have them; those above count from there on. The share of the element itself that would
    leave the canvas counts as well, so that the border is no way out.
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
    wide = shared_span(my_x[:, None], my_width[:, None], others[0], others[2])
    tall = shared_span(
        y[None, None, :-2], my_height[:, None, None], others[1][..., None], their_height[..., None]
    )
    smaller = torch.minimum((my_width * my_height)[:, None], others[2] * their_height)
    share = wide[..., None] * tall / smaller.clamp(min=1e-9)[..., None]
    share = _more_than(free, share)
    last = len(apart) - 1  # slots that only fill up have no label, and are not decided
    weight = apart[mine[:, 0].clamp(max=last)[:, None], tokens[..., 0].clamp(max=last)] * decided
    weight[at, slot] = 0.0
    covered = (share * weight[..., None]).sum(dim=1)
    inside = _inside(my_x, my_width)[:, None] * _inside(y[None, :-2], my_height[:, None])
    covered = covered + _more_than(free, 1 - inside / (my_width * my_height)[:, None])
    return covered.clamp(max=1.0)


def _more_than(free: float, share: Tensor) -> Tensor:
    """Shares from `free` to 1 as shares from 0 to 1."""
    return (share - free).clamp(min=0) / (1 - free) if free else share


def _inside(centre: Tensor, size: Tensor) -> Tensor:
    """The length of an interval that lies on the canvas."""
    return ((centre + size / 2).clamp(max=1) - (centre - size / 2).clamp(min=0)).clamp(min=0)

"""What a training step of the element network minimises."""

from __future__ import annotations

import torch
from torch import Tensor

from layoutdm.train.batches import Batch
from layoutdm.train.networks import ElementNetwork, Lesson, Network, Query


def hide(network: Network, batch: Batch, masked: Tensor) -> Tensor:
    """The tokens with MASK in place of those that are masked."""
    mask = torch.tensor(network.config.sizes, device=masked.device) + 1
    return torch.where(masked, mask, batch.tokens)


def masked_loss(
    network: Network, batch: Batch, masked: Tensor, asked: Tensor, weight: Tensor
) -> Tensor:
    """Weighted sum of -log p(token) over the masked tokens of the asked elements, (B,).

    The variational bound of mask diffusion is the same sum, weighted by noise level.
    """
    query = Query(
        hide(network, batch, masked), None, None if bool(batch.valid.all()) else batch.valid,
        batch.about, batch.position, asked,
    )  # fmt: skip
    found = network(query).log_probs
    truth = batch.tokens.gather(1, asked[..., None].expand(-1, -1, 5))
    total = torch.zeros(len(asked), device=asked.device)
    for m, log_probs in enumerate(found):
        cross = -log_probs.gather(2, truth[..., m, None])[..., 0]
        total = total + (cross * weight[..., m]).sum(dim=1)
    return total


def turns_loss(
    network: ElementNetwork, batch: Batch, listed: Tensor, begun: Tensor, turn: Tensor,
    weight: Tensor,
) -> Tensor:  # fmt: skip
    """Weighted sum of -log p(token) over all elements at their turns, (B,); see `turns`."""
    lesson = Lesson(
        batch.tokens, hide(network, batch, ~listed), hide(network, batch, ~begun), batch.valid,
        turn, batch.about, batch.position,
    )  # fmt: skip
    total = torch.zeros(len(turn), device=turn.device)
    for m, log_probs in enumerate(network.learn(lesson)):
        cross = -log_probs.gather(2, batch.tokens[..., m, None])[..., 0]
        total = total + (cross * weight[..., m]).sum(dim=1)
    return total


def number_loss(
    network: Network, batch: Batch, shown: Tensor, hidden: Tensor | None = None
) -> Tensor:
    """-log p(number of elements | the shown elements), per layout. shown: (B, S).

    hidden: (B, S, 5), fields of the shown elements that are MASK instead of their value.
    """
    most = max(int(shown.sum(dim=1).max()), 1)
    order = torch.argsort((~shown).int(), dim=1, stable=True)[:, :most]
    tokens = batch.tokens if hidden is None else hide(network, batch, hidden)
    tokens = torch.gather(tokens, 1, order[..., None].expand(-1, -1, 5))
    # The shown elements are plain values without an order: position and draft 0, as in sampling.
    about = torch.zeros_like(tokens[..., 1:]) if network.config.about_levels else None
    valid = torch.gather(shown, 1, order)
    asked = torch.zeros_like(order[:, :1])
    found = network(Query(tokens, None, valid, about, torch.zeros_like(order), asked)).number
    assert found is not None, "this network does not predict the number of elements"
    target = batch.valid.sum(dim=1) - 1
    return -torch.gather(found, 1, target[:, None])[:, 0]


def shown_part(batch: Batch, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """What the number is guessed from: shown elements (B, S), and their hidden fields (B, S, 5).

    Completion shows elements, the other tasks leave the number to be guessed from nothing. People
    list elements of which they know a part: half of the layouts show all that is known of them, in
    the others any share of the fields is hidden, labels half as often. uniform (B, 2, S, 5)
    decides.
    """
    shown = batch.valid & batch.known[..., 0] & ~_all_labels_known(batch)[:, None]
    share = (2 * uniform[:, 1, 0, 0] - 1).clamp(min=0)[:, None, None]
    often = torch.tensor([0.5, 1, 1, 1, 1], dtype=uniform.dtype, device=uniform.device)
    return shown, (uniform[:, 0] < share * often) | ~batch.known


def _all_labels_known(batch: Batch) -> Tensor:
    return (batch.known[..., 0] | ~batch.valid).all(dim=1)

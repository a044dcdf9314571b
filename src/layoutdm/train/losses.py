"""The training loss and the bound: exact discrete diffusion on top of the shared algebra.

The bound of a layout is, in nats, the sum over levels t = 1..T of
KL(q(z_{t-1} | z_t, z_0) || p(z_{t-1} | z_t)); at t = 1 that is -log p(z_0 | z_1). The published
code has no prior term, and here neither. It does not depend on the weights: with the schedule's
own p(z_T) it is less than 0.004 nats for 125 tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from layoutdm.diffusion import Mass, Schedule, corrupt, posterior
from layoutdm.train.networks import Network, Prediction, Query

TINY = 1e-30  # below every probability that matters, above the smallest double


@dataclass(frozen=True)
class Batch:
    """Clean tokens and what the network may see of them.

    tokens (B, S, 5); valid (B, S); known (B, S, 5) marks tokens that stay clean, as conditions do;
    about, position: see Query. labels_only (B,) marks layouts of which boxes are neither shown nor
    asked for; bagged (B,) those of them of which the network may know what labels are still to
    come, but not in which order.
    """

    tokens: Tensor
    valid: Tensor
    known: Tensor
    about: Tensor | None
    position: Tensor | None
    labels_only: Tensor | None = None
    bagged: Tensor | None = None


@dataclass(frozen=True)
class Terms:
    """Per layout, in nats: the variational term at its level, and the auxiliary term."""

    variational: Tensor
    auxiliary: Tensor
    counted: Tensor  # how many tokens took part


def masses(schedule: Schedule, s: Tensor, t: Tensor) -> tuple[Mass, Mass, Mass]:
    """The schedule's masses at levels s and t and between them, as (B, 1, 1) tensors."""
    low, high = s.cpu().numpy(), t.cpu().numpy()

    def tensors(mass: Mass) -> Mass:
        keep, mask, replace = (torch.as_tensor(v, device=t.device)[:, None, None] for v in mass)
        return Mass(keep, mask, replace)  # type: ignore[arg-type]

    return (
        tensors(schedule.level(low)),
        tensors(schedule.level(high)),
        tensors(schedule.between(low, high)),
    )


def corrupt_tokens(
    batch: Batch, sizes: tuple[int, ...], at_t: Mass, noise: torch.Generator | Tensor
) -> Tensor:
    """z_t of every unknown token; known ones stay clean.

    `noise` is a generator, or (2, B, S, 5) uniform numbers drawn by the caller, who can then give
    a layout the same noise however the batch is divided among processes.
    """
    draws = noise
    if isinstance(draws, torch.Generator):
        draws = torch.rand((2, *batch.tokens.shape), generator=draws, dtype=torch.float64)
    draws = draws.to(batch.tokens.device)
    flat = Mass(*(m[..., 0] for m in at_t))
    noisy = [
        corrupt(batch.tokens[..., m], flat, size + 1, draws[0, ..., m], draws[1, ..., m])
        for m, size in enumerate(sizes)
    ]
    noise_only = torch.stack(noisy, dim=-1)
    if batch.labels_only is not None:
        mask = torch.tensor(sizes, device=batch.tokens.device) + 1
        noise_only = torch.where(_boxes_of(batch.labels_only), mask, noise_only)
    return torch.where(batch.known, batch.tokens, noise_only)


def _boxes_of(layouts: Tensor) -> Tensor:
    """(B, 1, 5): whether a token belongs to the boxes of these layouts."""
    return layouts[:, None, None] & (torch.arange(5, device=layouts.device) > 0)


def terms(
    network: Network,
    schedule: Schedule,
    batch: Batch,
    level: Tensor,
    noise: torch.Generator | Tensor,
    focus: Tensor | None = None,
) -> Terms:
    """Corrupt to each layout's level, ask the network, compare with the truth.

    focus (B,): the share of the auxiliary term that goes to the element whose turn is next.
    """
    config = network.config
    at_s, at_t, s_to_t = masses(schedule, level - 1, level)
    noisy = corrupt_tokens(batch, config.sizes, at_t, noise)
    query = Query(
        noisy,
        level if config.time == "adaln" else None,
        None if bool(batch.valid.all()) else batch.valid,
        batch.about,
        batch.position,
        None if batch.bagged is None else labels_ahead(batch, noisy, config.sizes[0]),
    )
    prediction = network(query)
    counted = batch.valid[..., None] & ~batch.known
    if batch.labels_only is not None:
        counted = counted & ~_boxes_of(batch.labels_only)
    weight = counted.double()
    if focus is not None:
        weight = focused(counted, noisy == torch.tensor(config.sizes).to(noisy) + 1, focus)
    return _compare(prediction, batch.tokens, noisy, counted, weight, (at_s, at_t, s_to_t))


def focused(counted: Tensor, masked: Tensor, focus: Tensor) -> Tensor:
    """Weights of the tokens, (B, S, 5): a share for the next element, the rest for all alike.

    A sampler that decides one element after the other only uses what is predicted of the next;
    without this, elements that are still far away have most of the loss. Their sum is the number
    of counted tokens, or without a masked token the plain weights are left.
    """
    open_slots = (masked & counted).any(dim=-1)
    first = open_slots & (open_slots.cumsum(dim=1) == 1)
    following = masked & counted & first[..., None]
    number = following.sum(dim=(1, 2)).clamp(min=1)
    share = torch.where(open_slots.any(dim=1), focus, 0.0)[:, None, None]
    each = (counted.sum(dim=(1, 2)) / number)[:, None, None]
    return (1 - share) * counted + share * each * following


def labels_ahead(batch: Batch, noisy: Tensor, labels: int) -> Tensor:
    """How often each label is among those that are masked, (B, labels); 0 for other layouts."""
    assert batch.bagged is not None
    hidden = (noisy[..., 0] == labels + 1) & batch.valid & batch.bagged[:, None]
    truth = torch.nn.functional.one_hot(batch.tokens[..., 0].clamp(max=labels), labels + 1)
    return (truth[..., :labels] * hidden[..., None]).sum(dim=1)


def _compare(
    prediction: Prediction,
    clean: Tensor,
    noisy: Tensor,
    counted: Tensor,
    weight: Tensor,
    levels: tuple[Mass, Mass, Mass],
) -> Terms:
    """weight (B, S, 5): of each token in the auxiliary term."""
    variational = torch.zeros(len(clean), dtype=torch.float64, device=clean.device)
    auxiliary = torch.zeros_like(variational)
    for m, log_probs in enumerate(prediction.log_probs):
        kl, cross = _modality_terms(log_probs.double(), clean[..., m], noisy[..., m], levels)
        variational = variational + (kl * counted[..., m]).sum(dim=1)
        auxiliary = auxiliary + (cross * weight[..., m]).sum(dim=1)
    return Terms(variational, auxiliary, counted.sum(dim=(1, 2)))


def _modality_terms(
    log_probs: Tensor, clean: Tensor, noisy: Tensor, levels: tuple[Mass, Mass, Mass]
) -> tuple[Tensor, Tensor]:
    """KL of the one-step posteriors, and -log p(z_0), each (B, S)."""
    states = log_probs.shape[-1]
    truth = torch.nn.functional.one_hot(clean.clamp(max=states - 1), states).double()
    true_posterior = posterior(truth, noisy, *levels)
    model_posterior = posterior(log_probs.exp(), noisy, *levels)
    ratio = true_posterior.clamp(min=TINY).log() - model_posterior.clamp(min=TINY).log()
    kl = (true_posterior * ratio).sum(dim=-1)
    cross = -(truth * log_probs).sum(dim=-1)
    return kl, cross


def number_loss(
    network: Network, batch: Batch, shown: Tensor, hidden: Tensor | None = None
) -> Tensor:
    """-log p(number of elements | the shown elements), per layout. shown: (B, S).

    hidden: (B, S, 5), fields of the shown elements that are MASK instead of their value.
    """
    most = max(int(shown.sum(dim=1).max()), 1)
    order = torch.argsort((~shown).int(), dim=1, stable=True)[:, :most]
    take = order[..., None]
    tokens = batch.tokens
    if hidden is not None:
        mask = torch.tensor(network.config.sizes, device=tokens.device) + 1
        tokens = torch.where(hidden, mask, tokens)
    tokens = torch.gather(tokens, 1, take.expand(-1, -1, 5))
    valid = torch.gather(shown, 1, order)
    level = torch.full((len(tokens),), network.config.steps, device=tokens.device)
    # The shown elements are plain values without an order: position and draft 0, as in sampling.
    about = position = None
    if network.config.kind == "element":
        position = torch.zeros_like(order)
    if network.config.about_levels:
        about = torch.zeros_like(tokens[..., 1:])
    query = Query(tokens, level if network.config.time == "adaln" else None, valid, about, position)
    log_probs = network(query).number
    assert log_probs is not None, "this network does not predict the number of elements"
    target = batch.valid.sum(dim=1) - 1
    return -torch.gather(log_probs, 1, target[:, None])[:, 0].double()

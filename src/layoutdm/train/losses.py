"""The paper's loss and its bound: exact discrete diffusion on top of the shared algebra.

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
from layoutdm.train.batches import Batch
from layoutdm.train.networks import Network, Prediction, Query

TINY = 1e-30  # below every probability that matters, above the smallest double


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
    return torch.where(batch.known, batch.tokens, noise_only)


def terms(
    network: Network,
    schedule: Schedule,
    batch: Batch,
    level: Tensor,
    noise: torch.Generator | Tensor,
) -> Terms:
    """Corrupt to each layout's level, ask the network, compare with the truth."""
    config = network.config
    levels = masses(schedule, level - 1, level)
    noisy = corrupt_tokens(batch, config.sizes, levels[1], noise)
    query = Query(
        noisy,
        level if config.time == "adaln" else None,
        None if bool(batch.valid.all()) else batch.valid,
        batch.about,
        batch.position,
    )
    counted = batch.valid[..., None] & ~batch.known
    return _compare(network(query), batch.tokens, noisy, counted, levels)


def _compare(
    prediction: Prediction,
    clean: Tensor,
    noisy: Tensor,
    counted: Tensor,
    levels: tuple[Mass, Mass, Mass],
) -> Terms:
    variational = torch.zeros(len(clean), dtype=torch.float64, device=clean.device)
    auxiliary = torch.zeros_like(variational)
    for m, log_probs in enumerate(prediction.log_probs):
        kl, cross = _modality_terms(log_probs.double(), clean[..., m], noisy[..., m], levels)
        variational = variational + (kl * counted[..., m]).sum(dim=1)
        auxiliary = auxiliary + (cross * counted[..., m]).sum(dim=1)
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

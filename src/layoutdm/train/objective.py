"""What a training step minimises, as one module, so that processes can share its gradients."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from layoutdm.diffusion import Schedule
from layoutdm.diffusion.turns import DECIDED_AS
from layoutdm.train.clear import covering_loss
from layoutdm.train.config import TrainConfig
from layoutdm.train.losses import Batch, number_loss, terms
from layoutdm.train.networks import Network

# Ranks must stay below 1 by more than the schedule's mass of replaced tokens.
ALMOST_NOTHING = 0.002


class Objective(nn.Module):
    """Mean loss of a batch: variational and auxiliary terms per token, plus the number's.

    The published code sums over tokens and divides by p(t); `loss_scale="published"` does the
    same, which multiplies the loss by T. The default keeps it at the size of one level's term.
    """

    def __init__(
        self,
        network: Network,
        schedule: Schedule,
        config: TrainConfig,
        apart: Tensor | None = None,
    ) -> None:
        """apart: with `clear`, which labels keep apart; see `labels_apart`."""
        super().__init__()
        assert isinstance(network, nn.Module)
        self.network = network
        self.schedule = schedule
        self.settings = config
        self.apart: Tensor | None
        self.register_buffer("apart", apart, persistent=False)

    def forward(
        self, batch: Batch, level: Tensor, weight: Tensor, noise: Tensor, with_number: bool
    ) -> tuple[Tensor, Tensor]:
        """The loss, and the variational term per token of each layout (without gradient).

        weight: 1 / (T p(t)) of each layout's level. noise: see `corrupt_tokens`.
        """
        settings, levels = self.settings, self.schedule.steps
        focus, uniform = None, noise
        if settings.in_sequence:
            chosen = masked_in_sequence(batch, noise, settings.in_sequence)
            every = settings.next_element > 0
            noise = in_sequence(batch, noise, chosen, every_state=every)
            focus = settings.next_element * chosen.double() if settings.next_element else None
        found = terms(self.network, self.schedule, batch, level, noise, focus)
        counted = found.counted.clamp(min=1)
        factor: Tensor | float = settings.auxiliary_weight
        if settings.auxiliary == "adaptive":
            # The published index counts from 0, hence level - 1.
            factor = settings.auxiliary_weight * (2 - (level - 1) / levels)
        per_layout = (found.variational + factor * found.auxiliary) / counted * weight
        loss = per_layout.mean()
        if settings.loss_scale == "published":
            loss = loss * levels
        if settings.clear:
            assert self.apart is not None, "with `clear` it must be known which labels keep apart"
            covering = covering_loss(
                self.network, batch, uniform, self.apart, settings.clear_from,
                room=settings.clear_room,
            )  # fmt: skip
            loss = loss + settings.clear * covering
        if with_number:
            # Completion shows whole elements; the other tasks leave the number to be guessed.
            shown = batch.valid & batch.known.all(dim=-1)
            hidden = hide_fields(noise if settings.number_blind else uniform)
            found_number = number_loss(self.network, batch, shown, hidden)
            loss = loss + settings.number_weight * found_number.mean()
        return loss, (found.variational / counted).detach()


def masked_in_sequence(batch: Batch, noise: Tensor, share: float) -> Tensor:
    """(B,): a share of the layouts, and all that learn the order of labels alone."""
    chosen = noise[1, :, 0, 1] < share
    return chosen if batch.labels_only is None else chosen | batch.labels_only


def in_sequence(
    batch: Batch, noise: Tensor, chosen: Tensor, *, every_state: bool = False
) -> Tensor:
    """The noise, with the chosen layouts masked from the last element to the first.

    Independent masks leave nearly every element half known. A sampler that decides one element
    after the other meets other states: so many elements whole, the rest not begun.

    Of n unknown tokens 0 to n are masked, both ends half as often as the numbers between, as the
    schedule's share of masked tokens has it. every_state: 1 to n, all equally often, since a state
    without a mask teaches nothing and the first token is worth as much as any other.
    """
    early = ALMOST_NOTHING if every_state else 0.5
    unknown = batch.valid[..., None] & ~batch.known
    order = unknown[..., list(DECIDED_AS)].flatten(1)
    ranks = (order.cumsum(dim=1) - early) / order.sum(dim=1, keepdim=True).clamp(min=1)
    back = [DECIDED_AS.index(m) for m in range(5)]
    ranks = ranks.view(unknown.shape)[..., back].to(noise.dtype)
    if batch.labels_only is not None:
        labels = unknown[..., :1]
        one_by_one = (labels.cumsum(dim=1) - early) / labels.sum(dim=1, keepdim=True).clamp(min=1)
        alone = batch.labels_only[:, None, None]
        ranks = torch.where(alone, one_by_one.to(noise.dtype), ranks)
    return torch.stack([torch.where(chosen[:, None, None], ranks, noise[0]), noise[1]])


def hide_fields(noise: Tensor) -> Tensor:
    """Which fields of shown elements the number is guessed without: (B, S, 5).

    People list elements of which they know a part. Half of the layouts show whole elements, as in
    completion; in the others any share of the fields is hidden, labels half as often. Shown
    elements are not corrupted, so their `noise` is free to decide it.
    """
    share = (2 * noise[1, :, 0, 0] - 1).clamp(min=0)[:, None, None]
    often = torch.tensor([0.5, 1, 1, 1, 1], dtype=noise.dtype, device=noise.device)
    return noise[0] < share * often


def update_average(average: nn.Module, network: nn.Module, decay: float) -> None:
    """Move the averaged weights towards the network's: an exponential moving average."""
    with torch.no_grad():
        torch._foreach_lerp_(list(average.parameters()), list(network.parameters()), 1 - decay)

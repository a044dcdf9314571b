"""Fit the small network that draws labels in reading order: see `layoutdm.plan.labels`.

Every prefix of every layout is one example, once with and once without knowing which labels are
still to come. So an epoch has many examples, and each costs next to nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from layoutdm.plan.labels import LAST, LabelModel, feature_count, features

Ints = NDArray[np.int64]

WIDTH = 128
LAYERS = 3
DROPOUT = 0.1
BATCH = 512
LEARNING_RATE = 2e-3
WARM_UP = 100
WEIGHT_DECAY = 0.05
ENOUGH = 6_000  # steps; but between so many passes over the data:
FEWEST, MOST = 8, 40
AT_LEAST = 300  # steps, whatever the time: less is no order at all


class LabelNetwork(nn.Module):
    """The same function as LabelModel, with dropout between the layers."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        sizes = [feature_count(labels), *([WIDTH] * LAYERS), labels]
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(sizes))
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, seen: Tensor, ahead: Tensor) -> Tensor:
        first, *inner, last = self.layers
        hidden = nn.functional.silu(first(seen))
        for layer in inner:
            hidden = hidden + nn.functional.silu(layer(self.drop(hidden)))
        logits = last(self.drop(hidden))
        known = ahead.any(dim=1, keepdim=True)
        return torch.log_softmax(torch.where(known, logits + ahead.log(), logits), dim=1)

    def exported(self) -> LabelModel:
        """With the weights rounded as the file has them."""

        def plain(tensor: Tensor) -> NDArray[np.float64]:
            return tensor.detach().half().double().numpy()

        found = [(plain(layer.weight), plain(layer.bias)) for layer in self.layers]  # type: ignore[arg-type]
        return LabelModel(tuple(found))


def examples(sequence: Ints, labels: int) -> tuple[Ints, Ints, Ints, Ints]:
    """used, ahead, left and last (see `features`) of each place of a sequence of labels."""
    n = len(sequence)
    one_hot = np.eye(labels, dtype=np.int64)[sequence]
    used = np.cumsum(one_hot, axis=0) - one_hot
    ahead = one_hot.sum(axis=0) - used
    places = np.arange(n)[:, None] - 1 - np.arange(LAST)
    last = np.where(places >= 0, sequence[np.maximum(places, 0)], -1)
    return used, ahead, n - np.arange(n), last


def fit_labels(
    sequences: Sequence[Ints],
    labels: int,
    *,
    epochs: int | None = None,
    seed: int = 0,
    seconds: float | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> LabelModel:
    """Train on the labels of layouts in reading order.

    epochs: None for as many as suit the number of places, in at most so many seconds.
    """
    begun = time.monotonic()
    torch.manual_seed(seed)
    parts = [examples(sequence, labels) for sequence in sequences]
    used, ahead, left, last = (np.concatenate(part) for part in zip(*parts, strict=True))
    target = np.concatenate(sequences)
    places = len(target)
    network = LabelNetwork(labels)
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    size = min(BATCH, 2 * places)
    batches = 2 * places // size
    if epochs is None:
        epochs = int(np.clip(ENOUGH // batches, FEWEST, MOST))
    steps = epochs * batches
    warm_up = min(WARM_UP, 1 + steps // 10)
    done = 0
    network.train()
    passes = 0
    for passes in range(1, epochs + 1):  # noqa: B007
        total = 0.0
        # Each place comes twice: its first number knows what is ahead, its second does not.
        order = torch.randperm(2 * places)[: batches * size].view(-1, size).numpy()
        for rows in order:
            along = done / steps
            if seconds is not None and done >= AT_LEAST:
                along = max(along, (time.monotonic() - begun) / seconds)
            warm = min(1.0, (done + 1) / warm_up)
            fall = 0.5 * (1 + float(np.cos(np.pi * min(along, 1.0))))
            optimizer.param_groups[0]["lr"] = LEARNING_RATE * warm * fall
            done += 1
            at = rows % places
            known = ahead[at] * (rows < places)[:, None]
            seen = torch.from_numpy(features(used[at], known, left[at], last[at])).float()
            log_probs = network(seen, torch.from_numpy(known).float())
            loss = nn.functional.nll_loss(log_probs, torch.from_numpy(target[at]))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += float(loss.detach())
        nats = total / batches
        if seconds is not None and done >= AT_LEAST and time.monotonic() - begun >= seconds:
            break
    progress(f"order of labels: {passes} epochs, {nats:.3f} nats a label")
    return network.eval().exported()

"""Fit the guess of how many elements a layout has anew, and nothing else of the network.

A mean of two networks' weights keeps what both can do, but its guess of the number is of neither.
The guess is one linear layer, so it is soon learned again; all other weights stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from layoutdm.train.config import TrainConfig
from layoutdm.train.corpus import Corpus, make_batch
from layoutdm.train.draws import NUMBER, Draws
from layoutdm.train.losses import number_loss
from layoutdm.train.networks import Network
from layoutdm.train.objective import hide_fields

LEARNING_RATE = 2e-3


def fit_number(
    network: Network,
    corpus: Corpus,
    config: TrainConfig,
    *,
    progress: Callable[[str], None] = lambda text: None,
) -> None:
    """Train the number's layer in place for `config.number_epochs` passes over the data.

    Layouts are shown with tasks as often as in training: completion shows whole elements or a part
    of their fields, the others none.
    """
    assert isinstance(network, nn.Module)
    assert isinstance(network.number, nn.Linear)
    draws = Draws(config.seed, corpus.counts, config.batch_size)
    steps = config.number_epochs * draws.per_epoch
    layer = list(network.number.parameters())
    trained = [parameter.requires_grad for parameter in network.parameters()]
    network.eval().requires_grad_(False)
    for parameter in layer:
        parameter.requires_grad_(True)
    optimizer = torch.optim.Adam(layer, LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for step in range(steps):
        rng = draws.generator(NUMBER, step)
        batch = make_batch(corpus, draws.layouts(step), config, rng)
        noise = torch.from_numpy(rng.random((2, *batch.tokens.shape)))
        shown = batch.valid & batch.known.all(dim=-1)
        loss = number_loss(network, batch, shown, hide_fields(noise)).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
        if (step + 1) % draws.per_epoch == 0:
            epoch = (step + 1) // draws.per_epoch
            nats = np.mean(losses[-draws.per_epoch :])
            progress(
                f"number of elements: epoch {epoch} of {config.number_epochs}, {nats:.3f} nats"
            )
    for parameter, was in zip(network.parameters(), trained, strict=True):
        parameter.requires_grad_(was)

"""Fit the guess of how many elements a layout has anew, and nothing else of the network.

The guess is one linear layer; in averaged weights it is a little off. All other weights stay.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from layoutdm.train.batches import make_batch
from layoutdm.train.corpus import Corpus
from layoutdm.train.draws import NUMBER, Draws
from layoutdm.train.networks import Network
from layoutdm.train.objective import number_loss, shown_part
from layoutdm.train.recipe import Recipe

LEARNING_RATE = 2e-3
STEPS = 1_200  # a few passes over the usual data set; fewer where time is short
BATCH = 128


def fit_number(
    network: Network,
    corpus: Corpus,
    recipe: Recipe,
    *,
    seed: int = 0,
    steps: int = STEPS,
    seconds: float | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> None:
    """Train the number's layer in place, at most so many steps and seconds.

    Layouts are shown with tasks as often as in training: completion shows elements or a part of
    their fields, the others none.
    """
    assert isinstance(network, nn.Module)
    assert isinstance(network.number, nn.Linear)
    draws = Draws(seed, corpus.counts, BATCH)
    begun = time.monotonic()
    layer = list(network.number.parameters())
    trained = [parameter.requires_grad for parameter in network.parameters()]
    network.eval().requires_grad_(False)
    for parameter in layer:
        parameter.requires_grad_(True)
    optimizer = torch.optim.Adam(layer, LEARNING_RATE)
    losses: list[float] = []
    for step in range(steps):
        left = 1 - step / steps
        if seconds is not None:
            left = min(left, 1 - (time.monotonic() - begun) / seconds)
        if left <= 0:
            break
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * left
        rng = draws.generator(NUMBER, step)
        batch = make_batch(corpus, draws.layouts(step), recipe, rng)
        size, slots, _ = batch.tokens.shape
        uniform = torch.from_numpy(rng.random((size, 2, slots, 5)))
        loss = number_loss(network, batch, *shown_part(batch, uniform)).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(float(loss.detach()))
    for parameter, was in zip(network.parameters(), trained, strict=True):
        parameter.requires_grad_(was)
    if losses:
        nats = float(np.mean(losses[-100:]))
        progress(f"number of elements: {len(losses)} steps, {nats:.3f} nats")

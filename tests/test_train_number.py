"""The guess of the number of elements, fitted anew: what it learns and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from layoutdm.tokens import Tokenizer
from layoutdm.train.batches import UNCONDITIONAL, make_batch
from layoutdm.train.corpus import pack
from layoutdm.train.measure import measured_bins
from layoutdm.train.networks import Network, build
from layoutdm.train.number import fit_number
from layoutdm.train.objective import number_loss
from layoutdm.train.recipe import Recipe, Settings, Shape
from training_samples import LABELS, make_layouts

LAYOUTS = make_layouts(400, seed=1)
BINS = measured_bins(np.concatenate([np.asarray(layout.boxes) for layout in LAYOUTS]), 8)
TOKENIZER = Tokenizer(LABELS, BINS, 8)
CORPUS = pack(LAYOUTS, TOKENIZER)
RECIPE = Recipe(tasks=(0.5, 0.0, 0.0, 0.5, 0.0), completion_share=1.0)
SETTINGS = Settings(network=Shape(width=32, layers=1, lines=9), recipe=RECIPE)


def made() -> Network:
    torch.manual_seed(0)
    return build(SETTINGS.network_config(TOKENIZER))


def nats(network: Network) -> float:
    """Of the number of elements, where none is shown."""
    rng = np.random.default_rng(0)
    batch = make_batch(CORPUS, np.arange(len(CORPUS)), RECIPE, rng, task=UNCONDITIONAL)
    with torch.no_grad():
        return float(number_loss(network, batch, torch.zeros_like(batch.valid)).mean())


def test_the_number_is_learned_and_nothing_else_changes() -> None:
    network = made()
    assert isinstance(network, torch.nn.Module)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    at_first = nats(network)
    heard: list[str] = []
    fit_number(network, CORPUS, RECIPE, steps=200, progress=heard.append)
    counts = np.bincount(CORPUS.counts, minlength=9)[1:] / len(CORPUS)
    entropy = -float((counts[counts > 0] * np.log(counts[counts > 0])).sum())
    assert at_first > entropy + 0.2
    assert nats(network) == pytest.approx(entropy, abs=0.06)
    changed = {n for n, value in network.state_dict().items() if not torch.equal(value, before[n])}
    assert changed == {"number.weight", "number.bias"}
    assert all(parameter.requires_grad for parameter in network.parameters())
    assert len(heard) == 1
    assert heard[0].startswith("number of elements: 200 steps, ")


def test_the_same_seed_gives_the_same_guess_and_no_time_none() -> None:
    found = []
    for _ in range(2):
        network = made()
        fit_number(network, CORPUS, RECIPE, steps=5)
        assert isinstance(network, torch.nn.Module)
        found.append(network.state_dict()["number.weight"])
    assert torch.equal(*found)
    network = made()
    assert isinstance(network, torch.nn.Module)
    before = network.state_dict()["number.weight"].clone()
    fit_number(network, CORPUS, RECIPE, seconds=1e-9)
    assert torch.equal(before, network.state_dict()["number.weight"])

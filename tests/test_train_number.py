"""The guess of the number of elements, fitted anew: what it learns and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from layoutdm.tokens import Tokenizer, fit_bins
from layoutdm.train.config import preset
from layoutdm.train.corpus import UNCONDITIONAL, make_batch, pack
from layoutdm.train.losses import number_loss
from layoutdm.train.networks import build
from layoutdm.train.number import fit_number
from training_samples import LABELS, make_layouts

LAYOUTS = make_layouts(400, seed=1)
BINS = fit_bins(np.concatenate([np.asarray(layout.boxes) for layout in LAYOUTS]), "kmeans", 8)
TOKENIZER = Tokenizer(LABELS, BINS, 8)
CORPUS = pack(LAYOUTS, TOKENIZER)
CONFIG = preset(
    "tiny", width=32, layers=1, heads=2, feedforward=32, max_elements=8, bin_count=8,
    batch_size=64, number_epochs=30, tasks=(0.5, 0.0, 0.0, 0.5, 0.0), completion_share=1.0,
)  # fmt: skip


def nats(network: torch.nn.Module) -> float:
    """Of the number of elements, where none is shown."""
    rng = np.random.default_rng(0)
    batch = make_batch(CORPUS, np.arange(len(CORPUS)), CONFIG, rng, task=UNCONDITIONAL)
    shown = batch.valid & batch.known.all(dim=-1)
    with torch.no_grad():
        return float(number_loss(network, batch, shown).mean())  # type: ignore[arg-type]


def test_the_number_is_learned_and_nothing_else_changes() -> None:
    torch.manual_seed(0)
    network = build(CONFIG.network_config(TOKENIZER))
    assert isinstance(network, torch.nn.Module)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    at_first = nats(network)
    heard: list[str] = []
    fit_number(network, CORPUS, CONFIG, progress=heard.append)
    counts = np.bincount(CORPUS.counts, minlength=9)[1:] / len(CORPUS)
    entropy = -float((counts[counts > 0] * np.log(counts[counts > 0])).sum())
    assert at_first > entropy + 0.2
    assert nats(network) == pytest.approx(entropy, abs=0.06)
    changed = {n for n, value in network.state_dict().items() if not torch.equal(value, before[n])}
    assert changed == {"number.weight", "number.bias"}
    assert all(parameter.requires_grad for parameter in network.parameters())
    assert len(heard) == 30 and heard[-1].startswith("number of elements: epoch 30 of 30, ")


def test_the_same_seed_gives_the_same_guess() -> None:
    found = []
    for _ in range(2):
        torch.manual_seed(0)
        network = build(CONFIG.network_config(TOKENIZER))
        fit_number(network, CORPUS, CONFIG)
        assert isinstance(network, torch.nn.Module)
        found.append(network.state_dict()["number.weight"])
    assert torch.equal(*found)

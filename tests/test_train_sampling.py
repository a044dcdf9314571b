"""Top-p, measured: what counts as near, and that time is kept."""

from __future__ import annotations

import numpy as np
import torch

from layoutdm.diffusion import Schedule
from layoutdm.tokens import Tokenizer
from layoutdm.train.apart import keeping_apart
from layoutdm.train.corpus import pack
from layoutdm.train.measure import measured_bins
from layoutdm.train.networks import build
from layoutdm.train.recipe import Settings, Shape
from layoutdm.train.sampling import USUAL, Boxes, choose_top_p, distance, of_corpus
from training_samples import LABELS, make_layouts

LAYOUTS = make_layouts(120, seed=1)
BINS = measured_bins(np.concatenate([np.asarray(layout.boxes) for layout in LAYOUTS]), 16)
CORPUS = pack(LAYOUTS, Tokenizer(LABELS, BINS, 8))


def test_the_data_are_near_themselves_and_far_from_others() -> None:
    real = of_corpus(CORPUS)
    other = of_corpus(pack(make_layouts(120, seed=2), CORPUS.tokenizer))
    pushed = Boxes(np.clip(real.box + np.array([0.2, 0, 0, 0]), 0, 1), real.mask)
    assert distance(real, real) == 0.0
    assert distance(other, real) < 0.2 < distance(pushed, real)


def test_boxes_are_those_of_the_layouts() -> None:
    real = of_corpus(CORPUS)
    assert real.mask.sum() == CORPUS.counts.sum()
    assert np.allclose(real.box[real.mask], BINS.decode(CORPUS.tokens[:, 1:]))


def test_it_repeats_and_keeps_to_its_time() -> None:
    torch.manual_seed(0)
    settings = Settings(network=Shape(width=16, layers=1, lines=9))
    network = build(settings.network_config(CORPUS.tokenizer))
    given = (network, None, keeping_apart(CORPUS), Schedule(), CORPUS)
    told: list[str] = []
    first = choose_top_p(*given, steps=4, progress=told.append)
    assert first == choose_top_p(*given, steps=4, progress=told.append)
    assert told[0] == told[1]
    assert all(f"{top_p}: " in told[0] for top_p in (0.95, 0.9, 0.8, 1))
    assert choose_top_p(*given, steps=4, seconds=1e-9, progress=told.append) == USUAL
    assert "0.9: " not in told[2]

"""Every pair of wishes in one request, with both models and both samplers: mixing costs nothing."""

from __future__ import annotations

import importlib.util
import sys
from itertools import combinations
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import layoutdm
from tiny_models import folder

BENCH = Path(__file__).resolve().parent.parent / "bench" / "mixtures.py"


def bench() -> ModuleType:
    """bench/mixtures.py, which measures the same on many more layouts."""
    found = importlib.util.spec_from_file_location("mixtures", BENCH)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["mixtures"] = module
    found.loader.exec_module(module)
    return module


mixtures = bench()
PAIRS = list(combinations(mixtures.KINDS, 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rico25", "publaynet"])
def test_every_pair_of_wishes_holds_and_piles_nothing_up(name: str) -> None:
    model, page = layoutdm.load(name), name == "publaynet"
    layouts = mixtures.layouts_of(name, None, 8)
    alone = [mixtures.cell(model, layouts, [kind], page) for kind in mixtures.KINDS]
    pairs = {pair: mixtures.cell(model, layouts, pair, page) for pair in PAIRS}
    for pair, row in pairs.items():
        assert row["hard"] == 1.0 and row["on_canvas"] == 1.0, pair
    highest = max(row["on_top"] for row in alone)
    mean = float(np.mean([row["on_top"] for row in pairs.values()]))
    assert mean <= max(highest, 1 / len(layouts)) + 0.03, pairs


MIXED = [
    ("labels", "relations", "one about"), ("completion", "sizes"), ("completion", "fixed boxes"),
    ("draft", "area"), ("label choices", "number bounds", "reading order"), tuple(mixtures.KINDS),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rico25", "publaynet"])
def test_mixed_requests_are_drawn_alike_in_any_batch_and_with_any_threads(name: str) -> None:
    one, two = (layoutdm.load(name, threads=threads) for threads in (1, 2))
    layouts = mixtures.layouts_of(name, None, len(MIXED))
    pairs = enumerate(zip(layouts, MIXED, strict=True))
    requests = [mixtures.request_of(layout, kinds, seed) for seed, (layout, kinds) in pairs]
    expected = [result.layout for result in one.generate_many(requests, seed=11)]
    for model, size in ((one, 1), (two, 4)):
        found = model.generate_many(requests, seed=11, batch_size=size)
        assert [result.layout for result in found] == expected
    backwards = one.stream_many(reversed(list(enumerate(requests))), seed=11)
    assert [result.layout for result in backwards] == expected[::-1]


@pytest.mark.parametrize("sampler", ["element", "plain"])
@pytest.mark.parametrize("kind", ["element", "reading"])
def test_any_pair_of_wishes_works_with_any_sampler(kind: str, sampler: str) -> None:
    """An untrained network: what is fixed holds, whatever it believes."""
    model = layoutdm.load(folder(kind), threads=1)
    rng = np.random.default_rng(0)
    for pair in PAIRS:
        labels = [model.labels[int(i)] for i in rng.integers(len(model.labels), size=4)]
        size = rng.uniform(0.1, 0.4, (4, 2))
        boxes = np.concatenate([rng.uniform(size / 2, 1 - size / 2), size], axis=1)
        layout = layoutdm.Layout.create(labels, boxes)
        requests = [mixtures.request_of(layout, pair, seed) for seed in range(2)]
        results = model.generate_many(requests, seed=1, steps=6, sampler=sampler)
        row = mixtures.measure(results, requests, page=True)
        assert row["hard"] == 1.0 and row["on_canvas"] == 1.0, pair


def test_one_weak_value_does_not_pile_elements_up() -> None:
    """What the README's example asks for, with and without its one `about`."""
    model = layoutdm.load("publaynet")
    labels = ["title", "text", "text", "figure", "text", "table"]
    request = {"elements": [{"label": label} for label in labels]}
    near = {"elements": [{"label": "title", "y": {"about": 0.1}}, *request["elements"][1:]]}
    shares = [
        np.mean([mixtures.on_top(one.layout, True) for one in model.generate(asked, count=40)])
        for asked in (request, near)
    ]
    assert max(shares) <= 0.05

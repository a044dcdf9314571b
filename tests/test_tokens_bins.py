"""Bins: nearest centre, the three kinds, their errors and their JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Bins, fit_bins, uniform_bins
from layoutdm.tokens.bins import ATTRIBUTES

KINDS = ("kmeans", "uniform", "percentile", "percentile-unique")


def boxes(count: int = 400, seed: int = 0) -> np.ndarray:
    """Values as data has them: many repeats, a few odd ones."""
    rng = np.random.default_rng(seed)
    common = rng.choice([0.1, 0.25, 0.5, 0.75], (count, 4))
    return np.where(rng.random((count, 4)) < 0.5, common, rng.random((count, 4)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 7, 32])
def test_centres_encode_to_themselves(kind: str, count: int) -> None:
    bins = fit_bins(boxes(), kind, count)
    for attribute, centres in enumerate(bins.centres):
        assert 1 <= len(centres) <= count
        assert bins.encode_one(attribute, centres).tolist() == list(range(len(centres)))
    ids = bins.encode(boxes(seed=1))
    assert np.array_equal(bins.encode(bins.decode(ids)), ids)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=20), st.sampled_from(KINDS))
def test_a_value_goes_to_a_nearest_centre(values: list[float], kind: str) -> None:
    bins = fit_bins(boxes(60), kind, 8)
    array = np.array(values)
    for attribute, centres in enumerate(bins.centres):
        chosen = centres[bins.encode_one(attribute, array)]
        nearest = np.abs(array[:, None] - centres).min(axis=1)
        assert np.allclose(np.abs(array - chosen), nearest, atol=1e-12)


def test_uniform_bins_are_those_of_the_paper() -> None:
    bins = uniform_bins(32)
    assert np.allclose(bins.centres[0], np.arange(32) / 32)
    assert np.allclose(bins.centres[3], np.arange(1, 33) / 32)
    assert bins.encode(np.array([0.0, 1.0, 0.0, 1.0])).tolist() == [0, 31, 0, 31]


def test_kmeans_finds_the_clusters_and_is_repeatable() -> None:
    rng = np.random.default_rng(0)
    middles = np.array([0.1, 0.4, 0.8])
    data = np.clip(rng.choice(middles, (900, 4)) + rng.normal(0, 0.005, (900, 4)), 0, 1)
    bins = fit_bins(data, "kmeans", 3)
    for centres in bins.centres:
        assert np.allclose(centres, middles, atol=0.002)
    again = fit_bins(data, "kmeans", 3)
    assert all(np.array_equal(a, b) for a, b in zip(bins.centres, again.centres, strict=True))


def test_fewer_distinct_values_than_bins_are_kept_exactly() -> None:
    data = np.tile([[0.2, 0.3, 0.4, 0.5], [0.6, 0.3, 0.4, 0.5]], (30, 1))
    bins = fit_bins(data, "kmeans", 32)
    assert bins.counts == (2, 1, 1, 1)
    assert max(bins.error(data).values()) == 0


def test_percentiles_of_the_data_and_of_its_distinct_values_differ() -> None:
    values = np.array([0.1] * 90 + [0.2, 0.4, 0.6, 0.8, 0.9] * 2)
    data = np.repeat(values[:, None], 4, axis=1)
    of_data = fit_bins(data, "percentile", 3).centres[0]
    of_distinct = fit_bins(data, "percentile-unique", 3).centres[0]
    # Equal groups of the data: the first two hold nothing but 0.1 and so become one bin.
    assert np.allclose(of_data, [0.1, np.sort(values)[-33:].mean()], atol=0.01)
    assert np.allclose(of_distinct, [0.15, 0.5, 0.85])


def test_errors_fall_with_the_number_of_bins_and_kmeans_beats_uniform() -> None:
    data = boxes(2000)
    few, many = (fit_bins(data, "kmeans", n).error(data) for n in (8, 64))
    uniform = fit_bins(data, "uniform", 8).error(data)
    assert all(many[name] < few[name] < uniform[name] for name in few)


@pytest.mark.parametrize("kind", KINDS)
def test_json_round_trip(kind: str) -> None:
    bins = fit_bins(boxes(), kind, 5)
    back = Bins.from_dict(json.loads(json.dumps(bins.to_dict())))
    assert back.kind == kind
    assert all(np.array_equal(a, b) for a, b in zip(bins.centres, back.centres, strict=True))


@pytest.mark.parametrize(
    ("record", "word"),
    [
        ({}, "centres"),
        ({"kind": "kmeans", "centres": {"x": [0.1]}}, "y"),
        ({"kind": "kmeans", "centres": {name: [] for name in ATTRIBUTES}}, "finite"),
        ({"kind": "kmeans", "centres": {name: [0.2, 0.1] for name in ATTRIBUTES}}, "ascend"),
    ],
)
def test_damaged_records_are_refused(record: dict[str, object], word: str) -> None:
    with pytest.raises(LayoutdmError, match=word):
        Bins.from_dict(record)


def test_bad_requests_are_refused() -> None:
    with pytest.raises(LayoutdmError, match="at least 1"):
        fit_bins(boxes(), "uniform", 0)
    with pytest.raises(LayoutdmError, match="choose kmeans"):
        fit_bins(boxes(), "magic")
    with pytest.raises(LayoutdmError, match="got none"):
        fit_bins(np.zeros((0, 4)), "kmeans")


def test_saved_bins_need_no_scikit_learn() -> None:
    code = (
        "import sys, numpy as np; from layoutdm.tokens import Bins, uniform_bins;"
        "Bins.from_dict(uniform_bins(4).to_dict()).encode(np.zeros((1, 4)));"
        "sys.exit('sklearn' in sys.modules or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_uniform_bins_follow_the_published_rule_at_ties_too() -> None:
    """Positions round(n v) in [0, 1 - 1/n], sizes round(n (v - 1/n)); half-way to the even bin."""
    values = np.arange(-16, 145) / 128  # every bin's middle and both ends, exact in binary
    positions = torch.from_numpy(values).clamp(0, 1 - 1 / 32)
    sizes = torch.from_numpy(values).clamp(1 / 32, 1) - 1 / 32
    got = uniform_bins(32).encode(np.tile(values[:, None], (1, 4)))
    assert got[:, 0].tolist() == torch.round(32 * positions).long().tolist()
    assert got[:, 3].tolist() == torch.round(32 * sizes).long().tolist()
    assert np.array_equal(got[:, 0], got[:, 1])
    assert np.array_equal(got[:, 2], got[:, 3])


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 40), st.integers(0, 5))
def test_no_box_on_the_canvas_is_said_to_leave_it(kind: str, count: int, seed: int) -> None:
    bins = fit_bins(boxes(), kind, count)
    rng = np.random.default_rng(seed)
    size = rng.random((500, 2)) ** 2
    centre = size / 2 + (1 - size) * rng.choice([0.0, 0.3, 1.0], (500, 2))  # many touch an edge
    ids = bins.encode(np.concatenate([centre, size], axis=1))
    for axis in range(2):
        assert bins.on_canvas(axis)[ids[:, 2 + axis], ids[:, axis]].all()


def test_boxes_that_leave_the_canvas_are_told() -> None:
    """With a bin for every hundredth only those that touch the edge are in doubt."""
    bins = Bins("kmeans", (*[np.arange(101) / 100] * 2, *[np.arange(1, 101) / 100] * 2))  # type: ignore[arg-type]
    for axis in range(2):
        half, centre = bins.centres[2 + axis][:, None] / 2, bins.centres[axis]
        beyond = np.maximum(half - centre, centre + half - 1)
        allowed = bins.on_canvas(axis)
        assert allowed[beyond <= 0].all()
        assert not allowed[beyond > 0.0076].any()

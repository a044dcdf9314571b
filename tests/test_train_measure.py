"""What is measured from the data: bins, limit of elements, labels, canvases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import layoutdm.data
from layoutdm import Layout
from layoutdm.train.measure import (
    FINE,
    bins_in_words,
    canvases,
    count_labels,
    limited,
    measured_bins,
    one_dimensional_means,
    rare_labels,
)
from training_samples import make_layouts


def spread(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((count, 4))


def test_values_on_a_grid_are_kept_exactly() -> None:
    boxes = np.random.default_rng(0).integers(1, 128, (20_000, 4)) / 127
    bins = measured_bins(boxes)
    assert bins.counts == (127, 127, 127, 127)
    assert max(bins.error(boxes).values()) < 1e-5


def test_as_many_bins_as_the_error_asks_for_and_no_more() -> None:
    boxes = spread(20_000)
    boxes[:, 3] *= 0.1  # heights in a tenth of the range need a tenth of the bins
    bins = measured_bins(boxes)
    assert bins.counts[0] == 256  # 0.001 with 256 even bins: not yet fine, but the most there are
    assert bins.counts[3] == 32
    assert bins.error(boxes)["height"] <= FINE
    assert max(measured_bins(boxes, 64).counts) == 64


def test_few_data_have_few_bins() -> None:
    assert max(measured_bins(spread(1_000)).counts) == 40
    assert measured_bins(spread(100)).counts == (32, 32, 32, 32)


def test_means_are_near_those_of_k_means() -> None:
    from sklearn.cluster import KMeans

    values = np.sort(np.random.default_rng(0).beta(0.6, 2.0, 4_000).round(4))
    distinct, counts = np.unique(values, return_counts=True)
    centres = one_dimensional_means(distinct, counts, 24)
    error = np.mean((values - centres[np.abs(values[:, None] - centres).argmin(axis=1)]) ** 2)
    other = KMeans(24, n_init=3, random_state=0).fit(values[:, None])
    assert error <= 1.1 * other.inertia_ / len(values)


def test_bins_are_told_with_their_errors() -> None:
    boxes = spread(5_000)
    text = bins_in_words(measured_bins(boxes), boxes)
    assert text.startswith("bins: x 200 (mean error 0.00")
    assert text.count("0.00") == 4


def test_long_layouts_are_left_out_and_it_is_said_what_would_keep_them() -> None:
    layouts = make_layouts(100, names=("text", "title", "picture"))
    data = layoutdm.data.open("sample")
    data = replace(data, splits={"train": tuple(layouts), "val": (), "test": ()}, removed={})
    counts = np.array([len(layout) for layout in layouts])
    kept, sentence = limited(data, 4)
    assert len(kept["train"]) == (counts <= 4).sum()
    assert kept.max_elements == 4
    longer, five = int((counts > 4).sum()), int((counts == 5).sum())
    assert f"left out: {longer} of 100 layouts with more than 4 elements" in sentence
    assert (
        f"--max-elements would keep {five} of them with 5 and {longer} of them with 8" in sentence
    )
    assert limited(data, 25)[1] == ""


def test_labels_are_counted_once_a_layout() -> None:
    layouts = [
        Layout.create(["a", "a"], [[0.5, 0.2, 0.1, 0.1], [0.5, 0.4, 0.1, 0.1]]),
        Layout.create(["b"], [[0.5, 0.2, 0.1, 0.1]]),
    ]
    assert count_labels(layouts, ("a", "b", "c")) == {"a": 1, "b": 1, "c": 0}
    assert rare_labels({"a": 50}) == ""
    assert "'b' (49)" in rare_labels({"a": 50, "b": 49})


def test_portrait_and_landscape_are_both_found() -> None:
    def page(width: float, height: float) -> Layout:
        return Layout.create(["a"], [[0.5, 0.5, 0.5, 0.5]], width=width, height=height)

    shapes = canvases([*[page(1600, 900)] * 6, *[page(1920, 1081)], *[page(600, 800)] * 3])
    assert [(one.width, one.height) for one in shapes] == [(1600, 900), (600, 800)]
    assert [one.share for one in shapes] == pytest.approx([0.7, 0.3])

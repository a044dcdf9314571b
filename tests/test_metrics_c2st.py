"""The classifier two-sample test on sets whose difference is known."""

from __future__ import annotations

import numpy as np
import pytest

from layoutdm import Layout
from layoutdm.errors import LayoutdmError
from layoutdm.metrics.c2st import area_under_curve, c2st

pytest.importorskip("torch")


def made(count: int, seed: int, *, lowest: float = 0.0) -> list[Layout]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        size = rng.uniform(0.05, 0.3, (3, 2))
        centre = size / 2 + (lowest + (1 - lowest) * rng.random((3, 2))) * (1 - size)
        found.append(Layout.create(["a", "b", "a"], np.hstack([centre, size])))
    return found


def test_area_counts_pairs() -> None:
    rng = np.random.default_rng(0)
    positive, negative = rng.integers(0, 5, 40).astype(float), rng.integers(0, 6, 30).astype(float)
    pairs = positive[:, None] - negative
    by_hand = ((pairs > 0) + 0.5 * (pairs == 0)).mean()
    assert area_under_curve(positive, negative) == pytest.approx(by_hand)


@pytest.mark.slow
def test_tells_different_sets_apart_and_equal_ones_not() -> None:
    real = made(400, 0)
    other = c2st(made(200, 1, lowest=0.4), real)
    assert other.auc.low > 0.7
    assert other.auc.low <= other.auc.value <= other.auc.high
    assert other.floor.low < 0.55
    same = c2st(made(200, 2), real)
    assert same.auc.low < 0.55
    assert same == c2st(made(200, 2), real)


def test_few_layouts_are_refused_in_a_sentence() -> None:
    with pytest.raises(LayoutdmError, match="at least 100 layouts"):
        c2st(made(20, 0), made(200, 1))

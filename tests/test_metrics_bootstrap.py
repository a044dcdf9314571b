"""Intervals of means."""

import numpy as np
import pytest

from layoutdm.errors import LayoutdmError
from layoutdm.metrics import bootstrap_fid, bootstrap_mean, bootstrap_prdc, prdc


def test_width_is_that_of_the_standard_error() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, 2000)
    interval = bootstrap_mean(values)
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert interval.value == pytest.approx(values.mean())
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * error, rel=0.1)
    narrow = bootstrap_mean(values, level=0.5)
    assert narrow.high - narrow.low < interval.high - interval.low


def test_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for seed in range(200):
        interval = bootstrap_mean(rng.exponential(1.0, 150), resamples=300, seed=seed)
        hits += interval.low <= 1.0 <= interval.high
    assert 0.88 <= hits / 200 <= 0.99


def test_repeatable_and_free_of_missing_values() -> None:
    values = np.array([1.0, np.nan, 2.0, 4.0])
    assert bootstrap_mean(values, seed=5) == bootstrap_mean(values, seed=5)
    assert bootstrap_mean(values).value == pytest.approx(7 / 3)
    assert bootstrap_mean(np.full(9, 2.5))[:3] == (2.5, 2.5, 2.5)


def test_large_sets_are_drawn_in_blocks() -> None:
    values = np.random.default_rng(2).normal(size=300_000)
    interval = bootstrap_mean(values, resamples=20)
    assert interval.low < interval.value < interval.high


@pytest.mark.parametrize(
    ("options", "message"), [({"level": 1.0}, "level"), ({"resamples": 1}, "resamples")]
)
def test_refusals(options: dict[str, float], message: str) -> None:
    with pytest.raises(LayoutdmError, match=message):
        bootstrap_mean([1.0, 2.0], **options)  # type: ignore[arg-type]
    with pytest.raises(LayoutdmError, match=message):
        bootstrap_fid(np.eye(3), np.eye(3), **options)  # type: ignore[arg-type]
    with pytest.raises(LayoutdmError, match="no values"):
        bootstrap_mean([])


def test_prdc_intervals_hold_the_figures_and_are_as_wide_as_fresh_draws() -> None:
    rng = np.random.default_rng(4)
    real = rng.normal(size=(300, 4))

    def draw() -> np.ndarray:
        return rng.normal(0.3, 1.1, size=(250, 4))

    fresh = np.array([prdc(draw(), real) for _ in range(40)])
    fake = draw()
    ranges = bootstrap_prdc(fake, real)
    for column, (name, interval) in enumerate(ranges.items()):
        assert interval.value == pytest.approx(getattr(prdc(fake, real), name)), name
        assert interval.low <= interval.value <= interval.high
        spread = (interval.high - interval.low) / (2 * 1.96)
        assert 0.5 < spread / fresh[:, column].std(ddof=1) < 2, name

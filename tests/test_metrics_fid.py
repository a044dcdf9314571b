"""The Fréchet distance against closed forms and scipy's matrix square root."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.errors import LayoutdmError
from layoutdm.metrics import bootstrap_fid, fid, frechet_distance


def features(seed: int, rows: int = 200, columns: int = 6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns)) + rng.normal()


def by_square_root(a: np.ndarray, b: np.ndarray) -> float:
    first, second = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    root = scipy.linalg.sqrtm(first @ second).real
    gap = a.mean(0) - b.mean(0)
    return float(gap @ gap + np.trace(first) + np.trace(second) - 2 * np.trace(root))


@given(st.integers(0, 1000), st.integers(1001, 2000))
@settings(max_examples=20, deadline=None)
def test_matches_the_matrix_square_root_and_is_symmetric(first: int, second: int) -> None:
    a, b = features(first), features(second, rows=150)
    assert fid(a, b) == pytest.approx(by_square_root(a, b), rel=1e-7)
    assert fid(a, b) == pytest.approx(fid(b, a), rel=1e-9)
    statistics = [(x.mean(0), np.cov(x, rowvar=False)) for x in (a, b)]
    assert frechet_distance(*statistics[0], *statistics[1]) == pytest.approx(fid(a, b), rel=1e-7)


def test_known_gaussians() -> None:
    # Independent columns: the sum over columns of (gap of means)^2 + (gap of deviations)^2.
    value = frechet_distance([0, 1], np.diag([4.0, 9.0]), [3, 1], np.diag([1.0, 25.0]))
    assert value == pytest.approx(9 + (2 - 1) ** 2 + (3 - 5) ** 2)


def test_identity_order_of_rows_and_shift() -> None:
    a = features(0)
    assert fid(a, a) == pytest.approx(0, abs=1e-9)
    assert fid(a, a[::-1]) == pytest.approx(0, abs=1e-9)
    assert fid(a, a + 2.0) == pytest.approx(4 * a.shape[1])
    assert fid(a.astype(np.float32), a + 2.0) == pytest.approx(4 * a.shape[1], rel=1e-4)


def test_fewer_rows_than_columns_needs_no_help() -> None:
    a, b = features(1, rows=5, columns=64), features(2, rows=7, columns=64)
    # Exact value from the small side: the singular values of the product of centred rows.
    first, second = ((x - x.mean(0)) / np.sqrt(len(x) - 1) for x in (a, b))
    trace = np.linalg.svd(first @ second.T, compute_uv=False).sum()
    gap = a.mean(0) - b.mean(0)
    expected = gap @ gap + np.sum(first**2) + np.sum(second**2) - 2 * trace
    assert fid(a, b) == pytest.approx(expected, rel=1e-10)
    assert fid(a, a) == pytest.approx(0, abs=1e-6 * np.sum(first**2))


def test_constant_features() -> None:
    same = np.ones((10, 4))
    assert fid(same, same) == 0.0
    assert fid(same, same + 1) == pytest.approx(4.0)


def test_grows_with_noise() -> None:
    a = features(3, rows=400)
    noise = np.random.default_rng(1).normal(size=a.shape)
    values = [fid(a + scale * noise, a) for scale in (0.1, 0.3, 1.0, 3.0)]
    assert values == sorted(values) and values[0] < values[-1]


@pytest.mark.parametrize(
    ("generated", "reference", "message"),
    [
        (np.zeros((1, 4)), np.zeros((5, 4)), "generated features: 1 layouts are too few"),
        (np.zeros((5, 4)), np.zeros((5, 3)), "same network"),
        (np.zeros(5), np.zeros((5, 3)), "shape must be"),
        (np.full((5, 3), np.inf), np.zeros((5, 3)), "not finite"),
    ],
)
def test_bad_features(generated: np.ndarray, reference: np.ndarray, message: str) -> None:
    with pytest.raises(LayoutdmError, match=message):
        fid(generated, reference)


def test_bad_statistics() -> None:
    with pytest.raises(LayoutdmError, match=r"\(D, D\)"):
        frechet_distance([0, 0], np.eye(2), [0, 0], np.eye(3))


def test_interval_holds_the_value_and_shrinks_with_the_sample() -> None:
    reference = features(5, rows=2000)
    few = bootstrap_fid(features(5, rows=2000)[:200] + 0.3, reference, resamples=60)
    many = bootstrap_fid(features(5, rows=2000) + 0.3, reference, resamples=60)
    for interval in (few, many):
        assert interval.low <= interval.value <= interval.high
    assert few.high - few.value > 2 * (many.high - many.value)
    assert many.value == fid(features(5, rows=2000) + 0.3, reference)


def test_interval_has_the_spread_of_repeated_sampling() -> None:
    rng = np.random.default_rng(7)
    reference = rng.normal(size=(3000, 4))
    values = [fid(rng.normal(0.5, 1.0, (200, 4)), reference) for _ in range(200)]
    interval = bootstrap_fid(rng.normal(0.5, 1.0, (200, 4)), reference, resamples=200)
    assert (interval.high - interval.low) / (2 * 1.96) == pytest.approx(np.std(values), rel=0.35)

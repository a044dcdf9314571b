"""Precision, recall, density, coverage against the prdc package and a plain loop."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prdc import compute_prdc

from layoutdm.errors import LayoutdmError
from layoutdm.metrics import prdc

KEYS = ("precision", "recall", "density", "coverage")


def by_loops(generated: np.ndarray, reference: np.ndarray, k: int) -> list[float]:
    def distance(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.sqrt(np.sum((a - b) ** 2)))

    def radius(points: np.ndarray, i: int) -> float:
        others = [distance(points[i], p) for j, p in enumerate(points) if j != i]
        return sorted(others)[k - 1]

    real = [radius(reference, i) for i in range(len(reference))]
    fake = [radius(generated, i) for i in range(len(generated))]
    held = [sum(distance(r, g) < real[i] for i, r in enumerate(reference)) for g in generated]
    recalled = [any(distance(r, g) < fake[j] for j, g in enumerate(generated)) for r in reference]
    covered = [any(distance(r, g) < real[i] for g in generated) for i, r in enumerate(reference)]
    return [
        float(np.mean([h > 0 for h in held])),
        float(np.mean(recalled)),
        float(np.mean(held) / k),
        float(np.mean(covered)),
    ]


@given(st.integers(0, 10_000), st.integers(1, 5), st.floats(0, 3))
@settings(max_examples=15, deadline=None)
def test_matches_plain_loops(seed: int, k: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    generated, reference = rng.normal(shift, 1.5, (11, 3)), rng.normal(size=(14, 3))
    assert list(prdc(generated, reference, k)) == pytest.approx(by_loops(generated, reference, k))


@pytest.mark.parametrize("sizes", [(60, 90), (90, 60)])
def test_matches_the_package(sizes: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    generated, reference = rng.normal(0.3, 1.1, (sizes[0], 16)), rng.normal(size=(sizes[1], 16))
    expected = compute_prdc(reference, generated, 5)
    capsys.readouterr()
    assert list(prdc(generated, reference)) == pytest.approx([expected[key] for key in KEYS])
    assert capsys.readouterr().out == ""


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    generated, reference = rng.normal(size=(40, 8)), rng.normal(size=(50, 8))
    whole = prdc(generated, reference)
    monkeypatch.setattr(sys.modules["layoutdm.metrics.prdc"], "BLOCK", 130)
    assert prdc(generated, reference) == whole


def test_a_copy_is_perfect_even_with_large_offsets() -> None:
    points = np.random.default_rng(5).normal(size=(200, 32)) + 1e4
    assert prdc(points, points) == (1.0, 1.0, 1.0, 1.0)


def test_duplicates_are_settled_exactly() -> None:
    # Every point six times: the fifth neighbour is a twin, the balls are empty, strictly.
    points = np.repeat(np.random.default_rng(6).normal(size=(10, 16)), 6, axis=0)
    assert prdc(points, points) == (0.0, 0.0, 0.0, 0.0)


def test_far_away_and_collapsed() -> None:
    reference = np.random.default_rng(7).normal(size=(100, 4))
    assert prdc(reference + 100, reference) == (0.0, 0.0, 0.0, 0.0)
    collapsed = reference[:1] + np.random.default_rng(8).normal(0, 1e-3, (100, 4))
    result = prdc(collapsed, reference)
    assert result.precision == 1.0 and result.recall < 0.05 and result.coverage < 0.3


@pytest.mark.parametrize(
    ("generated", "reference", "name"), [(5, 50, "generated"), (50, 3, "reference")]
)
def test_tiny_sets_get_one_sentence(generated: int, reference: int, name: str) -> None:
    with pytest.raises(LayoutdmError, match=f"need more than 5 layouts .* {name} set has"):
        prdc(np.zeros((generated, 2)), np.zeros((reference, 2)))


def test_bad_k() -> None:
    with pytest.raises(LayoutdmError, match="at least 1"):
        prdc(np.zeros((9, 2)), np.zeros((9, 2)), k=0)

"""Maximum IoU and its solver: hand-computed, brute force, the released code's reshape."""

import sys
from collections import defaultdict
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from layoutdm.errors import LayoutdmError
from layoutdm.metrics import Packed, max_iou, max_ious
from layoutdm.metrics.assignment import best_sums
from metrics_cases import elements, iou, mirrored, random_set, sets, shuffled, widened


def pair_score(first: tuple, second: tuple) -> float:
    """Every permutation that keeps the labels."""
    (boxes_1, labels_1), (boxes_2, labels_2) = first, second
    size = len(labels_1)
    return max(
        sum(iou(boxes_1[i], boxes_2[j]) for i, j in enumerate(order)) / size
        for order in permutations(range(size))
        if all(labels_1[i] == labels_2[j] for i, j in enumerate(order))
    )


def by_loops(generated: Packed, reference: Packed, published: bool = False) -> list[float]:
    groups: dict = defaultdict(lambda: ([], []))
    for side, packed in enumerate((reference, generated)):
        for row in range(len(packed)):
            boxes, labels = elements(packed, row)
            if len(labels):
                groups[tuple(sorted(labels.tolist()))][side].append((boxes, labels))
    scores = []
    for real, fake in groups.values():
        if not real or not fake:
            continue
        n, m = len(real), len(fake)
        if published:
            # The second index runs slowly, yet the list is cut into n rows of m.
            flat = [pair_score(real[i], fake[j]) for j in range(m) for i in range(n)]
            matrix = np.array(flat).reshape(n, m)
        else:
            matrix = np.array([[pair_score(a, b) for b in fake] for a in real])
        if n <= m:
            ways = [[(i, j) for i, j in enumerate(p)] for p in permutations(range(m), n)]
        else:
            ways = [[(i, j) for j, i in enumerate(p)] for p in permutations(range(n), m)]
        best = max(ways, key=lambda way: sum(matrix[i, j] for i, j in way))
        scores += [matrix[i, j] for i, j in best]
    return sorted(scores)


def one(*boxes: list[float], labels: list[int] | None = None) -> Packed:
    size = len(boxes)
    label = np.array([labels or [0] * size])
    return Packed(np.array([boxes], dtype=float), label, np.ones((1, size), bool))


def joined(*parts: Packed) -> Packed:
    return Packed(
        np.concatenate([p.bbox for p in parts]),
        np.concatenate([p.label for p in parts]),
        np.concatenate([p.mask for p in parts]),
    )


def test_by_hand() -> None:
    whole, half = one([0.5, 0.5, 0.4, 0.4]), one([0.5, 0.5, 0.4, 0.2])
    assert max_iou(whole, half) == pytest.approx(0.5)
    # Two elements of one label, listed in the other order: the matching finds them.
    a, b = [0.2, 0.2, 0.2, 0.2], [0.7, 0.7, 0.2, 0.2]
    assert max_iou(one(a, b), one(b, a)) == pytest.approx(1.0)
    # With two labels they must stay apart.
    assert max_iou(one(a, b, labels=[0, 1]), one(b, a, labels=[0, 1])) == 0.0


def test_matching_across_layouts_is_for_the_total() -> None:
    # IoU with the first reference: 1 and 0.5; with the second: 0.5 and 0.25 (heights).
    reference = joined(one([0.5, 0.5, 0.4, 0.4]), one([0.5, 0.5, 0.4, 0.2]))
    generated = joined(one([0.5, 0.5, 0.4, 0.4]), one([0.5, 0.5, 0.4, 0.2]))
    assert max_iou(generated, reference) == pytest.approx(1.0)
    assert max_iou(generated.take([1]), reference) == pytest.approx(1.0)
    assert len(max_ious(generated, reference.take([0]))) == 1


def test_no_shared_multiset_and_empty_layouts() -> None:
    a = one([0.5, 0.5, 0.4, 0.4])
    b = one([0.5, 0.5, 0.4, 0.4], labels=[3])
    assert max_iou(a, b) == 0.0 and max_ious(a, b).size == 0
    empty = Packed(np.zeros((2, 3, 4)), np.zeros((2, 3), int), np.zeros((2, 3), bool))
    assert max_iou(empty, empty) == 0.0
    nothing = Packed(np.zeros((0, 0, 4)), np.zeros((0, 0), int), np.zeros((0, 0), bool))
    assert max_iou(nothing, a) == 0.0 and max_iou(a, nothing) == 0.0


@given(sets(layouts=5, longest=4), sets(layouts=4, longest=4))
@settings(max_examples=30, deadline=None)
def test_matches_brute_force(generated: Packed, reference: Packed) -> None:
    got = sorted(max_ious(generated, reference))
    # Equal totals may be reached in two ways; the sum is what the matching fixes.
    expected = by_loops(generated, reference)
    assert len(got) == len(expected)
    assert sum(got) == pytest.approx(sum(expected))


@given(sets(layouts=5, longest=3, labels=1), sets(layouts=4, longest=3, labels=1))
@settings(max_examples=30, deadline=None)
def test_published_is_the_released_reshape(generated: Packed, reference: Packed) -> None:
    got = max_ious(generated, reference, published=True)
    expected = by_loops(generated, reference, published=True)
    assert len(got) == len(expected)
    assert got.sum() == pytest.approx(sum(expected))


def test_published_differs_only_for_unequal_groups() -> None:
    same = random_set(1, layouts=6, longest=2, labels=1, shortest=2)
    other = random_set(2, layouts=6, longest=2, labels=1, shortest=2)
    assert max_iou(same, other, published=True) == pytest.approx(max_iou(same, other))
    fewer = other.take([0, 1, 2, 3])
    assert max_iou(same, fewer, published=True) != pytest.approx(max_iou(same, fewer))


@given(sets(layouts=12, longest=6, labels=2), sets(layouts=9, longest=6, labels=2))
@settings(max_examples=20, deadline=None)
def test_symmetric_and_free_of_order_padding_and_mirrors(a: Packed, b: Packed) -> None:
    expected = max_iou(a, b)
    assert max_iou(b, a) == pytest.approx(expected)
    assert max_iou(shuffled(a, 1), shuffled(b, 2)) == pytest.approx(expected)
    assert max_iou(widened(a), b) == pytest.approx(expected)
    assert max_iou(a.take(np.arange(len(a))[::-1]), b) == pytest.approx(expected)
    for axis in (0, 1):
        assert max_iou(mirrored(a, axis), mirrored(b, axis)) == pytest.approx(expected)


@given(sets(layouts=10, longest=12, labels=1))
@settings(max_examples=10, deadline=None)
def test_a_copy_scores_one(packed: Packed) -> None:
    np.testing.assert_allclose(max_ious(packed, shuffled(packed)), 1.0)


def test_batches_pieces_and_workers_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = random_set(3, 60, longest=6, labels=2), random_set(4, 50, longest=6, labels=2)
    expected = max_ious(a, b, workers=1)
    np.testing.assert_array_equal(max_ious(a, b, workers=4), expected)
    module = sys.modules["layoutdm.metrics.max_iou"]
    monkeypatch.setattr(module, "PAIRS", 10)
    monkeypatch.setattr(module, "PIECE", 8)
    np.testing.assert_allclose(max_ious(a, b), expected)


def test_too_large_a_group_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["layoutdm.metrics.max_iou"], "LARGEST_GROUP", 10)
    packed = random_set(5, layouts=4, longest=1, labels=1)
    with pytest.raises(LayoutdmError, match="score a random sample"):
        max_iou(packed, packed)


@given(st.integers(1, 12), st.integers(0, 10_000), st.sampled_from(["dense", "sparse", "ties"]))
@settings(max_examples=60, deadline=None)
def test_solver_matches_scipy(size: int, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.random((size, size, 9))
    if kind == "sparse":
        scores *= rng.random(scores.shape) < 0.25
    if kind == "ties":
        scores = np.floor(scores * 4) / 4
    expected = [
        scores[:, :, p][linear_sum_assignment(scores[:, :, p], maximize=True)].sum()
        for p in range(9)
    ]
    np.testing.assert_allclose(best_sums(scores), expected)


def test_solver_cuts_many_problems_into_steps() -> None:
    scores = np.random.default_rng(0).random((5, 5, 20_000)) ** 4
    sample = [0, 7_777, 19_999]
    expected = [
        scores[:, :, p][linear_sum_assignment(scores[:, :, p], maximize=True)].sum() for p in sample
    ]
    np.testing.assert_allclose(best_sums(scores)[sample], expected)

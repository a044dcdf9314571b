"""DocSim: hand-computed, brute force, the released code's reshape."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

from layoutdm.errors import LayoutdmError
from layoutdm.metrics import Packed, docsim, docsims
from metrics_cases import elements, mirrored, random_set, sets, shuffled, widened


def weight(a: np.ndarray, b: np.ndarray) -> float:
    distance = float(np.hypot(a[0] - b[0], a[1] - b[1]))
    change = abs(a[2] - b[2]) + abs(a[3] - b[3])
    return float(min(a[2] * a[3], b[2] * b[3]) ** 0.5 * 2 ** (-distance - 2 * change))


def by_loops(first: tuple, second: tuple, published: bool) -> float:
    """`first` is real, `second` generated."""
    (boxes_1, labels_1), (boxes_2, labels_2) = first, second
    n, m = len(labels_1), len(labels_2)
    if abs(n - m) >= 3 or min(n, m) == 0:
        return 0.0

    def entry(i: int, j: int) -> float:
        return weight(boxes_1[i], boxes_2[j]) if labels_1[i] == labels_2[j] else 0.0

    if published:
        matrix = np.array([entry(i, j) for j in range(m) for i in range(n)]).reshape(n, m)
    else:
        matrix = np.array([[entry(i, j) for j in range(m)] for i in range(n)])
    if n > m:
        matrix = matrix.T
    short, long = matrix.shape
    ways = permutations(range(long), short)
    return max(sum(matrix[i, j] for i, j in enumerate(way)) for way in ways) / short


def test_by_hand() -> None:
    mask, label = np.ones((1, 1), bool), np.zeros((1, 1), int)
    real = Packed(np.array([[[0.5, 0.5, 0.4, 0.4]]]), label, mask)
    moved = Packed(np.array([[[0.8, 0.1, 0.4, 0.4]]]), label, mask)
    smaller = Packed(np.array([[[0.5, 0.5, 0.4, 0.1]]]), label, mask)
    assert docsim(real, real) == pytest.approx(0.4)
    assert docsim(moved, real) == pytest.approx(0.4 * 2**-0.5)
    assert docsim(smaller, real) == pytest.approx(0.2 * 2**-0.6)
    assert docsim(Packed(real.bbox, label + 1, mask), real) == 0.0


@pytest.mark.parametrize("published", [False, True])
@given(a=sets(longest=5, shortest=0), b=sets(longest=5, shortest=0))
@settings(max_examples=30, deadline=None)
def test_matches_brute_force(published: bool, a: Packed, b: Packed) -> None:
    expected = [by_loops(elements(b, row), elements(a, row), published) for row in range(len(a))]
    np.testing.assert_allclose(docsims(a, b, published=published), expected, atol=1e-12)


@given(sets(), sets(longest=6))
@settings(max_examples=20, deadline=None)
def test_symmetric_and_free_of_order_padding_and_mirrors(a: Packed, b: Packed) -> None:
    expected = docsims(a, b)
    for one, other in (
        (b, a),
        (shuffled(a, 1), shuffled(b, 2)),
        (widened(a), b),
        (mirrored(a, 0), mirrored(b, 0)),
        (mirrored(a, 1), mirrored(b, 1)),
    ):
        np.testing.assert_allclose(docsims(one, other), expected, atol=1e-12)


def test_a_layout_is_most_like_itself() -> None:
    packed, other = random_set(1, layouts=20), random_set(2, layouts=20)
    own = docsims(packed, packed)
    roots = [
        np.sqrt(boxes[:, 2] * boxes[:, 3]).mean()
        for boxes in (elements(packed, row)[0] for row in range(20))
    ]
    np.testing.assert_allclose(own, roots)
    equal = packed.counts == other.counts
    assert np.all(docsims(other, packed)[equal] <= own[equal] + 1e-12)


def test_three_elements_more_is_too_different() -> None:
    packed = random_set(3, layouts=1, longest=5, labels=1, shortest=5)

    def fewer(count: int) -> Packed:
        return Packed(packed.bbox, packed.label, packed.mask & (np.arange(5) < count))

    assert docsim(fewer(3), packed) > 0
    assert docsim(fewer(2), packed) == 0.0


def test_different_numbers_of_layouts() -> None:
    with pytest.raises(LayoutdmError, match="6 generated and 5 reference"):
        docsim(random_set(0), random_set(1, layouts=5))

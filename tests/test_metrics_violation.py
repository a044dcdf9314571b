"""Relation violation: each relation by hand, both ways of counting, missing elements."""

import numpy as np
import pytest

from layoutdm.errors import LayoutdmError
from layoutdm.metrics import relation_edges, violation, violations
from layoutdm.metrics.violation import broken_edges
from layoutdm.relations import CANVAS, Relation

# 0 upper left, 1 upper right, 2 below both and four times as large, 3 inside 2 with area of 0.
BOXES = np.array(
    [[[0.2, 0.1, 0.2, 0.1], [0.8, 0.1, 0.2, 0.1], [0.5, 0.7, 0.4, 0.2], [0.5, 0.7, 0.2, 0.1]]]
)
VALID = np.ones((1, 4), bool)
R = Relation


@pytest.mark.parametrize(
    ("of", "true", "to"),
    [
        (0, R.LEFT_OF, 1),
        (1, R.RIGHT_OF, 0),
        (0, R.ABOVE, 2),
        (2, R.BELOW, 1),
        (3, R.OVERLAPPING, 2),
        (2, R.OVERLAPPING, 3),
        (0, R.EQUAL_SIZE, 1),
        (2, R.LARGER, 0),
        (0, R.SMALLER, 2),
        (0, R.ABOVE, CANVAS),
        (2, R.BELOW, CANVAS),
        (2, R.SMALLER, CANVAS),
        (CANVAS, R.ABOVE, 0),
        (CANVAS, R.BELOW, 2),
        (CANVAS, R.LARGER, 2),
    ],
)
def test_each_relation(of: int, true: Relation, to: int) -> None:
    sizes = {R.SMALLER, R.EQUAL_SIZE, R.LARGER}
    kind = [r for r in R if (r in sizes) == (true in sizes)]
    edges = relation_edges([[(of, r, to) for r in kind]])
    broken = broken_edges(BOXES, VALID, edges)
    assert [r for r, b in zip(kind, broken, strict=True) if not b] == [true]


def test_tolerance_of_equal_sizes() -> None:
    def found(height: float) -> Relation:
        boxes = np.array([[[0.5, 0.5, 0.5, height], [0.5, 0.5, 0.5, 0.4]]])
        kinds = (R.SMALLER, R.EQUAL_SIZE, R.LARGER)
        edges = relation_edges([[(0, r, 1) for r in kinds]])
        broken = broken_edges(boxes, np.ones((1, 2), bool), edges)
        return kinds[int(np.argmin(broken))]

    assert [found(h) for h in (0.35, 0.37, 0.43, 0.45)] == [
        R.SMALLER,
        R.EQUAL_SIZE,
        R.EQUAL_SIZE,
        R.LARGER,
    ]


def test_middle_third_of_the_canvas() -> None:
    for y, true in ((0.33, R.ABOVE), (0.34, R.OVERLAPPING), (0.66, R.OVERLAPPING), (0.67, R.BELOW)):
        boxes = np.array([[[0.5, y, 0.1, 0.1]]])
        edges = relation_edges([[(0, true, CANVAS)]])
        assert violation(boxes, np.ones((1, 1), bool), edges) == 0.0


def test_means_with_and_without_layouts_that_ask_nothing() -> None:
    boxes, valid = np.repeat(BOXES, 4, axis=0), np.repeat(VALID, 4, axis=0)
    right, wrong = (0, R.LEFT_OF, 1), (0, R.RIGHT_OF, 1)
    edges = relation_edges([[right, wrong, right, right], [], [wrong], []])
    rates = violations(boxes, valid, edges)
    np.testing.assert_array_equal(rates, [0.25, np.nan, 1.0, np.nan])
    assert violation(boxes, valid, edges) == pytest.approx(0.625)
    assert violation(boxes, valid, edges, published=True) == pytest.approx(0.3125)
    # The order of edges and of layouts does not matter.
    assert violation(boxes, valid, edges[::-1]) == pytest.approx(0.625)


def test_a_missing_element_breaks_its_relations() -> None:
    valid = np.array([[True, False, True, True]])
    edges = relation_edges([[(0, R.LEFT_OF, 1), (0, R.ABOVE, 2), (1, R.ABOVE, CANVAS)]])
    assert broken_edges(BOXES, valid, edges).tolist() == [True, False, True]


def test_nothing_asked() -> None:
    edges = relation_edges([[]])
    assert edges.shape == (0, 4)
    for published in (False, True):
        assert violation(BOXES, VALID, edges, published=published) == 0.0
    assert violation(np.zeros((0, 0, 4)), np.zeros((0, 0), bool), []) == 0.0


@pytest.mark.parametrize(
    "row", [[1, 0, 1, 1], [0, 0, 1, 4], [0, 0, 4, 1], [0, -2, 1, 1], [0, 1, 1, 1]]
)
def test_wrong_edges_are_named(row: list[int]) -> None:
    with pytest.raises(LayoutdmError, match="edges: row 0 is"):
        violation(BOXES, VALID, [row])


def test_wrong_shape() -> None:
    with pytest.raises(LayoutdmError, match=r"shape must be \(E, 4\)"):
        violation(BOXES, VALID, [[0, 1, 2]])

"""Overlap and average IoU: hand-computed cases and plain loops."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings

from layoutdm.errors import LayoutdmError
from layoutdm.metrics import Packed, average_iou, average_ious, overlap, overlaps
from layoutdm.metrics.average_iou import VARIANTS as AVERAGES
from layoutdm.metrics.overlap import VARIANTS as OVERLAPS
from metrics_cases import (
    corners,
    elements,
    iou,
    mirrored,
    random_set,
    sets,
    shared_area,
    shuffled,
    widened,
)

NESTED = np.array([[[0.5, 0.5, 0.4, 0.4], [0.5, 0.5, 0.2, 0.2]]])
TWO = np.ones((1, 2), bool)


def test_overlap_by_hand() -> None:
    assert overlap(NESTED, TWO) == pytest.approx((0.25 + 1) / 2)
    assert overlap(NESTED, TWO, scale=100) == pytest.approx(62.5)
    assert overlap(NESTED, TWO, "attribute-conditioned") == pytest.approx(1.25)
    assert overlap(NESTED, TWO, "layoutgan") == pytest.approx(0.04)
    apart = np.array([[[0.2, 0.2, 0.2, 0.2], [0.7, 0.7, 0.2, 0.2]]])
    assert all(overlap(apart, TWO, variant) == 0.0 for variant in OVERLAPS)


def overlap_by_loops(boxes: np.ndarray, variant: str) -> float:
    if variant == "layoutgan":
        return sum(shared_area(a, b) for a, b in combinations(boxes, 2))
    total = sum(shared_area(a, b) / (a[2] * a[3]) for a, b in permutations(boxes, 2))
    return float(total / max(len(boxes), 1) if variant == "layoutgan++" else total)


def average_by_loops(boxes: np.ndarray, variant: str) -> float:
    grid = np.zeros((32, 32))
    for box in boxes:
        left, top, right, bottom = (min(max(round(v * 32), 0), 32) for v in corners(box))
        grid[top:bottom, left:right] = 1
    whole = grid.sum() / 1024
    values = [
        iou(a, b) if variant == "vtn" else (shared_area(a, b) / whole if whole else 0.0)
        for a, b in permutations(boxes, 2)
    ]
    positive = [v for v in values if v > np.finfo(np.float32).eps]
    return float(np.mean(positive)) if positive else 0.0


@given(packed=sets(longest=6, shortest=0))
@settings(max_examples=30, deadline=None)
def test_match_plain_loops(packed: Packed) -> None:
    layouts = [elements(packed, row)[0] for row in range(len(packed))]
    for variant in OVERLAPS:
        expected = [overlap_by_loops(boxes, variant) for boxes in layouts]
        np.testing.assert_allclose(overlaps(packed.bbox, packed.mask, variant), expected, atol=1e-9)
    for variant in AVERAGES:
        expected = [average_by_loops(boxes, variant) for boxes in layouts]
        got = average_ious(packed.bbox, packed.mask, variant)
        np.testing.assert_allclose(got, expected, atol=1e-9)


@given(packed=sets())
@settings(max_examples=15, deadline=None)
def test_order_padding_and_mirrors_do_not_matter(packed: Packed) -> None:
    for other in (shuffled(packed), widened(packed), mirrored(packed, 0), mirrored(packed, 1)):
        for measure, variants in ((overlaps, OVERLAPS), (average_ious, ("vtn",))):
            for variant in variants:
                expected = measure(packed.bbox, packed.mask, variant)
                got = measure(other.bbox, other.mask, variant)
                np.testing.assert_allclose(got, expected, atol=1e-9)
    # On the grid a mirror image may round the other way, so only order and padding are free.
    for other in (shuffled(packed), widened(packed)):
        expected = average_ious(packed.bbox, packed.mask, "blt")
        np.testing.assert_allclose(average_ious(other.bbox, other.mask, "blt"), expected)


def test_average_iou_by_hand() -> None:
    assert average_iou(NESTED, TWO) == pytest.approx(0.25)
    # On the grid 0.3 to 0.7 becomes lines 10 to 22: 144 of 1,024 cells.
    assert average_iou(NESTED, TWO, "blt") == pytest.approx(0.04 / (144 / 1024))
    touching = np.array([[[0.2, 0.5, 0.2, 0.2], [0.4, 0.5, 0.2, 0.2]]])
    assert average_iou(touching, TWO) == 0.0


def test_boxes_without_area_do_no_harm() -> None:
    flat = np.array([[[0.5, 0.5, 0.4, 0.0], [0.5, 0.5, 0.4, 0.0]]])
    assert all(overlap(flat, TWO, variant) == 0.0 for variant in OVERLAPS)
    assert all(average_iou(flat, TWO, variant) == 0.0 for variant in AVERAGES)


def test_single_and_empty() -> None:
    packed = random_set(0, longest=1)
    for mask in (packed.mask, np.zeros_like(packed.mask)):
        assert all(overlap(packed.bbox, mask, variant) == 0.0 for variant in OVERLAPS)
        assert all(average_iou(packed.bbox, mask, variant) == 0.0 for variant in AVERAGES)


@pytest.mark.parametrize("measure", [overlap, average_iou])
def test_unknown_variant(measure: object) -> None:
    with pytest.raises(LayoutdmError, match="variant 'x' is unknown"):
        measure(NESTED, TWO, "x")  # type: ignore[operator]

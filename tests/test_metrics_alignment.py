"""Alignment: hand-computed cases, plain loops, and the released code's padded columns."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from layoutdm.errors import LayoutdmError
from layoutdm.metrics import Packed, alignment, alignments, batch_padding
from layoutdm.metrics.alignment import VARIANTS
from metrics_cases import corners, elements, mirrored, random_set, sets, shuffled, widened

ONE = np.ones((1, 2), bool)


def by_loops(boxes: np.ndarray, variant: str) -> float:
    lines = []
    for box in boxes:
        left, top, right, bottom = corners(box)
        lines.append([left, box[0], right, top, box[1], bottom])
    total = 0.0
    for i, mine in enumerate(lines):
        gaps = [
            abs(mine[k] - other[k])
            for j, other in enumerate(lines)
            if j != i
            for k in range(3 if variant == "ndn" else 6)
        ]
        nearest = min(gaps, default=0.0)
        total += nearest if variant == "ndn" else -math.log(1 - nearest)
    if variant == "layoutgan++":
        return 100 * total / max(len(boxes), 1)
    return total


def released(packed: Packed, length: int) -> np.ndarray:
    """Straight from the description: zero boxes in padded slots, only their rows masked."""
    scores = []
    for row in range(len(packed)):
        boxes, _ = elements(packed, row)
        padded = np.zeros((length, 4))
        padded[: len(boxes)] = boxes
        half = padded[:, 2:] / 2
        low, high = padded[:, :2] - half, padded[:, :2] + half
        lines = np.stack([low[:, 0], padded[:, 0], high[:, 0], low[:, 1], padded[:, 1], high[:, 1]])
        gaps = np.abs(lines[:, :, None] - lines[:, None, :])
        gaps[:, np.arange(length), np.arange(length)] = 1.0
        gaps[:, len(boxes) :, :] = 1.0
        nearest = gaps.min(axis=2).min(axis=0)
        nearest[nearest == 1.0] = 0.0
        scores.append(-np.log(1 - nearest).sum() / len(boxes) if len(boxes) else 0.0)
    return np.array(scores)


def test_by_hand() -> None:
    # Left edges 0.2 and 0.5 are the nearest lines: both elements are 0.3 off.
    bbox = np.array([[[0.3, 0.3, 0.2, 0.2], [0.7, 0.8, 0.4, 0.1]]])
    assert alignment(bbox, ONE) == pytest.approx(-100 * math.log(0.7))
    assert alignment(bbox, ONE, "attribute-conditioned") == pytest.approx(-2 * math.log(0.7))
    assert alignment(bbox, ONE, "ndn") == pytest.approx(0.6)
    assert alignment(bbox, ONE, scale=1) == pytest.approx(-math.log(0.7))


def test_ndn_ignores_horizontal_lines() -> None:
    # Tops agree, verticals are 0.4 apart at best (centres 0.2 and 0.6; left 0.1, 0.5).
    bbox = np.array([[[0.2, 0.3, 0.2, 0.2], [0.6, 0.25, 0.2, 0.1]]])
    assert alignment(bbox, ONE) == pytest.approx(0, abs=1e-12)
    assert alignment(bbox, ONE, "ndn") == pytest.approx(0.8)


@pytest.mark.parametrize("variant", VARIANTS)
@given(packed=sets(longest=6, shortest=0))
@settings(max_examples=25, deadline=None)
def test_matches_plain_loops(variant: str, packed: Packed) -> None:
    expected = [by_loops(elements(packed, row)[0], variant) for row in range(len(packed))]
    np.testing.assert_allclose(alignments(packed.bbox, packed.mask, variant), expected, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
@given(packed=sets())
@settings(max_examples=15, deadline=None)
def test_order_padding_and_mirrors_do_not_matter(variant: str, packed: Packed) -> None:
    expected = alignments(packed.bbox, packed.mask, variant)
    for other in (shuffled(packed), widened(packed), mirrored(packed, 0), mirrored(packed, 1)):
        np.testing.assert_allclose(
            alignments(other.bbox, other.mask, variant), expected, atol=1e-10
        )


def test_single_elements_and_empty_layouts_score_zero() -> None:
    packed = random_set(0, layouts=3, longest=1)
    for variant in VARIANTS:
        assert alignment(packed.bbox, packed.mask, variant) == 0.0
        assert alignment(packed.bbox, np.zeros_like(packed.mask), variant) == 0.0


def test_batches_do_not_matter() -> None:
    packed = random_set(1, layouts=1100)
    parts = [alignments(packed.bbox[i : i + 7], packed.mask[i : i + 7]) for i in range(0, 1100, 7)]
    np.testing.assert_array_equal(alignments(packed.bbox, packed.mask), np.concatenate(parts))


@given(packed=sets(longest=5))
@settings(max_examples=25, deadline=None)
def test_published_is_the_released_form(packed: Packed) -> None:
    for length in (5, 25):
        got = alignments(packed.bbox, packed.mask, published=True, padding=length, scale=1)
        np.testing.assert_allclose(got, released(packed, length), atol=1e-9)


def test_published_by_hand_and_by_array_length() -> None:
    # One element whose left edge is 0.1: beside a padded slot it is 0.1 from "alignment".
    bbox, mask = np.zeros((1, 2, 4)), np.array([[True, False]])
    bbox[0, 0] = [0.3, 0.5, 0.4, 0.4]
    assert alignment(bbox, mask) == 0.0
    assert alignment(bbox, mask, published=True) == pytest.approx(-100 * math.log(0.9))
    assert alignment(bbox[:, :1], mask[:, :1], published=True) == 0.0
    assert alignment(bbox[:, :1], mask[:, :1], published=True, padding=2) == pytest.approx(
        -100 * math.log(0.9)
    )
    assert alignment(bbox, mask, "ndn", published=True) == 0.0


def test_batch_padding() -> None:
    counts = np.array([1, 3, 2, 5, 4])
    mask = np.arange(6) < counts[:, None]
    assert batch_padding(mask, 2).tolist() == [3, 3, 5, 5, 4]
    packed = random_set(2, layouts=5)
    lengths = batch_padding(packed.mask, 2)
    got = alignments(packed.bbox, packed.mask, published=True, padding=lengths, scale=1)
    expected = [released(packed.take([i]), int(lengths[i]))[0] for i in range(5)]
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_refusals() -> None:
    packed = random_set(3)
    with pytest.raises(LayoutdmError, match="variant 'lace' is unknown"):
        alignment(packed.bbox, packed.mask, "lace")
    with pytest.raises(LayoutdmError, match="padding: 1 is shorter"):
        alignment(packed.bbox, packed.mask, published=True, padding=1)

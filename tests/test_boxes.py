"""Box conversions and what counts as a right box."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm import boxes
from layoutdm.boxes import EDGE_TOLERANCE, all_right, box_problem

shares = st.floats(0, 1)
any_number = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(shares, shares, shares, shares), min_size=1, max_size=5))
def test_conversions_are_undone_by_their_inverse(rows: list[tuple[float, ...]]) -> None:
    centre = np.array(rows)
    assert np.allclose(boxes.from_corners(boxes.to_corners(centre)), centre, atol=1e-12)
    assert np.allclose(boxes.from_left_top(boxes.to_left_top(centre)), centre, atol=1e-12)


def test_conversions_on_a_known_box() -> None:
    centre = np.array([[0.5, 0.25, 0.8, 0.1]])
    assert boxes.to_corners(centre)[0].tolist() == pytest.approx([0.1, 0.2, 0.9, 0.3])
    assert boxes.to_left_top(centre)[0].tolist() == pytest.approx([0.1, 0.2, 0.8, 0.1])
    pixels = boxes.to_left_top(centre) * boxes.canvas_scale(600, 800)
    assert pixels[0].tolist() == pytest.approx([60, 160, 480, 80])


@given(st.lists(st.tuples(*[st.one_of(shares, any_number)] * 4), max_size=4))
def test_one_look_agrees_with_looking_at_each_box(rows: list[tuple[float, ...]]) -> None:
    array = np.array(rows, dtype=np.float64).reshape(-1, 4)
    assert all_right(array) == all(box_problem(row) is None for row in array.tolist())


@pytest.mark.parametrize(
    ("box", "field", "what"),
    [
        ([float("nan"), 0.5, 0.1, 0.1], "x", "finite"),
        ([0.5, float("inf"), 0.1, 0.1], "y", "finite"),
        ([0.5, 0.5, 0.0, 0.1], "width", "greater than 0"),
        ([0.5, 0.5, 0.1, -0.1], "height", "greater than 0"),
        ([0.0, 0.5, 0.1, 0.1], "x", "leaves the canvas"),
        ([0.5, 0.98, 0.1, 0.1], "y", "leaves the canvas"),
    ],
)
def test_a_problem_names_its_field(box: list[float], field: str, what: str) -> None:
    problem = box_problem(box)
    assert problem is not None
    assert problem.startswith(field)
    assert what in problem


def test_rounding_at_the_edge_is_allowed() -> None:
    assert box_problem([0.5, 0.5, 1 + EDGE_TOLERANCE, 1]) is None
    assert box_problem([0.5, 0.5, 1 + 3 * EDGE_TOLERANCE, 1]) is not None


intervals = st.tuples(shares, shares).map(sorted)


@settings(deadline=None)  # the first example waits for torch
@given(st.lists(st.tuples(intervals, intervals), min_size=1, max_size=6))
def test_numbers_arrays_and_tensors_share_the_same_lengths(
    pairs: list[tuple[list[float], list[float]]],
) -> None:
    torch = pytest.importorskip("torch")
    rows = np.array([[*one, *other] for one, other in pairs])
    array = boxes.shared_length(*rows.T)
    tensor = boxes.shared_length(*torch.tensor(rows).T)
    plain = [boxes.shared_length(*row) for row in rows.tolist()]
    assert array.tolist() == tensor.tolist() == plain
    # What two intervals share, counted in thousandths of the whole.
    points = (np.arange(1000) + 0.5) / 1000
    low, high, other_low, other_high = rows[..., None].transpose(1, 0, 2)
    both = (low <= points) & (points <= high) & (other_low <= points) & (points <= other_high)
    assert np.allclose(array, both.mean(axis=-1), atol=2e-3)


def test_shared_lengths_keep_gradients_and_whole_numbers() -> None:
    torch = pytest.importorskip("torch")
    low = torch.tensor([0.0, 0.5], requires_grad=True)
    one, other = torch.tensor([0.25, 0.75]), torch.tensor(0.5)
    boxes.shared_length(low, torch.tensor([0.5, 0.75]), one, other).sum().backward()
    assert low.grad is not None
    whole = boxes.shared_length(*(torch.tensor([v]) for v in (0, 7, 3, 9)))
    assert whole.dtype == torch.int64
    assert whole.tolist() == [4]


def test_shared_areas_of_known_boxes() -> None:
    rows = np.array([[0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 1.0, 1.0], [0.5, 0.0, 1.0, 0.5]]).T
    expected = [[0.25, 0.0625, 0.0], [0.0625, 0.5625, 0.125], [0.0, 0.125, 0.25]]
    assert boxes.shared_area(rows[:, :, None], rows[:, None]).tolist() == expected
    assert boxes.shared_area(rows.T[0].tolist(), rows.T[1].tolist()) == 0.0625
    assert boxes.shared_span(0.25, 0.5, 0.5, 0.25) == 0.125

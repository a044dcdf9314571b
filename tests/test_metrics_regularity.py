"""Regularity on layouts whose columns are known."""

from __future__ import annotations

import math

import pytest

from layoutdm import Layout
from layoutdm.metrics import bootstrap_regularity, count_repeats, regularity

Part = tuple[str, list[float]]


def column(
    tops: list[float], *, left: float = 0.1, height: float = 0.05, label: str = "row"
) -> list[Part]:
    return [(label, [left + 0.4, top + height / 2, 0.8, height]) for top in tops]


def layout(*parts: Part) -> Layout:
    return Layout.create([label for label, _ in parts], [box for _, box in parts])


def test_three_rows_at_one_distance_repeat_their_gap() -> None:
    even = layout(*column([0.1, 0.2, 0.3]))
    uneven = layout(*column([0.1, 0.2, 0.35]))
    assert regularity([even]).gaps == 1.0
    assert regularity([uneven]).gaps == 0.0
    assert regularity([even, uneven]).gaps == 0.5


def test_gaps_may_differ_by_four_thousandths() -> None:
    assert regularity([layout(*column([0.1, 0.2, 0.304]))]).gaps == 1.0
    assert regularity([layout(*column([0.1, 0.2, 0.305]))]).gaps == 0.0


def test_left_edges_are_equal_within_three_thousandths() -> None:
    for shift, equal in ((0.003, 1.0), (0.0031, 0.0)):
        both = layout(*column([0.1]), *column([0.2], left=0.1 + shift))
        assert regularity([both]).edges == equal


def test_sizes_need_both_sides() -> None:
    assert regularity([layout(*column([0.1, 0.3]))]).sizes == 1.0
    taller = layout(*column([0.1]), *column([0.3], height=0.06))
    assert regularity([taller]).sizes == 0.0


def test_rows_overlap_when_the_next_begins_too_early() -> None:
    assert regularity([layout(*column([0.1, 0.146]))]).rows_overlap == 0.0
    assert regularity([layout(*column([0.1, 0.14]))]).rows_overlap == 1.0


def test_other_labels_and_other_columns_do_not_count() -> None:
    mixed = layout(*column([0.1], label="a"), *column([0.2], label="b"))
    beside = Layout.create(["a", "a"], [[0.2, 0.1, 0.2, 0.1], [0.8, 0.3, 0.2, 0.1]])
    assert count_repeats(mixed).pairs == 0
    assert count_repeats(beside).pairs == 0
    assert math.isnan(regularity([mixed]).edges)


def test_the_order_of_elements_does_not_matter() -> None:
    rows = column([0.1, 0.2, 0.3, 0.45])
    assert count_repeats(layout(*rows)) == count_repeats(layout(*reversed(rows)))


def test_interval_holds_the_value_and_is_repeatable() -> None:
    counted = [count_repeats(layout(*column([0.1, 0.2, 0.3 + 0.05 * (i % 2)]))) for i in range(40)]
    found = bootstrap_regularity(counted, resamples=200)
    assert found == bootstrap_regularity(counted, resamples=200)
    gaps = found["gaps"]
    assert gaps.value == pytest.approx(0.5)
    assert gaps.low < 0.5 < gaps.high

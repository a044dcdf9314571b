"""The rules that detect relations, against loops over single boxes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.relations import (
    CANVAS_NAMES,
    ELEMENT_NAMES,
    PAPER_NAMES,
    Relation,
    detect_all,
    detect_canvas_location,
    detect_location,
    detect_size,
    is_size,
    paper_name,
    relation_name,
)

UNIT = st.floats(0.01, 0.99)
BOXES = st.lists(st.tuples(UNIT, UNIT, UNIT, UNIT), min_size=1, max_size=6)


def slow_size(j: tuple[float, ...], i: tuple[float, ...]) -> Relation:
    a_j, a_i = j[2] * j[3], i[2] * i[3]
    if 0.9 * a_i < a_j < 1.1 * a_i:
        return Relation.EQUAL_SIZE
    return Relation.LARGER if a_j > a_i else Relation.SMALLER


def slow_location(j: tuple[float, ...], i: tuple[float, ...]) -> Relation:
    if j[1] + j[3] / 2 <= i[1] - i[3] / 2:
        return Relation.ABOVE
    if i[1] + i[3] / 2 <= j[1] - j[3] / 2:
        return Relation.BELOW
    if j[0] + j[2] / 2 <= i[0] - i[2] / 2:
        return Relation.LEFT_OF
    if i[0] + i[2] / 2 <= j[0] - j[2] / 2:
        return Relation.RIGHT_OF
    return Relation.OVERLAPPING


@given(BOXES)
@settings(max_examples=200, deadline=None)
def test_detection_is_the_rule_for_every_pair(boxes: list[tuple[float, ...]]) -> None:
    size, location = detect_all(boxes)
    for j, box in enumerate(boxes):
        assert size[j, 0] == slow_size(box, (0.5, 0.5, 1.0, 1.0))
        third = min(int(box[1] * 3), 2)
        if abs(box[1] * 3 - round(box[1] * 3)) > 1e-9:
            assert location[j, 0] == [Relation.ABOVE, Relation.OVERLAPPING, Relation.BELOW][third]
        for i, other in enumerate(boxes):
            assert size[j, 1 + i] == slow_size(box, other)
            assert location[j, 1 + i] == slow_location(box, other)


def test_touching_boxes_count_as_apart_and_above_comes_first() -> None:
    upper, lower = [0.25, 0.25, 0.5, 0.5], [0.75, 0.75, 0.5, 0.5]
    assert detect_location(upper, lower) == Relation.ABOVE  # it is to the left as well
    assert detect_location(lower, upper) == Relation.BELOW
    beside = [0.75, 0.25, 0.5, 0.5]
    assert detect_location(beside, upper) == Relation.RIGHT_OF
    assert detect_location(upper, beside) == Relation.LEFT_OF
    assert detect_location(upper, upper) == Relation.OVERLAPPING


def test_canvas_thirds_and_size_tolerance_at_their_edges() -> None:
    thirds = detect_canvas_location([0.0, 1 / 3 - 1e-12, 1 / 3, 0.5, 2 / 3, 1.0])
    assert thirds.tolist() == [6, 6, 9, 9, 8, 8]
    one = [0.5, 0.5, 1.0, 1.0]
    for width, relation in (
        (0.5, Relation.SMALLER),
        (0.9, Relation.SMALLER),
        (0.91, Relation.EQUAL_SIZE),
        (1.09, Relation.EQUAL_SIZE),
        (1.11, Relation.LARGER),
    ):
        assert detect_size([0.5, 0.5, width, 1.0], one) == relation


def test_names_and_numbers() -> None:
    assert {int(r) for r in PAPER_NAMES} == {1, 2, 3, 5, 6, 7, 8, 9}
    assert {relation_name(code) for code in Relation} == set(ELEMENT_NAMES)
    assert {relation_name(c, canvas=True) for c in CANVAS_NAMES.values()} == set(CANVAS_NAMES)
    assert [paper_name(r) for r in (6, 8, 9, 2)] == ["top", "bottom", "center", "equal"]
    assert set(PAPER_NAMES) < set(Relation)  # requests have more of them
    assert {r for r in PAPER_NAMES if is_size(int(r))} == {1, 2, 3}
    with pytest.raises(KeyError):
        relation_name(Relation.LEFT_OF, canvas=True)

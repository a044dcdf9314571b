"""Reading order of a plan: what wishes say of it, who comes when, whose turn it is."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutdm import Layout
from layoutdm.boxes import reading_order
from layoutdm.data.orders import top_left
from layoutdm.plan import LabelModel, set_order
from layoutdm.plan.labels import feature_count
from layoutdm.plan.order import in_reading_order, largest_first, span_chances, through_others
from layoutdm.plan.reading import reading
from layoutdm.spec import Condition, Spec
from sampler_dummies import unknown

LABELS = ("0", "1", "2")


def indifferent(scores: tuple[float, ...] = (0.0, 0.0, 0.0)) -> LabelModel:
    """Label l has the same score wherever it may come."""
    width = feature_count(3)
    return LabelModel(((np.zeros((4, width)), np.zeros(4)), (np.zeros((3, 4)), np.array(scores))))


def condition(elements: list[dict], **more: object) -> Condition:
    named = [{"name": f"e{i}", **element} for i, element in enumerate(elements)]
    return Condition.from_spec(Spec.parse({"elements": named, **more}), LABELS, 25)


def planned(wish: Condition, count: int, layouts: int = 2000, model: LabelModel | None = None):
    """The batch of a condition with ranks and turns."""
    batch = unknown(layouts, count, (3, 4, 4, 4, 4), conditions=(wish,) * layouts)
    for slot, choices in enumerate(wish.label_choices):
        if choices.sum() == 1:
            batch.tokens[:, slot, 0], batch.fixed[:, slot, 0] = choices.argmax(), True
    uniform = np.random.default_rng(0).random((layouts, count))
    return set_order(batch, model or indifferent(), uniform)


def ranks(labels: list[int], before=(), where=None, model=None, layouts=2000) -> np.ndarray:
    """(layouts, slots) ranks from 0; `before` pairs are above each other, `where` thirds."""
    relations = [{"of": f"e{i}", "is": "above", "to": f"e{j}"} for i, j in before]
    relations += [
        {"of": f"e{i}", "is": third, "to": "canvas"} for i, third in (where or {}).items()
    ]
    wish = condition([{"label": str(label)} for label in labels], relations=relations)
    found = planned(wish, len(labels), layouts, model)
    assert np.array_equal(np.sort(found.rank, axis=1)[0], np.arange(1, len(labels) + 1))
    assert np.array_equal(found.rank, found.turn + 1)
    return found.rank - 1


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_who_comes_before_whom_goes_through_others(pairs: list[tuple[int, int]]) -> None:
    direct = np.zeros((6, 6), dtype=bool)
    for i, j in pairs:
        direct[i, j] = True
    expected = direct.copy()
    for _ in range(6):  # paths of any length, by multiplying
        expected |= (expected.astype(int) @ direct.astype(int)) > 0
    assert np.array_equal(through_others(direct[None])[0], expected)


@given(st.permutations(range(5)), st.integers(0, 2**10 - 1))
def test_relations_are_kept(order: list[int], chosen: int) -> None:
    every = list(itertools.combinations(order, 2))
    before = [pair for bit, pair in enumerate(every) if chosen >> bit & 1]
    found = ranks([0, 1, 2, 0, 1], before, layouts=20)
    for i, j in before:
        assert (found[:, i] < found[:, j]).all()


def test_without_relations_labels_come_as_the_network_says() -> None:
    found = ranks([0, 0, 1], model=indifferent((0.0, np.log(2), 0.0)))
    first = np.bincount(found.argmin(axis=1), minlength=3) / len(found)
    assert first[2] == pytest.approx(1 / 2, abs=0.04)  # as likely as the two of label 0
    # Of elements of which the same is known, the first listed is read first.
    assert (found[:, 0] < found[:, 1]).all()


def test_orders_that_one_relation_allows_are_equally_likely() -> None:
    found = ranks([0, 0, 0], [(0, 1)])
    orders, counts = np.unique(found, axis=0, return_counts=True)
    assert len(orders) == 3
    assert counts / len(found) == pytest.approx([1 / 3] * 3, abs=0.04)


def test_thirds_of_the_canvas_decide_who_comes_early() -> None:
    found = ranks([0] * 6, where={5: "top", 0: "bottom"})
    assert (found[:, 5] < found[:, 0]).all()
    assert found[:, 5].mean() < 1.5 and found[:, 0].mean() > 3.5
    assert span_chances(0, 1 / 3, 9)[0] > 0.9 and span_chances(2 / 3, 1, 9)[-1] > 0.9


@pytest.mark.parametrize("how", ["fixed", "about"])
def test_a_known_height_decides_who_comes_when(how: str) -> None:
    low, high = ({"y": v} if how == "fixed" else {"y": {"about": v}} for v in (0.9, 0.1))
    wish = condition([{"label": "0", **low}, {"label": "0"}, {"label": "0", **high}])
    found = planned(wish, 3).rank
    assert (found[:, 2] < found[:, 0]).all()
    assert (found[:, 2] == 1).mean() > 0.7 and (found[:, 0] == 3).mean() > 0.7


def test_added_elements_get_labels_in_reading_order() -> None:
    """Nothing is listed: slots are in reading order, whatever their labels are."""
    batch = unknown(300, 4)
    batch.valid[::2, 3] = False
    uniform = np.random.default_rng(0).random((300, 4))
    found = set_order(batch, indifferent((0.0, 0.0, 50.0)), uniform)
    assert (found.rank[1::2] == [1, 2, 3, 4]).all() and (found.rank[::2, :3] == [1, 2, 3]).all()
    assert (found.tokens[1::2, :, 0] == 2).all() and found.fixed[..., 0].all()


def test_listed_labels_and_added_ones_share_one_order() -> None:
    """Two are listed, three are added; each may be read at any place."""
    wish = condition([{"label": "2"}, {"label": "0"}], more=True)
    found = planned(wish, 5, layouts=500)
    assert (np.sort(found.rank, axis=1) == [1, 2, 3, 4, 5]).all()
    assert (found.tokens[:, :2, 0] == [2, 0]).all() and (found.tokens[:, 2:, 0] < 3).all()
    assert len(np.unique(found.rank[:, 0])) == 5


def test_choices_of_labels_are_kept() -> None:
    wish = condition([{"label": ["0", "2"]}, {"label": "1"}, {}])
    found = planned(wish, 3, layouts=500)
    assert set(np.unique(found.tokens[:, 0, 0])) == {0, 2}
    assert (found.tokens[:, 1, 0] == 1).all()
    assert set(np.unique(found.tokens[:, 2, 0])) == {0, 1, 2}


def test_known_sizes_take_their_turns_first() -> None:
    sizes = [{}, {"width": 0.2, "height": 0.2}, {"width": 0.8, "height": 0.5}]
    wish = condition([{"label": "0", **size} for size in sizes])
    assert largest_first(wish, np.arange(3)).tolist() == [2, 1, 0]
    found = planned(wish, 3, layouts=20)
    assert (found.turn == [2, 1, 0]).all()
    assert (np.sort(found.rank, axis=1) == [1, 2, 3]).all()


def test_what_the_network_learned_without_an_order_has_none() -> None:
    whole = dict.fromkeys(("x", "y", "width", "height"), 0.3)
    draft = {name: {"about": value} for name, value in whole.items()}
    sizes = {"width": 0.3, "height": 0.3}
    for elements, count, ordered in (
        ([], 3, True),
        ([{"label": "0"}], 1, True),
        ([{"label": "0"}], 3, True),
        ([{"label": "0", **sizes}], 1, False),
        ([{"label": "0", **sizes}, {"label": "0"}], 2, True),
        ([{"label": "0", **whole}], 3, False),  # the paper's completion
        ([{"label": "0", **whole}, {"label": "0"}], 3, True),
        ([{"label": "0", **draft}], 1, False),
    ):
        wish = condition(elements) if elements else Condition.unknown("abc")
        assert in_reading_order(wish, count) == ordered, elements


def test_wishes_that_contradict_each_other_still_give_an_order() -> None:
    wish = condition([{"label": "0"}, {"label": "1"}])
    both = np.array([[0, 6, 1], [1, 6, 0]], dtype=np.intp)
    paths = ("relations[0]", "relations[1]")
    nothing = np.full(2, np.nan)
    wish = replace(
        wish, relations=both, relation_paths=paths, gap=nothing, relation_strength=nothing.copy()
    )
    found = planned(wish, 2, layouts=10)
    assert (np.sort(found.rank, axis=1) == [1, 2]).all()


def test_what_relations_say_of_the_order() -> None:
    relations = [
        {"of": "e0", "is": "above", "to": "e1"},
        {"of": "e2", "is": "below", "to": "e1"},
        {"of": "e3", "is": "left_of", "to": "e0"},
        {"of": "e3", "is": "bottom", "to": "canvas"},
        {"of": "e0", "is": "smaller", "to": "canvas"},
    ]
    found = reading(condition([{"label": "0"}] * 4, relations=relations))
    assert np.argwhere(found.before).tolist() == [[0, 1], [1, 2]]
    assert np.isnan(found.span[:3]).all() and found.span[3].tolist() == [2 / 3, 1.0]


def test_rounding_of_files_does_not_turn_rows_around() -> None:
    """Tops that differ in the sixth digit are one row, in training, plans and data sets alike."""
    boxes = np.array([[0.7, 0.200001, 0.2, 0.1], [0.2, 0.200002, 0.2, 0.1], [0.4, 0.2, 0.1, 0.1]])
    layout = Layout.create(["a", "b", "c"], boxes)
    assert layout.sorted_top_left().labels == top_left(layout).labels == ("b", "c", "a")
    corners = layout.corners()
    assert reading_order(corners[:, 0], corners[:, 1]).tolist() == [1, 2, 0]
    padded = np.stack([np.append(corners[:, side], np.inf) for side in (0, 1)])
    assert reading_order(*padded[:, None])[0].tolist() == [1, 2, 0, 3]

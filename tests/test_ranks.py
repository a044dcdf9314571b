"""Elements with relations get ranks in reading order: what relations say, and who comes when."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import layoutdm
from layoutdm.constraints.reading import ANYWHERE, reading
from layoutdm.diffusion import Schedule
from layoutdm.diffusion.known import Readings
from layoutdm.diffusion.labels import LabelModel, feature_count
from layoutdm.diffusion.ranks import draw_ranks, third_chances, through_others
from layoutdm.diffusion.settings import Settings
from layoutdm.spec import Condition, Spec
from layoutdm.train.export import export_model
from sampler_dummies import unknown
from tiny_models import LABELS, network, tokenizer

ORDERED = Settings(order="elements", ordered=True)


def indifferent(labels: int, scores: tuple[float, ...] = ()) -> LabelModel:
    """Label l has the same score wherever it may come; 0 without `scores`."""
    width = feature_count(labels)
    bias = np.array(scores or (0.0,) * labels)
    return LabelModel(((np.zeros((4, width)), np.zeros(4)), (np.zeros((labels, 4)), bias)))


def ranks(
    labels: list[int],
    before: list[tuple[int, int]] = [],  # noqa: B006 - never changed
    third: dict[int, int] = {},  # noqa: B006
    layouts: int = 2000,
    model: LabelModel | None = None,
) -> np.ndarray:
    """(layouts, slots) ranks from 0 of elements with these labels."""
    slots = len(labels)
    known = unknown(layouts, slots)
    known.tokens[..., 0] = labels
    known.fixed[..., 0] = True
    pairs = np.zeros((layouts, slots, slots), dtype=bool)
    for i, j in before:
        pairs[:, i, j] = True
    bound = np.full((layouts, slots), ANYWHERE)
    for slot, where in third.items():
        bound[:, slot] = where
    wished = Readings(np.ones(layouts, dtype=bool), pairs, bound)
    known = unknown(
        layouts, slots, tokens=known.tokens, fixed=known.fixed, valid=known.valid, reading=wished
    )
    uniform = np.random.default_rng(0).random((layouts, slots))
    found = draw_ranks(model or indifferent(3), known, known.tokens, uniform, ORDERED)
    assert found.position is not None and found.turns is not None
    assert np.array_equal(found.position, found.turns + 1)
    assert np.array_equal(np.sort(found.turns, axis=1), np.tile(np.arange(slots), (layouts, 1)))
    return found.turns


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


def test_without_relations_every_order_is_as_likely_as_its_labels() -> None:
    found = ranks([0, 0, 0])
    first = np.bincount(found.argmin(axis=1), minlength=3) / len(found)
    assert first == pytest.approx([1 / 3] * 3, abs=0.04)
    # Two of label 0 and one of label 1, whose score is log 2 higher: 2 of 4 begin with it.
    found = ranks([0, 0, 1], model=indifferent(3, (0.0, np.log(2), 0.0)))
    first = np.bincount(found.argmin(axis=1), minlength=3) / len(found)
    assert first == pytest.approx([0.25, 0.25, 0.5], abs=0.04)


def test_orders_that_one_relation_allows_are_equally_likely() -> None:
    found = ranks([0, 0, 0], [(0, 1)])
    orders, counts = np.unique(found, axis=0, return_counts=True)
    assert len(orders) == 3
    assert counts / len(found) == pytest.approx([1 / 3] * 3, abs=0.04)


def test_thirds_of_the_canvas_decide_who_comes_early() -> None:
    found = ranks([0] * 6, third={5: 0, 0: 2})
    assert (found[:, 5] < found[:, 0]).all()
    assert found[:, 5].mean() < 1.5 and found[:, 0].mean() > 3.5
    chances = third_chances(9)
    assert chances[0, 0] > 0.9 and chances[2, -1] > 0.9 and chances[1, 4] > 0.7


def test_wishes_that_contradict_each_other_still_give_an_order() -> None:
    ranks([0, 1], [(0, 1), (1, 0)], layouts=10)
    ranks([0, 1], [(0, 1)], {0: 2, 1: 0}, layouts=10)


def test_only_layouts_with_a_reading_change() -> None:
    wished = Readings(
        np.array([False, True]), np.zeros((2, 2, 2), dtype=bool), np.full((2, 2), ANYWHERE)
    )
    known = unknown(2, 2, reading=wished, turns=np.array([[1, 0], [0, 1]]))
    known.tokens[..., 0] = 0
    found = draw_ranks(indifferent(3), known, known.tokens, np.full((2, 2), 0.99), ORDERED)
    assert found.position is not None and found.turns is not None
    assert found.position[0].tolist() == [0, 0] and found.turns[0].tolist() == [1, 0]
    assert found.turns[1].tolist() == [1, 0]  # the uniform number takes the last
    assert draw_ranks(indifferent(3), unknown(1, 2), known.tokens[:1], np.zeros((1, 2)),
                      ORDERED).position is None  # fmt: skip


def test_what_relations_say_of_the_order() -> None:
    names = [{"name": name, "label": "Text"} for name in "abcd"]
    spec = Spec.parse(
        {
            "elements": names,
            "relations": [
                {"of": "a", "is": "above", "to": "b"},
                {"of": "c", "is": "below", "to": "b"},
                {"of": "d", "is": "left_of", "to": "a"},
                {"of": "d", "is": "bottom", "to": "canvas"},
                {"of": "a", "is": "smaller", "to": "canvas"},
            ],
        }
    )
    found = reading(Condition.from_spec(spec, ("Text",), 25))
    assert np.argwhere(found.before).tolist() == [[0, 1], [1, 2]]
    assert found.third.tolist() == [ANYWHERE, ANYWHERE, ANYWHERE, 2]


def test_requests_keep_their_elements_and_do_not_depend_on_the_batch(tmp_path: Path) -> None:
    sampling = {"default": {"steps": 20, "order": "elements", "ordered": True}}
    folder = export_model(
        network("ahead"), tokenizer(), Schedule(), tmp_path / "model", sampling=sampling,
        label_model=indifferent(len(LABELS)),
    )  # fmt: skip
    model = layoutdm.load(folder)
    spec = {
        "elements": [{"name": str(i), "label": label} for i, label in enumerate(LABELS)],
        "relations": [{"of": "4", "is": "above", "to": "0"}],
    }
    together = model.generate_many([spec, None] * 3, seed=1)
    for i, result in enumerate(together):
        if i % 2 == 0:
            assert result.layout.labels == LABELS
        alone = next(iter(model.stream_many([(i, [spec, None][i % 2])], seed=1)))
        assert alone.layout == result.layout
    free = model.generate_many([spec] * 3, seed=1, ordered=False)
    assert [r.layout for r in free] != [r.layout for r in together[::2]]

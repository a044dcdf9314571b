"""Which tokens are decided together when one element follows the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.diffusion.timetable import decision_ranks, timetable

LABEL, X, Y, WIDTH, HEIGHT = range(5)


def steps_of(masked: np.ndarray, steps: int) -> np.ndarray:
    """The step in which each token of one layout is decided, -1 for those that are known."""
    ranks = decision_ranks(masked[None], steps)[0]
    return np.where(masked, np.floor(ranks * steps), -1).astype(int)


masks = st.integers(1, 25).flatmap(
    lambda slots: st.lists(st.tuples(*[st.booleans()] * 5), min_size=slots, max_size=slots).map(
        lambda rows: np.array(rows, dtype=bool)
    )
)


@given(masks, st.integers(1, 130))
@settings(max_examples=200, deadline=None)
def test_every_masked_token_has_a_turn_and_no_other_has(masked, steps):
    ranks = decision_ranks(masked[None], steps)[0]
    assert np.all((ranks > 0) == masked)
    assert np.all(ranks < 1)


@given(masks, st.integers(1, 130))
@settings(max_examples=200, deadline=None)
def test_boxes_come_in_order_and_within_an_element_label_size_place(masked, steps):
    decided = steps_of(masked, steps)
    for row in decided:
        known = [row[m] for m in (LABEL, WIDTH, HEIGHT, X, Y) if row[m] >= 0]
        assert known == sorted(known)
    for attribute in range(5):
        column = decided[:, attribute]
        column = column[column >= 0]
        assert np.all(np.diff(column) >= 0)


@given(masks)
@settings(max_examples=100, deadline=None)
def test_with_enough_steps_only_size_and_the_next_label_share_one(masked):
    decided = steps_of(masked, 76)
    follows = np.cumsum(masked.any(axis=1))  # elements that are known take no turns
    for step in range(76):
        slots, attributes = np.nonzero(decided == step)
        together = [(int(slot), int(m)) for slot, m in zip(slots, attributes, strict=True)]
        for i, (slot, m) in enumerate(together):
            for other, n in together[i + 1 :]:
                same_size = slot == other and {m, n} == {WIDTH, HEIGHT}
                next_label = follows[other] == follows[slot] + 1 and (m, n) == (Y, LABEL)
                assert same_size or next_label


@pytest.mark.parametrize(("slots", "steps"), [(10, 50), (12, 50), (16, 50), (21, 50), (9, 30)])
def test_no_two_elements_are_placed_in_the_same_step_while_steps_suffice(slots, steps):
    decided = steps_of(np.ones((slots, 5), dtype=bool), steps)
    for place in (X, Y):
        assert len(set(decided[:, place])) == slots
    assert np.all(decided[:, X] < decided[:, Y])  # a box's own places see each other


@pytest.mark.parametrize(("slots", "steps"), [(21, 40), (16, 30), (24, 30), (16, 20), (16, 18)])
def test_with_fewer_steps_an_element_begins_before_the_last_one_is_placed(slots, steps):
    masked = np.ones((slots, 5), dtype=bool)
    masked[:, LABEL] = False
    decided = steps_of(masked, steps)
    for attribute in (WIDTH, X, Y):
        assert len(set(decided[:, attribute])) == slots
    assert np.all(decided[:, WIDTH] < decided[:, X])
    assert np.all(decided[:, X] < decided[:, Y])  # a box's own values see each other
    assert np.any(decided[1:, WIDTH] <= decided[:-1, Y])
    # Elements wait for each other as evenly as whole steps allow.
    assert np.ptp(np.diff(decided[:, WIDTH])) <= 1


@given(st.integers(2, 25), st.integers(4, 30), st.booleans())
@settings(max_examples=200, deadline=None)
def test_as_few_elements_as_possible_share_their_step(slots, steps, sizes_known):
    """Two turns before the first y with unknown sizes, one with known sizes: the rest is for y."""
    masked = np.ones((slots, 5), dtype=bool)
    masked[:, LABEL] = False
    if sizes_known:
        masked[:, WIDTH:] = False
    decided = steps_of(masked, steps)
    assert len(set(decided[:, Y])) == min(slots, steps - (1 if sizes_known else 2))
    shared = np.bincount(decided[:, Y])
    assert np.ptp(shared[shared > 0]) <= 1


def test_width_comes_before_height_if_the_steps_suffice():
    masked = np.ones((1, 6, 5), dtype=bool)
    ranks = decision_ranks(masked, 30)[0]
    assert np.all(ranks[:, WIDTH] < ranks[:, HEIGHT])
    few = decision_ranks(masked, 20)[0]
    assert np.array_equal(few[:, WIDTH], few[:, HEIGHT])


@given(masks, st.integers(1, 130), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_elements_may_take_their_turns_in_another_order(masked, steps, random):
    places = list(range(len(masked)))
    random.shuffle(places)
    moved = np.empty_like(masked)
    moved[places] = masked  # the slot that comes first stands first
    ranks = decision_ranks(masked[None], steps, np.array([places]))[0]
    assert np.array_equal(ranks, decision_ranks(moved[None], steps)[0][places])


def test_layouts_of_a_batch_do_not_change_each_other():
    rng = np.random.default_rng(0)
    masked = rng.random((20, 25, 5)) < 0.6
    together = decision_ranks(masked, 40)
    for i in range(20):
        assert np.array_equal(together[i], decision_ranks(masked[i : i + 1], 40)[0])


def test_few_steps_take_several_elements_at_a_time():
    decided = steps_of(np.ones((25, 5), dtype=bool), 4)
    assert set(decided.ravel()) == {0, 1, 2, 3}
    for attribute, step in ((LABEL, 0), (WIDTH, 1), (HEIGHT, 1), (X, 2), (Y, 3)):
        assert set(decided[:, attribute]) == {step}


@given(masks, st.integers(1, 60))
@settings(max_examples=100, deadline=None)
def test_passes_decide_every_token_once_and_one_of_a_layout_at_a_time(masked, steps):
    both = np.stack([masked, ~masked])
    done = [(i + 1) / steps for i in range(steps)]
    turn = np.tile(np.arange(len(masked)), (2, 1))
    passes = timetable(both, done, turn)
    assert len(passes) == steps
    seen = np.zeros_like(both)
    for step, due in enumerate(passes):
        for one in due:
            assert len(set(one.layout)) == len(one.layout)
            assert not seen[one.layout, one.slot, one.modality].any()
            seen[one.layout, one.slot, one.modality] = True
            ranks = decision_ranks(both, steps, turn)[one.layout, one.slot, one.modality]
            assert np.all(np.floor(ranks * steps + 1e-9) == step)
    assert np.array_equal(seen, both)

"""One element after the other: order, turns, few steps, and the distribution that is drawn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from layoutdm.diffusion import Schedule
from layoutdm.diffusion.element import ElementSampler
from layoutdm.diffusion.plain import PlainSampler
from sampler_dummies import (
    MASK,
    SIZES,
    Constant,
    Copying,
    assert_shares,
    constant,
    give,
    run,
    unknown,
    walk,
)


def elements(denoiser, **more):
    return ElementSampler(denoiser, Schedule(), **more)


def turns_taken(sampler, batch):
    """For each layout the (slot, modality) pairs in the order in which they were decided."""
    before, turns = None, [[] for _ in batch.tokens]
    for _, tokens in walk(sampler, batch):
        masked = tokens == MASK
        if before is not None:
            for layout, slot, modality in zip(*np.nonzero(before & ~masked), strict=True):
                turns[layout].append((slot, modality))
        before = masked
    assert not before.any()
    return turns


def test_one_element_after_the_other_in_the_order_of_label_size_place():
    batch = unknown(3, 4)
    give(batch, 2, [0] * 5, rows=1)  # an element that is known takes no turn
    turns = turns_taken(elements(constant(), steps=20), batch)
    for layout, slots in enumerate(([0, 1, 2, 3], [0, 1, 3], [0, 1, 2, 3])):
        assert [slot for slot, _ in turns[layout]] == sorted(slot for slot, _ in turns[layout])
        assert {slot for slot, _ in turns[layout]} == set(slots)
    # 20 steps, 20 tokens: one a step, so the order within an element shows too.
    assert turns[0][:5] == [(0, 0), (0, 3), (0, 4), (0, 1), (0, 2)]


def test_elements_take_their_turns_as_planned():
    batch = unknown(2, 3, turn=np.array([[2, 0, 1], [0, 1, 2]]))
    turns = turns_taken(elements(constant(), steps=15), batch)
    assert list(dict.fromkeys(slot for slot, _ in turns[0])) == [1, 2, 0]
    assert list(dict.fromkeys(slot for slot, _ in turns[1])) == [0, 1, 2]


@pytest.mark.parametrize("steps", [1, 7, 40])
def test_the_order_does_not_change_the_distribution_of_independent_tokens(steps):
    rows = run(elements(constant(0.1, 0.2, 0.3, 0.4), steps=steps), unknown(1000, 4))
    assert_shares(rows[..., 1], (0.1, 0.2, 0.3, 0.4))


def test_both_samplers_draw_the_same_distribution():
    """Of a network for which tokens are independent the way does not matter."""
    denoiser = constant(0.1, 0.2, 0.3, 0.4)
    for sampler in (elements(denoiser, steps=9), PlainSampler(denoiser, Schedule(), steps=9)):
        assert_shares(run(sampler, unknown(800, 5))[..., 1], (0.1, 0.2, 0.3, 0.4))


def test_temperature_and_top_p():
    p = np.array([0.5, 0.3, 0.15, 0.05])
    sampler = elements(constant(*p), steps=6, temperature=0.5)
    assert_shares(run(sampler, unknown(800, 4))[..., 1], p**2 / (p**2).sum())
    sampler = elements(constant(*p), steps=6, top_p=(0.1, 0.75))
    assert_shares(run(sampler, unknown(800, 4))[..., 1], (0.625, 0.375, 0, 0))
    unequal = (np.array([0.5, 0.3, 0.2, 0.0]), *[np.append(p, 0.0)] * 4)
    tokens = run(elements(Constant(unequal), steps=6, top_p=(1.0, 0.4)), unknown(400, 4))
    assert_shares(tokens[..., 0], (0.5, 0.3, 0.2))  # labels have a top-p of their own
    assert (tokens[..., 1:] == 0).all()


def test_only_what_is_due_is_asked():
    denoiser = constant()
    batch = unknown(4, 3)
    for row in (1, 2, 3):
        for slot in range(3):
            give(batch, slot, [0] * 5, rows=row)
    run(elements(denoiser, steps=100), batch)
    assert set(denoiser.asked) == {1}
    assert len(denoiser.asked) <= 15  # 100 steps, but only fifteen tokens


def test_terms_that_read_all_get_what_is_open():
    class Everything:
        reads_all = True

        def __call__(self, rows):
            open_ = (rows.view.state.tokens[0] == MASK).any(axis=1)
            assert (rows.view.index[0][open_] >= 0).all()

    class Noting(Constant):
        def __call__(self, query):
            self.asked.append(query.asked.shape[1])
            return super().__call__(query)

    denoiser, batch = Noting(constant().rows), unknown(1, 4)
    give(batch, 1, [0] * 5)
    run(elements(denoiser, steps=60, terms=[Everything()]), batch)
    sizes = denoiser.asked[::2]  # every other one is the dummy's own note
    assert sizes == sorted(sizes, reverse=True)
    assert set(sizes) == {1, 2, 3}


def test_what_is_known_already_needs_no_network():
    denoiser = constant()
    batch = unknown(2, 2)
    for slot in (0, 1):
        give(batch, slot, [1, 2, 3, 0, 1])
    assert (run(elements(denoiser, steps=10), batch) == [1, 2, 3, 0, 1]).all()
    assert denoiser.asked == []


def test_copying_spreads_labels():
    batch = unknown(10, 4, sizes=(4,) * 5)
    batch.tokens[:, :, 0] = [0, 1, 2, 3]
    batch.fixed[:, :, 0] = True
    tokens = run(elements(Copying(), steps=16), batch)
    assert (tokens == np.arange(4)[None, :, None]).all()


@pytest.mark.parametrize("steps", [3, 30])
def test_a_layout_depends_on_its_own_stream_only(steps):
    sizes = [1, 4, 2, 4, 3, 1]
    rows = tuple(np.append(np.arange(1.0, n + 1) / (n * (n + 1) / 2), 0.0) for n in SIZES)
    sampler = elements(Constant(rows), steps=steps)
    batch = unknown(len(sizes), max(sizes))
    for row, size in enumerate(sizes):
        batch.valid[row, size:] = False
        batch.fixed[row, size:] = True
        batch.tokens[row, size:] = np.array(SIZES)
    together = run(sampler, batch)
    for index, size in enumerate(sizes):
        alone = run(sampler, unknown(1, size), first=index)
        assert np.array_equal(alone[0], together[index, :size])


@pytest.mark.parametrize("steps", [30, 33, 40, 45])
@pytest.mark.parametrize("count", [9, 10])
def test_each_turn_has_a_step_of_its_own_though_levels_are_rounded(steps, count):
    """100 levels do not divide evenly into these steps, and yet no two of a kind share one."""
    states = walk(elements(constant(), steps=steps), unknown(1, count))
    for (_, before), (_, after) in itertools.pairwise(states):
        taken = ((before == MASK) & (after != MASK))[0]
        assert (taken[:, 1:3].sum(axis=1) + taken[:, 3]).max() <= 1
        assert taken.sum(axis=0).max() <= 1

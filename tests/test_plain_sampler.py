"""The paper's sampler against denoisers whose exact answer is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutdm.diffusion import Schedule
from layoutdm.diffusion.grid import grid
from layoutdm.diffusion.plain import PlainSampler
from layoutdm.diffusion.streams import stream
from layoutdm.errors import LayoutdmError
from layoutdm.generator.options import LayoutDMOptions
from layoutdm.terms import Allowed
from sampler_dummies import (
    MASK,
    SIZES,
    Bayes,
    Constant,
    Copying,
    assert_shares,
    constant,
    give,
    run,
    unknown,
    walk,
)

REPLACING = Schedule.preset("mask-and-replace")
SCHEDULES = pytest.mark.parametrize(
    "schedule", [Schedule(), REPLACING], ids=["published", "replacing"]
)


def plain(denoiser, schedule=None, **more):
    return PlainSampler(denoiser, schedule or Schedule(), **more)


# Grids ---------------------------------------------------------------------------------------


@given(st.integers(1, 200), st.data())
def test_a_grid_goes_from_noise_to_data_without_repeats(levels, data):
    steps = data.draw(st.integers(1, levels))
    taken = grid(levels, steps)
    assert len(taken) == steps
    assert taken[0].t == levels and taken[-1].s == 0
    assert all(step.s < step.t == step.level for step in taken)
    assert all(a.s == b.t for a, b in itertools.pairwise(taken))
    assert [step.done for step in taken] == pytest.approx([(i + 1) / steps for i in range(steps)])


@pytest.mark.parametrize(("steps", "share"), [(50, 0.30), (25, 0.16), (20, 0.14), (10, 0.08)])
def test_the_published_skipping_decides_late(steps, share):
    """Share of tokens that are decided in the first half of the steps, as measured elsewhere."""
    schedule, masked = Schedule(), 1.0
    for step in grid(100, steps, published=True)[: steps // 2]:
        masked *= float(schedule.level(step.s).mask / schedule.level(step.t).mask)
    assert 1 - masked == pytest.approx(share, abs=0.012)


@pytest.mark.parametrize("steps", [0, 101])
def test_impossible_numbers_of_steps_are_refused(steps):
    with pytest.raises(LayoutdmError, match="from 1 to 100"):
        grid(100, steps)


# Distributions -------------------------------------------------------------------------------

ROWS = tuple(
    np.append(np.array(p), 0.0)
    for p in (
        (0.6, 0.3, 0.1),
        (0.5, 0.25, 0.2, 0.05),
        (0.97, 0.01, 0.01, 0.01),
        (0.0, 0.5, 0.5, 0.0),
        (0.25, 0.25, 0.25, 0.25),
    )
)


@SCHEDULES
@pytest.mark.parametrize("steps", [1, 3, 20])
def test_with_the_true_posterior_any_number_of_steps_gives_the_true_distribution(schedule, steps):
    tokens = run(plain(Bayes(ROWS, schedule), schedule, steps=steps), unknown(600, 8))
    for m, row in enumerate(ROWS):
        assert_shares(tokens[..., m], row[:-1], f"modality {m}")


@SCHEDULES
def test_padding_is_a_value_like_any_other_where_it_is_allowed(schedule):
    rows = tuple(np.append(row[:-1] * 0.7, 0.3) for row in ROWS)
    pad = np.ones((600, 8), dtype=bool)
    pad[:, :2] = False
    batch = unknown(600, 8, pad=pad)
    sampler = plain(
        Bayes(rows, schedule, draws_pad=True), schedule, terms=[Allowed(batch)], steps=7
    )
    tokens = run(sampler, batch)
    for m, row in enumerate(ROWS):
        assert_shares(tokens[:, 2:, m], rows[m], "may be empty")
        assert_shares(tokens[:, :2, m], row, "must not be empty")


def test_all_hundred_published_steps_agree_with_the_exact_ones():
    rows = tuple(np.append(row[:-1] * 0.99 + 0.01 / (len(row) - 1), 0.0) for row in ROWS)
    rows = tuple(row / row.sum() for row in rows)
    tokens = run(plain(Bayes(rows, Schedule()), published=True), unknown(300, 6))
    for m, row in enumerate(rows):
        assert_shares(tokens[..., m], row[:-1])


def test_the_published_skipping_is_an_approximation():
    """With 10 steps of a network that is unsure at first, late decisions shift the shares."""

    class Unsure(Constant):
        def __call__(self, query):
            late = query.level[0] <= 30
            rows = tuple(row if late else np.append(np.full(len(row) - 1, 1.0), 0) / (len(row) - 1)
                         for row in self.rows)  # fmt: skip
            return Constant(rows)(query)

    exact = run(plain(Unsure(ROWS), steps=10), unknown(400, 8))[..., 2]
    published = run(plain(Unsure(ROWS), steps=10, published=True), unknown(400, 8))[..., 2]
    assert (published == 0).mean() > (exact == 0).mean() + 0.2


def test_steps_that_decide_no_token_do_not_ask_the_network():
    """One token and a hundred steps: one of them decides it."""
    batch = unknown(1, 1)
    batch.fixed[..., 1:], batch.tokens[..., 1:] = True, 0
    network = constant()
    run(plain(network), batch)
    assert len(network.asked) == 1
    run(plain(network, published=True), batch)
    assert len(network.asked) > 10  # its filter acts on MASK, too, so it must ask until then


def test_the_start_is_the_schedules_own_noise():
    for schedule, masked in ((Schedule(), 1.0), (REPLACING, 0.9 / 0.9999)):
        level, tokens = walk(plain(constant(), schedule, steps=2), unknown(400, 8))[0]
        assert level == 100
        share = (tokens == MASK).mean()
        assert abs(share - masked) <= 5 * np.sqrt(masked * (1 - masked) / tokens.size)


@SCHEDULES
def test_a_layout_depends_on_its_own_stream_only(schedule):
    sizes = [1, 4, 2, 4, 3, 1]
    sampler = plain(Bayes(ROWS, schedule), schedule, steps=13)
    batch = unknown(len(sizes), max(sizes))
    for row, size in enumerate(sizes):
        batch.valid[row, size:] = False
        batch.fixed[row, size:] = True
        batch.tokens[row, size:] = np.array(SIZES)
    together = run(sampler, batch)
    for index, size in enumerate(sizes):
        alone = run(sampler, unknown(1, size), first=index)
        assert np.array_equal(alone[0], together[index, :size])


def test_streams_differ_by_seed_index_and_attempt():
    places = itertools.product(range(5), repeat=3)
    assert len({float(stream(*place).random()) for place in places}) == 125
    with pytest.raises(LayoutdmError, match="seed"):
        stream(-1, 0)


# Options -------------------------------------------------------------------------------------


def test_temperature_and_top_p_act_on_the_prediction_of_clean_data():
    p = np.array([0.5, 0.3, 0.15, 0.05])
    cases = [
        ({"temperature": 0.5}, p**2 / (p**2).sum()),
        ({"top_p": (1.0, 0.75)}, np.array([0.625, 0.375, 0, 0])),
        ({"top_p": (1.0, 0.81)}, np.array([0.5, 0.3, 0.15, 0]) / 0.95),
        ({"top_p": (0.1, 1.0)}, p),  # labels have one of their own
    ]
    for options, wanted in cases:
        tokens = run(plain(constant(*p), steps=4, **options), unknown(600, 8))
        assert_shares(tokens[..., 1], wanted, str(options))


def test_the_published_filter_acts_on_mask_and_holds_the_confident_back():
    """A token whose best class has chance q stays masked until t <= (1 - q) / (1 - p)."""
    first = {}
    for q in (0.3, 0.9):
        rest = (1 - q) / 3
        sampler = plain(constant(q, rest, rest, rest), published=True, top_p=(0.95, 0.95))
        for level, tokens in walk(sampler, unknown(50, 8)):
            if q not in first and (tokens[..., 1] != MASK[1]).any():
                first[q] = level
    assert first[0.9] <= 2  # levels count from 1: index 1 of the published code
    assert 10 <= first[0.3] <= 14


def test_remasking_keeps_the_marginals():
    sampler = plain(constant(0.7, 0.1, 0.1, 0.1), steps=20, remask=0.05)
    changed, before = 0, None
    for level, tokens in walk(sampler, unknown(500, 8)):
        share = (tokens == MASK).mean()
        assert abs(share - float(Schedule().level(level).mask)) < 0.025, level
        if before is not None:
            changed += int(((before != MASK) & (tokens == MASK)).sum())
        before = tokens
    assert changed > 1000
    assert_shares(before[..., 1], (0.7, 0.1, 0.1, 0.1))


def test_remasking_needs_a_schedule_that_only_masks_and_the_exact_posterior():
    assert Schedule().only_masks and not REPLACING.only_masks
    for more in ({"schedule": REPLACING}, {"published": True}):
        with pytest.raises(LayoutdmError, match="remask"):
            plain(constant(), remask=0.1, **more)


@pytest.mark.parametrize(
    "wrong",
    [{"label_top_p": 0}, {"label_top_p": 2}, {"temperature": 0}, {"top_p": 0.0}, {"top_p": 1.5},
     {"steps": 0}, {"steps": True}, {"steps": 2.5}, {"remask": 2}, {"sampler": "round"},
     {"temperature": float("nan")}, {"published": "maybe"}, {"keep_apart": 1},
     {"relations": "x"}, {"relation_strength": -1}],
)  # fmt: skip
def test_wrong_options_are_refused_by_name(wrong):
    with pytest.raises(LayoutdmError, match=next(iter(wrong))):
        LayoutDMOptions(**wrong)
    with pytest.raises(LayoutdmError, match="unknown option 'tempo'"):
        LayoutDMOptions().replaced(tempo=1)


# What is fixed -------------------------------------------------------------------------------


@SCHEDULES
@pytest.mark.parametrize("published", [False, True])
def test_fixed_tokens_hold_against_a_network_that_is_sure_of_others(schedule, published):
    rows = tuple(np.append(np.eye(size)[0], 0.0) for size in SIZES)
    batch = unknown(30, 4)
    give(batch, 0, [2, 3, 3, 3, 3])
    sampler = plain(
        Constant(rows), schedule, terms=[Allowed(batch)], steps=10, published=published,
        temperature=0.05,
    )  # fmt: skip
    tokens = run(sampler, batch)
    assert (tokens[:, 0] == [2, 3, 3, 3, 3]).all()
    assert (tokens[:, 1:] == 0).all()


@SCHEDULES
def test_a_network_that_is_sure_of_padding_cannot_remove_elements(schedule):
    rows = tuple(np.append(np.zeros(size), 1.0) for size in SIZES)
    tokens = run(plain(Constant(rows), schedule, steps=5), unknown(20, 3))
    assert (tokens < np.array(SIZES)).all()


def test_copying_spreads_what_is_fixed():
    batch = unknown(10, 4, sizes=(4,) * 5)
    batch.tokens[:, :, 0] = [0, 1, 2, 3]
    batch.fixed[:, :, 0] = True
    tokens = run(plain(Copying(), steps=5), batch)
    assert (tokens == np.arange(4)[None, :, None]).all()


def test_a_walk_shows_every_state_and_decides_each_token_once():
    states = walk(plain(constant(), steps=8), unknown(3, 4))
    assert [level for level, _ in states] == [100, 88, 75, 62, 50, 38, 25, 12, 0]
    assert (states[0][1] == MASK).all() and not (states[-1][1] == MASK).any()
    for (_, before), (_, after) in itertools.pairwise(states):
        decided = before != MASK
        assert np.array_equal(before[decided], after[decided])

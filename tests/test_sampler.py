"""The sampler against denoisers whose exact answer is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.constraints import Edges, Guide, Relation
from layoutdm.diffusion import Schedule
from layoutdm.diffusion.grid import plan
from layoutdm.diffusion.sampler import Sampler, is_absorbing
from layoutdm.diffusion.settings import Settings
from layoutdm.diffusion.streams import stream
from layoutdm.errors import LayoutdmError
from sampler_dummies import MASK, SIZES, Bayes, Constant, Copying, constant, unknown

REPLACING = Schedule.preset("mask-and-replace")
NO_PRIORS = tuple(np.zeros((1, 1, 4)) for _ in range(4))


def streams(count, seed=0):
    return [stream(seed, index) for index in range(count)]


def run(denoiser, known, schedule=None, seed=0, **settings_):
    sampler = Sampler(denoiser, schedule or Schedule(), Settings(**settings_))
    return sampler.run(known, streams(len(known.tokens), seed))


def assert_shares(values, wanted, name=""):
    """Counts agree with the wanted shares within five standard deviations."""
    total = values.size
    for value, share in enumerate(wanted):
        found = (values == value).sum()
        spread = 5 * np.sqrt(total * share * (1 - share)) + 1e-9
        assert abs(found - total * share) <= spread, (name, value, found / total, share)


# Grids ---------------------------------------------------------------------------------------


@given(st.integers(1, 200), st.data(), st.sampled_from(["uniform", "cosine"]))
def test_a_plan_goes_from_noise_to_data_without_repeats(levels, data, grid):
    steps = data.draw(st.integers(1, levels))
    taken = plan(levels, steps, grid)
    assert len(taken) == steps
    assert taken[0].t == levels and taken[-1].s == 0
    assert all(step.s < step.t == step.level for step in taken)
    assert all(a.s == b.t for a, b in itertools.pairwise(taken))


def test_the_cosine_grid_decides_little_at_first():
    first, last = plan(100, 10, "cosine")[0], plan(100, 10, "cosine")[-1]
    assert first.t - first.s < 5 < last.t - last.s


@pytest.mark.parametrize(("steps", "share"), [(50, 0.30), (25, 0.16), (20, 0.14), (10, 0.08)])
def test_the_published_skipping_decides_late(steps, share):
    """Share of tokens that are decided in the first half of the steps, as measured elsewhere."""
    schedule, masked = Schedule(), 1.0
    for step in plan(100, steps, published=True)[: steps // 2]:
        masked *= float(schedule.level(step.s).mask / schedule.level(step.t).mask)
    assert 1 - masked == pytest.approx(share, abs=0.012)


@pytest.mark.parametrize("steps", [0, 101])
def test_impossible_numbers_of_steps_are_refused(steps):
    with pytest.raises(LayoutdmError, match="from 1 to 100"):
        plan(100, steps)


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


@pytest.mark.parametrize("schedule", [Schedule(), REPLACING], ids=["published", "replacing"])
@pytest.mark.parametrize(("steps", "grid"), [(1, "uniform"), (3, "cosine"), (20, "uniform")])
def test_with_the_true_posterior_any_number_of_steps_gives_the_true_distribution(
    schedule, steps, grid
):
    denoiser = Bayes(ROWS, schedule)
    tokens = run(denoiser, unknown(600, 8), schedule, steps=steps, grid=grid)
    for m, row in enumerate(ROWS):
        assert_shares(tokens[..., m], row[:-1], f"modality {m}")


def test_padding_is_a_value_like_any_other_where_it_is_allowed():
    rows = tuple(np.append(row[:-1] * 0.7, 0.3) for row in ROWS)
    for schedule in (Schedule(), REPLACING):
        pad = np.ones((600, 8), dtype=bool)
        pad[:, :2] = False
        tokens = run(Bayes(rows, schedule), unknown(600, 8, pad=pad), schedule, steps=7)
        for m, row in enumerate(ROWS):
            assert_shares(tokens[:, 2:, m], rows[m], "may be empty")
            assert_shares(tokens[:, :2, m], row, "must not be empty")


def test_all_hundred_published_steps_agree_with_the_exact_ones():
    rows = tuple(np.append(row[:-1] * 0.99 + 0.01 / (len(row) - 1), 0.0) for row in ROWS)
    rows = tuple(row / row.sum() for row in rows)
    tokens = run(Bayes(rows, Schedule()), unknown(300, 6), posterior="published")
    for m, row in enumerate(rows):
        assert_shares(tokens[..., m], row[:-1])


def test_the_start_is_the_schedules_own_noise():
    known = unknown(400, 8)
    for schedule, masked in ((Schedule(), 1.0), (REPLACING, 0.9 / 0.9999)):
        sampler = Sampler(constant(), schedule, Settings(steps=2))
        start = next(sampler.walk(known, streams(400)))
        assert start.level == 100
        share = (start.tokens == MASK).mean()
        assert abs(share - masked) <= 5 * np.sqrt(masked * (1 - masked) / start.tokens.size)


# Two ways of stepping ------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**40), st.sampled_from([0.0, 0.1]))
def test_the_quick_and_the_general_step_draw_the_same_tokens(steps, seed, remask):
    priors = tuple(np.zeros((5, 3, 4)) for _ in range(4))
    quick = run(constant(0.1, 0.2, 0.3, 0.4), unknown(5, 3), seed=seed, steps=steps, remask=remask)
    general = run(
        constant(0.1, 0.2, 0.3, 0.4), unknown(5, 3, priors=priors), seed=seed, steps=steps,
        remask=remask,
    )  # fmt: skip
    assert np.array_equal(quick, general)


def test_guided_steps_draw_the_same_tokens_quickly_and_generally():
    centres = [np.array([0.1, 0.3, 0.6, 0.9])] * 4
    edges = Edges.from_arrays(5, [0, 1, 3], [1, 0, 2], [Relation.ABOVE] * 3, [0, 2, 1])
    tokens = [
        run(
            constant(0.1, 0.2, 0.3, 0.4),
            unknown(5, 3, guide=Guide(edges, centres), priors=priors),
            steps=steps,
            relation_strength=strength,
        )
        for steps in (1, 12)
        for strength in (0.0, 50.0)
        for priors in (None, NO_PRIORS)
    ]
    for quick, general in zip(tokens[::2], tokens[1::2], strict=True):
        assert np.array_equal(quick, general)
    assert not np.array_equal(tokens[4], tokens[6])  # guidance does something
    assert np.array_equal(tokens[4][2], tokens[6][2])  # but not to layouts without a relation


def test_lazy_asks_less_and_draws_the_same():
    lazy, eager = constant(), constant()
    a = run(lazy, unknown(4, 3), lazy=True)
    b = run(eager, unknown(4, 3), lazy=False)
    assert np.array_equal(a, b)
    assert sum(lazy.asked) < 0.5 * sum(eager.asked)
    assert eager.asked == [4] * 100


def test_a_layout_depends_on_its_own_stream_only():
    sizes = [1, 4, 2, 4, 3, 1]
    slots = max(sizes)
    for schedule in (Schedule(), REPLACING):
        denoiser = Bayes(ROWS, schedule)
        known = unknown(len(sizes), slots)
        for row, size in enumerate(sizes):
            known.valid[row, size:] = False
            known.fixed[row, size:] = True
            known.tokens[row, size:] = np.array(SIZES)
        together = run(denoiser, known, schedule, steps=13)
        for index, size in enumerate(sizes):
            sampler = Sampler(denoiser, schedule, Settings(steps=13))
            alone = sampler.run(unknown(1, size), [stream(0, index)])
            assert np.array_equal(alone[0], together[index, :size])


def test_streams_differ_by_seed_index_and_attempt():
    firsts = {
        float(stream(seed, index, attempt).random())
        for seed in range(5)
        for index in range(5)
        for attempt in range(5)
    }
    assert len(firsts) == 125
    with pytest.raises(LayoutdmError, match="seed"):
        stream(-1, 0)


# Settings ------------------------------------------------------------------------------------


def test_temperature_and_filters_act_on_the_prediction_of_clean_data():
    p = np.array([0.5, 0.3, 0.15, 0.05])
    cases = [
        ({"temperature": 0.5}, p**2 / (p**2).sum()),
        ({"top_k": 2}, np.array([0.625, 0.375, 0, 0])),
        ({"top_p": 0.75}, np.array([0.625, 0.375, 0, 0])),
        ({"top_p": 0.81}, np.array([0.5, 0.3, 0.15, 0]) / 0.95),
    ]
    for options, wanted in cases:
        for known in (unknown(600, 8), unknown(600, 8, priors=NO_PRIORS)):
            tokens = run(constant(*p), known, steps=4, **options)
            assert_shares(tokens[..., 1], wanted, str(options))


def test_the_published_filter_acts_on_mask_and_holds_the_confident_back():
    """A token whose best class has chance q stays masked until t <= (1 - q) / (1 - p)."""
    first = {}
    for q in (0.3, 0.9):
        rest = (1 - q) / 3
        known = unknown(50, 8)
        sampler = Sampler(
            constant(q, rest, rest, rest),
            Schedule(),
            Settings(posterior="published", filter="published", top_p=0.95),
        )
        for state in sampler.walk(known, streams(50)):
            if q not in first and (state.tokens[..., 1] != MASK[1]).any():
                first[q] = state.level
    assert first[0.9] <= 2  # levels count from 1: index 1 of the published code
    assert 10 <= first[0.3] <= 14


def test_remasking_keeps_the_marginals():
    for form, chance in (("cap", 0.05), ("rescale", 0.3)):
        known = unknown(500, 8)
        sampler = Sampler(
            constant(0.7, 0.1, 0.1, 0.1),
            Schedule(),
            Settings(steps=20, remask=chance, remask_form=form),
        )
        changed, before = 0, None
        for state in sampler.walk(known, streams(500)):
            share = (state.tokens == MASK).mean()
            wanted = float(Schedule().level(state.level).mask)
            assert abs(share - wanted) < 0.025, (form, state.level)
            if before is not None:
                changed += int(((before != MASK) & (state.tokens == MASK)).sum())
            before = state.tokens.copy()
        assert changed > 1000
        assert_shares(state.tokens[..., 1], (0.7, 0.1, 0.1, 0.1))


def test_remasking_needs_a_schedule_that_only_masks():
    assert is_absorbing(Schedule()) and not is_absorbing(REPLACING)
    with pytest.raises(LayoutdmError, match="remask"):
        Sampler(constant(), REPLACING, Settings(remask=0.1))


@pytest.mark.parametrize(
    "wrong",
    [{"ordered": "maybe"}, {"lazy": 1}, {"label_top_p": 0}, {"label_top_p": 2},
     {"temperature": 0}, {"top_p": 0.0}, {"top_p": 1.5}, {"top_k": -1}, {"steps": 0},
     {"grid": "round"}, {"remask": 2}, {"relation_range": (0.5, 0.1)}, {"steps": True},
     {"steps": 2.5}, {"temperature": float("nan")}],
)  # fmt: skip
def test_wrong_settings_are_refused_by_name(wrong):
    with pytest.raises(LayoutdmError, match=next(iter(wrong))):
        Settings(**wrong)
    with pytest.raises(LayoutdmError, match="unknown sampling setting 'tempo'"):
        Settings().replaced(tempo=1)


# Constraints ---------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", [Schedule(), REPLACING], ids=["published", "replacing"])
@pytest.mark.parametrize("posterior", ["exact", "published"])
@pytest.mark.parametrize("priors", [False, True])
def test_fixed_tokens_and_allowed_labels_hold_against_a_network_that_is_sure_of_others(
    schedule, posterior, priors
):
    rows = tuple(np.append(np.eye(size)[0], 0.0) for size in SIZES)
    known = unknown(30, 4, priors=NO_PRIORS if priors else None)
    known.tokens[:, 0] = [2, 3, 3, 3, 3]
    known.fixed[:, 0] = True
    allowed = np.ones((30, 4, 3), dtype=bool)
    allowed[:, 1] = [False, True, True]
    known = unknown(
        30, 4, tokens=known.tokens, fixed=known.fixed, labels=allowed, priors=known.priors
    )
    tokens = run(Constant(rows), known, schedule, steps=10, posterior=posterior, temperature=0.05)
    assert (tokens[:, 0] == [2, 3, 3, 3, 3]).all()
    assert set(np.unique(tokens[:, 1, 0])) <= {1, 2}
    assert (tokens[:, 2:] == 0).all()


def test_a_network_that_is_sure_of_padding_cannot_remove_elements():
    rows = tuple(np.append(np.zeros(size), 1.0) for size in SIZES)
    for schedule in (Schedule(), REPLACING):
        tokens = run(Constant(rows), unknown(20, 3), schedule, steps=5)
        assert (tokens < np.array(SIZES)).all()


def test_copying_spreads_what_is_fixed():
    known = unknown(10, 4, sizes=(4,) * 5)
    known.tokens[:, :, 0] = [0, 1, 2, 3]
    known.fixed[:, :, 0] = True
    tokens = run(Copying(), known, steps=5)
    assert (tokens == np.arange(4)[None, :, None]).all()


def test_priors_shift_the_odds_by_their_exponential():
    prior = np.zeros((800, 8, 4))
    prior[..., 0] = np.log(3.0)
    none = np.zeros((800, 8, 4))
    tokens = run(
        constant(0.25, 0.25, 0.25, 0.25), unknown(800, 8, priors=(prior, none, none, none)), steps=1
    )
    assert_shares(tokens[..., 1], (0.5, 1 / 6, 1 / 6, 1 / 6))
    assert_shares(tokens[..., 2], (0.25,) * 4)


def test_guidance_runs_between_posterior_and_draw_in_its_range_of_levels():
    class Push:
        levels = 0

        def update(self, log_probabilities, strength, updates, *, move_sizes):
            assert (strength, updates) == (7.0, 2)
            self.levels += 1
            log_probabilities[0][..., 1:] = -1e3

    guide = Push()
    known = unknown(20, 3, guide=guide)
    tokens = run(
        constant(),
        known,
        steps=10,
        relation_range=(0.0, 1.0),
        relation_strength=7.0,
        relation_updates=2,
    )
    assert guide.levels == 10
    assert (tokens[..., 1] == 0).all()
    assert len(np.unique(tokens[..., 2])) == 4
    guide.levels = 0
    run(constant(), known, steps=10, relation_range=(0.35, 0.8), relation_strength=7.0,
        relation_updates=2)  # fmt: skip
    assert guide.levels == 5  # levels 80, 70, 60, 50, 40


def test_a_trace_shows_every_state_and_decides_each_token_once():
    sampler = Sampler(constant(), Schedule(), Settings(steps=8))
    states = [(s.level, s.tokens.copy()) for s in sampler.walk(unknown(3, 4), streams(3))]
    assert [level for level, _ in states] == [100, 88, 75, 62, 50, 38, 25, 12, 0]
    assert (states[0][1] == MASK).all() and not (states[-1][1] == MASK).any()
    for (_, before), (_, after) in itertools.pairwise(states):
        decided = before != MASK
        assert np.array_equal(before[decided], after[decided])


def test_one_element_after_the_other_in_the_order_of_label_size_place():
    known = unknown(3, 4)
    known.tokens[1, 2, :] = 0  # an element that is known takes no turn
    known.fixed[1, 2, :] = True
    sampler = Sampler(constant(), Schedule(), Settings(steps=20, order="elements"))
    before, turns = None, [[], [], []]
    for state in sampler.walk(known, [stream(0, i) for i in range(3)]):
        masked = state.tokens == MASK
        if before is not None:
            for layout, slot, attribute in zip(*np.nonzero(before & ~masked), strict=True):
                turns[layout].append((slot, attribute))
        before = masked
    assert not before.any()
    for layout, slots in enumerate(([0, 1, 2, 3], [0, 1, 3], [0, 1, 2, 3])):
        assert [slot for slot, _ in turns[layout]] == sorted(slot for slot, _ in turns[layout])
        assert {slot for slot, _ in turns[layout]} == set(slots)
    # 20 steps, 20 tokens: one a step, so the order within an element shows too.
    assert turns[0][:5] == [(0, 0), (0, 3), (0, 4), (0, 1), (0, 2)]


def test_the_order_does_not_change_the_distribution_of_independent_tokens():
    known = unknown(4000, 2)
    rows = run(constant(0.1, 0.2, 0.3, 0.4), known, steps=7, order="elements")
    shares = np.bincount(rows[..., 1].ravel(), minlength=4) / rows[..., 1].size
    assert shares == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=0.02)

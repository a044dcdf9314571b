"""The algebra against explicit transition matrices and against the published recursion."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.diffusion import Mass, Schedule, corrupt, jump, posterior
from layoutdm.errors import LayoutdmError
from layoutdm.train.losses import masses

PRESETS = ("published", "mask-and-replace")
Floats = np.ndarray


def step_matrix(schedule: Schedule, t: int, states: int) -> Floats:
    """Q_t[to, from] of one step, from the definition: MASK absorbs, the rest keeps or moves.

    Made from the schedule's four numbers alone and in extended precision, because 1 - alpha -
    gamma loses half of the digits where the replace mass is 1e-6.
    """
    first = np.array([schedule.keep_first, schedule.mask_first], dtype=np.longdouble)
    last = np.array([schedule.keep_last, schedule.mask_last], dtype=np.longdouble)

    def cumulative(level: int) -> Floats:
        if level == 0:
            return np.array([1, 0], dtype=np.longdouble)
        share = np.longdouble(level - 1) / (schedule.steps - 1)
        return np.asarray(first + (last - first) * share)

    (keep_s, mask_s), (keep_t, mask_t) = cumulative(t - 1), cumulative(t)
    keep = keep_t / keep_s
    mask = 1 - (1 - mask_t) / (1 - mask_s)
    replace = 1 - keep - mask
    matrix = np.zeros((states + 1, states + 1), dtype=np.longdouble)
    matrix[:states, :states] = replace / states
    matrix[np.arange(states), np.arange(states)] += keep
    matrix[states, :states] = mask
    matrix[states, states] = 1
    return matrix


def explicit_posterior(p0: Floats, zt: int, schedule: Schedule, s: int, t: int) -> Floats:
    """Bayes' rule with whole matrices: sum_j p0_j Q(z_t | z_s) Q(z_s | j) / Q(z_t | j)."""
    states = len(p0)
    to_s, s_to_t = (np.eye(states + 1, dtype=np.longdouble) for _ in range(2))
    for u in range(1, s + 1):
        to_s = step_matrix(schedule, u, states) @ to_s
    for u in range(s + 1, t + 1):
        s_to_t = step_matrix(schedule, u, states) @ s_to_t
    to_t = s_to_t @ to_s
    joint = s_to_t[zt][:, None] * to_s[:, :states]  # (z_s, j)
    return (joint / to_t[zt, :states]) @ p0


def random_p0(rng: np.random.Generator, states: int) -> Floats:
    return rng.dirichlet(np.full(states, 0.5))


@pytest.mark.parametrize("name", PRESETS)
def test_every_jump_of_a_short_schedule(name: str) -> None:
    schedule, rng, states = Schedule.preset(name, 6), np.random.default_rng(0), 4
    for t in range(1, 7):
        for s in range(t + 1):
            for zt in range(states + 1):
                p0 = random_p0(rng, states)
                expected = explicit_posterior(p0, zt, schedule, s, t)
                got = jump(p0, np.array(zt), schedule, s, t)
                assert np.allclose(got, expected, rtol=0, atol=1e-10), (t, s, zt)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize(("states", "pairs"), [(6, 12), (33, 6), (154, 1)])
def test_random_jumps_of_the_full_schedule(name: str, states: int, pairs: int) -> None:
    """154 states are the joint vocabulary, which uses the same functions."""
    schedule, rng = Schedule.preset(name), np.random.default_rng(states)
    for _ in range(pairs):
        t = int(rng.integers(1, 101))
        s, zt = int(rng.integers(0, t + 1)), int(rng.choice([0, states - 1, states]))
        p0 = random_p0(rng, states)
        expected = explicit_posterior(p0, zt, schedule, s, t)
        assert np.allclose(jump(p0, np.array(zt), schedule, s, t), expected, rtol=0, atol=1e-10)


def published_step(p0: Floats, zt: int, schedule: Schedule, t: int) -> Floats:
    """The recursion of the released code, in logarithms: normalise, mix, add log Z back."""
    states, floor = len(p0), 1e-30
    now, before, one = schedule.level(t), schedule.level(t - 1), schedule.between(t - 1, t)
    index = np.arange(states)
    if zt == states:
        log_qbar = np.full(states, np.log(now.mask))
        log_one = np.append(np.full(states, np.log(one.mask)), 0.0)
    else:
        log_qbar = np.log((index == zt) * now.keep + now.replace / states)
        log_one = np.log(np.append((index == zt) * one.keep + one.replace / states, floor))
    log_r = np.log(np.maximum(p0, floor)) - log_qbar
    log_z = np.logaddexp.reduce(log_r)
    log_r = log_r - log_z
    replaced = np.log(np.maximum(before.replace / states, 1e-300))
    inner = np.append(
        np.logaddexp(log_r + np.log(before.keep), replaced), np.log(max(before.mask, 1e-300))
    )
    return np.exp(inner + log_one + log_z)


@pytest.mark.parametrize("name", PRESETS)
def test_one_step_equals_the_published_recursion(name: str) -> None:
    schedule, rng = Schedule.preset(name), np.random.default_rng(3)
    for t in (1, 2, 37, 99, 100):
        for zt in (0, 7, 33):
            p0 = random_p0(rng, 33)
            expected = published_step(p0, zt, schedule, t)
            got = jump(p0, np.array(zt), schedule, t - 1, t)
            assert np.allclose(got, expected, rtol=0, atol=1e-10), (t, zt)


@pytest.mark.parametrize("name", PRESETS)
def test_the_last_step_is_the_prediction_itself(name: str) -> None:
    schedule, rng = Schedule.preset(name), np.random.default_rng(4)
    for t in (1, 10, 100):
        for zt in (0, 5, 8):
            p0 = random_p0(rng, 8)
            got = jump(p0, np.array(zt), schedule, 0, t)
            assert np.allclose(got, [*p0, 0.0], rtol=0, atol=1e-10)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 100), st.floats(0, 1), st.integers(0, 5), st.sampled_from(PRESETS),
       st.floats(0.1, 1.0))  # fmt: skip
def test_posterior_is_a_distribution_with_the_mass_of_p0(
    t: int, share: float, zt: int, name: str, mass: float
) -> None:
    p0 = mass * random_p0(np.random.default_rng(t), 5)
    got = jump(p0, np.array(zt), Schedule.preset(name), int(share * t), t)
    assert (got >= 0).all()
    assert got.sum() == pytest.approx(mass, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 100), st.integers(0, 100), st.sampled_from(PRESETS))
def test_two_jumps_of_the_forward_process_are_one(a: int, b: int, name: str) -> None:
    s, t = sorted((a, b))
    schedule = Schedule.preset(name)
    low, step, high = schedule.level(s), schedule.between(s, t), schedule.level(t)
    assert float(low.keep * step.keep) == pytest.approx(float(high.keep), abs=1e-12)
    masked = float(low.mask + (1 - low.mask) * step.mask)
    assert masked == pytest.approx(float(high.mask), abs=1e-12)
    assert sum(float(part) for part in step) == pytest.approx(1, abs=1e-9)


def test_published_numbers() -> None:
    schedule = Schedule()
    assert [float(v) for v in schedule.level(0)] == [1, 0, 0]
    every = schedule.level(np.arange(1, 101))
    assert np.allclose(every.replace, 1e-6, atol=1e-12)
    assert float(schedule.between(1, 2).mask) == pytest.approx(0.0101, abs=1e-4)
    assert float(schedule.between(99, 100).mask) == pytest.approx(0.9990, abs=1e-4)
    assert float(Schedule.preset("mask-and-replace").level(100).replace) == pytest.approx(0.0999)


def test_bad_schedules_are_refused() -> None:
    with pytest.raises(LayoutdmError, match="from 1 to"):
        Schedule(steps=0)
    with pytest.raises(LayoutdmError, match="must rise"):
        Schedule(mask_first=0.9, mask_last=0.1, keep_first=0.1)
    with pytest.raises(LayoutdmError, match="together at most 1"):
        Schedule(keep_first=0.9, mask_first=0.5)
    with pytest.raises(LayoutdmError, match="choose published"):
        Schedule.preset("other")
    assert Schedule.from_dict(Schedule(steps=7).to_dict()) == Schedule(steps=7)


def test_torch_and_numpy_give_the_same_in_one_call_for_mixed_levels() -> None:
    schedule, rng = Schedule.preset("mask-and-replace"), np.random.default_rng(5)
    t = torch.tensor([1, 40, 100])
    p0 = rng.dirichlet(np.ones(4), (3, 2))
    zt = rng.integers(0, 5, (3, 2))
    got = posterior(torch.from_numpy(p0), torch.from_numpy(zt), *masses(schedule, t - 1, t))
    assert got.dtype == torch.float64
    for b, level in enumerate(t.tolist()):
        expected = jump(p0[b], zt[b], schedule, level - 1, level)
        assert np.allclose(got[b].numpy(), expected, rtol=0, atol=1e-12)


def test_a_schedule_without_replacement_has_no_division_by_zero() -> None:
    schedule = Schedule(4, 0.75, 0.0, 0.25, 1.0)
    p0 = np.array([0.2, 0.8])
    with np.errstate(all="raise"):
        seen = jump(p0, np.array(1), schedule, 1, 3)
    assert seen.tolist() == pytest.approx([0, 0.8, 0])  # the mass on the impossible state is lost
    hidden = jump(p0, np.array(2), schedule, 2, 4)
    assert hidden.tolist() == pytest.approx([0.1, 0.4, 0.5])


@pytest.mark.parametrize("name", PRESETS)
def test_corruption_has_the_right_frequencies(name: str) -> None:
    schedule, rng, states, count = Schedule.preset(name), np.random.default_rng(6), 3, 200_000
    keep, mask, replace = (float(v) for v in schedule.level(60))
    clean = np.zeros(count, dtype=np.int64)
    noisy = corrupt(clean, Mass(keep, mask, replace), states, *rng.random((2, count)))
    found = np.bincount(noisy, minlength=states + 1) / count
    expected = [keep + replace / 3, replace / 3, replace / 3, mask]
    assert np.allclose(found, expected, atol=0.005)


def test_masked_tokens_stay_masked() -> None:
    clean = np.array([3, 3, 0])
    noisy = corrupt(clean, Mass(0.0, 0.0, 1.0), 3, np.full(3, 0.5), np.array([0.0, 0.99, 0.99]))
    assert noisy.tolist() == [3, 3, 2]

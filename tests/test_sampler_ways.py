"""The quick way to take a step and the general one draw the same."""

from __future__ import annotations

import numpy as np
import pytest

from layoutdm.diffusion import Schedule
from layoutdm.diffusion.dense import DenseStep
from layoutdm.diffusion.reveal import RevealStep
from layoutdm.diffusion.sampler import Sampler
from layoutdm.diffusion.settings import Settings
from layoutdm.diffusion.streams import stream
from sampler_dummies import Constant, constant, unknown


@pytest.mark.parametrize(
    "more",
    [{}, {"top_p": 0.7}, {"top_p": 0.4, "label_top_p": 0.9}, {"top_k": 2, "temperature": 0.5}],
)
def test_only_looking_at_tokens_that_may_change_draws_the_same_with_priors(more):
    rng = np.random.default_rng(0)
    priors = tuple(rng.normal(0, 3, (40, 5, 4)) * (rng.random((40, 5, 1)) < 0.4) for _ in range(4))
    known = unknown(40, 5, priors=priors)
    network, schedule = constant(0.4, 0.3, 0.2, 0.1), Schedule()
    drawn = []
    for kind in (DenseStep, RevealStep):
        sampler = Sampler(network, schedule, Settings(steps=10, **more))
        sampler._stepper = lambda known, kind=kind, sampler=sampler: kind(
            network, schedule, sampler.settings, known, True
        )
        drawn.append(sampler.run(known, [stream(0, i) for i in range(40)]))
    assert (drawn[0] == drawn[1]).all()


@pytest.mark.parametrize(
    ("kind", "filter"),
    [(DenseStep, "prediction"), (DenseStep, "published"), (RevealStep, "prediction")],
)
def test_labels_may_have_a_top_p_of_their_own(kind, filter):
    rows = (np.array([0.5, 0.3, 0.2, 0.0]), *[np.array([0.5, 0.3, 0.15, 0.05, 0.0])] * 4)
    network, schedule = Constant(rows), Schedule()
    settings = Settings(steps=10, top_p=0.4, label_top_p=1.0, filter=filter)
    sampler = Sampler(network, schedule, settings)
    sampler._stepper = lambda known: kind(network, schedule, settings, known, True)
    drawn = sampler.run(unknown(400, 5, (3, 4, 4, 4, 4)), [stream(0, i) for i in range(400)])
    shares = np.bincount(drawn[..., 0].ravel(), minlength=3) / 2000
    if filter == "prediction":
        assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.04)
    assert shares.min() > 0.01
    assert np.all(drawn[..., 1:] == 0)


@pytest.mark.parametrize("order", ["random", "elements"])
@pytest.mark.parametrize("kind", [DenseStep, RevealStep])
def test_centres_and_sizes_are_drawn_so_that_boxes_fit(kind, order):
    """The network loves the last value of everything; which of a pair comes first is by chance."""
    love = np.array([0.04, 0.03, 0.03, 0.9, 0.0])
    network, schedule = Constant((np.array([0.4, 0.3, 0.3, 0.0]), *[love] * 4)), Schedule()
    fits = np.ones((4, 4), dtype=bool)
    fits[2:, 2:] = False  # large sizes and late centres do not go together
    nobody = np.ones((4, 4), dtype=bool)
    nobody[3] = False  # the largest height goes with no y: then any y will do
    known = unknown(200, 4, on_canvas=(fits, nobody))
    settings = Settings(steps=100, order=order)
    sampler = Sampler(network, schedule, settings)
    sampler._stepper = lambda known: kind(network, schedule, settings, known, True)
    seen = None
    together = np.zeros((200, 4), dtype=bool)  # x and width decided in the same step
    for state in sampler.walk(known, [stream(0, i) for i in range(200)]):
        masked = state.tokens == 5
        if seen is not None:
            together |= (seen & ~masked)[..., 1] & (seen & ~masked)[..., 3]
        seen = masked
    drawn = state.tokens
    apart = ~together
    assert apart.mean() > 0.9
    assert fits[drawn[..., 3], drawn[..., 1]][apart].all()
    assert (drawn[..., 2] == 3).mean() > 0.8  # and y's largest value is not lost
    free = sampler.run(unknown(200, 4), [stream(0, i) for i in range(200)])
    assert not fits[free[..., 3], free[..., 1]].all()


@pytest.mark.parametrize("steps", [30, 33, 40, 45])
@pytest.mark.parametrize("elements", [9, 10])
def test_each_turn_has_a_step_of_its_own_though_levels_are_rounded(steps, elements):
    """Nine elements take 28 turns, ten 31; 100 levels do not divide evenly into these steps."""
    turns = 3 * elements + 1
    sampler = Sampler(constant(), Schedule(), Settings(steps=steps, order="elements"))
    decided, before = [], None
    for state in sampler.walk(unknown(1, elements), [stream(0, 0)]):
        masked = state.tokens[0] == np.array([4, 5, 5, 5, 5])
        if before is not None and (before & ~masked).any():
            decided.append(before & ~masked)
        before = masked
    assert len(decided) == min(turns, steps)
    for taken in decided:  # never two of x, y and size of one element, and never two of a kind
        assert (taken[:, 1:3].sum(axis=1) + taken[:, 3]).max() <= 1
        assert taken.sum(axis=0).max() <= 1

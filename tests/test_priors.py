"""The priors near a value, against their formulas for single bins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.spec import Condition, Spec
from layoutdm.spec.priors import NO_PRIOR, Prior
from layoutdm.terms.priors import condition_priors, log_prior

CENTRES = np.linspace(0.03, 0.97, 12)


def slow(centre: float, about: float, m: float, weight: float, prior: Prior) -> float:
    about = min(max(about, CENTRES[0]), CENTRES[-1])
    nearest = min(CENTRES, key=lambda c: abs(c - about))
    if prior.name.endswith("CODE"):
        about = nearest
    d = abs(centre - about)
    if prior in (Prior.DEFAULT_PAPER, Prior.DEFAULT_CODE):
        return weight if d < m else 0.0
    if prior == Prior.GAUSSIAN_PAPER:
        return weight * d * d if d < m else 0.0
    if prior == Prior.GAUSSIAN_CODE:
        return -weight * d * d
    if prior == Prior.NEGATION_PAPER:
        return 0.0 if d < m or centre == nearest else -math.inf
    return 0.0 if d < m else -weight


@given(st.floats(-0.3, 1.3), st.floats(0.01, 0.9), st.floats(0.1, 9), st.sampled_from(list(Prior)))
@settings(max_examples=200, deadline=None)
def test_each_prior_is_its_formula(about: float, m: float, weight: float, prior: Prior) -> None:
    got = log_prior(CENTRES, about, m, weight, prior)
    wanted = [slow(float(c), about, m, weight, prior) for c in CENTRES]
    np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert np.isfinite(got).any()


def test_broadcasts_and_leaves_free_values_alone() -> None:
    about = np.array([[0.2, np.nan], [0.5, 0.9]])
    kinds = np.array([[Prior.DEFAULT_PAPER, Prior.DEFAULT_CODE], [NO_PRIOR, Prior.GAUSSIAN_CODE]])
    got = log_prior(CENTRES, about, 0.1, 2.0, kinds)
    assert got.shape == (2, 2, 12)
    assert got[0, 0].max() == 2.0
    assert not got[0, 1].any()
    assert not got[1, 0].any()
    assert got[1, 1].argmax() == np.abs(CENTRES - 0.9).argmin()


def test_default_uses_the_exact_value_and_the_code_form_the_nearest_bin() -> None:
    centres = np.array([0.0, 0.2, 0.3])
    assert log_prior(centres, 0.12, 0.1, 1.0).tolist() == [0.0, 1.0, 0.0]
    code = log_prior(centres, 0.12, 0.11, 1.0, Prior.DEFAULT_CODE)
    assert code.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("kind", "form", "prior"),
    [
        ("default", None, Prior.DEFAULT_PAPER),
        ("gaussian", None, Prior.GAUSSIAN_CODE),
        ("gaussian", "paper", Prior.GAUSSIAN_PAPER),
        ("negation", "code", Prior.NEGATION_CODE),
    ],
)
def test_a_request_selects_its_prior(kind: str, form: str | None, prior: Prior) -> None:
    wish = {"about": 0.4, "within": 0.2, "strength": 5, "prior": kind, "form": form}
    spec = Spec.parse({"elements": [{"label": "text"}, {"label": "text", "width": wish}]})
    condition = Condition.from_spec(spec, ("text",), 25)
    assert condition.prior.tolist() == [[-1] * 4, [-1, -1, prior, -1]]
    priors = condition_priors(condition, [CENTRES] * 4)
    assert priors is not None
    np.testing.assert_array_equal(priors[2][1], log_prior(CENTRES, 0.4, 0.2, 5, prior))
    assert not any(priors[a].any() for a in (0, 1, 3))


def test_nothing_to_add_is_none() -> None:
    condition = Condition.from_spec(Spec(), ("text",), 25)
    assert condition_priors(condition, [CENTRES] * 4) is None

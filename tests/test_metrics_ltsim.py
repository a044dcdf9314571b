"""LTSim against linear programming, and what must hold for any pair of layouts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from layoutdm import Layout, LayoutdmError, metrics
from layoutdm.metrics.ltsim import transport_cost


def by_programming(cost: np.ndarray) -> float:
    n, m = cost.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    found = linprog(
        cost.ravel(), A_eq=np.vstack([rows, columns]),
        b_eq=np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)]),
    )  # fmt: skip
    return float(found.fun)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 10**6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_cheapest_way_is_that_of_linear_programming(n, m, seed, coarse):
    cost = np.random.default_rng(seed).random((n, m))
    cost = cost.round(1) if coarse else cost  # many ways cost the same
    assert transport_cost(cost) == pytest.approx(by_programming(cost), abs=1e-9)


def pack(layouts):
    return metrics.pack(layouts, ["a", "b"])


def test_a_copy_is_one_and_a_shift_is_less():
    page = Layout.create(["a", "b"], [[0.3, 0.3, 0.2, 0.2], [0.6, 0.7, 0.4, 0.2]])
    moved = Layout.create(["a", "b"], [[0.4, 0.3, 0.2, 0.2], [0.6, 0.7, 0.4, 0.2]])
    other = Layout.create(["b", "b"], [[0.4, 0.3, 0.2, 0.2], [0.6, 0.7, 0.4, 0.2]])
    same, near, far = metrics.ltsims(pack([page, moved, other]), pack([page] * 3))
    assert same == 1.0 > near > far > np.exp(-1)


def test_the_formula_for_one_element_each():
    """GIoU of two boxes side by side: nothing shared, half of the box around them is theirs."""
    first = Layout.create(["a"], [[0.125, 0.5, 0.25, 1.0]])
    second = Layout.create(["b"], [[0.875, 0.5, 0.25, 1.0]])
    cost = 0.5 * (1 - (-0.5 + 1) / 2) + 0.5
    assert metrics.ltsim(pack([first]), pack([second])) == pytest.approx(np.exp(-cost))


def test_an_empty_layout_and_sets_of_other_lengths():
    page = Layout.create(["a"], [[0.5, 0.5, 0.2, 0.2]])
    nothing = Layout.create([], np.zeros((0, 4)))
    found = metrics.ltsims(pack([nothing, page]), pack([page, page]))
    assert found == pytest.approx([np.exp(-1), 1.0])
    with pytest.raises(LayoutdmError, match="as many of both"):
        metrics.ltsims(pack([page]), pack([page, page]))

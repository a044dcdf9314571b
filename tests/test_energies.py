"""Energies against a slow implementation of their own, gradients against finite differences."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.relations import CANVAS, Relation, detect_all, relation_name
from layoutdm.relations.names import PAPER_NAMES
from layoutdm.spec import Condition, Spec
from layoutdm.terms.edges import edges_of
from layoutdm.terms.energies import Guide

E = 1e-8
PAPER = list(PAPER_NAMES)  # the relations that the guide pulls towards


def relu(value: float) -> float:
    return max(value, 0.0)


def slow_cost(code: int, j: np.ndarray, i: np.ndarray | None) -> float:
    """One relation of box j to box i (None: the canvas), written out from the definition."""
    xj, yj, wj, hj = (float(v) for v in j)
    area_j = wj * hj
    if i is None:
        area_i = 1.0
        if code == Relation.ABOVE:
            return relu(yj - 1 / 3)
        if code == Relation.OVERLAPPING:
            return relu(1 / 3 - yj + E) + relu(yj - 2 / 3 + E)
        if code == Relation.BELOW:
            return relu(2 / 3 - yj)
    else:
        xi, yi, wi, hi = (float(v) for v in i)
        area_i = wi * hi
    if code == Relation.SMALLER:
        return relu(area_j - 0.9 * area_i)
    if code == Relation.EQUAL_SIZE:
        return relu(0.9 * area_i - area_j + E) + relu(area_j - 1.1 * area_i + E)
    if code == Relation.LARGER:
        return relu(1.1 * area_i - area_j)
    lj, tj, rj, bj = xj - wj / 2, yj - hj / 2, xj + wj / 2, yj + hj / 2
    li, ti, ri, bi = xi - wi / 2, yi - hi / 2, xi + wi / 2, yi + hi / 2
    if code == Relation.ABOVE:
        return relu(bj - ti)
    if code == Relation.BELOW:
        return relu(bi - tj)
    vertical = relu(ti - bj + E) + relu(tj - bi + E)
    if code == Relation.LEFT_OF:
        return relu(rj - li) + vertical
    if code == Relation.RIGHT_OF:
        return relu(ri - lj) + vertical
    return relu(li - rj + E) + relu(lj - ri + E) + vertical


def slow_energy(conditions: list[Condition], boxes: list[np.ndarray]) -> list[float]:
    energies = []
    for condition, box in zip(conditions, boxes, strict=True):
        box = np.where(np.isfinite(condition.fixed), condition.fixed, box[: len(condition)])
        total = sum(
            slow_cost(code, box[of], None if to == CANVAS else box[to])
            for of, code, to in condition.relations
        )
        for k in range(len(condition)):
            if np.isfinite(condition.area[k]):
                total += abs(condition.area[k] - box[k, 2] * box[k, 3])
            if np.isfinite(condition.aspect_ratio[k]):
                total += abs(condition.aspect_ratio[k] - box[k, 3] / box[k, 2])
        corner = [np.hypot(b[0] - b[2] / 2, b[1] - b[3] / 2) for b in box]
        order = condition.reading_order
        total += sum(relu(corner[a] - corner[b]) for a, b in itertools.pairwise(order))
        energies.append(total)
    return energies


def random_condition(rng: np.random.Generator, n: int) -> Condition:
    """Wishes drawn without looking whether they can be met: energies must not care."""
    codes = rng.choice(PAPER, 6)
    of = rng.integers(0, n, 6)
    to = (of + rng.integers(1, n, 6)) % n
    canvas_ok = np.isin(codes, [1, 2, 3, 6, 8, 9])
    to = np.where(canvas_ok & (rng.random(6) < 0.4), CANVAS, to)
    fixed = np.where(rng.random((n, 4)) < 0.2, rng.uniform(0.1, 0.9, (n, 4)), np.nan)
    nan = np.full((n, 4), np.nan)
    return Condition(
        labels=("text",),
        names=tuple(f"e{k}" for k in range(n)),
        label_choices=np.ones((n, 1), bool),
        fixed=fixed,
        about=nan,
        within=nan.copy(),
        strength=nan.copy(),
        insisted=np.zeros((n, 4), bool),
        prior=np.full((n, 4), -1, np.int8),
        min_elements=n,
        max_elements=n,
        relations=np.stack([of, codes, to], 1).astype(np.intp),
        area=np.where(rng.random(n) < 0.3, rng.random(n), np.nan),
        aspect_ratio=np.where(rng.random(n) < 0.3, rng.uniform(0.2, 4, n), np.nan),
        reading_order=rng.permutation(n)[: rng.integers(0, n + 1)].astype(np.intp),
    )


def only(relations: np.ndarray, fixed: np.ndarray) -> dict[str, np.ndarray]:
    """Changes of a condition: these relations of these boxes, and no other wish."""
    none, nothing = np.full(len(fixed), np.nan), np.zeros(0, np.intp)
    wishes = {"relations": relations, "gap": np.full(len(relations), np.nan)}
    strength = {"relation_strength": np.full(len(relations), np.nan)}
    targets = {"area": none, "aspect_ratio": none, "reading_order": nothing}
    return {**wishes, **strength, **targets, "fixed": fixed}


def problem(seed: int, layouts: int = 3, slots: int = 6):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    conditions = [random_condition(rng, int(rng.integers(2, slots))) for _ in range(layouts)]
    centres = [np.sort(rng.uniform(0.02, 1, k)) for k in (5, 7, 4, 6)]
    probabilities = [rng.dirichlet(np.ones(len(c)), (layouts, slots)) + 0.01 for c in centres]
    probabilities = [p / p.sum(axis=-1, keepdims=True) for p in probabilities]
    return conditions, centres, probabilities


def gradients_of(guide: Guide, probabilities: list[np.ndarray]) -> list[np.ndarray]:
    """dE/dp: one update of the paper's form takes p * dE/dp off log p at strength 1."""
    moved = [np.log(p) for p in probabilities]
    guide.update(moved, 1.0, 1, relaxation="box")
    return [(np.log(p) - x) / p for p, x in zip(probabilities, moved, strict=True)]


def expected(probabilities: list[np.ndarray], centres: list[np.ndarray]) -> np.ndarray:
    return np.stack(
        [(p @ c) / p.sum(-1) for p, c in zip(probabilities, centres, strict=True)], axis=-1
    )


@given(st.integers(0, 10**9))
@settings(max_examples=50, deadline=None)
def test_energy_is_the_slow_one(seed: int) -> None:
    conditions, centres, probabilities = problem(seed)
    guide = Guide(conditions, centres)
    boxes = expected(probabilities, centres)
    np.testing.assert_allclose(
        guide.energy(probabilities), slow_energy(conditions, list(boxes)), rtol=1e-9, atol=1e-12
    )


@given(st.integers(0, 10**9))
@settings(max_examples=8, deadline=None)
def test_gradient_is_the_finite_difference(seed: int) -> None:
    conditions, centres, probabilities = problem(seed, layouts=2, slots=4)
    guide = Guide(conditions, centres)
    gradients = gradients_of(guide, probabilities)
    step = 1e-7
    for a, gradient in enumerate(gradients):
        for index in np.ndindex(gradient.shape):
            shifted = [p.copy() for p in probabilities]
            shifted[a][index] += step
            up = guide.energy(shifted)
            shifted[a][index] -= 2 * step
            down = guide.energy(shifted)
            slopes = (up - down) / (2 * step)
            b = index[0]
            assert slopes[b] == pytest.approx(gradient[index], abs=2e-5, rel=1e-4)
            assert np.all(np.delete(up - down, b) == 0)


@pytest.mark.parametrize("code", PAPER)
@pytest.mark.parametrize("canvas", [False, True])
def test_each_relation_alone(code: Relation, canvas: bool) -> None:
    if canvas and code in (Relation.LEFT_OF, Relation.RIGHT_OF):
        with pytest.raises(KeyError):
            relation_name(code, canvas=True)
        return
    rng = np.random.default_rng(int(code))
    boxes = rng.uniform(0.05, 0.9, (200, 2, 4))
    wish = np.array([[1, code, CANVAS if canvas else 0]], np.intp)
    conditions = [replace(random_condition(rng, 2), **only(wish, box)) for box in boxes]
    got = Guide(conditions, [np.ones(2)] * 4).energy([np.ones((200, 2, 2))] * 4)
    wanted = [slow_cost(code, b[1], None if canvas else b[0]) for b in boxes]
    np.testing.assert_allclose(got, wanted, atol=1e-15)
    # No cost, and only then, where the relation is detected (random boxes never just touch).
    size, location = (
        np.array([d[1, 0 if canvas else 1] for d in (detect_all(b)[k] for b in boxes)])
        for k in (0, 1)
    )
    np.testing.assert_array_equal(np.where(code <= 3, size, location) == code, got == 0)


def test_a_layout_does_not_see_its_neighbours() -> None:
    conditions, centres, probabilities = problem(5, layouts=8)
    whole = Guide(conditions, centres)
    energy, gradients = whole.energy(probabilities), gradients_of(whole, probabilities)
    pushed = [np.log(p) for p in probabilities]
    whole.update(pushed, strength=40.0)
    for b, condition in enumerate(conditions):
        alone = Guide([condition], centres)
        mine = [p[b : b + 1] for p in probabilities]
        gradients_alone = gradients_of(alone, mine)
        assert alone.energy(mine)[0] == pytest.approx(energy[b])
        pushed_alone = [np.log(p) for p in mine]
        alone.update(pushed_alone, strength=40.0)
        for a in range(4):
            np.testing.assert_allclose(gradients_alone[a][0], gradients[a][b], atol=1e-6)
            np.testing.assert_allclose(pushed_alone[a][0], pushed[a][b], atol=1e-4)


def relation_guide(relation: str) -> tuple[Guide, list[np.ndarray]]:
    spec = Spec.parse(
        {
            "elements": [{"name": "a", "y": 0.31, "height": 0.2}, {"name": "b"}],
            "relations": [{"of": "b", "is": relation, "to": "a"}],
        }
    )
    condition = Condition.from_spec(spec, ("text",), 25)
    centres = [np.linspace(0.05, 0.95, 16)] * 4
    return Guide([condition], centres), centres


@pytest.mark.parametrize("relaxation", ["bins", "box"])
@pytest.mark.parametrize("relation", ["above", "below", "left_of", "overlapping", "larger"])
def test_update_lowers_the_energy_and_ours_keeps_mass(relation: str, relaxation: str) -> None:
    guide, _ = relation_guide(relation)
    rng = np.random.default_rng(3)
    probabilities = [0.2 * rng.dirichlet(np.ones(16), (1, 2)) for _ in range(4)]
    probabilities[1][0, 1] = 0.2 * np.eye(16)[2 if relation == "below" else 13]
    probabilities[1] = 0.9 * probabilities[1] + 0.1 * 0.2 / 16
    logs = [np.log(p) for p in probabilities]
    guide.update(logs, 5.0, 3, relaxation)  # type: ignore[arg-type]
    before, after = guide.energy(probabilities)[0], guide.energy([np.exp(p) for p in logs])[0]
    assert after < before or before == after == 0
    if relaxation == "bins":
        for log, p in zip(logs, probabilities, strict=True):
            np.testing.assert_allclose(np.exp(log).sum(-1), p.sum(-1), rtol=1e-5)


@given(st.integers(0, 10**9))
@settings(max_examples=25, deadline=None)
def test_bin_costs_are_slopes_of_the_expected_energy(seed: int) -> None:
    """With one value spread over its bins and all others decided, the push is strength times the
    energy of each bin, up to what keeps the mass: the gradient of the expected energy."""
    conditions, centres, _ = problem(seed, layouts=1, slots=4)
    rng = np.random.default_rng(seed)
    guide = Guide(conditions, centres)
    n = len(conditions[0])
    a, k = int(rng.integers(4)), int(rng.integers(n))
    decided = [rng.integers(0, len(c), (1, 4)) for c in centres]
    boxes = np.stack([c[d] for c, d in zip(centres, decided, strict=True)], axis=-1)[0]
    with np.errstate(divide="ignore"):
        logs = [np.log(np.eye(len(c))[d]) for c, d in zip(centres, decided, strict=True)]
    spread = rng.dirichlet(np.ones(len(centres[a])))
    logs[a][0, k] = np.log(spread)
    guide.update(logs, strength=3.0, updates=1)
    # The other values of the layout enter at their means, which are what is decided; the spread
    # value itself takes each bin in turn.
    energies = []
    for value in centres[a]:
        boxes[k, a] = value
        energies.append(slow_energy(conditions, [boxes])[0])
    if np.isfinite(conditions[0].fixed[k, a]):
        np.testing.assert_array_equal(logs[a][0, k], np.log(spread))
        return
    push = (np.log(spread) - logs[a][0, k]) / 3.0
    touched = np.array(energies)
    # Hinges that do not name this value cancel, as they are the same for every bin.
    np.testing.assert_allclose(push - push[0], touched - touched[0], atol=2e-5)
    assert np.exp(logs[a][0, k]).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("wish", [{"is": "left_aligned"}, {"is": "right_of", "gap": 0.1}])
def test_lines_and_distances_to_what_is_undecided_pull_nowhere(wish: dict[str, object]) -> None:
    """Two undecided places would both be pulled to their mean, where neither wants to be."""
    spec = Spec.parse({"elements": [{"name": "a"}, {"name": "b"}],
                       "relations": [{"of": "b", **wish, "to": "a"}]})  # fmt: skip
    centres = [np.linspace(0.05, 0.95, 16)] * 4
    for decided in (False, True):
        guide = Guide([Condition.from_spec(spec, ("text",), 25)], centres)
        logs = [np.log(np.full((1, 2, 16), 1 / 16)) for _ in range(4)]
        undecided = np.ones((1, 2, 4), bool)
        if decided:
            undecided[0, 0] = False
            for log in logs:
                log[0, 0] = np.where(np.arange(16) == 3, 0.0, -np.inf)
        before = logs[0][0, 1].copy()
        guide.update(logs, 5.0, 3, move_sizes=False, undecided=undecided)
        assert np.allclose(logs[0][0, 1], before) != decided


@pytest.mark.parametrize("name", ["below", "left_of", "overlapping", "larger"])
def test_relations_of_place_can_leave_sizes_alone(name: str) -> None:
    guide, _ = relation_guide(name)
    flat = [np.log(np.full((1, 2, 16), 1 / 16)) for _ in range(4)]
    moved = {}
    for move_sizes in (True, False):
        logs = [x.copy() for x in flat]
        guide.update(logs, 30.0, move_sizes=move_sizes)
        moved[move_sizes] = [bool((abs(logs[a] - flat[a]) > 1e-6).any()) for a in range(4)]
    sizes, places = moved[False][2:], moved[False][:2]
    assert places == moved[True][:2]
    if name == "larger":
        assert sizes == [True, True] and moved[True] == moved[False]
    else:
        assert sizes == [False, False] and any(moved[True][2:])


def test_expected_energy_meets_more_at_the_same_strength() -> None:
    guide, _ = relation_guide("below")
    flat = [np.log(np.full((1, 2, 16), 1 / 16)) for _ in range(4)]
    missed = {}
    for relaxation in ("bins", "box"):
        logs = [x.copy() for x in flat]
        guide.update(logs, 30.0, relaxation=relaxation)  # type: ignore[arg-type]
        y, h = (np.exp(logs[a][0, 1]) for a in (1, 3))
        centres = np.linspace(0.05, 0.95, 16)
        violated = (centres[:, None] - centres[None] / 2) < 0.41
        missed[relaxation] = float((y[:, None] * h[None])[violated].sum())
    start = float(violated.mean())
    assert missed["bins"] < start / 3


def test_exact_values_are_seen_and_never_pushed() -> None:
    guide, _ = relation_guide("below")
    logs = [np.log(np.full((1, 2, 16), 1 / 16)) for _ in range(4)]
    before = [x.copy() for x in logs]
    guide.update(logs, strength=50.0)
    for a in (1, 3):
        np.testing.assert_array_equal(logs[a][0, 0], before[a][0, 0])
        assert not np.allclose(logs[a][0, 1], before[a][0, 1])
    for a in (0, 2):  # "below" says nothing about x and width
        np.testing.assert_array_equal(logs[a], before[a])
    mean = 0.5
    assert guide.energy([np.exp(x) for x in before])[0] == pytest.approx(
        0.31 + 0.1 - (mean - mean / 2)
    )


def test_degenerate_inputs_stay_numbers() -> None:
    guide, _ = relation_guide("below")
    logs = [np.full((1, 2, 16), -np.inf) for _ in range(4)]
    for log in logs:
        log[0, 0] = np.log(1 / 16)
    logs[1][0, 1, 0] = 0.0  # decided: one-hot
    guide.update(logs, strength=1e6, updates=5)
    assert not any(np.isnan(log).any() for log in logs)
    assert logs[1][0, 1, 0] == 0.0
    nothing = [Condition.unknown("a")] * 2
    empty = Guide(nothing, [np.ones(3)] * 4)
    assert empty.energy([np.ones((2, 4, 3))] * 4).tolist() == [0.0, 0.0]
    empty.update([np.zeros((2, 4, 3))] * 4, 1.0)
    assert len(edges_of([]).slot) == len(edges_of(nothing).slot) == 0

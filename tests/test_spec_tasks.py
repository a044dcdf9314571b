"""The inputs of the paper's tasks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.errors import LayoutdmError
from layoutdm.layout import FIELDS, Layout
from layoutdm.spec import TASKS, Condition, Spec
from layoutdm.spec.report import report

LABELS = ("title", "text", "figure")


def page(n: int, seed: int = 0) -> Layout:
    rng = np.random.default_rng(seed)
    size = rng.uniform(0.01, 0.6, (n, 2))
    centre = size / 2 + rng.random((n, 2)) * (1 - size)
    return Layout.create(rng.choice(LABELS, n).tolist(), np.concatenate([centre, size], 1))


@given(st.integers(1, 25), st.integers(0, 1000), st.sampled_from(TASKS))
@settings(max_examples=60, deadline=None)
def test_every_task_gives_a_request_that_the_layout_itself_can_serve(
    n: int, seed: int, task: str
) -> None:
    layout = page(n, seed)
    spec = Spec.from_layout(layout, task=task, seed=seed)
    assert spec == Spec.from_layout(layout, task=task, seed=seed)
    assert spec.check(LABELS, 25) == []
    if task in ("c", "cwh", "relation", "unconditional"):
        assert report(Condition.from_spec(spec, LABELS, 25), layout).met
    if task not in ("unconditional", "completion"):
        assert tuple(e.label for e in spec.elements) == layout.labels
        assert not spec.may_add


def test_unconditional_labels_and_sizes() -> None:
    layout = page(4)
    assert Spec.from_layout(layout, task="unconditional") == Spec()
    assert set(Spec.from_layout(layout, task="c").as_dict()["elements"][0]) == {"label"}
    sizes = Spec.from_layout(layout, task="cwh").elements
    assert [(e.width, e.height) for e in sizes] == [(e.width, e.height) for e in layout]
    assert all(e.x is None and e.y is None for e in sizes)


@pytest.mark.parametrize("n", [1, 2, 4, 7, 8, 12, 25])
def test_completion_keeps_as_many_as_the_published_code(n: int) -> None:
    layout = page(n)
    most = max(1, int(0.3 * (n - 1) + 1e-9))
    counts = set()
    for seed in range(60):
        spec = Spec.from_layout(layout, task="completion", seed=seed)
        assert spec.may_add
        counts.add(len(spec.elements))
        rows = [[e.fixed(f) for f in FIELDS] for e in spec.elements]
        places = [layout.boxes.tolist().index(row) for row in rows]
        assert places == sorted(places)
        assert [e.label for e in spec.elements] == [layout.labels[p] for p in places]
    assert counts == set(range(1, most + 1))
    paper = {
        len(Spec.from_layout(layout, "completion", s, ratio=0.2, at_least=0).elements)
        for s in range(80)
    }
    assert paper == set(range(int(0.2 * (n - 1) + 1e-9) + 1))


def test_refinement_noise_is_normal_and_not_clipped() -> None:
    layout = page(25)
    draws = []
    for seed in range(40):
        spec = Spec.from_layout(layout, "refinement", seed)
        draws.append([[getattr(e, f).about for f in FIELDS] for e in spec.elements])
    noise = np.array(draws) - layout.boxes
    assert noise.std() == pytest.approx(0.1, rel=0.05)
    assert abs(noise.mean()) < 0.005
    assert np.array(draws).min() < 0
    wish = (
        Spec.from_layout(
            layout, "refinement", noise=0.0, within=0.2, strength=5, prior="negation", form="code"
        )
        .elements[3]
        .y
    )
    assert wish is not None and not isinstance(wish, float)
    assert (wish.about, wish.within, wish.strength) == (layout.boxes[3, 1], 0.2, 5)
    assert (wish.prior, wish.form) == ("negation", "code")


@pytest.mark.parametrize(("n", "count"), [(1, 0), (2, 0), (3, 1), (4, 2), (9, 9), (25, 65)])
def test_relation_takes_a_tenth_of_all_pairs_and_kinds(n: int, count: int) -> None:
    """int(0.1 N (N - 1)) with N = elements and canvas."""
    spec = Spec.from_layout(page(n), "relation", seed=3)
    assert len(spec.relations) == count
    whole = Spec.from_layout(page(n), "relation", share=1.0).relations
    nodes = ["canvas", *(f"e{i}" for i in range(n))]
    pairs = {(r.of, r.to) for r in whole}
    assert pairs == {(b, a) for (i, a), (j, b) in product(enumerate(nodes), repeat=2) if i < j}
    assert len(whole) == n * (n + 1)


def test_relations_are_spread_over_kinds() -> None:
    kinds = set()
    for seed in range(30):
        for relation in Spec.from_layout(page(12, seed), "relation", seed).relations:
            kinds.add((relation.is_, relation.to == "canvas"))
    assert len(kinds) >= 12


def test_unknown_tasks_and_options() -> None:
    with pytest.raises(LayoutdmError, match="did you mean 'refinement'"):
        Spec.from_layout(page(2), "refinment")
    with pytest.raises(LayoutdmError, match=r"task c: .*'noise'"):
        Spec.from_layout(page(2), "c", noise=1)
    with pytest.raises(LayoutdmError, match="margin"):
        Spec.from_layout(page(2), "refinement", margin=1)

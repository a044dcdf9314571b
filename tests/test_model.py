"""The pipeline: requests in, layouts out, with small exported models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import layoutdm
from layoutdm.diffusion.network import Prediction, Query
from layoutdm.errors import LayoutdmError
from layoutdm.model import Model
from layoutdm.model.fit import fit_boxes
from layoutdm.model.task import task_of
from layoutdm.plan import begin
from layoutdm.spec import Condition, Spec
from layoutdm.train.denoiser import TorchDenoiser
from tiny_models import LABELS, folder, network, tokenizer

FIELDS = ("x", "y", "width", "height")
DRAFT = {field: {"about": 0.2} for field in FIELDS}


@pytest.fixture(scope="module")
def model():
    return layoutdm.load(folder(), threads=1)


def condition(request, labels=LABELS):
    return Condition.from_spec(Spec.parse(request), labels, 12)


class Recording:
    """Passes queries on and keeps them."""

    def __init__(self, inner):
        self.inner, self.queries = inner, []
        self.traits = inner.traits

    def __call__(self, query) -> Prediction:
        self.queries.append(query)
        return self.inner(query)


def recorded(model):
    """The model with a denoiser that keeps its queries, and that denoiser."""
    spy = Recording(model.generator.denoiser)
    return Model(replace(model.generator, denoiser=spy), model.name), spy


# Mixtures ------------------------------------------------------------------------------------


def random_request(rng):
    """Any mixture of free, fixed and weak fields, choices of labels, bounds and relations."""
    elements = []
    for i in range(rng.integers(0, 7)):
        element = {"name": f"e{i}"} if rng.random() < 0.7 else {}
        size = rng.uniform(0.05, 0.6, 2)
        centre = [rng.uniform(s / 2, 1 - s / 2) for s in size]
        for field, value in zip(FIELDS, (*centre, *size), strict=True):
            kind = rng.choice(["free", "fixed", "about"], p=[0.4, 0.4, 0.2])
            if kind == "fixed":
                element[field] = float(value)
            elif kind == "about":
                element[field] = {"about": float(value), "within": float(rng.uniform(0.02, 0.3))}
                if rng.random() < 0.5:
                    element[field]["strength"] = float(rng.uniform(0, 5))
                    element[field]["prior"] = str(rng.choice(["default", "gaussian", "negation"]))
        if rng.random() < 0.8:
            some = rng.permutation(LABELS)[: rng.integers(1, 4)].tolist()
            element["label"] = some[0] if rng.random() < 0.6 else some
        if rng.random() < 0.15 and "width" not in element and "height" not in element:
            element["area"] = 0.05
        elements.append(element)
    request = {"elements": elements}
    if rng.random() < 0.5:
        request["more"] = True
        if rng.random() < 0.5:
            low = int(rng.integers(max(1, len(elements)), 12))
            request["number_of_elements"] = {"min": low, "max": int(rng.integers(low, 13))}
    # A free element can always be placed somewhere: such relations contradict nothing.
    free = [
        e["name"]
        for e in elements
        if "name" in e and not any(isinstance(e.get(f), float) for f in FIELDS)
    ]
    if len(free) > 1 and rng.random() < 0.5:
        request["relations"] = [{"of": free[0], "is": "below", "to": free[1]}]
    return request


@pytest.mark.parametrize(
    ("kind", "schedule", "count"),
    [
        ("element", "published", 150),
        ("reading", "mask-and-replace", 60),
        ("paper", "published", 40),
    ],
)
def test_what_is_fixed_holds_exactly_in_any_mixture(kind, schedule, count):
    model = layoutdm.load(folder(kind, schedule), threads=1)
    rng = np.random.default_rng(5)
    requests = [random_request(rng) for _ in range(count)]
    results = model.generate_many(requests, seed=3, steps=3)
    assert len(results) == count
    for request, result in zip(requests, results, strict=True):
        layout, listed = result.layout, request["elements"]
        assert (layout.width, layout.height) == (360, 640)
        low, high = Spec.parse(request).number_range(12)
        assert low <= len(layout) <= high
        for element, wish in zip(layout, listed, strict=False):
            for field in FIELDS:
                if isinstance(wish.get(field), float):
                    assert getattr(element, field) == wish[field]
            choices = wish.get("label", LABELS)
            assert element.label in ([choices] if isinstance(choices, str) else choices)
        names = [wish.get("name") for wish in listed]
        if any(names):
            assert layout.metadata["names"][: len(names)] == names
        corners = layout.corners()
        assert corners.min() >= -1e-9 and corners.max() <= 1 + 1e-9
        hard = ("fixed", "label", "number")
        assert all(wish.met for wish in result.report.wishes if wish.kind in hard)


def test_a_layout_depends_on_request_seed_and_index_only(model):
    rng = np.random.default_rng(1)
    requests = [random_request(rng) for _ in range(40)]
    together = model.generate_many(requests, seed=9, steps=5)
    small = model.generate_many(requests, seed=9, steps=5, batch_size=3)
    assert [r.layout for r in together] == [r.layout for r in small]
    for index in (0, 7, 39):
        (alone,) = model.stream(requests[index], [index], 9, 5)
        assert alone.layout == together[index].layout
    other = model.generate_many(requests, seed=10, steps=5)
    assert sum(a.layout.boxes.tobytes() != b.layout.boxes.tobytes()
               for a, b in zip(together, other, strict=True)) > 20  # fmt: skip


def test_wishes_of_other_requests_do_not_matter():
    """Relations are sampled one way, priors another, both in one request a third."""
    model = layoutdm.load(folder("element"))
    related = {
        "elements": [{"label": "Text", "name": "a"}, {"label": "Icon", "name": "b"}],
        "relations": [{"of": "a", "is": "above", "to": "b"}],
    }
    near = {"elements": [{"label": "Text", "x": {"about": 0.3}}, {"label": "Icon"}]}
    for first, second in ((related, near), (near, related)):
        beside = model.generate_many([first, second], seed=2)
        (alone,) = model.stream(first, [0], 2)
        assert alone.layout == beside[0].layout


def test_results_carry_their_place_and_id(model):
    results = model.generate(None, count=3, seed=4)
    assert [(r.seed, r.index, r.layout.id) for r in results] == [
        (4, 0, "4-0"), (4, 1, "4-1"), (4, 2, "4-2"),
    ]  # fmt: skip
    assert all(r.met and r.attempts == 1 and r.trace == () for r in results)


def test_torch_and_onnx_give_the_same_layouts():
    for kind in ("element", "reading", "paper"):
        onnx = layoutdm.load(folder(kind), threads=1)
        from layoutdm.train.export import round_weights

        denoiser = TorchDenoiser(round_weights(network(kind)))
        torch_model = Model(replace(onnx.generator, denoiser=denoiser))
        for request in (None, {"elements": [{"label": "Icon", "x": {"about": 0.4}}], "more": True}):
            a, b = (m.generate(request, count=6, steps=4) for m in (onnx, torch_model))
            assert [r.layout for r in a] == [r.layout for r in b]


# Numbers -------------------------------------------------------------------------------------


def test_the_number_of_elements_stays_in_its_bounds_and_is_not_always_the_same(model):
    numbers = [len(r.layout) for r in model.generate({}, count=40, steps=1)]
    assert 1 <= min(numbers) < max(numbers) <= 12
    bounded = {"number_of_elements": {"min": 4, "max": 5}}
    assert {len(r.layout) for r in model.generate(bounded, count=30, steps=1)} <= {4, 5}
    exact = model.generate({"number_of_elements": 7}, count=3, steps=1)
    assert [len(r.layout) for r in exact] == [7, 7, 7]


def test_empty_slots_are_not_computed(model):
    made, spy = recorded(model)
    made.generate({"elements": [{"label": "Icon"}] * 3}, count=2)
    assert {query.valid.shape[1] for query in spy.queries} == {3}


def test_the_papers_network_keeps_all_slots_and_draws_padding():
    made, spy = recorded(layoutdm.load(folder("paper"), threads=1))
    made.generate({"elements": [{"label": "Icon"}] * 3}, count=2)
    assert {query.valid.shape[1] for query in spy.queries} == {12}
    pad = tokenizer().pad
    assert all((query.tokens[:, 3:] == pad).all() for query in spy.queries)
    free = made.generate(None, count=20, steps=4)
    assert len({len(r.layout) for r in free}) > 1 and all(len(r.layout) <= 12 for r in free)


# Settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "task"),
    [
        ({}, "unconditional"),
        ({"number_of_elements": 3}, "unconditional"),
        ({"elements": [{"label": "Icon"}]}, "c"),
        ({"elements": [{"label": "Icon", "width": 0.2, "height": 0.2}]}, "cwh"),
        ({"elements": [{"label": "Icon"}], "more": True}, "completion"),
        ({"elements": [{"label": "Icon", **DRAFT}]}, "refinement"),
        ({"elements": [{"label": "Icon", "x": {"about": 0.2}}]}, "c"),
        ({"elements": [{"label": "Icon", "area": 0.2}]}, "relation"),
    ],
)
def test_a_request_is_told_which_task_it_is_like(request_, task):
    assert task_of(condition(request_)) == task


def test_the_models_own_sampling_is_used_unless_the_user_says_otherwise(model):
    labels = {"elements": [{"label": "Icon"}, {"label": "Text"}]}
    assert model.generator.usual("c").steps == 3 and model.generator.usual("c").temperature == 0.9
    for request, options, steps in (
        (labels, {}, 3),
        (labels, {"steps": 5}, 5),
        ({"elements": [{"label": "Icon", "width": 0.2, "height": 0.2}]}, {}, 6),
    ):
        (result,) = model.generate(request, count=1, trace=True, **options)
        assert len(result.trace) == steps + 1


def test_wrong_settings_are_told_before_anything_is_made(model):
    with pytest.raises(LayoutdmError, match="unknown option 'tempo'"):
        model.generate(None, tempo=1)
    with pytest.raises(LayoutdmError, match="steps must be from 1 to 100, got 101"):
        model.generate(None, steps=101)
    for count in (0, -1, 2.5, True):
        with pytest.raises(LayoutdmError, match="count"):
            model.generate(None, count=count)
    with pytest.raises(LayoutdmError, match="seed"):
        model.generate(None, seed=-1)


def test_all_problems_of_a_request_are_told_at_once(model):
    request = {"elements": [{"label": "Toolbr"}, {"label": "Icon", "x": 0.0, "width": 0.5}]}
    with pytest.raises(LayoutdmError) as error:
        model.generate(request)
    assert "elements[0].label" in str(error.value) and "elements[1]" in str(error.value)


# Drafts --------------------------------------------------------------------------------------


def drafted(request, kind="reading"):
    """The batch that a request begins with."""
    config = layoutdm.load(folder(kind), threads=1).generator.config
    return begin([condition(request)], [len(request["elements"])], tokenizer(), config.traits)


def test_whole_drafts_go_into_a_network_that_reads_them():
    whole = {field: {"about": 0.5, "within": 0.05} for field in FIELDS}
    request = {"elements": [{"label": "Icon", **whole}]}
    bins = tokenizer().bins
    nearest = bins.encode(np.full((1, 4), 0.5))
    wanted = 1 + 1 * np.array(bins.counts) + nearest
    assert drafted(request).draft[0].tolist() == wanted.tolist()
    assert drafted(request, "element").draft is None


def test_single_weak_values_are_left_to_the_prior():
    request = {"elements": [{"label": "Icon", "x": {"about": 0.5}}, {"label": "Text"}]}
    assert drafted(request).draft is None


def test_weak_wishes_pull(model):
    near = {"elements": [{"label": "Icon", "y": {"about": 0.9, "within": 0.1, "strength": 6}}]}
    plain = model.generate({"elements": [{"label": "Icon"}]}, count=60)
    pulled = model.generate(near, count=60)
    hits = [sum(abs(r.layout.boxes[0, 1] - 0.9) < 0.1 for r in rs) for rs in (plain, pulled)]
    assert hits[1] > hits[0] + 15


def test_relations_pull(model):
    elements = [{"name": "a", "label": "Icon", "height": 0.1}, {"name": "b", "label": "Text"}]
    request = {"elements": elements, "relations": [{"of": "a", "is": "below", "to": "b"}]}
    off, on = (
        model.generate(request, count=60, steps=20, relation_strength=strength, relations="guided")
        for strength in (0.0, 400.0)
    )
    met = [sum(r.met for r in results) for results in (off, on)]
    assert met[1] > met[0] + 20


# Require and trace ---------------------------------------------------------------------------


def test_require_draws_again_and_gives_the_best_first(model):
    request = {"elements": [{"label": "Icon", "x": {"about": 0.2, "within": 0.15, "strength": 0}}]}
    before = model.generate(request, count=20)
    after = model.generate(request, count=20, require=True, tries=8)
    assert sum(r.met for r in after) > sum(r.met for r in before)
    scores = [r.report.score for r in after]
    assert scores == sorted(scores, reverse=True)
    assert 1 < max(r.attempts for r in after) <= 8
    kept = {r.index: r.layout for r in before if r.met}
    assert all(r.layout == kept[r.index] for r in after if r.index in kept)


def test_require_stops_after_its_tries(model):
    wish = {"about": 0.031, "within": 1e-6, "prior": "gaussian"}
    request = {"elements": [{"x": wish}]}
    results = model.generate(request, count=2, require=True, tries=3, relations="guided")
    assert [r.attempts for r in results] == [3, 3] and not any(r.met for r in results)


def test_a_trace_ends_with_every_value_decided(model):
    (result,) = model.generate(
        {"elements": [{"label": "Icon", "x": 0.5}] * 2}, count=1, trace=True, steps=5
    )
    assert [frame.level for frame in result.trace] == [100, 80, 60, 40, 20, 0]
    first, last = result.trace[0], result.trace[-1]
    assert first.labels == ("Icon", "Icon") and np.isnan(first.boxes[:, 1:]).all()
    assert np.isfinite(last.boxes).all()


# Boxes ---------------------------------------------------------------------------------------


@given(
    hnp.arrays(np.float64, (5, 4), elements=st.floats(0.0, 1.0)),
    hnp.arrays(np.bool_, (5, 4)),
)
def test_boxes_fit_and_fixed_values_stay(boxes, fixed):
    low = 1e-3
    boxes[:, 2:] = np.maximum(boxes[:, 2:], low)
    # What a request may fix: a box that fits, a centre away from the edge.
    half = np.where(fixed[:, 2:], boxes[:, 2:] / 2, low)
    boxes[:, :2] = np.where(fixed[:, :2], np.clip(boxes[:, :2], half, 1 - half), boxes[:, :2])
    fitted = fit_boxes(boxes, fixed)
    assert (fitted[fixed] == boxes[fixed]).all()
    assert (fitted[:, :2] - fitted[:, 2:] / 2 >= -1e-9).all()
    assert (fitted[:, :2] + fitted[:, 2:] / 2 <= 1 + 1e-9).all()
    assert (fitted[:, 2:] > 0).all()


def test_pages_are_drawn_on_the_canvas_not_moved_onto_it():
    """Before boxes are fitted; with a bin for every value only rounding may stick out."""
    pages = layoutdm.load("publaynet")
    tall = {"label": "text", "x": 0.5, "y": 0.5, "width": 0.8, "height": 0.7}
    for request in (None, {"elements": [tall], "more": True}):
        for result in pages.generate(request, count=40, seed=0, trace=True):
            drawn = result.trace[-1].boxes
            ends = np.stack([drawn[:, :2] - drawn[:, 2:] / 2, drawn[:, :2] + drawn[:, 2:] / 2])
            assert ends.min() > -0.02 and ends.max() < 1.02


def test_a_wished_area_is_met_inside_the_bin(model):
    request = {"elements": [{"label": "Image", "area": 0.2}]}
    results = model.generate(request, count=30, steps=20)
    centres = tokenizer().bins.centres
    for result in results:
        width, height = result.layout.boxes[0, 2:]
        w, h = (np.abs(c - v).argmin() for c, v in ((centres[2], width), (centres[3], height)))
        product = centres[2][w] * centres[3][h]
        assert abs(width * height - 0.2) <= abs(product - 0.2) + 1e-9
    assert sum(result.met for result in results) > 15


# Loading -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["element", "paper"])
def test_predictions_of_asked_slots_are_those_of_all(kind):
    model = layoutdm.load(folder(kind), threads=1)
    rng = np.random.default_rng(0)
    sizes = np.array(model.generator.config.traits.sizes)
    tokens = rng.integers(0, sizes + 2, (3, 6, 5))
    tokens[..., 0] = np.minimum(tokens[..., 0], sizes[0] - 1)
    query = Query(tokens, np.full(3, 50), np.ones((3, 6), dtype=bool))
    asked = np.array([[0, 5], [3, 3], [2, 1]])
    every = model.generator.denoiser(query)
    some = model.generator.denoiser(replace(query, asked=asked))
    for whole, part in zip(every.log_probs, some.log_probs, strict=True):
        assert part.shape[:2] == asked.shape
        assert np.allclose(part, np.take_along_axis(whole, asked[..., None], axis=1), atol=1e-5)
    if every.number is not None:
        assert np.allclose(every.number, some.number, atol=1e-5)

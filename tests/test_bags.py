"""Requests of labels alone: the sampler puts them into reading order, the user gets them back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import layoutdm
from layoutdm.diffusion import Schedule
from layoutdm.diffusion.network import Prediction, Query, Traits
from layoutdm.diffusion.sampler import Sampler, stream
from layoutdm.diffusion.settings import Settings
from layoutdm.model import Model
from sampler_dummies import Constant, log, unknown
from tiny_models import LABELS, folder, tokenizer

ORDERED = {"order": "elements", "ordered": True}


def labels_of(
    first: tuple[float, ...], bag: list[int], layouts: int, steps: int, kind: type = Constant
) -> np.ndarray:
    """(layouts, slots) labels drawn by a network with the same belief about every slot."""
    rows = (np.append(first, 0.0), *[np.array([1.0, 0.0])] * 4)
    sizes = (len(first), 1, 1, 1, 1)
    known = unknown(layouts, sum(bag), sizes, bag=np.tile(bag, (layouts, 1)))
    sampler = Sampler(kind(rows), Schedule(), Settings(steps=steps, order="elements"))
    return sampler.run(known, [stream(0, i) for i in range(layouts)])[..., 0]


@pytest.mark.parametrize("steps", [1, 7, 50])
@pytest.mark.parametrize("first", [(0.5, 0.3, 0.2), (0.05, 0.9, 0.05)])
def test_without_a_reason_for_an_order_every_order_is_as_likely(first, steps):
    labels = labels_of(first, [1, 3, 0], 3000, steps)
    assert np.all(np.sort(labels, axis=1) == [0, 1, 1, 1])
    places = np.bincount((labels == 0).argmax(axis=1), minlength=4) / 3000
    assert places == pytest.approx([0.25] * 4, abs=0.03)


@dataclass
class Ahead(Constant):
    """Believes that the next label is any of those that are still to come."""

    @property
    def traits(self) -> Traits:
        return replace(super().traits, ahead=True)

    def __call__(self, query: Query) -> Prediction:
        found = super().__call__(query).log_probs
        assert query.ahead is not None
        share = query.ahead / np.maximum(query.ahead.sum(axis=1, keepdims=True), 1)
        label = np.broadcast_to(log(share)[:, None], (*found[0].shape[:2], share.shape[1]))
        return Prediction((np.concatenate([label, found[0][..., -1:]], axis=-1), *found[1:]))


@pytest.mark.parametrize("steps", [1, 7, 50])
def test_a_network_that_reads_what_is_ahead_is_told_what_is_left(steps):
    labels = labels_of((0.4, 0.3, 0.3), [1, 3, 0], 3000, steps, Ahead)
    assert np.all(np.sort(labels, axis=1) == [0, 1, 1, 1])
    places = np.bincount((labels == 0).argmax(axis=1), minlength=4) / 3000
    assert places == pytest.approx([0.25] * 4, abs=0.03)


def test_an_impossible_label_is_drawn_if_it_was_asked_for():
    labels = labels_of((1.0, 0.0, 0.0), [1, 0, 2], 50, 20)
    assert np.all(np.sort(labels, axis=1) == [0, 2, 2])


@pytest.fixture(scope="module")
def model():
    return layoutdm.load(folder(), threads=1)


def test_labels_and_names_come_back_in_the_order_of_the_request(model):
    rng = np.random.default_rng(0)
    requests = []
    for _ in range(60):
        wished = rng.choice(LABELS, size=rng.integers(1, 13)).tolist()
        requests.append({"elements": [{"label": x, "name": f"e{i}"} for i, x in enumerate(wished)]})
    results = model.generate_many(requests, seed=1, steps=20, **ORDERED)
    for request, result in zip(requests, results, strict=True):
        assert list(result.layout.labels) == [e["label"] for e in request["elements"]]
        assert result.layout.metadata["names"] == [e["name"] for e in request["elements"]]
        assert result.met
    alone = [next(model.stream(requests[i], [i], 1, 20, **ORDERED)).layout for i in (0, 17, 59)]
    assert alone == [results[i].layout for i in (0, 17, 59)]


def test_the_last_frame_of_a_trace_is_the_layout(model):
    request = {"elements": [{"label": x} for x in ("Icon", "Text", "Icon", "Toolbar")]}
    (result,) = model.generate(request, count=1, steps=20, trace=True, **ORDERED)
    assert result.trace[-1].labels == ("Icon", "Text", "Icon", "Toolbar")
    free = result.layout.boxes == result.trace[-1].boxes
    assert free.any()  # all but what was moved to fit the canvas


@pytest.mark.parametrize(
    "more",
    [
        {"elements": [{"label": "Icon", "width": 0.5}]},
        {"elements": [{"label": ["Icon", "Text"]}]},
        {"elements": [{"label": "Icon"}], "more": True, "number_of_elements": {"max": 4}},
        {"elements": [{"label": "Icon", "name": "a"}, {"label": "Text", "name": "b"}],
         "relations": [{"of": "a", "is": "above", "to": "b"}]},
    ],
)  # fmt: skip
def test_requests_that_say_more_keep_their_elements(model, more):
    (result,) = model.generate(more, count=1, steps=10, **ORDERED)
    assert all(wish.met for wish in result.report.wishes if wish.kind in ("fixed", "label"))


@pytest.mark.parametrize(
    "settings", [{"posterior": "published"}, {"filter": "published"}, {"remask": 0.1}]
)
def test_where_tokens_may_change_labels_stay_where_they_are(model, settings):
    request = {"elements": [{"label": x} for x in ("Icon", "Text", "Icon")]}
    for result in model.generate(request, count=3, steps=10, **ORDERED, **settings):
        assert result.layout.labels == ("Icon", "Text", "Icon")


class Recording:
    """Passes queries on and keeps copies: the sampler goes on with its own arrays."""

    def __init__(self, inner):
        self.inner, self.traits, self.queries = inner, inner.traits, []

    def __call__(self, query: Query) -> Prediction:
        ahead = None if query.ahead is None else query.ahead.copy()
        self.queries.append(replace(query, tokens=query.tokens.copy(), ahead=ahead))
        return self.inner(query)


def asked_with(request, **settings):
    """What a network that reads what is ahead is asked, and the layout."""
    known = layoutdm.load(folder("ahead"), threads=1)
    model = Model(known.config, Recording(known.denoiser), known.name)
    (result,) = model.generate(request, count=1, steps=40, **ORDERED, **settings)
    return model.denoiser.queries, result.layout


def test_the_network_is_told_how_often_each_label_is_still_to_come():
    wished = ["Icon", "Text", "Icon", "Toolbar", "Icon"]
    queries, layout = asked_with({"elements": [{"label": label} for label in wished]})
    assert list(layout.labels) == wished
    for query in queries:
        decided = query.tokens[0, :, 0][query.tokens[0, :, 0] < len(LABELS)]
        left = [wished.count(label) for label in LABELS] - np.bincount(decided, minlength=5)
        assert query.ahead.tolist() == [left.tolist()]
    assert queries[0].ahead.sum() == 5
    assert queries[-1].ahead.sum() == 0


def test_completion_adds_elements_in_order():
    bar = {"label": "Toolbar", "x": 0.5, "y": 0.1, "width": 0.9, "height": 0.1}
    low = {"label": "Text", "x": 0.5, "y": 0.8, "width": 0.5, "height": 0.1}
    request = {"elements": [low, bar], "more": True, "number_of_elements": 6}
    queries, layout = asked_with(request)
    assert layout.labels[:2] == ("Text", "Toolbar")
    assert all(query.position.tolist() == [[0, 0, 1, 2, 3, 4]] for query in queries)
    del low["width"]  # elements that are known in part may be anywhere
    queries, _ = asked_with(request)
    assert all(query.position is None for query in queries)


def test_large_elements_are_placed_first_where_sizes_are_known():
    sizes = [(0.2, 0.1), (0.9, 0.5), (0.5, 0.1), (0.1, 0.05)]
    listed = [{"label": "Text", "width": w, "height": h} for w, h in sizes]
    queries, layout = asked_with({"elements": [{"label": "Icon"}, *listed]})
    assert [tuple(box) for box in layout.boxes[1:, 2:]] == sizes
    free = np.array([query.tokens[0, :, 1] == tokenizer().mask[1] for query in queries])
    assert list(np.argsort(free.sum(axis=0), kind="stable")) == [2, 3, 1, 4, 0]


def test_labels_may_come_first_without_a_wish():
    queries, _ = asked_with({"number_of_elements": 6}, labels_first=True)
    masked = [query.tokens[0] == tokenizer().mask for query in queries[1:]]
    assert any(state[:, 0].any() for state in masked)
    assert all(state[:, 1:].all() for state in masked if state[:, 0].any())
    queries, _ = asked_with({"number_of_elements": 6})
    masked = [query.tokens[0] == tokenizer().mask for query in queries[1:]]
    assert any(not state[:, 1:].all() for state in masked if state[:, 0].any())

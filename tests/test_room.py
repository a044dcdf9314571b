"""Sizes and x look ahead for room: samplers whose end is known, draws that stay fair."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import layoutdm
from layoutdm.diffusion import Schedule, room
from layoutdm.diffusion.apart import Apart
from layoutdm.diffusion.network import Denoiser, Prediction, Query, Traits
from layoutdm.diffusion.room import PLACES, _Around, another, evenly
from layoutdm.diffusion.sampler import Sampler
from layoutdm.diffusion.settings import Settings
from layoutdm.diffusion.streams import stream
from layoutdm.model.prepare import batch, prepare
from layoutdm.spec import Condition, Spec
from layoutdm.train.apart import shared_room
from sampler_dummies import Constant, log, only_asked, unknown

COLUMNS = np.array([0.25, 0.5, 0.75])
ROWS = np.array([0.125, 0.375, 0.625, 0.875])
WIDTHS = np.array([0.4, 1.0])
HEIGHTS = np.array([0.2, 0.5, 1.0])
CENTRES = (COLUMNS, ROWS, WIDTHS, HEIGHTS)
SIZES = (1, 3, 4, 2, 3)
APART = Apart(np.ones((1, 1), dtype=bool), 0.1, CENTRES)
THREE_COLUMNS = Apart(
    APART.labels, 0.1, (np.array([0.2, 0.5, 0.8]), ROWS, np.array([0.19, 1.0]), HEIGHTS)
)
EVEN = ([1.0], [0.5, 0.0, 0.5], [0.25] * 4, [1.0, 0.0], [0.4, 0.0, 0.6])
weights_of = st.lists(st.floats(0, 1), min_size=1, max_size=40).filter(lambda w: sum(w) > 0.01)


def chances(*parts: list[float]) -> Constant:
    return Constant(tuple(np.array([*part, 0.0]) for part in parts))


def completed(given_box, network, keep="all", steps=30, count=400, slots=2, apart=APART):
    """The last element of layouts whose others are given; (count, 5)."""
    known = unknown(count, slots, sizes=SIZES, apart=apart)
    for slot, box in enumerate(given_box):
        known.tokens[:, slot] = box
        known.fixed[:, slot] = True
    wish = Settings(order="elements", steps=steps, keep_apart=keep, size_at_once=False)
    found = Sampler(network, Schedule(), wish).run(known, [stream(0, i) for i in range(count)])
    for slot, box in enumerate(given_box):
        assert (found[:, slot] == box).all()
    return found[:, slots - 1]


LEFT_COLUMN = [0, 0, 1, 0, 2]  # 0.05 to 0.45 wide, all of the height
TOP_HALF = [0, 1, 0, 1, 1]  # all of the width, from -0.125 to 0.375


def test_x_is_drawn_where_a_y_is_free():
    """A column is full: whatever y comes, an element there would be on top of it."""
    for keep in ("no", "step"):
        share = (completed([LEFT_COLUMN], chances(*EVEN), keep)[:, 1] == 0).mean()
        assert 0.4 < share < 0.6
    found = completed([LEFT_COLUMN], chances(*EVEN))
    assert (found[:, 1] == 2).all()
    heights = np.bincount(found[:, 4], minlength=3) / len(found)
    assert heights.tolist() == pytest.approx([0.4, 0, 0.6], abs=0.08)  # those fit, and stay


def test_sizes_are_drawn_that_fit_somewhere():
    """Below half a page there is no place for a whole one."""
    network = chances([1.0], [0.0, 1.0, 0.0], [0.25] * 4, [0.0, 1.0], [0.3, 0.0, 0.7])
    assert (completed([TOP_HALF], network, "step")[:, 4] == 2).mean() > 0.6
    found = completed([TOP_HALF], network)
    fits = found[:, 4] == 0
    assert fits.mean() > 0.9  # 0.7 ** 9 of them are still tall after all tries
    assert set(found[fits, 2]) <= {2, 3}  # and they are put there


def test_with_room_enough_nothing_changes():
    """Also the numbers that decide are used as without."""
    small = [0, 0, 0, 0, 0]
    network = chances([1.0], [0.0, 0.0, 1.0], [0.25] * 4, [1.0, 0.0], [0.4, 0.3, 0.3])
    assert (completed([small], network) == completed([small], network, "no")).all()


def test_where_nothing_fits_the_first_draw_stays():
    network = chances([1.0], [0.3, 0.4, 0.3], [0.25] * 4, [0.5, 0.5], [0.4, 0.3, 0.3])
    full = [0, 1, 1, 1, 2]
    page = Apart(APART.labels, 0.1, (COLUMNS, np.array([0.5] * 4), WIDTHS, HEIGHTS))
    found, plain = (completed([full], network, keep, apart=page) for keep in ("all", "no"))
    assert (found == plain).all()


def test_labels_that_share_room_do_not_look_ahead():
    apart = Apart(np.zeros((1, 1), dtype=bool), 0.1, CENTRES)
    found = completed([LEFT_COLUMN], chances(*EVEN), apart=apart)
    assert (found == completed([LEFT_COLUMN], chances(*EVEN), "no")).all()


def test_what_is_known_of_an_element_is_looked_at():
    """Its y is given, in the half that is full on the left: only x and sizes are drawn."""
    known = unknown(200, 2, sizes=SIZES, apart=APART)
    known.tokens[:, 0] = [0, 0, 1, 0, 1]  # the left column from 0.125 to 0.625
    known.fixed[:, 0] = True
    known.tokens[:, 1, 2] = 1
    known.fixed[:, 1, 2] = True
    wish = Settings(order="elements", steps=30, keep_apart="all", size_at_once=False)
    streams = [stream(0, i) for i in range(200)]
    network = chances([1.0], [0.5, 0.0, 0.5], [0.25] * 4, [0.5, 0.5], [1.0, 0.0, 0.0])
    found = Sampler(network, Schedule(), wish).run(known, streams)
    assert (found[:, 1, 2] == 1).all()
    assert (found[:, 1, 1] == 2).all()
    assert (found[:, 1, 3] == 0).mean() > 0.97  # a wide one fits nowhere


@given(weights_of, st.integers(0, 3))
@settings(deadline=None, max_examples=100)
def test_likely_values_are_spread_as_the_weights_are(weights, dimension):
    row = np.array(weights)
    found = evenly(np.stack([row[::-1], row]), dimension)
    assert found.shape == (2, PLACES)
    share = np.bincount(found[1], minlength=len(row)) / PLACES
    assert (row[found[1]] > 0).all()
    # An even sequence: each run of values has its share, to a few places.
    assert np.abs(np.cumsum(share) - np.cumsum(row) / row.sum()).max() < 4 / PLACES
    assert (found[0] == evenly(row[None, ::-1], dimension)[0]).all()


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=20, unique=True))
@settings(deadline=None)
def test_another_number_depends_on_the_number_alone(numbers):
    found = another(np.array(numbers))
    assert (found >= 0).all() and (found < 1).all()
    assert found.tolist() == [float(another(np.array([one]))[0]) for one in numbers]


def test_other_numbers_are_uniform_and_tell_nothing_of_the_first():
    numbers = np.random.default_rng(0).random(40_000)
    for _ in range(8):
        following = another(numbers)
        table, _, _ = np.histogram2d(numbers, following, bins=10, range=[[0, 1], [0, 1]])
        assert ((table - 400) ** 2 / 400).sum() < 99 + 5 * np.sqrt(2 * 99)  # chi squared
        numbers = following


@given(
    st.lists(st.tuples(*[st.floats(0, 1)] * 2, *[st.floats(0.05, 1)] * 2), min_size=2, max_size=6),
    st.floats(0, 0.8),
    st.data(),
)
@settings(deadline=None, max_examples=100)
def test_free_boxes_share_no_more_than_may_be_shared(boxes, free, data):
    """Against the shares of whole boxes; what leaves the canvas is moved onto it."""
    found = np.array(boxes)
    found[:, :2] = np.clip(found[:, :2], found[:, 2:] / 2, 1 - found[:, 2:] / 2)
    number = len(boxes) - 1
    count = np.array(data.draw(st.lists(st.booleans(), min_size=number, max_size=number)))
    mine = np.repeat(np.array(boxes)[:1, :, None], PLACES, axis=2)
    around = _Around(free, found[None, 1:], count[None])
    expected = not (count & (shared_room(found)[0, 1:] > free + 1e-9)).any()
    strict = not (count & (shared_room(found)[0, 1:] > free - 1e-9)).any()
    assert strict <= float(around.free(mine, slice(None))[0]) <= expected


@dataclass
class BySlot:
    """Slot 1 goes to the first row, slot 2 to the last one; the columns are even."""

    traits = Traits(SIZES)

    def __call__(self, query: Query) -> Prediction:
        batch, slots = query.valid.shape
        parts = [np.tile(np.array([*part, 0.0]), (batch, slots, 1)) for part in EVEN]
        parts[2][:, 1], parts[2][:, 2] = [1, 0, 0, 0, 0], [0, 0, 0, 1, 0]
        parts[4][:] = [1, 0, 0, 0]
        return Prediction(tuple(only_asked(log(part), query.asked) for part in parts))


class Upwards:
    """Guides slot 1 to the last row, slot 2 to the first one."""

    def update(self, views, **_):
        views[1][:, 1], views[1][:, 2] = [-99, -99, -99, 0], [0, -99, -99, -99]


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("steps", [4, 6, 30])  # 4: both have each turn together
@pytest.mark.parametrize("guided", [False, True])
def test_each_element_looks_at_its_own_predictions(steps, lazy, guided):
    """The last row of the left column is taken, in every second layout: who goes there minds."""
    known = unknown(400, 3, sizes=SIZES, apart=APART, guide=Upwards() if guided else None)
    known.tokens[:, 0] = [0, 0, 3, 0, 0]
    known.tokens[::2, 0, 1] = 1  # in the middle, where nobody goes; but it is wide
    known.tokens[::2, 0, 3] = 0
    known.fixed[:, 0] = True
    minds = 1 if guided else 2
    known.tokens[::5, 0] = np.array(SIZES) + 1  # one element alone, so it may go anywhere
    known.fixed[::5, 0] = False
    known.tokens[::5, 1:] = SIZES
    known.fixed[::5, 1:], known.valid[::5, 1:] = True, False
    known = replace(known, apart=THREE_COLUMNS)
    wish = Settings(order="elements", steps=steps, keep_apart="all", lazy=lazy)
    wish = wish.replaced(relation_strength=1.0 if guided else 0.0)
    sampler = Sampler(BySlot(), Schedule(), wish)
    found = sampler.run(known, [stream(0, i) for i in range(400)])
    whole, row = np.arange(400) % 5 > 0, np.arange(400)
    assert (found[whole & (row % 2 == 1), minds, 1] == 2).mean() > 0.97
    for slot, rows in ((3 - minds, whole), (minds, whole & (row % 2 == 0)), (0, ~whole)):
        assert (found[rows, slot, 1] == 2).mean() == pytest.approx(0.5, abs=0.14)


def test_of_draws_with_too_little_room_the_one_with_the_most_stays(monkeypatch):
    """Three rows of the left column, two of the middle, one of the right: none is quite free."""
    monkeypatch.setattr(room, "ENOUGH", 1.0)
    taken = [[0, x, y, 0, 0] for x, y in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))]
    network = chances([1.0], [0.3, 0.4, 0.3], [0.25] * 4, [1.0, 0.0], [1.0, 0.0, 0.0])
    found = completed(taken, network, slots=7, apart=THREE_COLUMNS)
    assert (found[:, 1] == 2).mean() > 0.93  # 0.7 ** 9 have not met it


def test_a_network_that_rules_every_value_out_is_no_trouble():
    """All of y is said to be PAD, which is not drawn here."""
    network = Constant(tuple(np.array([*part, 0.0]) for part in EVEN))
    network.rows[2][:] = [0, 0, 0, 0, 1]
    assert (completed([LEFT_COLUMN], network)[:, 1] == 2).all()


@dataclass
class Trembling:
    """A network on another processor: the last digits differ."""

    inner: Denoiser
    by: float

    @property
    def traits(self) -> Traits:
        return self.inner.traits

    def __call__(self, query: Query) -> Prediction:
        found = self.inner(query)
        rng = np.random.default_rng(0)
        moved = (part * (1 + self.by * rng.standard_normal(part.shape)) for part in found.log_probs)
        return replace(found, log_probs=tuple(moved))


def test_last_digits_of_the_network_hardly_matter():
    """Crowded pages, in which many values are drawn again."""
    model = layoutdm.load("publaynet")
    spec = Spec.parse({"elements": [{"label": "text"}] * 25})
    condition = Condition.from_spec(spec, model.labels, model.max_elements)
    wish = Settings.from_dict(model.config.sampling_of("cwh")).replaced(steps=20, keep_apart="all")
    parts = (model.config.tokenizer, model.config.traits, wish)
    known = batch([prepare(spec, condition, *parts)] * 40, [25] * 40, parts[0], model.config.apart)
    streams = [[stream(0, i) for i in range(40)] for _ in range(2)]
    found = [
        Sampler(Trembling(model.denoiser, by), model.config.schedule, wish).run(known, each)
        for by, each in zip((0.0, 1e-6), streams, strict=True)
    ]
    assert (found[0] != found[1]).any(axis=(1, 2)).sum() <= 2


def test_completed_pages_have_room_for_what_is_given():
    """A title in the middle of a page: seldom is it covered by what is added around it."""
    model = layoutdm.load("publaynet")
    title = {"label": "title", "x": 0.3, "y": 0.5, "width": 0.2, "height": 0.015}
    request = {"elements": [title], "more": True}

    def covered(keep: str) -> int:
        made = model.generate(request, count=100, seed=1, keep_apart=keep)
        count = 0
        for result in made:
            boxes = np.asarray(result.layout.boxes)
            side = np.minimum(boxes[:, :2] + boxes[:, 2:] / 2, [0.4, 0.5075])
            side = side - np.maximum(boxes[:, :2] - boxes[:, 2:] / 2, [0.2, 0.4925])
            shared = np.clip(side, 0, None).prod(axis=1) / (0.2 * 0.015)
            count += (shared > 0.4).sum() > 1  # the title itself is one of them
        return count

    plain, kept = covered("no"), covered("all")
    assert kept <= 3 and kept < plain

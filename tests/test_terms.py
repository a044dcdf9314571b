"""Each term alone, with a network whose answer is constant, under both samplers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.diffusion import Schedule
from layoutdm.diffusion.element import ElementSampler
from layoutdm.diffusion.network import Prediction, Query, Traits, only_asked
from layoutdm.diffusion.plain import PlainSampler
from layoutdm.spec import Condition, Spec
from layoutdm.terms import Allowed, Apart, KeepApart, LeaveRoom, Near, OnCanvas, Related
from layoutdm.terms.apart import covered
from layoutdm.terms.room import PLACES, another, evenly
from layoutdm.tokens import Bins
from sampler_dummies import Constant, assert_shares, constant, give, log, run, unknown, walk

PLACES4 = np.array([0.125, 0.375, 0.625, 0.875])
LENGTHS = np.array([0.25, 0.3, 0.5, 1.0])
CENTRES = (PLACES4, PLACES4, LENGTHS, LENGTHS)
APART = Apart(np.ones((3, 3), dtype=bool), 0.1)
LABELS = ("a", "b", "c")
SAMPLERS = pytest.mark.parametrize("kind", [PlainSampler, ElementSampler])


def draw(kind, denoiser, batch, terms, steps=20, centres=CENTRES, **more):
    return run(kind(denoiser, Schedule(), terms, steps, centres=centres, **more), batch)


def asked(layouts, slots, request, **more):
    """A batch for a request whose elements are called e0, e1, ...; labels a, b, c."""
    elements = [{"name": f"e{i}", **one} for i, one in enumerate(request.get("elements", ()))]
    spec = Spec.parse({**request, "elements": elements})
    condition = Condition.from_spec(spec, LABELS, 25)
    return unknown(layouts, slots, conditions=(condition,) * layouts, **more)


# Allowed -------------------------------------------------------------------------------------


@SAMPLERS
def test_labels_that_are_not_allowed_are_never_drawn(kind):
    sure = tuple(np.append(np.eye(size)[0], 0.0) for size in (3, 4, 4, 4, 4))
    batch = asked(200, 2, {"elements": [{"label": ["b", "c"]}, {}]})
    tokens = draw(kind, Constant(sure), batch, [Allowed(batch)])
    assert_shares(tokens[:, 0, 0], (0, 0.5, 0.5))
    assert (tokens[:, 1] == 0).all()


def test_pad_stands_only_where_it_may():
    pads = tuple(np.append(np.full(n, 0.1 / n), 0.9) for n in (3, 4, 4, 4, 4))
    pad = np.zeros((100, 3), dtype=bool)
    pad[:, 2] = True
    batch = unknown(100, 3, pad=pad)
    tokens = draw(PlainSampler, Constant(pads, draws_pad=True), batch, [Allowed(batch)])
    states = np.array([3, 4, 4, 4, 4])
    assert (tokens[:, :2] < states).all() and (tokens[:, 2] == states).mean() > 0.8


# Canvas --------------------------------------------------------------------------------------


@SAMPLERS
def test_centres_and_sizes_are_drawn_so_that_boxes_fit(kind):
    """The network loves the last value of everything; whatever comes second gives way."""
    love = np.array([0.04, 0.03, 0.03, 0.9, 0.0])
    denoiser = Constant((np.array([0.4, 0.3, 0.3, 0.0]), *[love] * 4))
    bins = Bins("kmeans", CENTRES)
    states = walk(kind(denoiser, Schedule(), [OnCanvas(bins)], 100), unknown(200, 4))
    together = np.zeros((200, 4), dtype=bool)  # x and width decided in the same step
    for (_, before), (_, after) in itertools.pairwise(states):
        new = (before == 5) & (after != 5)
        together |= new[..., 1] & new[..., 3]
    drawn = states[-1][1]
    fits = bins.on_canvas(0)[drawn[..., 3], drawn[..., 1]]
    assert (~together).mean() > 0.9 and fits[~together].all()
    free = draw(kind, denoiser, unknown(200, 4), [])
    assert not bins.on_canvas(0)[free[..., 3], free[..., 1]].all()


# Near ----------------------------------------------------------------------------------------


@SAMPLERS
def test_weak_wishes_shift_the_odds_by_their_exponential(kind):
    wish = {"about": 0.125, "within": 0.1, "strength": float(np.log(3.0))}
    batch = asked(3000, 2, {"elements": [{"label": "a", "x": wish}, {"label": "a"}]})
    tokens = draw(kind, constant(), batch, [Near(batch, CENTRES)], steps=3)
    assert_shares(tokens[:, 0, 1], (0.5, 1 / 6, 1 / 6, 1 / 6))
    assert_shares(tokens[:, 1, 1], (0.25,) * 4)
    assert_shares(tokens[:, 0, 2], (0.25,) * 4)


# Related -------------------------------------------------------------------------------------


@SAMPLERS
@pytest.mark.parametrize("form", ["bins", "box"])
def test_relations_pull_in_both_forms(kind, form):
    request = {
        "elements": [{"label": "a", "height": 0.25}, {"label": "b", "height": 0.25}],
        "relations": [{"of": "e1", "is": "below", "to": "e0"}],
    }
    shares = []
    for strength in (0.0, 60.0):
        batch = asked(300, 2, request)
        batch.tokens[..., 4], batch.fixed[..., 4] = 0, True
        batch.boxes[:, :2, 3] = 0.25
        terms = [Related(batch, CENTRES, strength, form)] if strength else []
        tokens = draw(kind, constant(), batch, terms)
        shares.append((tokens[:, 1, 2] > tokens[:, 0, 2]).mean())
    assert shares[0] < 0.5 and shares[1] > shares[0] + (0.4 if form == "bins" else 0.1)


# Keep apart ----------------------------------------------------------------------------------

tokens_of_boxes = st.lists(
    st.tuples(st.integers(0, 2), *[st.integers(0, 3)] * 4), min_size=2, max_size=6
)


def shares_of(boxes):
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    sides = np.clip(np.minimum(high[:, None], high) - np.maximum(low[:, None], low), 0, None)
    areas = boxes[:, 2] * boxes[:, 3]
    return sides.prod(axis=-1) / np.minimum(areas[:, None], areas)


@given(tokens_of_boxes, st.integers(1, 4), st.floats(0, 0.8), st.data())
@settings(max_examples=150, deadline=None)
def test_what_a_value_would_cover_is_the_area_that_it_would_share(rows, modality, free, data):
    """Against the shares of whole boxes, one value after the other."""
    tokens = np.array(rows)
    slot = data.draw(st.integers(0, len(rows) - 1))
    count = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    count[slot] = False
    boxes = np.stack([CENTRES[a][tokens[:, 1 + a]] for a in range(4)], axis=1)
    values = CENTRES[modality - 1]
    found = covered(boxes[slot][None], modality, values, boxes[None], count[None], free)
    for value in range(4):
        boxes[slot, modality - 1] = values[value]
        more = np.clip(shares_of(boxes)[slot] - free, 0, None) / (1 - free)
        assert found[0, value] == pytest.approx((more * count).sum(), abs=1e-9)


def loves(y, label=0):
    """One label, the first width and height and the second x; y by these chances."""
    sure = [np.eye(n + 1)[k] for n, k in ((3, label), (4, 1), (4, 0), (4, 0), (4, 0))]
    sure[2] = np.append(np.array(y), 0.0)
    return Constant(tuple(sure))


def on_top(tokens):
    """Layouts in which two elements have the same y, as they all have the same x and size."""
    return float(np.mean([len(set(row[:, 2])) < len(row) for row in tokens]))


@pytest.mark.parametrize("steps", [1, 30])
def test_three_elements_find_three_places(steps):
    network, batch = loves((0.7, 0.15, 0.1, 0.05)), unknown(40, 3)
    plain = draw(ElementSampler, network, batch, [], steps)
    found = draw(ElementSampler, network, batch, [KeepApart(batch, APART, CENTRES)], steps)
    assert on_top(plain) > 0.6 and on_top(found) == 0
    assert (found[:, 0] == plain[:, 0]).all()  # the first one is drawn as it was


def test_labels_that_share_room_may():
    network, batch = loves((0.7, 0.15, 0.1, 0.05)), unknown(40, 3)
    nobody = KeepApart(batch, Apart(np.zeros((3, 3), dtype=bool), 0.1), CENTRES)
    found = draw(ElementSampler, network, batch, [nobody])
    assert (found == draw(ElementSampler, network, batch, [])).all()


def test_elements_that_are_wished_to_overlap_do_not_keep_apart():
    request = {
        "elements": [{"label": "a"}, {"label": "a"}, {"label": "a"}],
        "relations": [{"of": "e1", "is": "overlapping", "to": "e0"}],
    }
    network, batch = loves((1.0, 0.0, 0.0, 0.0)), asked(40, 3, request)
    found = draw(ElementSampler, network, batch, [KeepApart(batch, APART, CENTRES)])
    assert (found[:, 1, 2] == 0).all() and (found[:, 2, 2] != 0).all()


@SAMPLERS
def test_what_is_given_stays_free(kind):
    """In the paper's order y is not always the last value of a box, so it only helps."""
    batch = unknown(200, 2)
    give(batch, 0, [2, 1, 0, 0, 0])
    batch.boxes[:, 0] = [0.375, 0.125, 0.25, 0.25]
    network = loves((0.7, 0.15, 0.1, 0.05))
    plain = (draw(kind, network, batch, [])[:, 1, 2] == 0).mean()
    found = draw(kind, network, batch, [KeepApart(batch, APART, CENTRES)], steps=60)
    assert (found[:, 0] == [2, 1, 0, 0, 0]).all()
    covered = (found[:, 1, 2] == 0).mean()
    assert plain > 0.6 and covered < plain - 0.1
    assert kind is PlainSampler or covered == 0


def test_where_nothing_is_free_the_least_covered_place_is_taken():
    """The given box covers the first three places, the fourth only a little."""
    batch = unknown(40, 2)
    give(batch, 0, [0, 1, 1, 0, 3])  # height 1 around 0.375: down to 0.875
    batch.boxes[:, 0] = [0.375, 0.375, 0.25, 1.0]
    network = loves((0.5, 0.3, 0.2, 1e-6))
    found = draw(ElementSampler, network, batch, [KeepApart(batch, APART, CENTRES)])
    assert (found[:, 1, 2] == 3).all()


def test_who_comes_first_keeps_the_place_that_both_love():
    for turn, first in (([0, 1], 0), ([1, 0], 1)):
        batch = unknown(40, 2, turn=np.tile(np.array(turn), (40, 1)))
        terms = [KeepApart(batch, APART, CENTRES)]
        found = draw(ElementSampler, loves((0.98, 0.02, 0, 0)), batch, terms, steps=1)
        assert (found[:, first, 2] == 0).mean() > 0.8
        assert (found[:, 1 - first, 2] != 0).mean() > 0.8


def test_a_box_without_a_label_neither_covers_nor_is_covered():
    """It may become anything: of the given box the label comes last."""
    batch = unknown(40, 2, turn=np.tile([1, 0], (40, 1)))
    batch.tokens[:, 0, 1:], batch.fixed[:, 0, 1:] = [1, 0, 0, 0], True
    batch.boxes[:, 0] = [0.375, 0.125, 0.25, 0.25]
    network = loves((0.7, 0.15, 0.1, 0.05))
    found = draw(ElementSampler, network, batch, [KeepApart(batch, APART, CENTRES)], steps=30)
    assert (found[:, 1] == draw(ElementSampler, network, batch, [], steps=30)[:, 1]).all()


# Room ----------------------------------------------------------------------------------------

COLUMNS = np.array([0.25, 0.5, 0.75])
ROWS = np.array([0.125, 0.375, 0.625, 0.875])
WIDTHS = np.array([0.4, 1.0])
HEIGHTS = np.array([0.2, 0.5, 1.0])
GRID = (COLUMNS, ROWS, WIDTHS, HEIGHTS)
THREE_COLUMNS = (np.array([0.2, 0.5, 0.8]), ROWS, np.array([0.19, 1.0]), HEIGHTS)
SIZES = (1, 3, 4, 2, 3)
ONE = Apart(np.ones((1, 1), dtype=bool), 0.1)
EVEN = ([1.0], [0.5, 0.0, 0.5], [0.25] * 4, [1.0, 0.0], [0.4, 0.0, 0.6])
LEFT_COLUMN = [0, 0, 1, 0, 2]  # 0.05 to 0.45 wide, all of the height
TOP_HALF = [0, 1, 0, 1, 1]  # all of the width, from -0.125 to 0.375
weights_of = st.lists(st.floats(0, 1), min_size=1, max_size=40).filter(lambda w: sum(w) > 0.01)


def chances(*parts):
    return Constant(tuple(np.array([*part, 0.0]) for part in parts))


def completed(given_boxes, network, ahead=True, count=400, grid=GRID, apart=ONE):
    """The last element of layouts whose others are given; (count, 5)."""
    slots = len(given_boxes) + 1
    batch = unknown(count, slots, SIZES)
    for slot, tokens in enumerate(given_boxes):
        give(batch, slot, tokens)
        batch.boxes[:, slot] = [grid[a][tokens[1 + a]] for a in range(4)]
    terms = [KeepApart(batch, apart, grid)] if ahead is not None else []
    terms += [LeaveRoom(batch, apart, grid)] if ahead else []
    return draw(ElementSampler, network, batch, terms, 30, centres=grid)[:, -1]


def test_x_is_drawn_where_a_y_is_free():
    """A column is full: whatever y comes, an element there would be on top of it."""
    for ahead in (None, False):
        share = (completed([LEFT_COLUMN], chances(*EVEN), ahead)[:, 1] == 0).mean()
        assert 0.4 < share < 0.6
    found = completed([LEFT_COLUMN], chances(*EVEN))
    assert (found[:, 1] == 2).all()
    heights = np.bincount(found[:, 4], minlength=3) / len(found)
    assert heights.tolist() == pytest.approx([0.4, 0, 0.6], abs=0.08)  # those fit, and stay


def test_sizes_are_drawn_that_fit_somewhere():
    """Below half a page there is no place for a whole one."""
    network = chances([1.0], [0.0, 1.0, 0.0], [0.25] * 4, [0.0, 1.0], [0.3, 0.0, 0.7])
    assert (completed([TOP_HALF], network, False)[:, 4] == 2).mean() > 0.6
    found = completed([TOP_HALF], network)
    fits = found[:, 4] == 0
    assert fits.mean() > 0.9  # 0.7 ** 9 of them are still tall after all tries
    assert set(found[fits, 2]) <= {2, 3}  # and they are put there


def test_with_room_enough_nothing_changes():
    """Also the numbers that decide are used as without."""
    small = [0, 0, 0, 0, 0]
    network = chances([1.0], [0.0, 0.0, 1.0], [0.25] * 4, [1.0, 0.0], [0.4, 0.3, 0.3])
    assert (completed([small], network) == completed([small], network, None)).all()


def test_where_nothing_fits_the_first_draw_stays():
    network = chances([1.0], [0.3, 0.4, 0.3], [0.25] * 4, [0.5, 0.5], [0.4, 0.3, 0.3])
    full = [0, 1, 1, 1, 2]
    page = (COLUMNS, np.array([0.5] * 4), WIDTHS, HEIGHTS)
    found, plain = (completed([full], network, ahead, grid=page) for ahead in (True, None))
    assert (found == plain).all()


def test_labels_that_share_room_do_not_look_ahead():
    nobody = Apart(np.zeros((1, 1), dtype=bool), 0.1)
    found = completed([LEFT_COLUMN], chances(*EVEN), apart=nobody)
    assert (found == completed([LEFT_COLUMN], chances(*EVEN), None)).all()


def test_of_draws_with_too_little_room_the_one_with_the_most_stays(monkeypatch):
    """Three rows of the left column, two of the middle, one of the right: none is quite free."""
    from layoutdm.terms import room

    monkeypatch.setattr(room, "ENOUGH", 1.0)
    taken = [[0, x, y, 0, 0] for x, y in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))]
    network = chances([1.0], [0.3, 0.4, 0.3], [0.25] * 4, [1.0, 0.0], [1.0, 0.0, 0.0])
    found = completed(taken, network, grid=THREE_COLUMNS)
    assert (found[:, 1] == 2).mean() > 0.93  # 0.7 ** 9 have not met it


def test_a_network_that_rules_every_value_out_is_no_trouble():
    """All of y is said to be PAD, which is not drawn here."""
    network = chances(*EVEN)
    network.rows[2][:] = [0, 0, 0, 0, 1]
    assert (completed([LEFT_COLUMN], network)[:, 1] == 2).all()


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


@pytest.mark.parametrize("steps", [4, 6, 30])  # 4: both have each turn together
def test_each_element_looks_at_its_own_predictions(steps):
    """The last row of the left column is taken: who goes there minds, who does not does not."""
    batch = unknown(400, 3, SIZES)
    give(batch, 0, [0, 0, 3, 0, 0])
    batch.boxes[:, 0] = [THREE_COLUMNS[a][i] for a, i in enumerate((0, 3, 0, 0))]
    terms = [KeepApart(batch, ONE, THREE_COLUMNS), LeaveRoom(batch, ONE, THREE_COLUMNS)]
    found = draw(ElementSampler, BySlot(), batch, terms, steps, centres=THREE_COLUMNS)
    assert (found[:, 2, 1] == 2).mean() > 0.97
    assert (found[:, 1, 1] == 2).mean() == pytest.approx(0.5, abs=0.14)


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


# All together --------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 2, 4, 9])
@SAMPLERS
def test_a_layout_does_not_depend_on_its_neighbours(kind, steps):
    """Layouts of two to five elements, some given, with wishes and turns of their own."""
    rng = np.random.default_rng(0)
    request = {
        "elements": [{"label": "a"}, {"label": "b", "x": {"about": 0.6, "strength": 2.0}}],
        "relations": [{"of": "e1", "is": "below", "to": "e0"}],
        "more": True,
    }
    batch = asked(8, 5, request)
    apart = Apart(rng.random((3, 3)) < 0.7, 0.1)
    turns, counts = np.tile(np.arange(5), (8, 1)), [2, 5, 3, 4, 5, 2, 4, 3]
    for row, count in enumerate(counts):
        batch.valid[row, count:], batch.fixed[row, count:] = False, True
        batch.tokens[row, count:] = [3, 4, 4, 4, 4]
        turns[row, :count] = rng.permutation(count)
        if row % 2:
            give(batch, 0, [1, 1, row % 4, 0, 0], rows=row)
    batch = replace(batch, turn=turns)
    network = Constant((np.array([0.4, 0.3, 0.3, 0]), *[np.array([0.4, 0.3, 0.2, 0.1, 0])] * 4))

    def terms(one):
        room = (KeepApart(one, apart, CENTRES), LeaveRoom(one, apart, CENTRES))
        bins = Bins("kmeans", CENTRES)
        return [Allowed(one), OnCanvas(bins), Near(one, CENTRES), Related(one, CENTRES, 9.0), *room]

    many = draw(kind, network, batch, terms(batch), steps)
    for i, count in enumerate(counts):
        one = slice(i, i + 1)
        alone = replace(
            batch, conditions=batch.conditions[one], tokens=batch.tokens[one, :count],
            fixed=batch.fixed[one, :count], valid=batch.valid[one, :count],
            boxes=batch.boxes[one, :count], rank=batch.rank[one, :count],
            turn=turns[one, :count],
        )  # fmt: skip
        sampler = kind(network, Schedule(), terms(alone), steps, centres=CENTRES)
        assert (run(sampler, alone, first=i)[0] == many[i, :count]).all()


def test_layouts_without_wishes_are_drawn_as_if_alone():
    """Beside one whose wishes rule values out."""
    from layoutdm.terms.possible import Possible

    bins = Bins("kmeans", CENTRES)
    wish = {"elements": [{"label": "a", "area": 0.2}, {"label": "b"}]}
    related, free = asked(1, 2, wish), unknown(1, 2)
    both = unknown(2, 2, conditions=(*free.conditions, *related.conditions))
    together = draw(ElementSampler, constant(), both, [Possible(both, bins, in_turn=True)])
    alone = draw(ElementSampler, constant(), free, [])
    assert (together[0] == alone[0]).all()

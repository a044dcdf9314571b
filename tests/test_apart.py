"""Boxes completed in the same step keep apart: areas by hand, samplers whose end is known."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import layoutdm
from layoutdm import Layout
from layoutdm.diffusion import Schedule
from layoutdm.diffusion.apart import Apart, completing, one_by_one
from layoutdm.diffusion.sampler import Sampler
from layoutdm.diffusion.settings import Settings
from layoutdm.diffusion.streams import stream
from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Tokenizer, uniform_bins
from layoutdm.train.apart import keeping_apart, shared_room, usual_share
from layoutdm.train.corpus import pack
from sampler_dummies import Constant, unknown
from tiny_models import LABELS, folder

PLACES = np.array([0.125, 0.375, 0.625, 0.875])
LENGTHS = np.array([0.25, 0.3, 0.5, 1.0])
CENTRES = (PLACES, PLACES, LENGTHS, LENGTHS)
ALL = np.ones((3, 3), dtype=bool)
MASK = np.array([4, 5, 5, 5, 5])
BAD_MODELS = (
    ({"free": 0.1, "labels": {"nobody": []}}, "apart: 'nobody' is not one of the model's labels"),
    ({"free": 0.1, "labels": {LABELS[0]: LABELS[1]}}, "must have a list of labels"),
    ({"free": 10**400, "labels": {}}, "damaged"),
    ({"free": 1.5, "labels": {}}, "free must be from 0 to less than 1, got 1.5"),
    ({"free": "much", "labels": {}}, "damaged"),
    ({"free": 0.1}, "'labels' is missing"),
    ([1], "damaged"),
)

tokens_of_boxes = st.lists(
    st.tuples(st.integers(0, 2), *[st.integers(0, 3)] * 4), min_size=2, max_size=6
)


@given(tokens_of_boxes, st.integers(1, 4), st.floats(0, 0.8), st.data())
@settings(max_examples=150, deadline=None)
def test_what_a_value_would_cover_is_the_area_that_it_would_share(rows, modality, free, data):
    """Against the shares of whole boxes, one value after the other."""
    tokens = np.array(rows)
    slot = data.draw(st.integers(0, len(rows) - 1))
    others = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    labels = np.array(data.draw(st.lists(st.booleans(), min_size=9, max_size=9))).reshape(3, 3)
    hidden = tokens.copy()
    hidden[slot, modality] = MASK[modality]
    found = Apart(labels, free, CENTRES).covered(
        hidden[None], np.array([slot]), modality, others[None]
    )
    counts = others & labels[tokens[slot, 0], tokens[:, 0]]
    counts[slot] = False
    for value in range(4):
        tokens[slot, modality] = value
        boxes = np.stack([CENTRES[a][tokens[:, 1 + a]] for a in range(4)], axis=1)
        more = np.clip(shared_room(boxes)[slot] - free, 0, None) / (1 - free)
        assert found[0, value] == pytest.approx((more * counts).sum(), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=12))
def test_groups_have_each_layout_once_and_by_turns(pairs):
    layout = np.array([a for a, _ in pairs], dtype=np.int64)
    turn = np.array([b for _, b in pairs], dtype=np.int64)
    groups = one_by_one(layout, turn)
    assert sorted(i for group in groups for i in group) == list(range(len(pairs)))
    before: dict[int, int] = {}
    for group in groups:
        assert len(set(layout[group])) == len(group)
        for i in group:
            assert turn[i] >= before.get(int(layout[i]), 0)
            before[int(layout[i])] = int(turn[i])


def test_the_last_token_of_a_box_is_the_last_in_turn():
    """Width and x of element 0, y alone of 1, a label of 2; the box of 3 is not complete."""
    element, modality = np.array([0, 0, 1, 2, 3]), np.array([1, 3, 2, 0, 2])
    assert completing(element, modality, np.array([True] * 3 + [False])).tolist() == [0, 2]


def loves(y: tuple[float, ...], label: int = 0) -> Constant:
    """One label, the first width and height and the second x; y by these chances."""
    sure = [np.eye(n + 1)[k] for n, k in ((3, label), (4, 1), (4, 0), (4, 0), (4, 0))]
    sure[2] = np.append(np.array(y), 0.0)
    return Constant(tuple(sure))


def drawn(apart, slots=3, batch=40, network=None, known=None, **more):
    network = network or loves((0.7, 0.15, 0.1, 0.05))
    known = known or unknown(batch, slots, apart=apart)
    sampler = Sampler(network, Schedule(), Settings(**{"order": "elements", "steps": 1, **more}))
    return sampler.run(known, [stream(0, i) for i in range(len(known.tokens))])


def on_top(tokens) -> float:
    """Layouts in which two elements have the same y, as they all have the same x and size."""
    return float(np.mean([len(set(row[:, 2])) < len(row) for row in tokens]))


def test_in_one_step_three_elements_find_three_places():
    apart = Apart(ALL, 0.1, CENTRES)
    assert on_top(drawn(None)) > 0.6
    assert on_top(drawn(apart, keep_apart="no")) > 0.6
    found = drawn(apart)
    assert on_top(found) == 0
    first = np.bincount(found[:, 0, 2], minlength=4) / len(found)
    assert first[0] > 0.5  # the first one is drawn as it was
    assert (found[:, 0] == drawn(None)[:, 0]).all()


def test_labels_that_share_room_may():
    nobody = Apart(np.zeros((3, 3), dtype=bool), 0.1, CENTRES)
    assert (drawn(nobody) == drawn(None)).all()


def test_in_random_order_the_exact_posterior_is_left_alone():
    apart = Apart(ALL, 0.1, CENTRES)
    assert (drawn(apart, order="random") == drawn(None, order="random")).all()


def test_with_a_step_for_each_element_there_is_nothing_to_do():
    """The network has seen what is placed; only `all` does not rely on that."""
    apart = Apart(ALL, 0.1, CENTRES)
    assert (drawn(apart, steps=30) == drawn(None, steps=30)).all()
    assert on_top(drawn(apart, steps=30)) > 0.6
    assert on_top(drawn(apart, steps=30, keep_apart="all")) == 0


def test_all_keeps_clear_of_what_is_given():
    known = unknown(40, 2, apart=Apart(ALL, 0.1, CENTRES))
    known.tokens[:, 0] = [2, 1, 0, 0, 0]
    known.fixed[:, 0] = True
    assert (drawn(None, known=known)[:, 1, 2] == 0).any()
    found = drawn(None, known=known, keep_apart="all")
    assert (found[:, 0] == [2, 1, 0, 0, 0]).all()
    assert (found[:, 1, 2] != 0).all()


def test_where_nothing_is_free_the_least_covered_place_is_taken():
    """The given box covers the first three places, the fourth only a little."""
    known = unknown(40, 2, apart=Apart(ALL, 0.1, (PLACES, PLACES, LENGTHS, LENGTHS)))
    known.tokens[:, 0] = [0, 1, 1, 0, 3]  # height 1 around 0.375: down to 0.875
    known.fixed[:, 0] = True
    found = drawn(None, known=known, network=loves((0.5, 0.3, 0.2, 1e-6)), keep_apart="all")
    assert (found[:, 1, 2] == 3).all()


@pytest.mark.parametrize("keep", ["step", "all"])
@pytest.mark.parametrize("steps", [1, 2, 4, 9])
def test_a_layout_does_not_depend_on_its_neighbours(keep, steps):
    """Layouts of two to five elements, some of them given, with turns of their own."""
    rng = np.random.default_rng(0)
    known = unknown(8, 5, apart=Apart(rng.random((3, 3)) < 0.7, 0.1, CENTRES))
    turns = np.tile(np.arange(5), (8, 1))
    counts = [2, 5, 3, 4, 5, 2, 4, 3]
    for row, count in enumerate(counts):
        known.valid[row, count:] = False
        known.tokens[row, count:] = MASK - 1
        known.fixed[row, count:] = True
        turns[row, :count] = rng.permutation(count)
        if row % 2:
            known.tokens[row, 0] = [1, 1, row % 4, 0, 0]
            known.fixed[row, 0] = True
    known = replace(known, turns=turns)
    sampler = Sampler(
        Constant((np.array([0.4, 0.3, 0.3, 0]), *[np.array([0.4, 0.3, 0.2, 0.1, 0])] * 4)),
        Schedule(),
        Settings(order="elements", steps=steps, keep_apart=keep),
    )
    many = sampler.run(known, [stream(0, i) for i in range(8)])
    for i, count in enumerate(counts):
        one = slice(i, i + 1)
        alone = replace(
            known, tokens=known.tokens[one, :count], fixed=known.fixed[one, :count],
            valid=known.valid[one, :count], turns=turns[one, :count],
        )  # fmt: skip
        assert (sampler.run(alone, [stream(0, i)])[0] == many[i, :count]).all()


def test_boxes_are_drawn_by_their_turns():
    """Who comes first keeps the place that both love."""
    apart = Apart(ALL, 0.1, CENTRES)
    for turns, first in (([0, 1], 0), ([1, 0], 1)):
        known = unknown(40, 2, apart=apart, turns=np.tile(np.array(turns), (40, 1)))
        found = drawn(None, known=known, network=loves((0.98, 0.02, 0, 0)))
        assert (found[:, first, 2] == 0).mean() > 0.8
        assert (found[:, 1 - first, 2] != 0).mean() > 0.8


def test_a_box_without_a_label_neither_covers_nor_is_covered():
    """It may become anything: of the given box the label comes last, along with the third y."""
    turns = np.tile([2, 0, 1], (40, 1))
    known = unknown(40, 3, apart=Apart(ALL, 0.1, CENTRES), turns=turns)
    known.tokens[:, 0, 1:] = [1, 0, 0, 0]
    known.fixed[:, 0, 1:] = True
    found = drawn(None, known=known, keep_apart="all", steps=30)
    plain = drawn(None, known=known, keep_apart="no", steps=30)
    assert (found[:, 1] == plain[:, 1]).all()
    assert (found[:, 1, 2] == 0).any()
    assert (found[:, 2, 2] != 0).all() and (plain[:, 2, 2] == 0).any()


class Pads(Constant):
    """A network that draws PAD as any other value, like the paper's."""

    @property
    def traits(self):
        return replace(super().traits, number_first=False)


def test_networks_that_draw_pad_are_left_alone():
    """They would draw PAD where no place is free, and lose the element."""
    rows = loves((0.7, 0.1, 0.1, 0.1)).rows
    known = unknown(40, 5, apart=Apart(ALL, 0.1, CENTRES), pad=np.ones((40, 5), dtype=bool))
    found = drawn(None, known=known, network=Pads(rows))
    assert (found[..., 2] < 4).all()
    assert (found == drawn(None, known=known, network=Pads(rows), keep_apart="no")).all()


def columns(pages: int = 30) -> list[Layout]:
    """Texts in four rows that touch, each on a card."""
    rows = [[0.5, 0.125 + 0.25 * row, 0.8, size] for row in range(4) for size in (0.25, 0.2)]
    return [Layout(("card", "text") * 4, np.array(rows), 100, 100)] * pages


def test_what_is_free_is_what_rounding_makes_of_boxes_that_touch():
    fine = pack(columns(), Tokenizer(("card", "text"), uniform_bins(200), 25))
    assert keeping_apart(fine).free == 0.1
    # Heights of 0.25 and 0.2 become a third, rows 1/12 apart: by hand from the rounded boxes.
    coarse = pack(columns(), Tokenizer(("card", "text"), uniform_bins(3), 25))
    boxes = coarse.tokenizer.bins.decode(coarse.tokens[:8, 1:])
    cards = shared_room(boxes[0::2])[~np.eye(4, dtype=bool)].reshape(4, 3).max(axis=1)
    apart = keeping_apart(coarse)
    assert apart.labels.tolist() == [[True, False], [False, True]]
    assert cards.max() > 0.1
    assert usual_share(coarse, apart.labels) == pytest.approx(min(cards.max(), 0.9))


def test_what_one_element_in_a_hundred_shares_is_not_usual():
    """Of 240 elements two lie on each other."""
    pages = columns()
    odd = np.array(pages[0].boxes)
    odd[0] = odd[2]
    corpus = pack(
        [*pages[:-1], Layout(pages[0].labels, odd, 100, 100)],
        Tokenizer(("card", "text"), uniform_bins(200), 25),
    )
    nearly = np.ones((2, 2), dtype=bool)
    nearly[0, 1] = nearly[1, 0] = False
    assert usual_share(corpus, nearly) == 0.1


def test_an_empty_layout_says_nothing():
    tokenizer = Tokenizer(("card", "text"), uniform_bins(200), 25)
    nothing = Layout((), np.zeros((0, 4)), 100, 100)
    found, plain = (
        keeping_apart(pack(pages, tokenizer)) for pages in ([*columns(), nothing], columns())
    )
    assert found.free == plain.free and (found.labels == plain.labels).all()


def test_a_model_says_which_labels_keep_apart(tmp_path):
    shutil.copytree(folder(), tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    config = json.loads(path.read_text())
    label, other = config["labels"][:2]
    record = {"free": 0.2, "labels": {label: [other], other: [label]}}
    path.write_text(json.dumps({**config, "apart": record}))
    apart = layoutdm.load(path.parent).config.apart
    assert apart is not None and apart.free == 0.2
    assert [pair.tolist() for pair in np.nonzero(apart.labels)] == [[0, 1], [1, 0]]
    path.write_text(json.dumps(config))
    model = layoutdm.load(path.parent)
    assert model.config.apart is None
    assert len(model.generate(count=2, order="elements")) == 2
    with pytest.raises(LayoutdmError, match=r"config\.json says which labels keep apart"):
        model.generate(count=2, keep_apart="all", order="elements")


@pytest.mark.parametrize(("record", "message"), BAD_MODELS)
def test_a_damaged_part_is_one_sentence(tmp_path, record, message):
    shutil.copytree(folder(), tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "apart": record}))
    with pytest.raises(LayoutdmError, match=message):
        layoutdm.load(path.parent)


def test_wishes_without_effect_are_refused():
    model = layoutdm.load("publaynet")
    for wish in ({"order": "random"}, {"posterior": "published"}, {"filter": "published"}):
        said = rf"keep_apart=all needs order=elements.*{'='.join(next(iter(wish.items())))}"
        with pytest.raises(LayoutdmError, match=said):
            model.generate(count=1, keep_apart="all", **wish)
    with pytest.raises(LayoutdmError, match=r"keep_apart 'some' is unknown.*no, step, all"):
        model.generate(count=1, keep_apart="some")


@pytest.mark.parametrize("name", ["rico25", "publaynet"])
def test_embedded_models_keep_apart_with_few_calls(name):
    """Six calls for twelve texts: far fewer layouts have two of them on each other."""
    model = layoutdm.load(name)
    label = {"rico25": "Text", "publaynet": "text"}[name]
    request = {"elements": [{"label": label}] * 12}

    def share(**more) -> float:
        made = model.generate(request, count=40, steps=6, **more)
        boxes = [np.asarray(result.layout.boxes) for result in made]
        return float(np.mean([(shared_room(b) - np.eye(len(b)) > 0.4).any() for b in boxes]))

    assert share(keep_apart="step") < 0.6 * share(keep_apart="no")
    assert share(keep_apart="all") <= share(keep_apart="step")

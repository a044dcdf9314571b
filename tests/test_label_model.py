"""The label network: what it sees, what is drawn with it, how it is fitted, its file."""

from __future__ import annotations

import io
import itertools
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import layoutdm
from layoutdm.diffusion import Schedule
from layoutdm.diffusion.labels import (
    LAST,
    LabelModel,
    draw_labels,
    feature_count,
    features,
    normalised,
)
from layoutdm.diffusion.network import Traits
from layoutdm.diffusion.sampler import Sampler, stream
from layoutdm.diffusion.settings import Settings
from layoutdm.errors import LayoutdmError
from layoutdm.model.label_file import FILE, to_bytes
from layoutdm.model.store import fingerprint
from layoutdm.train.export import export_model
from layoutdm.train.label_model import LabelNetwork, examples, fit_labels
from sampler_dummies import Constant, constant, unknown
from tiny_models import LABELS, network, tokenizer

FIRST = {"order": "elements", "labels_first": True, "ordered": True}


def random_model(labels: int, seed: int = 0) -> LabelModel:
    """Large weights: it has strong opinions about everything it sees."""
    rng = np.random.default_rng(seed)
    sizes = [feature_count(labels), 8, 8, labels]
    pairs = itertools.pairwise(sizes)
    return LabelModel(tuple((rng.normal(size=(b, a)) / 2, rng.normal(size=b)) for a, b in pairs))


def chance(model: LabelModel, sequence: tuple[int, ...], bag: bool) -> float:
    """p(sequence), place by place."""
    used, ahead, left, last = examples(np.array(sequence), model.labels)
    ahead = ahead * bag
    log_probs = model.log_probs(features(used, ahead, left, last), ahead)
    return float(np.exp(log_probs[np.arange(len(sequence)), list(sequence)].sum()))


def drawn(model: LabelModel, slots: int, layouts: int, bag: list[int] | None, **settings: object):
    known = unknown(
        layouts, slots, position=np.tile(np.arange(1, slots + 1), (layouts, 1)),
        bag=None if bag is None else np.tile(bag, (layouts, 1)),
    )  # fmt: skip
    sampler = Sampler(constant(), Schedule(), Settings(steps=30, **FIRST, **settings), model)
    return sampler.run(known, [stream(0, i) for i in range(layouts)])[..., 0]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_a_place_is_seen_with_what_came_and_what_comes(sequence: list[int]) -> None:
    used, ahead, left, last = examples(np.array(sequence), 4)
    for i in range(len(sequence)):
        assert used[i].tolist() == [sequence[:i].count(label) for label in range(4)]
        assert ahead[i].tolist() == [sequence[i:].count(label) for label in range(4)]
        assert left[i] == len(sequence) - i
        before = sequence[:i][::-1][:LAST]
        assert last[i].tolist() == before + [-1] * (LAST - len(before))
    assert features(used, ahead, left, last).shape == (len(sequence), feature_count(4))


@pytest.mark.parametrize("bag", [None, [2, 1, 1]])
def test_sequences_come_as_often_as_the_network_says(bag: list[int] | None) -> None:
    model, layouts = random_model(3), 6000
    found = Counter(map(tuple, drawn(model, 4, layouts, bag).tolist()))
    possible = list(itertools.product(range(3), repeat=4))
    if bag is not None:
        possible = [s for s in possible if [s.count(label) for label in range(3)] == bag]
    expected = {s: chance(model, s, bag is not None) for s in possible}
    assert sum(expected.values()) == pytest.approx(1)
    assert set(found) <= set(possible)
    for sequence, share in expected.items():
        assert found[sequence] / layouts == pytest.approx(share, abs=0.03)


def test_top_p_of_labels_cuts_the_rare_ones() -> None:
    log_probs = normalised(np.log([[0.6, 0.3, 0.1]]), np.zeros((1, 3), dtype=np.int64))
    assert np.exp(log_probs[0]).tolist() == pytest.approx([0.6, 0.3, 0.1])
    model = random_model(3)
    every = {tuple(s) for s in drawn(model, 3, 400, None).tolist()}
    likely = {tuple(s) for s in drawn(model, 3, 400, None, label_top_p=0.01).tolist()}
    assert len(likely) == 1 < len(every)


def test_only_layouts_that_want_their_labels_first_get_them() -> None:
    model = random_model(3)
    position = np.array([[1, 2, 3], [0, 0, 0], [1, 2, 0], [1, 2, 3]])
    known = unknown(4, 3, position=position, bag=np.array([[3, 0, 0], [0] * 3, [0] * 3, [0] * 3]))
    known.valid[2, 2] = False
    known.tokens[3, 1, 0] = 2  # given
    tokens = known.tokens.copy()
    uniform = np.full((4, 3), 0.5)
    rest = draw_labels(model, known, tokens, uniform, Settings(**FIRST))
    assert rest.bag is None
    assert known.bag is not None and known.bag[0].tolist() == [3, 0, 0]  # left as it was
    assert tokens[0, :, 0].tolist() == [0, 0, 0]
    assert (tokens[2, :2, 0] < 3).all()
    untouched = np.ones((4, 3, 5), dtype=bool)
    untouched[0, :, 0] = untouched[2, :2, 0] = False
    assert np.array_equal(tokens[untouched], known.tokens[untouched])
    later = known.tokens.copy()
    draw_labels(model, known, later, uniform, Settings(order="elements"))
    assert (later[2] == known.tokens[2]).all()  # labels_first is off, and it has no bag


def test_other_ways_to_sample_do_without() -> None:
    settings = Settings(steps=5, remask=0.1, **FIRST)
    assert Sampler(constant(), Schedule(), settings, random_model(3)).labels is None


def test_networks_that_draw_the_number_of_elements_last_do_without() -> None:
    """Their empty slots are labels too, so what comes next is not a label of an element."""

    @dataclass
    class Paper(Constant):
        @property
        def traits(self) -> Traits:
            return replace(super().traits, number_first=False)

    denoiser = Paper(constant().rows)
    assert Sampler(denoiser, Schedule(), Settings(**FIRST), random_model(3)).labels is None


def test_both_forms_of_the_network_agree() -> None:
    torch.manual_seed(1)
    made = LabelNetwork(4).eval()
    used, ahead, left, last = examples(np.array([0, 2, 1, 1, 3, 0, 0, 2]), 4)
    for known in (ahead, ahead * 0):
        seen = features(used, known, left, last)
        here = made.exported().log_probs(seen, known)
        there = made(torch.from_numpy(seen).float(), torch.from_numpy(known).float())
        finite = np.isfinite(here)
        assert np.array_equal(finite, np.isfinite(there.detach().numpy()))
        assert here[finite] == pytest.approx(there.detach().numpy()[finite], abs=0.01)


def test_it_learns_the_order_of_its_layouts() -> None:
    """A title comes first, a figure last; texts and lists take turns between them."""
    text, title, list_, figure = range(4)
    rng = np.random.default_rng(0)
    sequences = [
        np.array([title, *([text, list_] * int(rng.integers(1, 4))), figure]) for _ in range(400)
    ]
    told: list[str] = []
    model = fit_labels(sequences, 4, epochs=30, progress=told.append)
    assert len(told) == 30 and "30 of 30" in told[-1]
    for sequence in sequences[:5]:
        assert chance(model, tuple(sequence.tolist()), bag=True) > 0.8
    again = fit_labels(sequences, 4, epochs=30)
    assert to_bytes(again) == to_bytes(model)


def write_model(folder: Path, model: LabelModel | None) -> Path:
    sampling = {"default": {"steps": 20, "order": "elements"},
                "unconditional": {"ordered": True, "labels_first": True},
                "c": {"ordered": True}}  # fmt: skip
    return export_model(
        network("ahead"), tokenizer(), Schedule(), folder, sampling=sampling, label_model=model
    )


def test_a_model_folder_with_a_label_network(tmp_path: Path) -> None:
    plain = write_model(tmp_path / "plain", None)
    folder = write_model(tmp_path / "with", random_model(len(LABELS)))
    assert not (plain / FILE).exists() and fingerprint(plain) != fingerprint(folder)
    assert layoutdm.load(plain).label_model is None
    model = layoutdm.load(folder)
    spec = {"elements": [{"label": label} for label in ("Icon", "Text", "Text", "Image")]}
    together = model.generate_many([spec, None] * 4, seed=3)
    for i, result in enumerate(together):
        if i % 2 == 0:
            assert result.layout.labels == ("Icon", "Text", "Text", "Image")
        alone = model.stream_many([(i, [spec, None][i % 2])], seed=3)
        assert next(iter(alone)).layout == result.layout
    assert (folder / FILE).read_bytes() == to_bytes(random_model(len(LABELS)))


def test_a_label_network_of_another_model_is_left_alone(tmp_path: Path) -> None:
    """A folder that was copied, pulled or pushed over an older one."""
    folder = write_model(tmp_path / "model", None)
    (folder / FILE).write_bytes(to_bytes(random_model(len(LABELS))))
    assert layoutdm.load(folder).label_model is None
    folder = write_model(tmp_path / "model", random_model(len(LABELS)))
    (folder / FILE).unlink()
    with pytest.raises(LayoutdmError, match=r"no labels\.npz there"):
        layoutdm.load(folder)


def npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.zeros(3))
    return stream.getvalue()


def broken() -> bytes:
    good = random_model(len(LABELS))
    weight, bias = good.layers[-1]
    return to_bytes(LabelModel((*good.layers[:-1], (weight * np.nan, bias))))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (b"", "is not a label network"),
        (b"PK\x03\x04 broken", "is not a label network"),
        (npy(), "is not a label network"),
        (broken(), "must be finite numbers"),
        (to_bytes(random_model(3)), "weight0 has the shape"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, damage: bytes, says: str) -> None:
    folder = write_model(tmp_path / "model", None)
    (folder / FILE).write_bytes(damage)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"label_network": True}))
    with pytest.raises(LayoutdmError, match=says) as caught:
        layoutdm.load(folder)
    assert FILE in str(caught.value) and "\n" not in str(caught.value)

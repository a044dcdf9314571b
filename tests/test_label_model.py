"""The label network: what it sees, how it is fitted, its file."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import layoutdm
from layoutdm.diffusion import Schedule
from layoutdm.errors import LayoutdmError
from layoutdm.generator.label_file import FILE, to_bytes
from layoutdm.model.store import fingerprint, load_generator
from layoutdm.plan.labels import LAST, LabelModel, feature_count, features, normalised
from layoutdm.train.export import export_model
from layoutdm.train.label_model import AT_LEAST, LabelNetwork, examples, fit_labels
from tiny_models import LABELS, network, tokenizer


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


def test_scores_become_chances_of_what_is_ahead() -> None:
    nothing = np.zeros((1, 3), dtype=np.int64)
    log_probs = normalised(np.log([[0.6, 0.3, 0.1]]), nothing)
    assert np.exp(log_probs[0]).tolist() == pytest.approx([0.6, 0.3, 0.1])
    with np.errstate(divide="ignore"):
        bag = normalised(np.log([[0.6, 0.3, 0.1]]), np.array([[0, 1, 3]]))
    assert np.exp(bag[0]).tolist() == pytest.approx([0.0, 0.5, 0.5])


def test_chances_of_all_sequences_add_up() -> None:
    model = random_model(3)
    every = list(itertools.product(range(3), repeat=4))
    assert sum(chance(model, sequence, bag=False) for sequence in every) == pytest.approx(1)
    alike = [s for s in every if sorted(s) == [0, 0, 1, 2]]
    assert sum(chance(model, sequence, bag=True) for sequence in alike) == pytest.approx(1)


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
    assert len(told) == 1
    assert told[0].startswith("order of labels: 30 epochs, ")
    for sequence in sequences[:5]:
        assert chance(model, tuple(sequence.tolist()), bag=True) > 0.8
    again = fit_labels(sequences, 4, epochs=30)
    assert to_bytes(again) == to_bytes(model)


def test_a_short_time_still_learns_something() -> None:
    sequences = [
        np.array([1, *[0] * int(n), 2]) for n in np.random.default_rng(0).integers(1, 9, 400)
    ]
    told: list[str] = []
    fit_labels(sequences, 3, seconds=1e-9, progress=told.append)
    steps = 2 * sum(map(len, sequences)) // 512
    assert told[0].startswith(f"order of labels: {-(-AT_LEAST // steps)} epochs, ")


def write_model(folder: Path, model: LabelModel | None) -> Path:
    sampling = {"default": {"steps": 20}}
    return export_model(
        network("ahead"), tokenizer(), Schedule(), folder, sampling=sampling, label_model=model
    )


def test_a_model_folder_with_a_label_network(tmp_path: Path) -> None:
    plain = write_model(tmp_path / "plain", None)
    folder = write_model(tmp_path / "with", random_model(len(LABELS)))
    assert not (plain / FILE).exists() and fingerprint(plain) != fingerprint(folder)
    assert load_generator(plain).label_model is None  # type: ignore[attr-defined]
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
    assert load_generator(folder).label_model is None  # type: ignore[attr-defined]
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

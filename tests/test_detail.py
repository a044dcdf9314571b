"""The detail network: its bins, what it is trained on, what it draws, its folder, the command."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import layoutdm
from layoutdm import Layout, data
from layoutdm.boxes import reading_order
from layoutdm.diffusion import Schedule
from layoutdm.diffusion.network import Prediction, Query, Traits, only_asked
from layoutdm.diffusion.streams import stream
from layoutdm.errors import LayoutdmError
from layoutdm.model.config import ModelConfig
from layoutdm.model.detail import Detail, belongs
from layoutdm.model.store import fingerprint
from layoutdm.tokens import Bins, Tokenizer, cells, split_bins
from layoutdm.train.config import preset
from layoutdm.train.corpus import make_batch, pack, with_cells
from layoutdm.train.run import train

SHARED = [0.1, 0.3, 0.5, 0.7, 0.9]
COARSE = Bins("kmeans", tuple(np.array(SHARED) for _ in range(4)))  # type: ignore[arg-type]
PARTS = [round(middle + off, 3) for middle in SHARED for off in (-0.08, -0.03, 0.03, 0.08)]
FINE = Bins("split", tuple(np.array(PARTS) for _ in range(4)))  # type: ignore[arg-type]
LABELS = ("Text", "Image")


def boxes(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size = rng.uniform(0.05, 0.4, (count, 2))
    return np.concatenate([rng.uniform(size / 2, 1 - size / 2), size], axis=1)


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 7, 80])
def test_every_bin_is_split_into_bins_of_its_own(parts: int, count: int) -> None:
    given_boxes = boxes(count)
    fine = split_bins(given_boxes, COARSE, parts)
    for own in cells(fine, COARSE):
        assert np.unique(own).tolist() == list(range(5))
        assert np.bincount(own).max() <= parts
    if count and parts > 1:
        assert sum(fine.error(given_boxes).values()) < sum(COARSE.error(given_boxes).values())


def layouts() -> list[Layout]:
    found = []
    for seed in range(6):
        made = boxes(2 + seed, seed)
        labels = tuple(LABELS[i % 2] for i in range(len(made)))
        found.append(Layout(labels, made))
    return found


def test_training_sees_the_bins_and_the_order_that_they_give() -> None:
    tokenizer = Tokenizer(LABELS, split_bins(boxes(200, 9), COARSE, 4), 12)
    packed = pack(layouts(), tokenizer)
    corpus = with_cells(packed, COARSE)
    assert corpus.cells is not None
    of_bin = cells(tokenizer.bins, COARSE)
    for a in range(4):
        assert np.array_equal(of_bin[a][corpus.tokens[:, 1 + a]], corpus.cells[:, a])
    for start, count in zip(corpus.starts, corpus.counts, strict=True):
        one = slice(start, start + count)
        order = reading_order(COARSE.decode(corpus.cells[one]))
        assert order.tolist() == list(range(count))  # already in order, equal ones as they were
        before = {tuple(row) for row in packed.tokens[one].tolist()}
        assert {tuple(row) for row in corpus.tokens[one].tolist()} == before
    config = preset("detail", max_elements=12)
    batch = make_batch(corpus, np.arange(6), config, np.random.default_rng(0))
    assert batch.about is not None and batch.position is not None
    valid = batch.valid.numpy()
    known = batch.known.numpy()
    assert known[valid][:, 0].all() and not known[..., 1:].any()
    assert (batch.about.numpy()[~valid] == 0).all()
    for row, start in enumerate(corpus.starts):
        count = corpus.counts[row]
        one = slice(start, start + count)
        assert np.array_equal(batch.about.numpy()[row, :count], 1 + corpus.cells[one])
        assert np.array_equal(batch.tokens.numpy()[row, :count], corpus.tokens[one])
        assert batch.position.numpy()[row, :count].tolist() == list(range(1, count + 1))


@dataclass
class Recording:
    """All values alike; remembers what it was asked."""

    queries: list[Query]

    @property
    def traits(self) -> Traits:
        return Traits((2, *FINE.counts), max_elements=12, about_levels=1)

    def __call__(self, query: Query) -> Prediction:
        self.queries.append(replace(query, tokens=query.tokens.copy()))
        shape = query.valid.shape
        parts = [np.zeros((*shape, size + 1)) for size in self.traits.sizes]
        return Prediction(tuple(only_asked(part, query.asked) for part in parts))


def detail(queries: list[Query] | None = None, steps: int = 60) -> Detail:
    denoiser = Recording([] if queries is None else queries)
    config = ModelConfig(
        Tokenizer(LABELS, FINE, 12), Schedule(), denoiser.traits, {}, cells=COARSE,
        sampling={"default": {"steps": steps, "order": "elements"}},
    )  # fmt: skip
    return Detail(config, denoiser, COARSE)


def coarse_tokens(count: int, slots: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    tokens = np.tile([2, 5, 5, 5, 5], (slots, 1))  # PAD
    rng = np.random.default_rng(seed)
    tokens[:count] = np.column_stack([rng.integers(0, 2, count), rng.integers(0, 5, (count, 4))])
    return tokens, np.arange(slots) < count


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(1, 60))
def test_values_stay_inside_their_bins(counts: list[int], steps: int) -> None:
    rows = [coarse_tokens(count, max(counts), i) for i, count in enumerate(counts)]
    tokens, valid = (np.stack(part) for part in zip(*rows, strict=True))
    free = np.full((*valid.shape, 4), np.nan)
    streams = [stream(0, i) for i in range(len(counts))]
    made = detail(steps=steps).boxes(tokens, valid, free, streams)
    assert np.array_equal(COARSE.encode(made)[valid], tokens[..., 1:][valid])


def test_every_value_of_a_bin_comes_equally_often_if_the_network_says_so() -> None:
    tokens = np.tile([0, 1, 2, 3, 4], (3000, 1, 1))
    valid = np.ones((3000, 1), dtype=bool)
    made = detail().boxes(
        tokens, valid, np.full((3000, 1, 4), np.nan), [stream(0, i) for i in range(3000)]
    )
    for a in range(4):
        values, counts = np.unique(made[:, 0, a], return_counts=True)
        assert values == pytest.approx(PARTS[4 * (a + 1) : 4 * (a + 2)])
        assert counts / 3000 == pytest.approx([0.25] * 4, abs=0.03)


def test_elements_come_from_the_top_left_and_fixed_values_are_seen() -> None:
    queries: list[Query] = []
    tokens = np.array([[[0, 2, 4, 0, 0], [1, 2, 0, 0, 0], [0, 2, 4, 0, 0]]])
    fixed = np.full((1, 3, 4), np.nan)
    fixed[0, 0, 1] = 0.97  # nearest to 0.98, the last of its bin
    made = detail(queries).boxes(tokens, np.ones((1, 3), dtype=bool), fixed, [stream(0, 0)])
    assert made[0, 0, 1] == pytest.approx(0.98)
    first = queries[0]
    assert first.position is not None and first.about is not None
    assert first.position[0].tolist() == [2, 1, 3]  # equal bins: as listed
    assert first.about[0].tolist() == (1 + tokens[0, :, 1:]).tolist()
    assert first.tokens[0, 0, 2] == 19 and (first.tokens[0, 1:, 1:] == 21).all()
    decided = [np.flatnonzero((query.tokens[0, :, 1:] < 20).all(axis=1)) for query in queries]
    seen = [slots.tolist() for slots in decided if len(slots)]
    assert seen[0] == [1] and [0, 1] in seen  # the upper one is whole before the others


def write_detail(model: Path, tmp_path: Path, **changes: object) -> Path:
    """A detail network of one step for this model, in its folder."""
    config = preset(
        "detail", width=16, heads=2, layers=1, feedforward=32, steps=2, bin_count=3, **changes
    )
    out = model / "detail"
    dataset = data.open("sample", max_elements=25)
    train(dataset, config, out, detail_of=ModelConfig.read(model))
    shutil.rmtree(out / "run")
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("detail") / "model"
    tiny = preset("tiny", width=16, heads=2, layers=1, feedforward=32, steps=2, bin_count=6)
    train(data.open("sample"), tiny, out)
    shutil.rmtree(out / "run")
    return out


def test_a_model_folder_with_a_detail_network(folder: Path, tmp_path: Path) -> None:
    plain = layoutdm.load(folder)
    label = plain.labels[0]
    own = tmp_path / "model"
    shutil.copytree(folder, own)
    before = fingerprint(own)
    inner = write_detail(own, tmp_path)
    assert fingerprint(own) != before
    model = layoutdm.load(own)
    assert model.detail is not None and plain.detail is None
    assert belongs(ModelConfig.read(inner), model.config)
    spec = {"elements": [{"label": label, "x": 0.4321, "y": {"about": 0.5}}], "more": True}
    found = model.generate_many([spec, None] * 3, seed=1)
    coarse = model.generate_many([spec, None] * 3, seed=1, detail=False)
    assert [r.layout for r in coarse] == [
        r.layout for r in plain.generate_many([spec, None] * 3, seed=1)
    ]
    bins, moved = model.config.tokenizer.bins, 0
    for i, (fine, rough) in enumerate(zip(found, coarse, strict=True)):
        assert fine.layout.labels == rough.layout.labels
        moved += not np.array_equal(fine.layout.boxes, rough.layout.boxes)
        half = [np.diff(centres).max() for centres in bins.centres]
        assert (np.abs(fine.layout.boxes - rough.layout.boxes) <= half).all()
        if i % 2 == 0:
            assert fine.layout.boxes[0, 0] == 0.4321
        alone = next(iter(model.stream_many([(i, [spec, None][i % 2])], seed=1)))
        assert alone.layout == fine.layout
    assert moved == 6


def test_a_detail_network_belongs_to_one_model(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "model"
    shutil.copytree(folder, own)
    inner = write_detail(own, tmp_path)
    with pytest.raises(LayoutdmError, match="is a detail network"):
        layoutdm.load(inner)
    config = json.loads((inner / "config.json").read_text())
    config["cells"]["centres"]["y"][0] += 0.01
    (inner / "config.json").write_text(json.dumps(config))
    with pytest.raises(LayoutdmError, match="other labels, bins"):
        layoutdm.load(own)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "layoutdm", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_command(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "model"
    shutil.copytree(folder, own)
    command = ["train", "sample", "--out", str(own / "detail"), "--detail-of", str(own)]
    small = ["--set", "width=16", "--set", "heads=2", "--set", "layers=1", "--set",
             "feedforward=32", "--steps", "2", "--bin-count", "3"]  # fmt: skip
    done = run(*command, *small)
    assert done.returncode == 0, done.stderr
    assert "goes into" in done.stdout
    assert "A detail network" in (own / "detail" / "README.md").read_text()
    assert layoutdm.load(own).detail is not None
    again = run(*command, "--resume", "--steps", "3")
    assert again.returncode == 0 and "3 steps" in again.stdout, again.stderr
    nowhere = ["train", "sample", "--out", str(tmp_path / "no")]
    for wrong, says in (
        (["--detail-of", str(own), "--from", "rico25"], "leave --from out"),
        (["--detail-of", str(own), "--preset", "tiny"], "go together"),
        (["--preset", "detail"], "go together"),
    ):
        refused = run(*nowhere, *wrong)
        assert refused.returncode == 1 and says in " ".join(refused.stderr.split())
        assert "Traceback" not in refused.stderr

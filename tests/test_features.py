"""The feature network: its size, what training may and may not touch, export, and use."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.metrics import pack
from layoutdm.metrics.features import (
    FeatureNetwork,
    embedded_features,
    features_for,
    load_features,
)
from layoutdm.metrics.fid import fid
from layoutdm.train.features import train_features
from layoutdm.train.features_data import Noise, epoch, examples, fixed_batches, make_batch
from layoutdm.train.features_export import export_encoder
from layoutdm.train.features_net import FeatureAutoencoder, FeatureShape, feature_loss
from layoutdm.train.features_run import Evaluation, FeatureTraining

LABELS = ("text", "title", "figure")


def random_layouts(count: int, seed: int = 0, longest: int = 9) -> list[Layout]:
    rng = np.random.default_rng(seed)
    layouts = []
    for index in range(count):
        n = int(rng.integers(1, longest + 1))
        size = rng.uniform(0.05, 0.4, (n, 2))
        centre = size / 2 + rng.random((n, 2)) * (1 - size)
        labels = [LABELS[i] for i in rng.integers(0, len(LABELS), n)]
        layouts.append(Layout.create(labels, np.hstack([centre, size]), id=f"l{index}"))
    return layouts


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[FeatureAutoencoder, FeatureNetwork]:
    """An untrained network of full shape and its exported encoder."""
    torch.manual_seed(0)
    network = FeatureAutoencoder(FeatureShape(classes=len(LABELS))).eval()
    folder = tmp_path_factory.mktemp("features") / "small"
    export_encoder(network, LABELS, folder / "features.onnx")
    return network, load_features(folder, threads=1)


# The network ---------------------------------------------------------------------------------


def test_parameter_count_of_rico_network_is_the_published_one() -> None:
    assert FeatureAutoencoder(FeatureShape(classes=25)).parameter_count() == 2_925_598


def test_padding_changes_nothing(small: tuple[FeatureAutoencoder, FeatureNetwork]) -> None:
    network = small[0]
    boxes, labels = torch.rand(1, 4, 4), torch.randint(0, 3, (1, 4))
    padded_boxes = torch.cat([boxes, torch.rand(1, 3, 4)], dim=1)
    padded_labels = torch.cat([labels, torch.zeros(1, 3, dtype=torch.long)], dim=1)
    mask = torch.arange(7)[None] < 4
    with torch.no_grad():
        plain, padded = network(boxes, labels), network(padded_boxes, padded_labels, mask)
    torch.testing.assert_close(plain.feature, padded.feature, atol=1e-5, rtol=0)
    torch.testing.assert_close(plain.boxes, padded.boxes[:, :4], atol=1e-5, rtol=0)
    torch.testing.assert_close(plain.labels, padded.labels[:, :4], atol=1e-5, rtol=0)


def test_loss_by_hand() -> None:
    from layoutdm.train.features_net import FeatureOutput

    output = FeatureOutput(
        feature=torch.zeros(1, 2),
        noisy=torch.zeros(1),
        labels=torch.zeros(1, 3, 4),
        boxes=torch.full((1, 3, 4), 0.5),
    )
    boxes = torch.full((1, 3, 4), 0.5)
    boxes[0, 0, 0] = 0.7  # one coordinate of one of two valid elements is off by 0.2
    boxes[0, 2] = 9.0  # padding must not count
    mask = torch.tensor([[True, True, False]])
    labels = torch.zeros(1, 3, dtype=torch.long)
    loss = feature_loss(output, boxes, labels, mask, torch.ones(1))
    assert float(loss.noisy) == pytest.approx(np.log(2), abs=1e-6)
    assert float(loss.label) == pytest.approx(np.log(4), abs=1e-6)
    assert float(loss.box) == pytest.approx(0.04 / 2, abs=1e-6)
    assert float(loss.total) == pytest.approx(np.log(2) + np.log(4) + 10 * 0.02, abs=1e-5)


# Batches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [Noise(), Noise(published=True)])
def test_noise_leaves_the_data_alone_and_is_marked(noise: Noise) -> None:
    data, _ = examples(random_layouts(40), LABELS, 25)
    before = [e.boxes.copy() for e in data]
    batch = make_batch(data, np.random.default_rng(0), noise)
    assert all((a == e.boxes).all() for a, e in zip(before, data, strict=True))
    assert 0 < (batch.noisy > 0).sum() < len(data)
    for row, example in enumerate(data):
        same = {tuple(b) for b in example.boxes} == {
            tuple(b) for b in batch.boxes[row][batch.mask[row]]
        }
        assert same == (batch.noisy[row] == 0)


@given(seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_batches_are_sorted_by_top_then_left_after_noise(seed: int) -> None:
    data, _ = examples(random_layouts(8, seed), LABELS, 25)
    batch = make_batch(data, np.random.default_rng(seed), Noise(share=1.0))
    for boxes, mask in zip(batch.boxes, batch.mask, strict=True):
        valid = boxes[mask].astype(np.float64)
        keys = list(zip(valid[:, 1] - valid[:, 3] / 2, valid[:, 0] - valid[:, 2] / 2, strict=True))
        assert mask[: len(valid)].all()
        assert all(a[0] <= b[0] + 1e-6 for a, b in pairwise(keys))


def test_noise_recipes() -> None:
    rng = np.random.default_rng(0)
    published = Noise(published=True)
    sizes = published.sizes(1000, rng)
    assert set(np.unique(sizes)) == {np.float32(0), np.float32(0.05)}
    assert set(np.unique(published.target(sizes))) == {0.0, 1.0}
    graded = Noise()
    sizes = graded.sizes(1000, rng)
    noisy = sizes > 0
    assert 0.4 < noisy.mean() < 0.6
    assert sizes[noisy].min() >= 0.005 and sizes.max() <= 0.3
    order = np.argsort(sizes)
    assert (np.diff(graded.target(sizes)[order]) >= 0).all()
    data, _ = examples(random_layouts(50), LABELS, 25)
    batch = make_batch(data, rng, Noise(share=1.0, low=0.2))
    boxes = batch.boxes[batch.mask]
    assert (boxes[:, :2] - boxes[:, 2:] / 2 >= -1e-6).all()
    assert (boxes[:, :2] + boxes[:, 2:] / 2 <= 1 + 1e-6).all() and (boxes[:, 2:] > 0).all()


def test_an_epoch_holds_each_layout_once() -> None:
    data, _ = examples(random_layouts(50), LABELS, 25)
    parts = list(epoch(data, 16, seed=0, number=0))
    assert [len(part) for part in parts] == [16, 16, 16, 2]
    assert sorted(id(e) for part in parts for e in part) == sorted(id(e) for e in data)
    assert [id(e) for part in parts for e in part] != [id(e) for e in data]


def test_validation_noise_is_fixed() -> None:
    data, _ = examples(random_layouts(30), LABELS, 25)
    first, second = (fixed_batches(data, 8, Noise()) for _ in range(2))
    assert all((a.boxes == b.boxes).all() for a, b in zip(first, second, strict=True))


# Export and use ------------------------------------------------------------------------------


def test_export_agrees_with_torch(small: tuple[FeatureAutoencoder, FeatureNetwork]) -> None:
    network, loaded = small
    layouts = random_layouts(33, seed=4)
    with torch.no_grad():
        for weight in network.encoder.parameters():  # what the file holds: half precision
            weight.copy_(weight.half().float())
        data, _ = examples(layouts, LABELS, 25)
        expected = [
            network.encoder(
                torch.from_numpy(e.boxes)[None],
                torch.from_numpy(e.labels)[None],
                torch.ones(1, len(e.labels), dtype=torch.bool),
            )
            for e in data
        ]
    features = loaded.extract(layouts)
    assert features.shape == (33, 256) and features.dtype == np.float64
    np.testing.assert_allclose(features, torch.cat(expected).numpy(), atol=1e-4)


def test_features_ignore_order_batches_and_padding(
    small: tuple[FeatureAutoencoder, FeatureNetwork],
) -> None:
    loaded, layouts = small[1], random_layouts(20, seed=5)
    expected = loaded.extract(layouts)
    shuffled = loaded.extract([layout.shuffled(1) for layout in layouts])
    packed = pack(layouts, LABELS, length=30)
    np.testing.assert_allclose(shuffled, expected, atol=1e-5)
    np.testing.assert_allclose(loaded.extract(layouts, batch_size=3), expected, atol=1e-5)
    np.testing.assert_allclose(loaded.extract(packed), expected, atol=1e-5)


def test_features_of_unusual_layouts(small: tuple[FeatureAutoencoder, FeatureNetwork]) -> None:
    loaded = small[1]
    assert loaded.extract([]).shape == (0, 256)
    long = Layout.create(["text"] * 40, [[0.5, 0.5, 0.1, 0.1]] * 40)
    assert np.isfinite(loaded.extract([long])).all() and loaded.too_long([long]) == 1
    with pytest.raises(LayoutdmError, match="is empty"):
        loaded.extract([Layout.create([], [])])
    with pytest.raises(LayoutdmError, match="does not know the label 'map'"):
        loaded.extract([Layout.create(["map"], [[0.5, 0.5, 0.1, 0.1]])])
    boxes, mask = np.full((1, 1, 4), 0.5), np.ones((1, 1), dtype=bool)
    with pytest.raises(LayoutdmError, match=r"label index 3 is outside 0\.\.2"):
        loaded.extract_arrays(boxes, [[3]], mask)
    with pytest.raises(LayoutdmError, match="finite"):
        loaded.extract_arrays(boxes * np.nan, [[0]], mask)
    with pytest.raises(LayoutdmError, match="expected"):
        loaded.extract_arrays(boxes[0], [[0]], mask)


def test_loading_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LayoutdmError, match="no feature network of this name"):
        load_features("rico99")
    (tmp_path / "features.onnx").write_bytes(b"not a network")
    with pytest.raises(LayoutdmError, match="not a feature network"):
        load_features(tmp_path)


def test_hash_follows_weights_and_labels(tmp_path: Path) -> None:
    network = FeatureAutoencoder(FeatureShape(classes=2))
    hashes = []
    for name, labels in (("a", ("x", "y")), ("b", ("x", "y")), ("c", ("y", "x"))):
        export_encoder(network, labels, tmp_path / name / "features.onnx")
        hashes.append(load_features(tmp_path / name).hash)
    assert hashes[0] == hashes[1] != hashes[2]
    assert load_features(tmp_path / "c").labels == ("y", "x")


# The embedded networks -----------------------------------------------------------------------


@pytest.mark.parametrize(("name", "classes"), [("rico25", 25), ("publaynet", 5)])
def test_embedded_network(name: str, classes: int) -> None:
    assert name in embedded_features()
    network = load_features(name)
    assert len(network.labels) == classes and network.max_elements == 25
    folder = Path(load_features.__code__.co_filename).parent.parent / "weights" / "features" / name
    assert (folder / "features.onnx").stat().st_size <= 6_000_000
    assert network.hash in (folder / "README.md").read_text()
    chosen = features_for(network.labels[:2])
    assert chosen is not None and chosen.hash == network.hash


def test_no_embedded_network_for_foreign_labels() -> None:
    assert features_for(["text", "spaceship"]) is None
    assert features_for([]) is None


# Training ------------------------------------------------------------------------------------

# Steps, not minutes: how far a minute goes, and with it when patience ends, is up to the machine.
QUICK = FeatureTraining(steps=40, warmup_steps=5, evaluate_steps=5, batch_size=16)


def test_training_learns_writes_and_goes_on(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    train, val = random_layouts(80, 1, longest=4), random_layouts(20, 2, longest=4)
    report = train_features(train, val, LABELS, tmp_path, QUICK)
    lines = [json.loads(x) for x in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert report.chosen.val_loss == min(x["val_loss"] for x in lines) < lines[0]["val_loss"]
    assert load_features(tmp_path).extract(val).shape == (20, 256)
    assert not list(tmp_path.glob("*.part"))
    again = train_features(train, val, LABELS, tmp_path, replace(QUICK, steps=45), resume=True)
    assert (report.steps, again.steps) == (40, 45)


def test_a_budget_of_steps_is_repeatable_and_resumes_exactly(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    train, val = random_layouts(50, 1, longest=4), random_layouts(12, 2, longest=4)
    steps = FeatureTraining(steps=16, warmup_steps=5, evaluate_steps=2, batch_size=16)

    class StopError(Exception):
        pass

    def stop(evaluation: Evaluation, folder: Path) -> None:
        if evaluation.step == 6:  # in the middle of the second epoch of four batches
            raise StopError

    whole = train_features(train, val, LABELS, tmp_path / "whole", steps)
    assert whole.steps == 16 and not whole.stopped_early
    with pytest.raises(StopError):
        train_features(train, val, LABELS, tmp_path / "cut", steps, on_evaluation=stop)
    resumed = train_features(train, val, LABELS, tmp_path / "cut", steps, resume=True)
    assert resumed.chosen.val_loss == whole.chosen.val_loss
    for name in ("whole", "cut"):
        assert load_features(tmp_path / name).hash == load_features(tmp_path / "whole").hash


def test_training_stops_early_without_progress(tmp_path: Path) -> None:
    still = FeatureTraining(minutes=5, learning_rate=0.0, evaluate_steps=1, patience=2)
    layouts = random_layouts(6, longest=2)
    report = train_features(layouts, layouts, LABELS, tmp_path, still)
    assert report.stopped_early and report.steps == 3


def test_training_rejects_bad_input(tmp_path: Path) -> None:
    with pytest.raises(LayoutdmError, match="val holds no layout"):
        train_features(random_layouts(3), [], LABELS, tmp_path)
    with pytest.raises(LayoutdmError, match="'figure' is not one of"):
        train_features(random_layouts(9), random_layouts(9), LABELS[:2], tmp_path)
    with pytest.raises(LayoutdmError, match="minutes must be greater than 0"):
        FeatureTraining(minutes=0)
    with pytest.raises(LayoutdmError, match="steps must be at least 1"):
        FeatureTraining(steps=0)


@pytest.mark.slow
def test_fit_features_command(tmp_path: Path) -> None:
    for split, count in (("train", 60), ("val", 12), ("test", 12)):
        rows = [x.as_dict() for x in random_layouts(count, len(split), longest=4)]
        (tmp_path / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    command = [sys.executable, "-m", "layoutdm", "fit-features", str(tmp_path)]
    options = ["--out", str(tmp_path / "net"), "--minutes", "0.05", "--threads", "1"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    network = load_features(tmp_path / "net")
    assert network.hash in done.stdout and "floor" in done.stdout
    assert set(network.labels) == set(LABELS)
    wrong = subprocess.run(
        [*command, "--out", str(tmp_path / "x"), "--minutes", "-1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert wrong.returncode == 1 and wrong.stderr.startswith("error: minutes must be")


def test_fid_of_trained_features_sees_noise() -> None:
    """The embedded network puts noisy layouts further away, the noisier the further."""
    network = load_features("publaynet")
    pages = [
        Layout.create(
            ["title", "text", "text"],
            [[0.5, 0.1, w, 0.06], [0.5, 0.35, w, 0.3], [0.5, 0.75, w, 0.35]],
        )
        for w in np.linspace(0.6, 0.9, 60)
    ]
    reference = network.extract(pages)
    packed = pack(pages, network.labels)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=packed.bbox.shape)
    scores = [
        fid(
            network.extract_arrays(packed.bbox + size * noise, packed.label, packed.mask), reference
        )
        for size in (0.005, 0.02, 0.05)
    ]
    assert 0 < scores[0] < scores[1] < scores[2]

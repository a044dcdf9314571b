"""From a data set to a model folder: warnings, errors, fine-tuning, the card."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import layoutdm.data
from layoutdm import Layout
from layoutdm.errors import LayoutdmError
from layoutdm.formats import write
from layoutdm.model.label_file import to_bytes
from layoutdm.tokens import Tokenizer
from layoutdm.train.config import TrainConfig, preset
from layoutdm.train.corpus import label_sequences, pack
from layoutdm.train.export import LoadedModel, load_network
from layoutdm.train.finetune import adapt, label_rows
from layoutdm.train.label_model import fit_labels
from layoutdm.train.networks import Query
from layoutdm.train.reporter import Silent, read_metrics
from layoutdm.train.run import saved_config, train, train_and_val
from training_samples import make_layouts, write_dataset

TINY = preset("tiny", width=16, layers=1, heads=2, feedforward=32, bins="uniform", bin_count=8,
              max_elements=8, steps=4, validate_levels=2)  # fmt: skip


class Notes(Silent):
    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


def open_data(folder: Path, **options: int) -> layoutdm.data.Dataset:
    return layoutdm.data.open(write_dataset(folder, **options), max_elements=8, portrait=False)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = tmp_path_factory.mktemp("base")
    report = train(open_data(folder / "data", train=60), TINY, folder / "model")
    assert report.complete
    return load_network(folder / "model")


def test_a_run_leaves_a_whole_model_folder(tmp_path: Path) -> None:
    data = open_data(tmp_path / "data", train=60)
    out = tmp_path / "model"
    report = train(data, TINY, out)
    files = {path.name for path in out.iterdir()}
    assert files == {"config.json", "model.onnx", "README.md", "curves.png", "training.json", "run"}
    config = json.loads((out / "config.json").read_text())
    assert config["apart"]["free"] >= 0.1
    assert set(config["apart"]["labels"]) <= set(config["labels"])
    assert config["labels"] == list(data.labels)
    assert config["canvas"] == [600, 800]
    assert sum(config["number_histogram"]) == 60
    assert config["about_noise"] == list(TINY.about_noise)
    assert config["sampling"] == {"default": {"steps": 50, "top_p": 0.95}}
    assert TrainConfig.from_dict(json.loads((out / "training.json").read_text())) == TINY
    card = (out / "README.md").read_text()
    for words in ("60 train, 24 val", f"{report.bound:.2f} nats", "4 steps of 32", "curves.png"):
        assert words in card
    kinds = [line["kind"] for line in read_metrics(out / "run" / "metrics.jsonl")]
    assert "validation" in kinds
    with pytest.raises(LayoutdmError, match="already holds a training run; continue it"):
        train(data, TINY, out)
    longer = replace(TINY, steps=6)
    assert train(data, longer, out, resume=True).steps == 6
    assert saved_config(out) == longer


def test_models_sample_as_they_were_trained() -> None:
    in_sequence = preset("element").usual_sampling()
    usual = {"steps": 30, "top_p": 0.95, "order": "elements", "size_at_once": False}
    assert in_sequence["default"] == {**usual, "keep_apart": "all"}
    guided = {"relation_sizes": False}
    assert in_sequence["relation"] == guided
    assert in_sequence["unconditional"] == in_sequence["c"] == {"ordered": True}
    assert preset("paper").usual_sampling() == {}
    in_order = preset("element", ordered_tasks=True).usual_sampling()
    assert in_order["completion"] == {"ordered": True}
    assert in_order["c"] == {"ordered": True, "label_top_p": 1.0}
    assert in_order["unconditional"] == {"ordered": True, "labels_first": True, "label_top_p": 1.0}
    both = preset("element", ordered_tasks=True, label_epochs=2).usual_sampling()
    assert both["relation"] == {"ordered": True, **guided} and in_order["relation"] == guided
    with_labels = preset("element", label_epochs=2).usual_sampling()
    assert with_labels["unconditional"] == in_order["unconditional"]
    assert with_labels["c"] == in_order["c"] and "completion" not in with_labels


def test_the_label_network_is_fitted_when_training_is_done(tmp_path: Path) -> None:
    data = open_data(tmp_path / "data", train=60)
    out, notes = tmp_path / "model", Notes()
    config = replace(TINY, ordered=0.5, in_sequence=0.5, label_epochs=3)
    train(data, config, out, watcher=notes)
    assert sum("order of labels" in notice for notice in notes.notices) == 3
    fitted = (out / "labels.npz").read_bytes()
    model = layoutdm.load(out)
    assert model.label_model is not None and to_bytes(model.label_model) == fitted
    sequences = label_sequences(pack(data["train"], load_network(out).tokenizer))
    assert [[data.labels[label] for label in found] for found in sequences] == [
        list(layout.sorted_top_left().labels) for layout in data["train"]
    ]
    assert to_bytes(fit_labels(sequences, len(data.labels), epochs=3)) == fitted
    assert len(model.generate(count=3)) == 3
    train(data, replace(config, label_epochs=0, steps=6), out, resume=True)
    assert layoutdm.load(out).label_model is None  # none is left over


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"label_epochs": 2}, "set ordered and in_sequence above 0"),
        ({"label_epochs": 2, "ordered": 0.5}, "set ordered and in_sequence above 0"),
        ({"label_epochs": 1.5, "ordered": 0.5, "in_sequence": 0.5}, "must be a whole number"),
        ({"label_epochs": -1}, "must be 0 or more"),
        ({"next_element": 0.5}, "set in_sequence above 0"),
        ({"next_element": 1.5, "in_sequence": 0.5}, "must be from 0 to 1"),
        ({"clear": 0.2, "edges": 0}, "set edges above 0, or clear to 0"),
        ({"clear": -1.0}, "must be 0 or more"),
        ({"clear_from": 0.3}, "and 0 without clear"),
        ({"clear_from": 1.0, "clear": 0.2}, "from 0 up to 1"),
        ({"clear_room": True}, "set clear above 0"),
        ({"base_share": 1.5}, "must be from 0 to 1"),
        ({"number_epochs": -1}, "must be a whole number from 0"),
        ({"cover_most": 0.0}, "must be greater than 0"),
        ({"cover_most": 20.0, "space": False}, "needs an element network with edges and space"),
    ],
)
def test_settings_that_would_do_nothing(changes: dict[str, float], says: str) -> None:
    with pytest.raises(LayoutdmError, match=says):
        preset("tiny", **changes)


def test_a_paper_network_is_fine_tuned_without_a_label_network(tmp_path: Path) -> None:
    data = open_data(tmp_path / "data", train=60)
    plain = replace(TINY, kind="paper", tasks=(1.0, 0.0, 0.0, 0.0, 0.0))
    train(data, plain, tmp_path / "paper")
    config = replace(TINY, ordered=0.5, in_sequence=0.5, label_epochs=2)
    base = load_network(tmp_path / "paper")
    assert train(data, config, tmp_path / "tuned", base=base).complete
    assert not (tmp_path / "tuned" / "labels.npz").exists()


def test_a_base_without_edges_cannot_keep_clear(tmp_path: Path) -> None:
    data = open_data(tmp_path / "data", train=60)
    train(data, replace(TINY, edges=0), tmp_path / "plain")
    with pytest.raises(LayoutdmError, match="starts from has none; set clear to 0"):
        base = load_network(tmp_path / "plain")
        train(data, replace(TINY, clear=0.2), tmp_path / "tuned", base=base)


def test_the_mean_with_the_base(tmp_path: Path, base: LoadedModel) -> None:
    data = open_data(tmp_path / "data", train=60)
    weights = {}
    for share in (0.0, 0.25, 1.0):
        out = tmp_path / str(share)
        report = train(data, replace(TINY, base_share=share, cover_most=30.0), out, base=base)
        found = load_network(out).network
        weights[share] = found.state_dict()
        assert found.config.cover_most == 30.0 - 20.0 * share
        assert f"{report.bound:.2f} nats" in (out / "README.md").read_text()
    kept = base.network.state_dict()
    for name, new in weights[0.0].items():
        if new.shape == kept[name].shape:  # the labels are others
            assert torch.allclose(weights[1.0][name], kept[name])
            mean = 0.75 * new + 0.25 * kept[name]
            assert torch.allclose(weights[0.25][name], mean, atol=2e-3)
    refitted = replace(TINY, base_share=0.25, cover_most=30.0, number_epochs=1)
    train(data, refitted, tmp_path / "number", base=base)
    again = load_network(tmp_path / "number").network.state_dict()
    changed = {name for name in again if not torch.equal(again[name], weights[0.25][name])}
    assert changed == {"number.weight", "number.bias"}
    with pytest.raises(LayoutdmError, match="give it with --from"):
        train(data, replace(TINY, base_share=0.5), tmp_path / "none")


def test_too_little_data(tmp_path: Path, base: LoadedModel) -> None:
    data = open_data(tmp_path / "data", train=49)
    with pytest.raises(LayoutdmError, match=r"has 49 layouts to train on.*at least 50.*--from"):
        train(data, TINY, tmp_path / "model")
    notes = Notes()
    assert train(data, TINY, tmp_path / "model", base=base, watcher=notes).complete
    assert any("below 50" in notice for notice in notes.notices)


def test_one_label_only_is_a_warning(tmp_path: Path) -> None:
    layouts = [layout.take([0]) for layout in make_layouts(80)]
    write(layouts, tmp_path / "data.jsonl")
    data = layoutdm.data.open(tmp_path / "data.jsonl", portrait=False)
    notes = Notes()
    assert train(data, TINY, tmp_path / "model", watcher=notes).complete
    assert any("the same label 'title'" in notice for notice in notes.notices)


def test_layouts_that_are_all_too_long(tmp_path: Path) -> None:
    boxes = np.tile([[0.5, 0.5, 0.1, 0.1]], (9, 1))
    write([Layout.create(["a"] * 9, boxes)] * 60, tmp_path / "data.jsonl")
    with pytest.raises(LayoutdmError, match=r"no layout is left .*too many elements"):
        layoutdm.data.open(tmp_path / "data.jsonl", max_elements=8)


def test_a_data_set_without_val_gets_one(tmp_path: Path) -> None:
    layouts = tuple(make_layouts(400))
    data = replace(open_data(tmp_path), splits={"train": layouts, "val": (), "test": ()})
    kept, held_out = train_and_val(data)
    assert (len(kept), len(held_out)) == (380, 20)
    assert {layout.id for layout in kept} | {layout.id for layout in held_out} == {
        layout.id for layout in layouts
    }


def test_the_output_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LayoutdmError, match="is a file"):
        train(open_data(tmp_path / "data"), TINY, tmp_path / "file")


def test_shared_labels_keep_their_rows() -> None:
    table = torch.arange(8.0).reshape(4, 2)  # rows of a, b, PAD, MASK
    rows = label_rows(table, ("a", "b"), ("b", "new", "a"))
    assert torch.equal(rows[[0, 2]], table[[1, 0]])
    assert torch.equal(rows[3:], table[2:])
    assert torch.allclose(rows[1], table[:2].mean(0), atol=0.1)


def test_a_fine_tuned_network_starts_with_what_the_base_knows(base: LoadedModel) -> None:
    old = base.tokenizer
    labels = ("poster", *reversed(old.labels))
    network = adapt(base, Tokenizer(labels, old.bins, old.max_elements), TrainConfig())
    assert isinstance(network, nn.Module)
    assert isinstance(base.network, nn.Module)
    tokens = torch.randint(0, 3, (2, 4, 5), generator=torch.Generator().manual_seed(0))
    renamed = tokens.clone()
    renamed[..., 0] = torch.tensor([labels.index(name) for name in old.labels])[tokens[..., 0]]
    with torch.no_grad():
        before = base.network.eval()(Query(tokens))
        after = network.eval()(Query(renamed))
    for a, b in zip(before.log_probs[1:], after.log_probs[1:], strict=True):
        assert torch.allclose(a, b, atol=1e-5)
    assert torch.allclose(before.number, after.number, atol=1e-5)


def test_fine_tuning_can_teach_a_network_to_read_what_is_ahead(base: LoadedModel) -> None:
    old = base.tokenizer
    learned = adapt(base, old, TrainConfig(ordered_tasks=True))
    assert learned.config.ahead
    assert isinstance(learned, nn.Module)
    tokens = torch.randint(0, 3, (2, 4, 5), generator=torch.Generator().manual_seed(0))
    ahead = torch.ones((2, len(old.labels)), dtype=torch.long)
    with torch.no_grad():
        assert isinstance(base.network, nn.Module)
        before = base.network.eval()(Query(tokens)).log_probs
        after = learned.eval()(Query(tokens, ahead=ahead)).log_probs
        for a, b in zip(before, after, strict=True):
            assert torch.allclose(a, b, atol=1e-5)  # it says nothing yet
        learned.get_parameter("ahead.weight").normal_()
        said = learned(Query(tokens, ahead=ahead)).log_probs
    assert not torch.allclose(said[1], after[1])
    labels = ("poster", *reversed(old.labels))
    again = LoadedModel(learned, old, base.schedule, base.config)
    renamed = adapt(again, Tokenizer(labels, old.bins, old.max_elements), TrainConfig())
    assert isinstance(renamed, nn.Module)
    other = tokens.clone()
    other[..., 0] = torch.tensor([labels.index(name) for name in old.labels])[tokens[..., 0]]
    with torch.no_grad():
        moved = torch.zeros((2, len(labels)), dtype=torch.long)
        moved[:, [labels.index(name) for name in old.labels]] = ahead
        table = renamed.get_parameter("ahead.weight").view(len(labels), -1, learned.config.width)
        table[0] = 0  # what is not known of the new label
        found = renamed.eval()(Query(other, ahead=moved)).log_probs
    for a, b in zip(said[1:], found[1:], strict=True):
        assert torch.allclose(a, b, atol=1e-4)


def test_fine_tuning_keeps_bins_and_learns_new_labels(tmp_path: Path, base: LoadedModel) -> None:
    names = ("text", "heading", "logo")
    for split, size in (("train", 60), ("val", 12)):
        write(make_layouts(size, 5, names), tmp_path / "data" / f"{split}.jsonl")
    data = layoutdm.data.open(tmp_path / "data", max_elements=8, portrait=False)
    train(data, replace(TINY, bin_count=16, dropout=0.1), tmp_path / "model", base=base)
    tuned = load_network(tmp_path / "model")
    assert tuned.network.config.dropout == 0.1  # this training's, not the base's
    assert set(tuned.tokenizer.labels) == set(names)
    assert tuned.tokenizer.bins.to_dict() == base.tokenizer.bins.to_dict()
    card = (tmp_path / "model" / "README.md").read_text()
    assert "1 of 3 labels kept their weights" in card
    settings = saved_config(tmp_path / "model")
    assert settings is not None
    train(data, replace(settings, steps=6), tmp_path / "model", resume=True)  # without the base
    resumed = load_network(tmp_path / "model")
    assert resumed.tokenizer.bins.to_dict() == base.tokenizer.bins.to_dict()
    assert "1 of 3 labels kept" in (tmp_path / "model" / "README.md").read_text()

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
from layoutdm.generator.label_file import to_bytes
from layoutdm.tokens import Tokenizer
from layoutdm.train.corpus import label_sequences, pack
from layoutdm.train.export import LoadedModel, load_network
from layoutdm.train.finetune import adapt, label_rows
from layoutdm.train.folder import Watching, saved_settings, train_and_val
from layoutdm.train.label_model import fit_labels
from layoutdm.train.networks import Query
from layoutdm.train.recipe import Data, Settings, Shape
from layoutdm.train.reporter import Silent, read_metrics
from layoutdm.train.run import train
from layoutdm.train.settings import Budget
from training_samples import make_layouts, write_dataset

TINY = Settings(
    data=Data(8, "uniform", 8),
    network=Shape(width=16, layers=1, lines=9),
    budget=Budget(batch_size=32, steps=4, precision="fp32"),
)


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
    assert files == {"config.json", "model.onnx", "labels.npz", "README.md", "curves.png",
                     "training.json", "run"}  # fmt: skip
    config = json.loads((out / "config.json").read_text())
    assert config["apart"]["free"] >= 0.1
    assert set(config["apart"]["labels"]) <= set(config["labels"])
    assert config["labels"] == list(data.labels)
    assert config["canvas"] == [600, 800]
    assert sum(config["number_histogram"]) == 60
    assert config["about_noise"] == list(TINY.recipe.about_noise)
    assert config["generator"] == "layoutdm"
    assert config["sampling"]["default"]["top_p"] in (0.8, 0.9, 0.95, 1.0)
    assert config["label_counts"]["title"] == config["layouts"] == 60
    assert config["canvases"] == [[600, 800, 1.0]]
    assert Settings.from_dict(json.loads((out / "training.json").read_text())) == TINY
    card = (out / "README.md").read_text()
    for words in ("60 train, 24 val", f"{report.bound:.2f} nats", "4 steps of 32", "curves.png"):
        assert words in card
    kinds = [line["kind"] for line in read_metrics(out / "run" / "metrics.jsonl")]
    assert "validation" in kinds
    with pytest.raises(LayoutdmError, match="already holds a training run; continue it"):
        train(data, TINY, out)
    longer = TINY.changed("budget", steps=6)
    assert train(data, longer, out, resume=True).steps == 6
    assert saved_settings(out) == json.loads(json.dumps(longer.to_dict()))


def test_a_model_can_be_used_and_has_its_label_network(tmp_path: Path) -> None:
    data = open_data(tmp_path / "data", train=60)
    out, notes = tmp_path / "model", Notes()
    train(data, TINY, out, watching=Watching(notes))
    told = [text for text in notes.notices if text.startswith("finishing: ")]
    assert told == [f"finishing: {name}" for name in
                    ("number of elements", "order of labels", "sampling")]  # fmt: skip
    sequences = label_sequences(pack(data["train"], load_network(out).tokenizer))
    fitted = (out / "labels.npz").read_bytes()
    assert to_bytes(fit_labels(sequences, len(data.labels))) == fitted
    model = layoutdm.load(out)
    made = model.generate(count=3)
    assert len(made) == 3
    again = model.generate(count=3)
    assert [one.layout for one in again] == [one.layout for one in made]


def test_a_run_repeats_to_the_last_digit(tmp_path: Path) -> None:
    data = open_data(tmp_path / "data", train=60)
    losses = []
    for name in ("one", "two"):
        train(data, TINY.changed("budget", steps=40), tmp_path / name)
        lines = read_metrics(tmp_path / name / "run" / "metrics.jsonl")
        losses.append([line.get("loss", line.get("bound")) for line in lines])
    assert losses[0] == losses[1]
    both = [(tmp_path / name / "model.onnx").read_bytes() for name in ("one", "two")]
    assert both[0] == both[1]


def test_too_little_data(tmp_path: Path, base: LoadedModel) -> None:
    data = open_data(tmp_path / "data", train=49)
    with pytest.raises(LayoutdmError, match=r"has 49 layouts to train on.*at least 50.*--base"):
        train(data, TINY, tmp_path / "model")
    notes = Notes()
    assert train(data, TINY, tmp_path / "model", base=base, watching=Watching(notes)).complete
    assert any("below 50" in notice for notice in notes.notices)


def test_one_label_only_is_a_warning(tmp_path: Path) -> None:
    layouts = [layout.take([0]) for layout in make_layouts(80)]
    write(layouts, tmp_path / "data.jsonl")
    data = layoutdm.data.open(tmp_path / "data.jsonl", portrait=False)
    notes = Notes()
    assert train(data, TINY, tmp_path / "model", watching=Watching(notes)).complete
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
    network = adapt(base, Tokenizer(labels, old.bins, old.max_elements), 0.0)
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


def test_fine_tuning_keeps_bins_and_learns_new_labels(tmp_path: Path, base: LoadedModel) -> None:
    names = ("text", "heading", "logo")
    for split, size in (("train", 60), ("val", 12)):
        write(make_layouts(size, 5, names), tmp_path / "data" / f"{split}.jsonl")
    data = layoutdm.data.open(tmp_path / "data", max_elements=8, portrait=False)
    train(data, TINY.changed("network", dropout=0.2), tmp_path / "model", base=base)
    tuned = load_network(tmp_path / "model")
    assert tuned.network.config.dropout == 0.2  # this training's, not the base's
    assert set(tuned.tokenizer.labels) == set(names)
    assert tuned.tokenizer.bins.to_dict() == base.tokenizer.bins.to_dict()
    card = (tmp_path / "model" / "README.md").read_text()
    assert "1 of 3 labels kept their weights" in card
    record = saved_settings(tmp_path / "model")
    assert record is not None
    longer = Settings.from_dict(record).changed("budget", steps=6)
    train(data, longer, tmp_path / "model", resume=True)  # without the base
    resumed = load_network(tmp_path / "model")
    assert resumed.tokenizer.bins.to_dict() == base.tokenizer.bins.to_dict()
    assert "1 of 3 labels kept" in (tmp_path / "model" / "README.md").read_text()


def test_bases_that_do_not_fit_are_refused(tmp_path: Path, base: LoadedModel) -> None:
    data = open_data(tmp_path / "data", train=60)
    paper = Settings.from_dict({
        "network": {"kind": "paper", "width": 16, "repeats": False},
        "recipe": {"tasks": [1, 0, 0, 0, 0], "apart": 0.0, "published": True},
        "budget": {"steps": 1},
    })  # fmt: skip
    with pytest.raises(LayoutdmError, match="use --preset recipe"):
        train(data, paper, tmp_path / "model", base=base)


def test_the_paper_recipe_makes_a_model(tmp_path: Path) -> None:
    data = open_data(tmp_path / "data", train=60)
    settings = Settings.from_dict({
        "data": {"max_elements": 8, "bins": "kmeans", "bin_count": 8},
        "network": {"kind": "paper", "width": 16, "layers": 1, "repeats": False},
        "recipe": {"tasks": [1, 0, 0, 0, 0], "apart": 0.0, "published": True},
        "budget": {"steps": 3, "precision": "fp32"},
    })  # fmt: skip
    assert train(data, settings, tmp_path / "model").complete
    assert not (tmp_path / "model" / "labels.npz").exists()
    assert len(layoutdm.load(tmp_path / "model").generate(count=2, steps=4)) == 2

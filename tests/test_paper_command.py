"""`layoutdm paper`: tables and figures from kept layouts; interrupted, it goes on."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import layoutdm.data
from baseline_cases import SMALL
from layoutdm.baselines.learn.layoutvae import LayoutVAELearner
from layoutdm.baselines.learn.run import train_system
from layoutdm.errors import LayoutdmError
from layoutdm.formats import write
from layoutdm.paper.cells import Bench, Cell, generate, read_layouts
from layoutdm.paper.items import ITEMS, chosen
from layoutdm.paper.published import TABLE1, TABLE2, TABLE3, TABLE4
from layoutdm.paper.run import make
from layoutdm.paper.sampling import choose_sampling
from layoutdm.paper.training import Runs, training_of
from layoutdm.train.settings import Budget
from training_samples import make_layouts

NAMES = ("Text", "Toolbar", "Image")  # labels that the embedded feature network knows
LIMIT = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """data/rico25 with three splits, and runs with three small systems."""
    root = tmp_path_factory.mktemp("paper")
    for split, size, seed in (("train", 60, 1), ("val", 16, 2), ("test", 20, 3)):
        path = root / "data" / "rico25" / f"{split}.jsonl"
        write(make_layouts(size, seed, NAMES), path, format="jsonl")
    dataset = layoutdm.data.open(root / "data" / "rico25", portrait=False)
    for name in ("layouttrans", "layoutgan++", "layoutdm-paper"):
        out = root / "runs" / "systems" / "rico25" / name
        train_system(dataset, name, out, budget=Budget(steps=1, precision="fp32"), changes=SMALL)
    return root


@pytest.mark.slow
def test_tables_have_our_figures_the_papers_and_dashes(folder: Path) -> None:
    names = ["table1", "table2", "parameters"]
    out = folder / "out"
    written = make(names, folder / "data", folder / "runs", out, train=False, limit=LIMIT)
    assert sorted(path.name for path in written) == ["parameters.md", "table1.md", "table2.md"]
    second = (out / "table2.md").read_text()
    row = next(line for line in second.splitlines() if line.startswith("| LayoutTrans |"))
    assert "[7.63]" in row and not row.startswith("| LayoutTrans | –")
    assert "| MaskGIT* | not trained yet [52" in second
    first = (out / "table1.md").read_text()
    assert "[6.84]" in next(line for line in first.splitlines() if "LayoutGAN++" in line)
    kept = out / "cells" / "rico25" / "layouts" / "layouttrans.unconditional.jsonl.gz"
    assert len(gzip.decompress(kept.read_bytes()).splitlines()) == LIMIT
    before = kept.stat().st_mtime_ns
    make(names, folder / "data", folder / "runs", out, train=False, limit=LIMIT)
    assert kept.stat().st_mtime_ns == before
    # What each training was is kept beside the cells, so a table outlives the runs.
    rows = ["parameters"]
    make(rows, folder / "data", folder / "runs", out, train=False, limit=LIMIT)
    with_runs = (out / "parameters.md").read_text()
    make(rows, folder / "data", folder / "no-runs", out, train=False, limit=LIMIT)
    assert "| LayoutTrans | " in with_runs
    assert (out / "parameters.md").read_text() == with_runs


@pytest.mark.slow
def test_every_figure_is_drawn_from_what_is_there(folder: Path) -> None:
    out = folder / "figures"
    names = ["violation", "density", "samples", "priors"]
    written = make(names, folder / "data", folder / "runs", out, train=False, limit=8)
    found = {path.name for path in written}
    assert {"violation.png", "density_rico25.png", "priors.md", "samples_rico25_c.png"} <= found
    assert all(path.stat().st_size > 0 for path in written)
    # CLG-LO searches the latents of LayoutGAN++, whose weights it borrows.
    config = folder / "runs" / "systems" / "rico25" / "clg-lo" / "config.json"
    assert json.loads(config.read_text())["generator"] == "clg-lo"


@pytest.mark.slow
def test_an_interrupted_cell_goes_on_with_the_same_layouts(folder: Path, tmp_path: Path) -> None:
    dataset = layoutdm.data.open(folder / "data" / "rico25", portrait=False)
    model = layoutdm.load(folder / "runs" / "systems" / "rico25" / "layouttrans")
    whole = Bench("rico25", dataset["test"], dataset.labels, tmp_path / "whole", None)
    cut = Bench("rico25", dataset["test"], dataset.labels, tmp_path / "cut", None)
    cell = Cell("layouttrans", "c")
    wanted, _ = generate(cell, whole, model)
    generate(cell, cut, model)
    path = tmp_path / "cut" / "layouts" / f"{cell.name}.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-40])  # as a kill may leave it
    again, _ = generate(cell, cut, model)
    assert len(again) == len(wanted) == 20
    for one, other in zip(again, wanted, strict=True):
        assert one.labels == other.labels
        np.testing.assert_allclose(one.boxes, other.boxes, atol=1e-5)
    assert len(read_layouts(path)) == 20


@pytest.mark.slow
def test_what_is_missing_is_trained_at_the_best_of_three_rates(folder: Path) -> None:
    dataset = layoutdm.data.open(folder / "data" / "rico25", portrait=False)
    runs = Runs(folder / "fresh", "rico25", dataset, layouts=60, tuning_steps=1)
    found = runs.model("layoutvae")
    assert found is not None and (found / "config.json").exists()
    tried = sorted((folder / "fresh" / "tuning" / "rico25").iterdir())
    losses = {
        float(path.name.split("-")[-1]): json.loads((path / "training.json").read_text())["report"][
            "bound"
        ]
        for path in tried
    }
    assert len(losses) == 3
    assert float((found / "rate.txt").read_text()) == min(losses, key=lambda rate: losses[rate])


@pytest.mark.slow
def test_top_p_is_chosen_on_val_once(folder: Path) -> None:
    dataset = layoutdm.data.open(folder / "data" / "rico25", portrait=False)
    model = folder / "runs" / "systems" / "rico25" / "layouttrans"
    best = choose_sampling(model, dataset)
    kept = json.loads((model / "sampling.json").read_text())
    scores = {float(key): value for key, value in kept["fid_on_val"].items()}
    assert set(scores) == {1.0, 0.95, 0.9} and best == min(scores, key=lambda p: scores[p])
    assert layoutdm.load(model).generator.usual("c").top_p == best
    assert choose_sampling(model, dataset) == best
    gan = folder / "runs" / "systems" / "rico25" / "layoutgan++"
    assert choose_sampling(gan, dataset) == 1.0 and not (gan / "sampling.json").exists()


def test_unknown_items_are_told() -> None:
    with pytest.raises(LayoutdmError, match="table1"):
        chosen(["table9"])
    assert len(chosen(["all"])) == len(ITEMS) == 15


def test_the_papers_best_rows_are_copied_right() -> None:
    assert min(TABLE2, key=lambda name: TABLE2[name][0][0]) == "layouttrans-fixed"
    for task in ("c", "cwh"):
        best = min(TABLE1, key=lambda name: TABLE1[name][task][0][0])
        assert best == "layoutdm-paper"
    assert TABLE3["input"][0][0] == 134.0 and TABLE4["layoutdm-paper"] == (6.65, 0.162)


@pytest.mark.slow
def test_the_commands_list_and_refuse(folder: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "layoutdm", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    listed = run("systems", "--json")
    assert {"layoutdm-paper", "clg-lo", "ndn-partial"} <= {
        row["name"] for row in json.loads(listed.stdout)
    }
    wrong = run("train", str(folder / "data" / "rico25"), "--out", "x", "--system", "nonsense")
    assert wrong.returncode == 1 and "layouttrans" in wrong.stderr
    places = ["--data", str(folder / "none"), "--runs", str(folder / "runs"), "--no-train"]
    wrong = run("paper", "table2", *places)
    assert wrong.returncode == 1 and "rico25" in wrong.stderr


@pytest.mark.slow
def test_without_tuning_each_recipe_has_its_own_rate_and_budgets_are_equal(folder: Path) -> None:
    dataset = layoutdm.data.open(folder / "data" / "rico25", portrait=False)
    told: list[str] = []
    runs = Runs(folder / "untuned", "rico25", dataset, layouts=128, tuning_steps=0)
    found = runs.model("layoutvae", told.append)
    assert found is not None and not (folder / "untuned" / "tuning").exists()
    record = training_of(found)
    assert record["rate"] == LayoutVAELearner.recipe.short.learning_rate
    assert record["steps"] == 2 and not (found / "sampling.json").exists()
    assert any("loss on val" in line for line in told)

"""`layoutdm evaluate`: the protocol, going on after an interruption, tables, plots and sheets."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from layoutdm import Layout, LayoutdmError
from layoutdm.cli.evaluation import evaluate_cells
from layoutdm.evaluate.paper import paper_rows
from layoutdm.evaluate.plan import Cell, Plan, cells, layouts_hash, request_count, requests
from layoutdm.evaluate.reading import mend
from layoutdm.evaluate.report import collect
from layoutdm.evaluate.run import floor, generate, prepare, score_cell
from layoutdm.evaluate.sheets import drawn_input
from layoutdm.evaluate.table import distinct_rows, markdown, summary
from layoutdm.formats import write
from layoutdm.spec import Spec
from layoutdm.spec.tasks import TASKS

LABELS = ("text", "title", "figure")


def pages(count: int, seed: int = 0) -> list[Layout]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        rows = int(rng.integers(2, 6))
        boxes = [[0.5, 0.08, rng.uniform(0.4, 0.9), 0.06]]
        boxes += [[0.5, 0.2 + 0.15 * row, 0.8, 0.1] for row in range(rows)]
        labels = ["title", *[LABELS[int(rng.integers(0, 3))] for _ in range(rows)]]
        found.append(Layout.create(labels, boxes))
    return found


@dataclass(frozen=True)
class Made:
    layout: Layout


@dataclass
class Copyist:
    """Gives noisy copies of real layouts back; the noise hangs on seed and index alone."""

    real: list[Layout]
    noise: float = 0.02
    fail_after: int | None = None
    asked: int = 0
    labels: tuple[str, ...] = LABELS
    max_elements: int = 25

    def stream_many(
        self,
        numbered: Iterable[tuple[int, Spec]],
        seed: int = 0,
        steps: int | None = None,
        *,
        batch_size: int = 64,
        **settings: Any,
    ) -> Iterator[Made]:
        for index, _ in numbered:
            if self.fail_after is not None and self.asked >= self.fail_after:
                raise KeyboardInterrupt
            self.asked += 1
            layout = self.real[index % len(self.real)]
            rng = np.random.default_rng((seed, index))
            noisy = layout.boxes + rng.normal(0, self.noise / (steps or 1), layout.boxes.shape)
            boxes, good, _ = mend(noisy)
            kept = [label for label, keep in zip(layout.labels, good, strict=True) if keep]
            yield Made(Layout.create(kept, boxes[good], id="same"))


def a_plan(reference: list[Layout], **changes: Any) -> Plan:
    plan = Plan(
        model="copyist", model_hash="0", data="pages", data_hash=layouts_hash(reference),
        split="test", layouts=len(reference), samples=30,
    )  # fmt: skip
    return replace(plan, **changes)


# The plan ------------------------------------------------------------------------------------


def test_cells_are_all_combinations() -> None:
    found = cells(("c", "relation"), (10, 20), (0, 1), (0.0, 3.0))
    assert len(found) == 4 + 8
    assert len({cell.name for cell in found}) == len(found)
    with pytest.raises(LayoutdmError, match="task 'd' is unknown"):
        cells(("d",), (None,), (0,))


@pytest.mark.parametrize("task", TASKS)
def test_requests_of_each_task(task: str) -> None:
    real = pages(12)
    plan, cell = a_plan(real), Cell(task, None, 3)
    made = list(requests(cell, real, plan))
    assert len(made) == request_count(cell, plan) == (30 if task == "unconditional" else 12)
    again = list(requests(cell, real, plan))
    assert [spec.as_dict() for _, spec in made] == [spec.as_dict() for _, spec in again]
    if task in ("completion", "refinement", "relation"):
        other = list(requests(Cell(task, None, 4), real, plan))
        assert [spec.as_dict() for _, spec in made] != [spec.as_dict() for _, spec in other]


# Running -------------------------------------------------------------------------------------


def test_an_interrupted_cell_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    real = pages(250)
    plan, cell = a_plan(real), Cell("c", 10, 0)
    for folder in ("whole", "parts"):
        prepare(tmp_path / folder, plan)
    whole = generate(Copyist(real), cell, plan, real, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        generate(Copyist(real, fail_after=150), cell, plan, real, tmp_path / "parts")
    file = tmp_path / "parts" / "layouts" / f"{cell.name}.jsonl"
    assert len(file.read_bytes().splitlines()) == 100
    with file.open("ab") as out:
        out.write(b'{"labels": ["te')  # as when the power fails in the middle of a line
    second = Copyist(real)
    seen: list[int] = []
    parts = generate(second, cell, plan, real, tmp_path / "parts", lambda _, n, of: seen.append(n))
    assert second.asked == 150 and seen[0] == 100 and seen[-1] == 250
    assert all(a == b for a, b in zip(whole.layouts, parts.layouts, strict=True))
    third = Copyist(real)
    generate(third, cell, plan, real, tmp_path / "parts")
    assert third.asked == 0


def test_a_folder_belongs_to_one_plan(tmp_path: Path) -> None:
    real = pages(5)
    prepare(tmp_path, a_plan(real))
    prepare(tmp_path, a_plan(real))
    with pytest.raises(LayoutdmError, match="another split"):
        prepare(tmp_path, a_plan(real, split="val"))


def test_scores_of_the_tasks(tmp_path: Path) -> None:
    real = pages(40)
    plan = a_plan(real)
    prepare(tmp_path, plan)
    for task in ("unconditional", "relation"):
        cell = Cell(task, 10, 0)
        made = generate(Copyist(real, noise=0.0), cell, plan, real, tmp_path)
        record = score_cell(cell, made, plan, real, None, "no network", tmp_path)
        scores = record["scores"]
        assert scores["fid"]["value"] is None and scores["fid"]["reason"] == "no network"
        assert scores["counts"]["reference"] == 40
        if task == "relation":
            assert scores["violation"]["value"] == 0
            assert scores["violation"]["of"] == "relations that were asked"
        if task == "unconditional":
            assert scores["docsim"]["value"] is None and scores["counts"]["generated"] == 30
        # A second call reads the file.
        assert score_cell(cell, made, plan, [], None, "", tmp_path) == record
    lowest = floor(pages(40, 1), real, plan, None, "no network", tmp_path)
    assert lowest is not None and lowest["unconditional_layouts"] == 30
    assert lowest["itself"]["value"] > 0
    assert floor([], real, plan, None, "", tmp_path / "none") is None


# Tables, plots and sheets --------------------------------------------------------------------


def record(task: str, steps: int | None, seed: int, fid: float) -> dict[str, Any]:
    from layoutdm.evaluate.score import METRICS

    scores: dict[str, Any] = {name: {"value": 0.5} for name in METRICS}
    scores["fid"] = {"value": fid}
    cell = {"task": task, "steps": steps, "seed": seed, "strength": None}
    return {"cell": cell, "seconds": 1.0, "ms_per_layout": 2.0, "scores": scores}


def test_table_has_mean_floor_and_the_papers_row() -> None:
    records = [record("c", 20, seed, fid) for seed, fid in ((0, 2.0), (1, 4.0))]
    rows = summary(records)
    assert rows[0]["fid"] == {"mean": 3.0, "std": pytest.approx(2**0.5)}
    real = pages(3)
    results = collect(a_plan(real, features="net", features_hash="abc"), records, None, LABELS)
    text = markdown(results)
    assert "| copyist, 20 steps | 3.00 ± 1.41 | 0.500 ± 0.000 |" in text
    assert "*LayoutDM, paper †* | 7.95 | 0.310 |" in text and "not comparable" in text
    assert "hash abc" in text and "Real data |" not in text
    json.dumps(results, allow_nan=False)


def test_a_number_of_steps_that_is_the_models_own_has_one_row() -> None:
    records = [record("c", None, 0, 2.0), record("c", 20, 0, 3.0), record("c", 10, 0, 4.0)]
    records += [record("cwh", 20, 0, 5.0)]
    own = {"c": 20, "cwh": 20}
    results = collect(a_plan(pages(3)), records, None, LABELS, own_steps=own)
    found = [(row["task"], row["steps"]) for row in distinct_rows(results)]
    assert sorted(found, key=str) == [("c", 10), ("c", None), ("cwh", 20)]


def test_paper_rows_only_for_its_labels() -> None:
    rico = paper_rows(["Text", "Toolbar"], "unconditional")
    assert rico is not None and rico["fid"] == (6.65, 1.85)
    assert paper_rows(["ship"], "c") is None and paper_rows([], "c") is None


def test_inputs_are_drawn_where_they_have_places() -> None:
    page = pages(1)[0]
    noisy = drawn_input(Spec.from_layout(page, "refinement", noise=0.4), page)
    assert isinstance(noisy, Layout)
    words = drawn_input(Spec.from_layout(page, "c"), page)
    assert isinstance(words, str) and "title" in words
    assert "relations" in str(drawn_input(Spec.from_layout(page, "relation", share=0.5), page))
    assert drawn_input(Spec(), page) == "nothing"


@pytest.mark.slow
def test_everything_is_written(tmp_path: Path) -> None:
    real = pages(12)
    plan = a_plan(real, samples=10)
    prepare(tmp_path, plan)
    todo = cells(("unconditional", "relation"), (5, 10), (0,))
    out = evaluate_cells(Copyist(real), plan, todo, real, pages(9, 1), None, "none", {}, tmp_path)
    names = {path.name for path in out}
    assert {"results.json", "table.md", "unconditional.png", "relation.png"} <= names
    results = json.loads((tmp_path / "results.json").read_text())
    assert len(results["cells"]) == 4 and len(results["summary"]) == 4
    assert results["plan"]["data_hash"] == layouts_hash(real)
    assert "| Real data |" in (tmp_path / "table.md").read_text()


# The command ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A very small untrained model: nonsense, but of the right kind."""
    from layoutdm.diffusion import Schedule
    from layoutdm.tokens import Tokenizer
    from layoutdm.tokens.bins import uniform_bins
    from layoutdm.train.export import export_model
    from layoutdm.train.networks import NetworkConfig, build

    torch.manual_seed(0)
    tokenizer = Tokenizer(LABELS, uniform_bins(8), 10)
    config = NetworkConfig(sizes=tokenizer.sizes, max_elements=10, width=16, layers=1, heads=2)
    folder = tmp_path_factory.mktemp("model") / "tiny"
    return export_model(build(config), tokenizer, Schedule(), folder)


@pytest.mark.slow
def test_command(tmp_path: Path, model_folder: Path) -> None:
    for split, count in (("train", 10), ("val", 8), ("test", 12)):
        write(pages(count, len(split)), tmp_path / "data" / f"{split}.jsonl")
    command = [sys.executable, "-m", "layoutdm", "evaluate", "--model", str(model_folder)]
    command += ["--data", str(tmp_path / "data"), "--out", str(tmp_path / "out"), "--threads", "1"]
    options = ["--task", "unconditional,c", "--steps", "2,1", "--seeds", "0", "--samples", "10"]
    first = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["plan"]["features"] == "publaynet" and results["plan"]["model_hash"]
    assert {row["task"] for row in results["summary"]} == {"unconditional", "c"}
    assert results["summary"][0]["fid"]["mean"] > 0
    assert (tmp_path / "out" / "fid_steps.png").stat().st_size > 5000
    assert (tmp_path / "out" / "density_coverage.png").exists()
    card = tmp_path / "card.md"
    card.write_text(
        "# Mine\n\n<!-- scores of tiny -->\nstale scores\n<!-- end of scores -->\n\n## After\n"
    )
    more = ["--task", "c", "--steps", "own,1", "--seeds", "0", "--samples", "10"]
    second = subprocess.run(
        [*command, *more, "--into", str(card)], capture_output=True, text=True, check=False
    )
    assert second.returncode == 0, second.stderr
    text = card.read_text()
    assert text.startswith("# Mine\n") and text.endswith("\n\n## After\n") and "stale" not in text
    calls = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("| C→S+P")]
    assert [number.strip() for _, number in calls] == ["**100**", "2", "1"]  # of both runs
    assert "| Unconditional | 2 | 1 |" in text and "| real data |" in text
    other = subprocess.run(
        [*command, *options, "--split", "val"], capture_output=True, text=True, check=False
    )
    assert other.returncode == 1 and "another data_hash" in other.stderr
    wrong = subprocess.run(
        [*command, "--seeds", "one"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    missing = subprocess.run(
        [*command, "--into", "no.md"], capture_output=True, text=True, check=False
    )
    assert missing.returncode == 2 and "no.md" in missing.stderr

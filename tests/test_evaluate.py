"""`layoutdm evaluate`: the protocol, going on after an interruption, tables, plots and sheets."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import layoutdm
from layoutdm import Layout, LayoutdmError
from layoutdm.data import Dataset
from layoutdm.evaluate.paper import paper_rows
from layoutdm.evaluate.plan import Cell, Plan, cells, layouts_hash, request_count, requests
from layoutdm.evaluate.report import collect
from layoutdm.evaluate.run import Judge, floor, generate, prepare, score_cell
from layoutdm.evaluate.sheets import drawn_input
from layoutdm.evaluate.table import distinct_rows, markdown, summary
from layoutdm.formats import write
from layoutdm.generator import Drawn, Options, empty
from layoutdm.model import Model
from layoutdm.spec import Condition, Spec
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


@dataclass
class Rows:
    """A generator that puts elements below each other; it may be interrupted, and may refuse."""

    fail_after: int | None = None
    refused: str | None = None
    asked: int = 0
    name: str = "rows"
    labels: tuple[str, ...] = LABELS
    max_elements: int = 25
    fingerprint: str = "0"
    options: type[Options] = Options

    def usual(self, task: str) -> Options:
        return Options()

    def refuses(self, condition: Condition) -> str | None:
        return self.refused if len(condition) else None

    def draw(self, conditions: Sequence[Condition], options: Any, streams: Any) -> Drawn:
        drawn = empty(len(conditions), self.max_elements)
        for row, (condition, rng) in enumerate(zip(conditions, streams, strict=True)):
            if self.fail_after is not None and self.asked >= self.fail_after:
                raise KeyboardInterrupt
            self.asked += 1
            count = max(condition.min_elements, min(condition.max_elements, 4))
            drawn.mask[row, :count] = True
            drawn.label[row, : len(condition)] = condition.label_choices.argmax(axis=1)
            drawn.box[row, :count, 1] = (np.arange(count) + 0.5) / count
            drawn.box[row, :count, 2:] = rng.uniform(0.3, 1.2), 0.8 / count
        return drawn


def a_plan(reference: list[Layout], **changes: Any) -> Plan:
    plan = Plan(
        model="rows", model_hash="0", data="pages", data_hash=layouts_hash(reference),
        split="test", layouts=len(reference), samples=30,
    )  # fmt: skip
    return replace(plan, **changes)


# The plan ------------------------------------------------------------------------------------


def test_cells_are_all_combinations() -> None:
    found = cells(("c", "relation"), (10, 20), (0, 1), {"top_p": 0.5}, (0.0, 3.0))
    assert len(found) == 4 + 12
    assert all(("top_p", 0.5) in cell.options for cell in found)
    assert len(cells(("relation",), options={"relations": "guided"})) == 1
    assert len({cell.name for cell in found}) == len(found)
    with pytest.raises(LayoutdmError, match="task 'd' is unknown"):
        cells(("d",), (None,), (0,))


@pytest.mark.parametrize("task", TASKS)
def test_requests_of_each_task(task: str) -> None:
    real = pages(12)
    plan, cell = a_plan(real), Cell(task, 3)
    made = list(requests(cell, real, plan))
    assert len(made) == request_count(cell, plan) == (30 if task == "unconditional" else 12)
    again = list(requests(cell, real, plan))
    assert [spec.as_dict() for _, spec in made] == [spec.as_dict() for _, spec in again]
    if task in ("completion", "refinement", "relation"):
        other = list(requests(Cell(task, 4), real, plan))
        assert [spec.as_dict() for _, spec in made] != [spec.as_dict() for _, spec in other]


# Running -------------------------------------------------------------------------------------


def test_an_interrupted_cell_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    real = pages(250)
    plan, cell = a_plan(real), Cell("c", 0)
    for folder in ("whole", "parts"):
        prepare(tmp_path / folder, plan)
    whole = generate(Model(Rows()), cell, plan, real, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        generate(Model(Rows(fail_after=150)), cell, plan, real, tmp_path / "parts")
    file = tmp_path / "parts" / "layouts" / f"{cell.name}.jsonl"
    written = len(file.read_bytes().splitlines())
    assert 0 < written < 250
    with file.open("ab") as out:
        out.write(b'{"labels": ["te')  # as when the power fails in the middle of a line
    second = Rows()
    seen: list[int] = []
    parts = generate(
        Model(second), cell, plan, real, tmp_path / "parts", lambda _, n, of: seen.append(n)
    )
    assert second.asked == 250 - written and seen[0] == written and seen[-1] == 250
    assert all(a == b for a, b in zip(whole.layouts, parts.layouts, strict=True))
    assert whole.outside == parts.outside > 0  # some were drawn wider than the canvas
    third = Rows()
    generate(Model(third), cell, plan, real, tmp_path / "parts")
    assert third.asked == 0


def test_a_folder_belongs_to_one_plan(tmp_path: Path) -> None:
    real = pages(5)
    prepare(tmp_path, a_plan(real))
    prepare(tmp_path, a_plan(real))
    with pytest.raises(LayoutdmError, match="another split"):
        prepare(tmp_path, a_plan(real, split="val"))


def test_scores_of_the_tasks(tmp_path: Path) -> None:
    real = pages(40)
    plan, judge = a_plan(real), Judge(real, None, "no network")
    prepare(tmp_path, plan)
    for task in ("unconditional", "relation"):
        cell = Cell(task, 0)
        made = generate(Model(Rows()), cell, plan, real, tmp_path)
        record = score_cell(cell, made, plan, judge, tmp_path)
        scores = record["scores"]
        assert scores["fid"]["value"] is None and scores["fid"]["reason"] == "no network"
        assert scores["counts"]["reference"] == 40 and 0 < scores["outside"]["value"] < 1
        if task == "relation":  # wishes hold, whatever the generator draws
            assert scores["violation"]["value"] == 0
            assert scores["violation"]["of"] == "relations that were asked"
            assert 0 < scores["ltsim"]["value"] < 1
        if task == "unconditional":
            assert scores["docsim"]["value"] is None and scores["counts"]["generated"] == 30
        # A second call reads the file.
        assert score_cell(cell, made, plan, Judge([]), tmp_path) == record
    others = pages(40, 1)
    lowest = floor(others, others, plan, judge, tmp_path)
    assert lowest is not None and lowest["unconditional_layouts"] == 30
    assert lowest["itself"]["value"] > 0 and set(lowest["same_number"]) == {"30", "40"}
    assert floor([], [], plan, judge, tmp_path / "none") is None


def test_the_features_of_the_reference_are_made_once() -> None:
    class Counting:
        name, hash, width = "counting", "0", 2
        calls = 0

        def extract(self, layouts: Sequence[Layout]) -> np.ndarray:
            self.calls += 1
            return np.array([[len(layout), layout.boxes.sum()] for layout in layouts])

    network = Counting()
    judge = Judge(pages(20), network, "")  # type: ignore[arg-type]
    for seed in (1, 2, 3):
        assert judge.score(pages(20, seed))["fid"]["value"] >= 0
    assert network.calls == 4


# Tables, plots and sheets --------------------------------------------------------------------


def record(task: str, steps: int | None, seed: int, fid: float) -> dict[str, Any]:
    from layoutdm.evaluate.score import METRICS

    scores: dict[str, Any] = {name: {"value": 0.5} for name in METRICS}
    scores["fid"] = {"value": fid}
    options = {} if steps is None else {"steps": steps}
    cell = {"task": task, "seed": seed, "options": options}
    return {"cell": cell, "seconds": 1.0, "ms_per_layout": 2.0, "scores": scores}


def test_table_has_mean_floor_and_the_papers_row() -> None:
    records = [record("c", 20, seed, fid) for seed, fid in ((0, 2.0), (1, 4.0))]
    rows = summary(records)
    assert rows[0]["fid"] == {"mean": 3.0, "std": pytest.approx(2**0.5)}
    real = pages(3)
    results = collect(a_plan(real, features="net", features_hash="abc"), records, None, LABELS)
    text = markdown(results)
    assert "| rows, 20 steps | – | – | 3.00 ± 1.41 | 0.500 ± 0.000 |" in text
    assert "*LayoutDM, paper †* | | | 7.95 | 0.310 |" in text and "not comparable" in text
    assert "hash abc" in text and "Real data |" not in text
    json.dumps(results, allow_nan=False)


def test_a_number_of_steps_that_is_the_models_own_has_one_row() -> None:
    records = [record("c", None, 0, 2.0), record("c", 20, 0, 3.0), record("c", 10, 0, 4.0)]
    records += [record("cwh", 20, 0, 5.0)]
    own = {"c": 20, "cwh": 20}
    results = collect(a_plan(pages(3)), records, None, LABELS, own_steps=own)
    found = [(row["task"], row["options"].get("steps")) for row in distinct_rows(results)]
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
def test_several_models_come_into_one_table(tmp_path: Path) -> None:
    """One of them refuses requests that list elements: a dash, and the reason below."""
    splits = {"test": pages(12), "val": pages(9, 1), "train": pages(14, 2)}
    parts = {name: tuple(part) for name, part in splits.items()}
    data = Dataset("pages", parts, LABELS, max_elements=25, split_note="")
    models = [Model(Rows()), Model(Rows(refused="rows of the second kind take no labels"))]
    seen: list[str] = []
    results = layoutdm.evaluate(
        models, data, tasks=["unconditional", "c", "relation"], out=tmp_path, seeds=(0,),
        samples=10, progress=lambda model, cell, made, of: seen.append(cell.name),
    )  # fmt: skip
    assert [row["model"] for row in results["summary"]][:2] == ["rows", "rows-2"]
    text = (tmp_path / "table.md").read_text()
    assert "| rows-2, own number of steps | – | – |" in text
    assert "rows-2, own number of steps: rows of the second kind take no labels" in text
    assert "relations=guided" in text and "| Real data | 1 |" in text
    for folder in ("rows", "rows-2"):
        assert (tmp_path / folder / "results.json").is_file()
    assert (tmp_path / "rows" / "samples" / "c.png").is_file() and seen
    assert json.loads((tmp_path / "results.json").read_text())["plan"]["data"] == "pages"
    again = layoutdm.evaluate(models[0], data, tasks="c", out=tmp_path / "rows", seeds=(0,),
                              samples=10)  # fmt: skip
    assert {row["task"] for row in again["summary"]} == {"unconditional", "c", "relation"}


def test_layouts_and_files_can_be_scored_from_python(tmp_path: Path) -> None:
    made, real = pages(12), pages(15, 1)
    write(made, tmp_path / "made.jsonl")
    write(real, tmp_path / "real.jsonl")
    first = layoutdm.score(made, real)
    second = layoutdm.score(tmp_path / "made.jsonl", str(tmp_path / "real.jsonl"))
    assert first["fid"]["value"] == pytest.approx(second["fid"]["value"], rel=1e-3)
    assert layoutdm.score(made, made, paired=True)["ltsim"]["value"] == pytest.approx(1.0)


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

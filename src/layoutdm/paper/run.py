"""Make tables and figures: train what is missing, generate, score, write.

OUT/cells/DATA/layouts/CELL.jsonl.gz   what was generated, so that any metric can be computed again
OUT/cells/DATA/scores/CELL.json        the scores of each cell
OUT/*.md, OUT/*.png                    tables and figures
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from layoutdm import metrics
from layoutdm.data import Dataset
from layoutdm.data import open as open_data
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.model.store import embedded, load
from layoutdm.paper.cells import INPUT, Bench, Cell, generate, read_layouts, score
from layoutdm.paper.items import chosen
from layoutdm.paper.results import SHIPPED, Results
from layoutdm.paper.training import Runs, training_of

Notice = Callable[[str], None]
METRICS = ("fid", "max_iou", "alignment", "overlap", "docsim", "density", "coverage")


def make(
    names: Sequence[str],
    data: Path,
    runs: Path,
    out: Path,
    *,
    train: bool = True,
    layouts: int | None = None,
    tuning_steps: int | None = None,
    limit: int | None = None,
    notice: Notice = lambda text: None,
) -> list[Path]:
    """Make these tables and figures; what is there already is not made again."""
    items = chosen(list(names))
    benches: dict[str, Bench] = {}
    records: dict[tuple[str, str], Mapping[str, Any]] = {}
    floors: dict[str, Mapping[str, float | None]] = {}
    training: dict[tuple[str, str], Mapping[str, Any]] = {}
    made: dict[tuple[str, str], Sequence[Layout]] = {}
    for name, folder in data_sets(data).items():
        dataset = open_data(folder, portrait=False)
        bench = _bench(name, dataset, out / "cells" / name, limit)
        settings: dict[str, Any] = {"train": train}
        settings |= {"layouts": layouts} if layouts else {}
        settings |= {"tuning_steps": tuning_steps} if tuning_steps else {}
        own = Runs(runs, name, dataset, **settings)
        benches[name], floors[name] = bench, _floor(bench, dataset)
        wanted = {cell.name: cell for item in items for cell in item.cells(name)}
        for cell in wanted.values():
            record = _record(cell, bench, own, notice)
            if record is not None:
                records[name, cell.name] = record
                path = bench.out / "layouts" / f"{cell.name}.jsonl.gz"
                made[name, cell.name] = read_layouts(path)
        training |= _training(runs, name)
    results = Results(benches, records, floors, training, made)
    written = []
    for item in items:
        written += item.write(results, out)
    return written


def data_sets(data: Path) -> dict[str, Path]:
    """A folder of data sets, or one data set."""
    if not data.exists():
        raise LayoutdmError(f"{data}: no such folder; --data should hold rico25 and publaynet")
    inside = (
        [folder for folder in sorted(data.iterdir()) if folder.is_dir()] if data.is_dir() else []
    )
    known = {folder.name: folder for folder in inside if folder.name in ("rico25", "publaynet")}
    if known:
        return {name: known[name] for name in ("rico25", "publaynet") if name in known}
    return {data.name.split(".")[0]: data}


def _bench(name: str, dataset: Dataset, out: Path, limit: int | None) -> Bench:
    network = metrics.features_for(dataset.labels)
    return Bench(name, dataset["test"], dataset.labels, out, network, limit)


def _record(cell: Cell, bench: Bench, runs: Runs, notice: Notice) -> Mapping[str, Any] | None:
    """The scores of a cell, from its file where they were made before with as many layouts."""
    path = bench.out / "scores" / f"{cell.name}.json"
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text())
        if found["layouts"] == bench.count(cell):
            return found
    model = None
    if cell.system != INPUT:
        folder = _folder(cell.system, bench, runs, notice)
        if folder is None:
            return None
        model = load(folder, threads=1)
        if model.labels != bench.labels and set(bench.labels) - set(model.labels):
            return None  # a shipped model of other labels
    layouts, seconds = generate(cell, bench, model, notice)
    record = score(cell, bench, layouts, seconds)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(record, indent=1) + "\n")
    part.replace(path)
    fid = record["scores"]["fid"]
    notice(f"{cell.name}: FID {'–' if fid is None else format(fid, '.2f')}")
    return record


def _folder(system: str, bench: Bench, runs: Runs, notice: Notice) -> Path | None:
    if system == SHIPPED:
        return embedded().get(bench.name)
    return runs.model(system, notice)


def _floor(bench: Bench, dataset: Dataset) -> Mapping[str, float | None]:
    """What real layouts of the val split score against test; kept in floor.json."""
    path = bench.out / "floor.json"
    if path.exists():
        found: dict[str, float | None] = json.loads(path.read_text())
        return found
    val = list(dataset.splits.get("val", ()))
    record: dict[str, float | None] = dict.fromkeys(METRICS)
    if val:
        cell = Cell("real", "unconditional")
        record |= score(cell, bench, val, 0.0)["scores"]
        both = metrics.pack(bench.reference, bench.labels)
        record["docsim"] = metrics.docsim(both, both)  # of test with itself, as in the paper
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    return record


def _training(runs: Path, data: str) -> dict[tuple[str, str], Mapping[str, Any]]:
    folder = runs / "systems" / data
    if not folder.is_dir():
        return {}
    return {
        (data, own.name): training_of(own)
        for own in sorted(folder.iterdir())
        if (own / "config.json").exists()
    }

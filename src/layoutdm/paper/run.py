"""Make tables and figures: train what is missing, generate, score, write.

OUT/cells/DATA/layouts/CELL.jsonl.gz   what was generated, so that any metric can be computed again
OUT/cells/DATA/scores/CELL.json        the scores of each cell
OUT/cells/DATA/training/SYSTEM.json    what each system's training was
OUT/*.md, OUT/*.png                    tables and figures

Tables are written whenever a system is done, figures at the end. Several processes may run the same
command at once: each takes systems that no other is at, and all read what the others have made.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layoutdm import metrics
from layoutdm.atomic import write_bytes
from layoutdm.data import Dataset
from layoutdm.data import open as open_data
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.model import Model
from layoutdm.model.store import embedded, load
from layoutdm.paper.cells import INPUT, Bench, Cell, generate, read_layouts, score
from layoutdm.paper.items import FIGURES, chosen
from layoutdm.paper.page import fill
from layoutdm.paper.results import SHIPPED, Item, Results
from layoutdm.paper.training import Runs, training_of
from layoutdm.paper.work import Piece, pieces, work_through

Notice = Callable[[str], None]
METRICS = ("fid", "max_iou", "alignment", "overlap", "docsim", "density", "coverage")
PAUSE = 10.0  # seconds between two looks at what another process is at


@dataclass(frozen=True)
class Shop:
    """One data set: what its cells share, its trained systems, and what real layouts score."""

    bench: Bench
    runs: Runs
    floor: Mapping[str, float | None]


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
    page: Path | None = None,
    notice: Notice = lambda text: None,
    pause: float = PAUSE,
) -> list[Path]:
    """Make these tables and figures; what is there already is not made again."""
    items = chosen(list(names))
    settings: dict[str, Any] = {"train": train}
    settings |= {} if layouts is None else {"layouts": layouts}
    settings |= {} if tuning_steps is None else {"tuning_steps": tuning_steps}
    shops = {
        name: _shop(name, folder, runs, out / "cells" / name, limit, settings)
        for name, folder in data_sets(data).items()
    }
    tables = [item for item in items if item.NAME not in FIGURES]

    def do(piece: Piece) -> None:
        if _make_cells(piece, shops[piece.data], notice):
            write_items(tables, shops, runs, out, page)

    work = pieces(items, list(shops))
    failed = work_through(work, runs, do, notice, lambda: time.sleep(pause))
    written = write_items(items, shops, runs, out, page)
    if failed:
        what = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise LayoutdmError(f"written to {out}, but without what failed: {what}")
    return written


def write_items(
    items: Sequence[Item], shops: Mapping[str, Shop], runs: Path, out: Path, page: Path | None
) -> list[Path]:
    """Write tables and figures from all files that are there, those of other processes too."""
    results = read_results(items, shops, runs)
    written = [path for item in items for path in item.write(results, out)]
    if page is not None:
        fill(page, {item.NAME: item.TITLE for item in items}, out)
        written.append(page)
    return written


def read_results(items: Sequence[Item], shops: Mapping[str, Shop], runs: Path) -> Results:
    """The scores and layouts of all cells that these items show."""
    records: dict[tuple[str, str], Mapping[str, Any]] = {}
    training: dict[tuple[str, str], Mapping[str, Any]] = {}
    made: dict[tuple[str, str], Sequence[Layout]] = {}
    for name, shop in shops.items():
        bench = shop.bench
        for cell in (cell for item in items for cell in item.cells(name)):
            record = _kept(cell, bench)
            if record is not None:
                records[name, cell.name] = record
                if any(item.NAME in FIGURES for item in items):
                    made[name, cell.name] = read_layouts(bench.layouts_of(cell))
        training |= _training(runs, bench)
    benches = {name: shop.bench for name, shop in shops.items()}
    floors = {name: shop.floor for name, shop in shops.items()}
    return Results(benches, records, floors, training, made)


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


def _shop(
    name: str, folder: Path, runs: Path, out: Path, limit: int | None, settings: Mapping[str, Any]
) -> Shop:
    dataset = open_data(folder, portrait=False)
    network = metrics.features_for(dataset.labels)
    bench = Bench(name, dataset["test"], dataset.labels, out, network, limit)
    return Shop(bench, Runs(runs, name, dataset, **settings), _floor(bench, dataset))


def _make_cells(piece: Piece, shop: Shop, notice: Notice) -> bool:
    """Train the system of a piece where it is missing and make its cells; whether any is new."""
    missing = [cell for cell in piece.cells if _kept(cell, shop.bench) is None]
    if not missing:
        return False
    model: Model | None = None
    if piece.system != INPUT:
        folder = _folder(piece.system, shop, notice)
        if folder is None:
            return False
        if piece.system != SHIPPED:  # kept beside the cells: weights and runs may go
            _write(_facts_of(shop.bench, piece.system), training_of(folder))
        model = load(folder, threads=1)
        if model.labels != shop.bench.labels and set(shop.bench.labels) - set(model.labels):
            return False  # a shipped model of other labels
    for cell in missing:
        _score(cell, shop.bench, model, notice)
    return True


def _kept(cell: Cell, bench: Bench) -> Mapping[str, Any] | None:
    """The scores of a cell, where they were made before with as many layouts."""
    path = bench.scores_of(cell)
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text())
    return found if found["layouts"] == bench.count(cell) else None


def _score(cell: Cell, bench: Bench, model: Model | None, notice: Notice) -> None:
    layouts, seconds = generate(cell, bench, model, notice)
    record = score(cell, bench, layouts, seconds)
    _write(bench.scores_of(cell), record)
    fid = record["scores"]["fid"]
    notice(f"{bench.name}, {cell.name}: FID {'–' if fid is None else format(fid, '.2f')}")


def _folder(system: str, shop: Shop, notice: Notice) -> Path | None:
    if system == SHIPPED:
        return embedded().get(shop.bench.name)
    return shop.runs.model(system, notice)


def _floor(bench: Bench, dataset: Dataset) -> Mapping[str, float | None]:
    """What as many real layouts of the val split as a cell has score against test; kept."""
    val = list(dataset.splits.get("val", ()))[: bench.limit]
    path = bench.out / f"floor.{len(val)}.json"
    if path.exists():
        found: dict[str, float | None] = json.loads(path.read_text())
        return found
    record: dict[str, float | None] = dict.fromkeys(METRICS)
    if val:
        cell = Cell("real", "unconditional")
        record |= score(cell, bench, val, 0.0)["scores"]
        both = metrics.pack(bench.reference, bench.labels)
        record["docsim"] = metrics.docsim(both, both)  # of test with itself, as in the paper
    _write(path, record)
    return record


def _write(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, (json.dumps(record, indent=1) + "\n").encode())


def _facts_of(bench: Bench, system: str) -> Path:
    return bench.out / "training" / f"{system}.json"


def _training(runs: Path, bench: Bench) -> dict[tuple[str, str], Mapping[str, Any]]:
    """What is known of each system's training: from its run, or kept from one that is gone."""
    kept = sorted((bench.out / "training").glob("*.json"))
    found = {(bench.name, path.stem): json.loads(path.read_text()) for path in kept}
    folder = runs / "systems" / bench.name
    for own in sorted(folder.iterdir()) if folder.is_dir() else []:
        if (own / "config.json").exists():
            found[bench.name, own.name] = training_of(own)
    return found

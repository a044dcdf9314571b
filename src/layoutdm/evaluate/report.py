"""All files that an evaluation leaves behind, from its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from layoutdm import __version__
from layoutdm.evaluate.plan import TITLES, Cell, Plan, requests
from layoutdm.evaluate.plots import draw_all
from layoutdm.evaluate.run import Made, write_json
from layoutdm.evaluate.sheets import EXAMPLES, sample_sheet
from layoutdm.evaluate.table import markdown, summary
from layoutdm.layout import Layout


def collect(
    plan: Plan,
    records: Sequence[Mapping[str, Any]],
    floor: Mapping[str, Any] | None,
    labels: Sequence[str],
    missing: str = "",
    own_steps: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """The content of results.json: every setting, every cell, and the means over seeds."""
    return {
        "version": __version__,
        "plan": plan.as_dict(),
        "labels": list(labels),
        "missing": missing,
        "own_steps": dict(own_steps or {}),
        "floor": floor,
        "summary": summary(records),
        "cells": list(records),
    }


def compare(every: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """The results of several models on the same data as one: every row says whose it is."""
    first = every[0]
    rows = [
        {**row, "model": name}
        for results, name in zip(every, names, strict=True)
        for row in results["summary"]
    ]
    order = {task: place for place, task in enumerate(TITLES)}
    rows.sort(key=lambda row: order.get(row["task"], len(order)))
    return {
        **first,
        "plan": {**first["plan"], "model": " and ".join(names), "model_hash": "several"},
        "own_steps": {},
        "summary": rows,
        "cells": [cell for results in every for cell in results["cells"]],
        "models": [results["plan"] for results in every],
    }


def write_report(results: Mapping[str, Any], folder: Path) -> list[Path]:
    """results.json, table.md and the plots."""
    write_json(folder / "results.json", results)
    table = folder / "table.md"
    plots = draw_all(results, folder)
    pictures = "".join(f"\n![{path.stem.replace('_', ' ')}]({path.name})\n" for path in plots)
    table.write_text(markdown(results) + pictures, encoding="utf-8")
    return [folder / "results.json", table, *plots]


def write_sheet(
    cell: Cell, made: Made, plan: Plan, reference: Sequence[Layout], folder: Path
) -> Path:
    """A sample sheet of a cell's first layouts, those of two elements and more."""
    numbered = requests(cell, reference, plan)
    if cell.task == "unconditional":
        triples = [(spec, made.layouts[i], made.layouts[i]) for i, spec in islice(numbered, 500)]
    else:
        triples = [(spec, made.layouts[i], reference[i]) for i, spec in islice(numbered, 500)]
    good = [t for t in triples if len(t[2]) >= 3] or triples
    # Evenly spread: neighbours in a data set are often alike.
    chosen = good[:: max(1, len(good) // EXAMPLES)][:EXAMPLES]
    steps = "" if cell.steps is None else f", {cell.steps} steps"
    return sample_sheet(cell.task, chosen, folder / "samples" / f"{cell.task}.png", steps)

"""The shipped models against LayoutDM at the paper's own size: layouts a second and FID."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.results import (
    ANCHOR,
    DASH,
    NAMES,
    SHIPPED,
    TITLES,
    Results,
    table,
    write_page,
)

NAME, TITLE = "anchor", "Shipped models and LayoutDM at published size"
TASKS = ("unconditional", "c", "cwh", "completion", "refinement")
SYSTEMS = (ANCHOR, SHIPPED)
ONLY = "rico25"  # six times the cost of compact size, so on one data set


def cells(data: str) -> list[Cell]:
    return [Cell(system, task) for system in SYSTEMS for task in TASKS] if data == ONLY else []


def write(results: Results, out: Path) -> list[Path]:
    head = ["data", "", *(f"{TITLES[task]} {m}" for task in TASKS for m in ("FID", "layouts/s"))]
    rows = []
    for data in (data for data in results.data if data == ONLY):
        for system in SYSTEMS:
            row = [data, NAMES[system]]
            for task in TASKS:
                record = results.record(data, Cell(system, task))
                row.append(results.text(data, Cell(system, task), "fid"))
                seconds = record["seconds"] if record else 0.0
                row.append(f"{record['layouts'] / seconds:.1f}" if record and seconds else DASH)
            rows.append(row)
    note = f"By processor time, one thread, batches of 64. {results.note}"
    return write_page(out / f"{NAME}.md", TITLE, f"{note}\n{table(head, rows)}")

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
    figure_text,
    table,
    write_page,
)

NAME, TITLE = "anchor", "Shipped models and LayoutDM at published size"
TASKS = ("unconditional", "c", "cwh", "completion", "refinement")
SYSTEMS = (ANCHOR, SHIPPED)


def cells(data: str) -> list[Cell]:
    return [Cell(system, task) for system in SYSTEMS for task in TASKS]


def write(results: Results, out: Path) -> list[Path]:
    head = ["data", "", *(f"{TITLES[task]} {m}" for task in TASKS for m in ("FID", "layouts/s"))]
    rows = []
    for data in results.data:
        for system in SYSTEMS:
            row = [data, NAMES[system]]
            for task in TASKS:
                record = results.record(data, Cell(system, task))
                row.append(figure_text(results.value(data, Cell(system, task), "fid")))
                speed = record["layouts"] / record["seconds"] if record else None
                row.append(DASH if speed is None else f"{speed:.1f}")
            rows.append(row)
    note = "One thread, batches of 64, on the machine as it was; both rows in the same run.\n"
    return write_page(out / f"{NAME}.md", TITLE, f"{note}\n{table(head, rows)}")

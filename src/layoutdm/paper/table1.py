"""Table 1: generation given labels, labels and sizes, or some elements."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.published import REAL, TABLE1
from layoutdm.paper.results import (
    DASH,
    NAMES,
    SHIPPED,
    TITLES,
    Results,
    number_of,
    table,
    with_paper,
    write_page,
)

NAME, TITLE = "table1", "Table 1: given labels, labels and sizes, or some elements"
TASKS = ("c", "cwh", "completion")
SYSTEMS = (
    "layoutvae", "ndn-none", "layoutgan++", "layouttrans", "maskgit", "blt", "blt-original",
    "bart", "vqdiffusion", "layoutdm-paper", SHIPPED,
)  # fmt: skip
ONLY_PLACING = ("layoutvae", "ndn-none", "layoutgan++")  # no completion


def cells(data: str) -> list[Cell]:
    return [
        Cell(system, task)
        for system in SYSTEMS
        for task in TASKS
        if task != "completion" or system not in ONLY_PLACING
    ]


def write(results: Results, out: Path) -> list[Path]:
    parts = []
    for data in results.data:
        head = ["", *(f"{TITLES[task]} {m}" for task in TASKS for m in ("FID", "Max. IoU"))]
        rows = []
        for system in SYSTEMS:
            row = [NAMES[system]]
            for task in TASKS:
                paper = _paper(system, task, data)
                for k, metric in enumerate(("fid", "max_iou")):
                    known = paper[k] if paper else None
                    row.append(
                        DASH
                        if task == "completion" and system in ONLY_PLACING
                        else results.text(data, Cell(system, task), metric, known, 2 + k)
                    )
            rows.append(row)
        floor, number = results.floors[data], number_of(data)
        real = ["Real data (val)"]
        for _ in TASKS:
            for k, metric in enumerate(("fid", "max_iou")):
                paper_real = None if number is None else REAL[metric][number]
                real.append(with_paper(floor.get(metric), paper_real, 2 + k))
        parts.append(f"## {data}\n\n{table(head, [*rows, real])}\n")
    return write_page(out / f"{NAME}.md", TITLE, results.note + "\n" + "\n".join(parts))


def _paper(system: str, task: str, data: str) -> tuple[float, float] | None:
    number = number_of(data)
    found = TABLE1.get(system, {}).get(task)
    return None if found is None or number is None else found[number]

"""Table 3: refinement of a noisy draft."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import INPUT, Cell
from layoutdm.paper.published import REAL, TABLE3
from layoutdm.paper.results import (
    NAMES,
    SHIPPED,
    Results,
    number_of,
    table,
    with_paper,
    write_page,
)

NAME, TITLE = "table3", "Table 3: refinement"
METRICS = (("fid", 2), ("max_iou", 3), ("docsim", 3))
ROWS = (
    ("Task-specific: ", "ruite", Cell("ruite", "refinement")),
    ("", INPUT, Cell(INPUT, "refinement")),
    ("Task-agnostic: ", "vqdiffusion", Cell("vqdiffusion", "refinement")),
    ("Task-agnostic: ", "layoutdm-paper", Cell("layoutdm-paper", "refinement")),
    ("", "masking only", Cell("layoutdm-paper", "c")),  # the draft is not looked at
    ("Task-agnostic: ", SHIPPED, Cell(SHIPPED, "refinement")),
)


def cells(data: str) -> list[Cell]:
    return [cell for _, _, cell in ROWS]


def write(results: Results, out: Path) -> list[Path]:
    head = ["", *(f"{data} {metric}" for data in results.data for metric, _ in METRICS)]
    rows = []
    for kind, name, cell in ROWS:
        row = [f"{kind}{NAMES.get(name, 'LayoutDM, as published, ' + name)}"]
        for data in results.data:
            number, known = number_of(data), TABLE3.get(name)
            for k, (metric, digits) in enumerate(METRICS):
                paper = known[number][k] if known and number is not None else None
                row.append(results.text(data, cell, metric, paper, digits))
        rows.append(row)
    real = ["Real data (val)"]
    for data in results.data:
        number = number_of(data)
        for metric, digits in METRICS:
            paper = None if number is None else REAL[metric][number]
            real.append(with_paper(results.floors[data].get(metric), paper, digits))
    return write_page(out / f"{NAME}.md", TITLE, f"{results.note}\n{table(head, [*rows, real])}")

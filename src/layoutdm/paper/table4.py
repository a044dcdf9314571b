"""Table 4: what each part of LayoutDM adds, without any condition."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.published import TABLE4
from layoutdm.paper.results import NAMES, Results, table, write_page

NAME, TITLE = "table4", "Table 4: ablation"


def cells(data: str) -> list[Cell]:
    return [Cell(system, "unconditional") for system in TABLE4]


def write(results: Results, out: Path) -> list[Path]:
    head = ["", *(f"{data} {metric}" for data in results.data for metric in ("FID", "alignment"))]
    rows = []
    for system, paper in TABLE4.items():
        row = [NAMES[system]]
        for data in results.data:
            cell, rico = Cell(system, "unconditional"), data == "rico25"
            row.append(results.text(data, cell, "fid", paper[0] if rico else None))
            row.append(results.text(data, cell, "alignment", paper[1] if rico else None, 3))
        rows.append(row)
    return write_page(out / f"{NAME}.md", TITLE, f"{results.note}\n{table(head, rows)}")

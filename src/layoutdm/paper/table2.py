"""Table 2: generation without any condition."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.published import REAL, TABLE2
from layoutdm.paper.results import (
    NAMES,
    SHIPPED,
    Results,
    number_of,
    table,
    with_paper,
    write_page,
)

NAME, TITLE = "table2", "Table 2: without any condition"
SYSTEMS = (
    "layouttrans-fixed", "layouttrans", "maskgit", "blt", "blt-original", "bart", "diffusionlm",
    "vqdiffusion", "layoutdm-paper", SHIPPED,
)  # fmt: skip


def cells(data: str) -> list[Cell]:
    # MaskGIT's published temperature gives trivial layouts; the original's stands beside it.
    original = (("choice_temperature", 4.5),)
    return [
        *(Cell(system, "unconditional") for system in SYSTEMS),
        Cell("maskgit", "unconditional", original),
    ]


def write(results: Results, out: Path) -> list[Path]:
    head = [""]
    for data in results.data:
        head += [f"{data} FID", f"{data} alignment", f"{data} overlap"]
    rows = []
    for cell in cells(""):
        name = NAMES[cell.system] + (", choice temperature 4.5" if cell.options else "")
        row = [name]
        for data in results.data:
            number, known = number_of(data), TABLE2.get(cell.system)
            paper = known[number] if known and number is not None and not cell.options else None
            row.append(results.text(data, cell, "fid", paper[0] if paper else None))
            row.append(results.text(data, cell, "alignment", paper[1] if paper else None, 3))
            row.append(results.text(data, cell, "overlap", None, 3))
        rows.append(row)
    real = ["Real data (val)"]
    for data in results.data:
        floor, number = results.floors[data], number_of(data)
        for metric, digits in (("fid", 2), ("alignment", 3), ("overlap", 3)):
            known_real = REAL.get(metric)
            paper_real = known_real[number] if known_real and number is not None else None
            real.append(with_paper(floor.get(metric), paper_real, digits))
    return write_page(out / f"{NAME}.md", TITLE, f"{results.note}\n{table(head, [*rows, real])}")

"""The table of refinement priors: what a draft adds to the probabilities near its values."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.published import PRIORS
from layoutdm.paper.results import Results, table, write_page

NAME, TITLE = "priors", "Refinement priors of LayoutDM, as published"
METRICS = (("fid", 2), ("max_iou", 3), ("docsim", 3))
FORMS = {"default": "paper", "gaussian": "code", "negation": "paper"}  # the gaussian is misprinted


def _cell(prior: str) -> Cell:
    if prior == "default":
        return Cell("layoutdm-paper", "refinement")
    request = (("prior", prior), ("form", FORMS[prior]))
    return Cell("layoutdm-paper", "refinement", (), request)


def cells(data: str) -> list[Cell]:
    return [_cell(prior) for prior in PRIORS]


def write(results: Results, out: Path) -> list[Path]:
    head = ["", *(f"{data} {metric}" for data in results.data for metric, _ in METRICS)]
    rows = []
    for prior, paper in PRIORS.items():
        row = [prior]
        for data in results.data:
            for k, (metric, digits) in enumerate(METRICS):
                known = paper[k] if data == "rico25" else None
                row.append(results.text(data, _cell(prior), metric, known, digits))
        rows.append(row)
    return write_page(out / f"{NAME}.md", TITLE, f"{results.note}\n{table(head, rows)}")

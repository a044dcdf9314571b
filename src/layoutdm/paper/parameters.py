"""The table of parameters: at published size as counted, and of the runs that are compared."""

from __future__ import annotations

from pathlib import Path

from layoutdm.baselines.systems import SYSTEMS
from layoutdm.paper.cells import Cell
from layoutdm.paper.published import PARAMETERS
from layoutdm.paper.results import DASH, NAMES, Results, table, write_page

NAME, TITLE = "parameters", "Parameters, budgets and learning rates"


def cells(data: str) -> list[Cell]:
    return []


def write(results: Results, out: Path) -> list[Path]:
    head = ["", "published size, M", "the paper's, M"]
    for data in results.data:
        head += [f"{data}: parameters", "rate", "epochs", "minutes", "loss on val"]
    rows = []
    for name, facts in SYSTEMS.items():
        paper = PARAMETERS.get(name, (DASH, DASH))
        row = [NAMES.get(name, name), f"{facts.parameters[0]}", paper[0]]
        for data in results.data:
            found = results.training.get((data, name), {})
            row += [
                _text(found.get("parameters"), ",.0f"), _text(found.get("rate"), "g"),
                _text(found.get("epochs"), ".1f"), _text(found.get("minutes"), ".0f"),
                _text(found.get("loss"), ".4f"),
            ]  # fmt: skip
        rows.append(row)
    note = (
        "Published size is counted on Rico's 25 labels; where the paper has two figures, they are "
        "those of C→S+P and C+S→P. Minutes are of training as it ran, beside other work.\n"
    )
    return write_page(out / f"{NAME}.md", TITLE, f"{note}\n{table(head, rows)}")


def _text(value: float | None, form: str) -> str:
    return DASH if value is None else format(value, form)

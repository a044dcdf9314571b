"""Density against coverage: are layouts like real ones, and are all kinds of them there?"""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper import table1, table2
from layoutdm.paper.cells import Cell
from layoutdm.paper.plots import finish, line, panels
from layoutdm.paper.results import NAMES, TITLES, Results

NAME, TITLE = "density", "Density against coverage"
TASKS = ("unconditional", "c", "cwh", "completion")
ACROSS, UP = "density", "coverage"
LABELS = ("density", "coverage")


def cells(data: str) -> list[Cell]:
    """Those of Tables 1 and 2 without options of their own."""
    found = [*table2.cells(data), *table1.cells(data)]
    return [cell for cell in found if not cell.options]


def write(results: Results, out: Path) -> list[Path]:
    return scatter(results, out, NAME, ACROSS, UP, LABELS)


def scatter(
    results: Results, out: Path, name: str, across: str, up: str, labels: tuple[str, str]
) -> list[Path]:
    """One figure a data set, one panel a task, one point a system."""
    written = []
    for data in results.data:
        titles = [f"{data}, {TITLES[task]}" for task in TASKS]
        figure, axes = panels(titles, *labels)
        for axis, task in zip(axes, TASKS, strict=True):
            for cell in (cell for cell in cells(data) if cell.task == task):
                x, y = results.value(data, cell, across), results.value(data, cell, up)
                if x is not None and y is not None:
                    line(axis, cell.system, NAMES[cell.system].strip("*"), [(x, y)])
            floor = results.floors[data]
            x, y = floor.get(across), floor.get(up)
            if x is not None and y is not None:
                axis.plot([x], [y], "*", color="#22262b", label="Real data", markersize=9)
        written += finish(figure, axes, out / f"{name}_{data}.png")
    return written

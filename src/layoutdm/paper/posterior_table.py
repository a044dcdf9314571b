"""The exact posterior of a jump against the released code's approximation, same weights."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.plots import COLOURS, finish, log_scale, panels
from layoutdm.paper.results import TITLES, Results, table, write_page

NAME, TITLE = "posterior", "Exact posterior and released approximation"
STEPS = (100, 50, 20, 10)
TASKS = ("unconditional", "c")


def _cell(task: str, steps: int, published: bool) -> Cell:
    options: tuple[tuple[str, object], ...] = (("steps", steps),)
    if published:
        options = (("published", True), *options)
    return Cell("layoutdm-paper", task, options)


def cells(data: str) -> list[Cell]:
    return [_cell(task, n, p) for task in TASKS for n in STEPS for p in (False, True)]


def write(results: Results, out: Path) -> list[Path]:
    head = ["data", "task", "step", *(f"{n} calls" for n in STEPS)]
    rows = []
    titles = [f"{data}, {TITLES[task]}" for data in results.data for task in TASKS]
    figure, axes = panels(titles, "calls of the network", "FID")
    panel = iter(axes)
    for data in results.data:
        for task in TASKS:
            axis = next(panel)
            log_scale(axis)
            for published, name in ((False, "exact posterior"), (True, "released approximation")):
                values = [results.value(data, _cell(task, n, published), "fid") for n in STEPS]
                texts = [results.text(data, _cell(task, n, published), "fid") for n in STEPS]
                rows.append([data, TITLES[task], name, *texts])
                points = [(n, v) for n, v in zip(STEPS, values, strict=True) if v is not None]
                if points:
                    colour = COLOURS["maskgit" if published else "layoutdm-paper"]
                    axis.plot(*zip(*points, strict=True), "o-", color=colour, label=name)
    note = f"FID of LayoutDM as published, the same weights, by number of calls. {results.note}"
    written = write_page(out / f"{NAME}.md", TITLE, f"{note}\n{table(head, rows)}")
    return written + finish(figure, axes, out / f"{NAME}.png")

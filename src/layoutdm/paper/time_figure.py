"""Time against FID for four tasks: what a layout costs, and what one gets for it."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.plots import finish, line, log_scale, panels
from layoutdm.paper.results import NAMES, SHIPPED, TITLES, Results

NAME, TITLE = "time", "Milliseconds a layout against FID"
TASKS = ("unconditional", "c", "cwh", "completion")
STEPS = {  # numbers of steps besides the usual one
    "layoutdm-paper": (10, 20, 50),
    "vqdiffusion": (10, 20, 50),
    "maskgit": (4, 10, 30),
    "blt": (9, 30),
}
ONE = ("layouttrans", "bart", "layoutgan++", "layoutvae", "ndn-none", SHIPPED)
PLACING = ("layoutgan++", "layoutvae", "ndn-none")


def _cells(task: str) -> dict[str, list[Cell]]:
    found = {
        system: [*(Cell(system, task, (("steps", n),)) for n in steps), Cell(system, task)]
        for system, steps in STEPS.items()
    }
    for system in ONE:
        if task in ("c", "cwh") or system not in PLACING:
            found[system] = [Cell(system, task)]
    return found


def cells(data: str) -> list[Cell]:
    return [cell for task in TASKS for own in _cells(task).values() for cell in own]


def write(results: Results, out: Path) -> list[Path]:
    written = []
    for data in results.data:
        titles = [f"{data}, {TITLES[task]}" for task in TASKS]
        figure, axes = panels(titles, "ms of processor time a layout", "FID")
        for axis, task in zip(axes, TASKS, strict=True):
            log_scale(axis)
            for system, own in _cells(task).items():
                points = []
                for cell in own:
                    record, fid = results.record(data, cell), results.value(data, cell, "fid")
                    if record is not None and fid is not None and record["ms_per_layout"] > 0:
                        points.append((float(record["ms_per_layout"]), fid))
                if points:
                    line(axis, system, NAMES[system].strip("*"), sorted(points))
        written += finish(figure, axes, out / f"{NAME}_{data}.png")
    return written

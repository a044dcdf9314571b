"""The table of state spaces: discrete or continuous diffusion, without any condition."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.published import STATE_SPACE
from layoutdm.paper.results import NAMES, Results, table, write_page

NAME, TITLE = "state_space", "State space: discrete or continuous diffusion"
LONG = 100  # steps


def _cell(system: str, steps: int, sampler: str) -> Cell:
    options: tuple[tuple[str, object], ...] = ()
    if system == "diffusionlm":
        options = (("ddim", sampler == "ddim"), ("steps", steps))
    return Cell(system, "unconditional", options)


def cells(data: str) -> list[Cell]:
    repaired = (("clamp", True), ("repaired_start", True), ("steps", 100))
    # A thousand steps take ten times as long: only on the data set that the paper has them for.
    rows = [row for row in STATE_SPACE if row[1] <= LONG or data == "rico25"]
    return [*(_cell(*row) for row in rows), Cell("diffusionlm", "unconditional", repaired)]


def write(results: Results, out: Path) -> list[Path]:
    head = ["", "state", "steps", "sampler", *(f"{data} FID" for data in results.data)]
    rows = []
    for (system, steps, sampler), paper in STATE_SPACE.items():
        state = "continuous" if system == "diffusionlm" else "discrete"
        row = [NAMES[system], state, str(steps), sampler.upper() or "–"]
        for data in results.data:
            rico = data == "rico25"
            cell = _cell(system, steps, sampler)
            shown = steps <= LONG or rico
            row.append(
                results.text(data, cell, "fid", paper if rico else None) if shown else "not run"
            )
        rows.append(row)
    cell = cells("")[-1]
    row = [NAMES["diffusionlm"] + ", clamped, repaired start", "continuous", "100", "DDPM"]
    row += [results.text(data, cell, "fid") for data in results.data]
    return write_page(out / f"{NAME}.md", TITLE, f"{results.note}\n{table(head, [*rows, row])}")

"""The table of state spaces: discrete or continuous diffusion, without any condition."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.published import STATE_SPACE
from layoutdm.paper.results import NAMES, NOTE, Results, table, with_paper, write_page

NAME, TITLE = "state_space", "State space: discrete or continuous diffusion"


def _cell(system: str, steps: int, sampler: str) -> Cell:
    options: tuple[tuple[str, object], ...] = ()
    if system == "diffusionlm":
        options = (("ddim", sampler == "ddim"), ("steps", steps))
    return Cell(system, "unconditional", options)


def cells(data: str) -> list[Cell]:
    repaired = (("clamp", True), ("repaired_start", True), ("steps", 100))
    return [
        *(_cell(*row) for row in STATE_SPACE), Cell("diffusionlm", "unconditional", repaired)
    ]  # fmt: skip


def write(results: Results, out: Path) -> list[Path]:
    head = ["", "state", "steps", "sampler", *(f"{data} FID" for data in results.data)]
    rows = []
    for (system, steps, sampler), paper in STATE_SPACE.items():
        state = "continuous" if system == "diffusionlm" else "discrete"
        row = [NAMES[system], state, str(steps), sampler.upper() or "–"]
        for data in results.data:
            value = results.value(data, _cell(system, steps, sampler), "fid")
            row.append(with_paper(value, paper if data == "rico25" else None))
        rows.append(row)
    cell = cells("")[-1]
    row = [NAMES["diffusionlm"] + ", clamped, repaired start", "continuous", "100", "DDPM"]
    row += [with_paper(results.value(data, cell, "fid"), None) for data in results.data]
    return write_page(out / f"{NAME}.md", TITLE, f"{NOTE}\n{table(head, [*rows, row])}")

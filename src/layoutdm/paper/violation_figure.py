"""FID against violated relations: how much quality it costs to make relations hold."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.plots import finish, line, panels
from layoutdm.paper.results import NAMES, SHIPPED, Results

NAME, TITLE = "violation", "FID against violated relations"
STRENGTHS = (0.0, 40.0, 130.0, 418.5, 1300.0)  # of the paper's guidance; 418.5 is the released one
LONE = ("ndn-partial", "clg-lo", SHIPPED)


def _guided(strength: float) -> Cell:
    return Cell("layoutdm-paper", "relation", (("relation_strength", strength),))


def cells(data: str) -> list[Cell]:
    return [*map(_guided, STRENGTHS), *(Cell(system, "relation") for system in LONE)]


def write(results: Results, out: Path) -> list[Path]:
    figure, axes = panels(list(results.data), "violated relations", "FID")
    for axis, data in zip(axes, results.data, strict=True):
        lines = {"layoutdm-paper": [_guided(strength) for strength in STRENGTHS]}
        lines |= {system: [Cell(system, "relation")] for system in LONE}
        for system, own in lines.items():
            points = [
                (violation, fid)
                for cell in own
                if (violation := results.value(data, cell, "violation")) is not None
                and (fid := results.value(data, cell, "fid")) is not None
            ]
            if points:
                line(axis, system, NAMES[system].strip("*"), points)
    return finish(figure, axes, out / f"{NAME}.png")

"""Alignment against overlap: whether layouts are as tidy as real ones."""

from __future__ import annotations

from pathlib import Path

from layoutdm.paper.cells import Cell
from layoutdm.paper.density_figure import cells as same_cells
from layoutdm.paper.density_figure import scatter
from layoutdm.paper.results import Results

NAME, TITLE = "alignment", "Alignment against overlap"


def cells(data: str) -> list[Cell]:
    return same_cells(data)


def write(results: Results, out: Path) -> list[Path]:
    return scatter(results, out, NAME, "alignment", "overlap", ("alignment", "overlap"))

"""A CSS grid from a layout's own edges, with edges that nearly agree made one.

>>> from layoutdm import Layout
>>> grid = derive(Layout.create(["a", "b"], [[0.25, 0.5, 0.5, 1.0], [0.754, 0.5, 0.492, 1.0]]))
>>> grid.columns, grid.cells[1].column
((0.0, 0.504, 1.0), (2, 3))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from layoutdm.boxes import shared_length
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout

MOST_PAIRS = 10_000  # of elements that share cells; nobody reads more
TOLERANCE = 0.012  # of the canvas: about 8 pixels on a phone that is 700 high


@dataclass(frozen=True)
class Cell:
    """Grid lines (counted from 1, as CSS does) between which an element lies."""

    column: tuple[int, int]
    row: tuple[int, int]


@dataclass(frozen=True)
class CssGrid:
    """Positions of the grid lines on each axis, and one cell per element."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    cells: tuple[Cell, ...]

    def corners(self) -> list[tuple[float, float, float, float]]:
        """(left, top, right, bottom) of every element after its edges moved to the lines."""
        x, y = self.columns, self.rows
        return [
            (x[c.column[0] - 1], y[c.row[0] - 1], x[c.column[1] - 1], y[c.row[1] - 1])
            for c in self.cells
        ]

    def overlapping(self) -> list[tuple[int, int]]:
        """Pairs of elements that share cells, the first before the second; at most MOST_PAIRS."""
        edges = np.array([(*cell.column, *cell.row) for cell in self.cells]).reshape(-1, 4).T
        low, high = edges[[0, 2]], edges[[1, 3]]
        pairs: list[tuple[int, int]] = []
        for index in range(len(self.cells)):
            one = low[:, index, None], high[:, index, None]
            shared = shared_length(*one, low[:, index + 1 :], high[:, index + 1 :])
            others = np.flatnonzero(shared.prod(axis=0)) + index + 1
            pairs += [(index, other) for other in others.tolist()]
            if len(pairs) >= MOST_PAIRS:
                return pairs[:MOST_PAIRS]
        return pairs


def derive(layout: Layout, tolerance: float = TOLERANCE) -> CssGrid:
    """Every edge lies on a line; none moves by more than the tolerance; no element vanishes."""
    if not 0 <= tolerance < 0.5:
        raise LayoutdmError(f"grid tolerance must lie within 0 to 0.5, got {tolerance}")
    corners = layout.corners()
    columns, across = merge_edges(corners[:, 0].tolist(), corners[:, 2].tolist(), tolerance)
    rows, down = merge_edges(corners[:, 1].tolist(), corners[:, 3].tolist(), tolerance)
    return CssGrid(columns, rows, tuple(map(Cell, across, down)))


def merge_edges(
    starts: Sequence[float], ends: Sequence[float], tolerance: float
) -> tuple[tuple[float, ...], list[tuple[int, int]]]:
    """Grid lines of one axis, and the pair of lines (from 1) of every interval.

    Edges are taken in order and join the current line while they lie within the tolerance of its
    first edge, unless that would close up an interval that starts on the same line.
    """
    canvas = len(starts)  # the canvas is one more interval, from 0 to 1
    edges = [(value, True, i) for i, value in enumerate(starts)]
    edges += [(value, False, i) for i, value in enumerate(ends)]
    edges += [(min(0.0, *starts, 0.0), True, canvas), (max(1.0, *ends, 1.0), False, canvas)]
    lines: list[list[float]] = []
    first, last = [0] * (canvas + 1), [0] * (canvas + 1)
    # Ends come before starts of the same value, so that neighbours share the new line.
    for value, is_start, index in sorted(edges):
        closes_up = not is_start and first[index] == len(lines)
        if not lines or value - lines[-1][0] > tolerance or closes_up:
            lines.append([])
        lines[-1].append(value)
        (first if is_start else last)[index] = len(lines)
    positions = [sum(line) / len(line) for line in lines]
    positions[0], positions[-1] = lines[0][0], lines[-1][-1]
    pairs = list(zip(first[:canvas], last[:canvas], strict=True))
    return tuple(round(p, 6) for p in positions), pairs


def tracks(lines: Sequence[float]) -> str:
    """Lines as a value of `grid-template-columns` or `grid-template-rows`."""
    sizes = (100 * (after - before) for before, after in pairwise(lines))
    return " ".join(f"minmax(0, {max(size, 0.001):.4g}fr)" for size in sizes)

"""The CSS grid: every edge on a line, near edges on one line, nothing lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm import Layout, LayoutdmError
from layoutdm.pictures.css_grid import derive, merge_edges


def layouts() -> st.SearchStrategy[Layout]:
    def make(raw: list[tuple[float, float, float, float]]) -> Layout:
        boxes = [[w / 2 + a * (1 - w), h / 2 + b * (1 - h), w, h] for a, b, w, h in raw]
        return Layout.create(["text"] * len(boxes), boxes)

    share, size = st.floats(0, 1), st.floats(1e-4, 1)
    return st.lists(st.tuples(share, share, size, size), max_size=20).map(make)


@settings(deadline=None)
@given(layouts(), st.sampled_from([0.0, 0.005, 0.012, 0.05, 0.2]))
def test_edges_move_by_at_most_the_tolerance_and_no_element_vanishes(
    layout: Layout, tolerance: float
) -> None:
    grid = derive(layout, tolerance)
    for lines in (grid.columns, grid.rows):
        assert lines[0] == pytest.approx(0, abs=1e-4) and lines[-1] == pytest.approx(1, abs=1e-4)
        assert all(before <= after for before, after in pairwise(lines))
    assert len(grid.cells) == len(layout)
    for cell, corners in zip(grid.cells, layout.corners(), strict=True):
        assert 1 <= cell.column[0] < cell.column[1] <= len(grid.columns)
        assert 1 <= cell.row[0] < cell.row[1] <= len(grid.rows)
        placed = (
            grid.columns[cell.column[0] - 1],
            grid.rows[cell.row[0] - 1],
            grid.columns[cell.column[1] - 1],
            grid.rows[cell.row[1] - 1],
        )
        assert placed == pytest.approx(tuple(corners), abs=tolerance + 2e-6)


def test_near_edges_become_one_line_and_far_ones_do_not() -> None:
    lines, pairs = merge_edges([0.1, 0.104, 0.3], [0.5, 0.507, 0.9], 0.01)
    assert lines == pytest.approx((0, 0.102, 0.3, 0.5035, 0.9, 1))
    assert pairs == [(2, 4), (2, 4), (3, 5)]


def test_a_sliver_keeps_a_track_of_its_own() -> None:
    _, pairs = merge_edges([0.5], [0.502], 0.1)
    assert pairs == [(2, 3)]


def test_neighbours_share_the_line_between_them() -> None:
    _, pairs = merge_edges([0.0, 0.4], [0.4, 1.0], 0.0)
    assert pairs == [(1, 2), (2, 3)]


def test_an_empty_layout_is_one_cell() -> None:
    grid = derive(Layout.create([], []))
    assert (grid.columns, grid.rows, grid.cells) == ((0.0, 1.0), (0.0, 1.0), ())


def test_a_senseless_tolerance_is_refused() -> None:
    with pytest.raises(LayoutdmError, match="tolerance must lie within"):
        derive(Layout.create([], []), 0.7)

"""What a request says about several elements: its relations, and those that its groups stand for.

>>> from layoutdm.spec import Spec
>>> spec = Spec.parse({"elements": [{"name": "a"}, {"name": "b"}],
...                    "groups": [{"column": ["a", "b"], "align": "left"}]})
>>> [str(wish) for wish in stated(spec).relations]
['b below a', 'b left_aligned a']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from layoutdm.spec.units import SHARES, Unit

if TYPE_CHECKING:
    from layoutdm.spec.fields import GroupSpec
    from layoutdm.spec.model import Spec

ALIGNED = {
    "left": "left_aligned",
    "center": "centered_with",
    "right": "right_aligned",
    "top": "top_aligned",
    "middle": "level_with",
    "bottom": "bottom_aligned",
}
COLUMN_ALIGN, ROW_ALIGN = ("left", "center", "right"), ("top", "middle", "bottom")
KINDS = ("column", "row", "grid")


@dataclass(frozen=True)
class Stated:
    """One relation, by names, and where it stands in the request."""

    path: str
    of: str
    is_: str
    to: str
    gap: float | None = None
    strength: float | None = None
    unit: Unit = SHARES  # in which the gap is said

    def __str__(self) -> str:
        """As people say it: "hero below bar"."""
        apart = "" if self.gap is None else f" by {self.unit.said(self.is_, self.gap)}"
        return f"{self.of} {self.is_} {self.to}{apart}"


@dataclass(frozen=True)
class EqualGaps:
    """From a to b it is as far as from c to d; axis 0 goes from left to right, 1 down."""

    path: str
    axis: int
    pairs: tuple[tuple[str, str], ...]  # neighbours, all of them as far apart


@dataclass(frozen=True)
class Columns:
    """Cells of a grid's columns: of each pair the first ends where the second begins, or before.

    That is no relation, as right_of means side by side, and these cells are in other rows.
    """

    path: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Wishes:
    """Everything that joins elements."""

    relations: tuple[Stated, ...]
    gaps: tuple[EqualGaps, ...]
    columns: tuple[Columns, ...] = ()


def stated(spec: Spec, unit: Unit = SHARES) -> Wishes:
    """All of a request in shares; only distances of its groups are in `unit` still."""
    relations = [
        Stated(f"relations[{k}]", r.of, r.is_, r.to, r.gap, r.strength, unit)
        for k, r in enumerate(spec.relations)
    ]
    gaps: list[EqualGaps] = []
    columns: list[Columns] = []
    for k, group in enumerate(spec.groups):
        path = f"groups[{k}]"
        relations += _relations(path, group, unit)
        if group.gap == "equal":
            gaps += _equal(path, group)
        if group.grid is not None:
            columns += _columns_in_order(path, group.grid)
    return Wishes(tuple(relations), tuple(gaps), tuple(columns))


def lines_of(group: GroupSpec) -> tuple[list[list[str]], list[list[str]]]:
    """(columns, rows) of names, from top to bottom and from left to right."""
    columns, rows = _cells_of(group)
    return _named(columns), _named(rows)


Cells = list[list[str | None]]


def _cells_of(group: GroupSpec) -> tuple[Cells, Cells]:
    """The same with None for empty cells."""
    if group.column is not None:
        return [list(group.column)], []
    if group.row is not None:
        return [], [list(group.row)]
    grid = group.grid or ()
    wide = max((len(row) for row in grid), default=0)
    columns = [[row[c] if c < len(row) else None for row in grid] for c in range(wide)]
    return columns, [list(row) for row in grid]


def _named(lines: Sequence[Sequence[str | None]]) -> list[list[str]]:
    return [[name for name in line if name is not None] for line in lines]


def _neighbours(line: Sequence[str | None]) -> Iterator[tuple[str, str, bool]]:
    """One cell of a line and the next, and whether no empty cell lies between them."""
    filled = [(k, name) for k, name in enumerate(line) if name is not None]
    for (k, one), (m, other) in pairwise(filled):
        yield one, other, m == k + 1


def _relations(path: str, group: GroupSpec, unit: Unit) -> Iterator[Stated]:
    columns, rows = _cells_of(group)
    column_align = group.align if group.align in COLUMN_ALIGN else None
    row_align = group.align if group.align in ROW_ALIGN else None
    if group.grid is not None:  # cells of a grid line up, or it would be none
        column_align, row_align = column_align or "left", row_align or "top"
    gap = group.gap if isinstance(group.gap, float) else None
    parts = ((columns, "below", column_align), (rows, "right_of", row_align))
    for lines, follows, align in parts:
        apart = None if gap is None else gap / unit.scale(follows)
        for line in lines:
            for one, other, next_ in _neighbours(line):
                yield Stated(path, other, follows, one, apart if next_ else None, None, unit)
            first, *others = [name for name in line if name is not None] or [""]
            for other in others if align is not None else ():
                yield Stated(path, other, ALIGNED[str(align)], first)
    if group.grid is not None:
        yield from _rows_in_order(path, group.grid)
    members = [name for line in _named(columns if group.row is None else rows) for name in line]
    for same in {"size": ("width", "height"), None: ()}.get(group.same, (group.same,)):
        for other in members[1:]:
            yield Stated(path, other, f"same_{same}", members[0])


def _rows_in_order(path: str, grid: Sequence[Sequence[str | None]]) -> Iterator[Stated]:
    """Every cell of a row is below those of the row before, also where cells between are empty."""
    full = [row for row in grid if any(name is not None for name in row)]
    for upper, lower in pairwise(full):
        for one, name in enumerate(upper):
            for other, below in enumerate(lower):
                if name is not None and below is not None and one != other:
                    yield Stated(path, below, "below", name)


def _columns_in_order(path: str, grid: Sequence[Sequence[str | None]]) -> Iterator[Columns]:
    """Every cell of a column is right of those of the column before, also around empty cells."""
    wide = max((len(row) for row in grid), default=0)
    cells = [
        [(r, row[c]) for r, row in enumerate(grid) if c < len(row) and row[c] is not None]
        for c in range(wide)
    ]
    pairs = tuple(
        (str(one), str(other))
        for left, right in pairwise([column for column in cells if column])
        for r, one in left
        for s, other in right
        if r != s
    )
    # Where no cell is empty, the columns follow from their rows.
    if pairs and any(None in row or len(row) < wide for row in grid):
        yield Columns(path, pairs)


def _equal(path: str, group: GroupSpec) -> Iterator[EqualGaps]:
    columns, rows = _cells_of(group)
    for axis, lines in ((1, columns), (0, rows)):
        pairs = tuple((a, b) for line in lines for a, b, next_ in _neighbours(line) if next_)
        if len(pairs) > 1:
            yield EqualGaps(path, axis, pairs)

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
class Wishes:
    """Everything that joins elements."""

    relations: tuple[Stated, ...]
    gaps: tuple[EqualGaps, ...]


def stated(spec: Spec, unit: Unit = SHARES) -> Wishes:
    """All of a request in shares; only distances of its groups are in `unit` still."""
    relations = [
        Stated(f"relations[{k}]", r.of, r.is_, r.to, r.gap, r.strength, unit)
        for k, r in enumerate(spec.relations)
    ]
    gaps: list[EqualGaps] = []
    for k, group in enumerate(spec.groups):
        path = f"groups[{k}]"
        relations += _relations(path, group, unit)
        if group.gap == "equal":
            gaps += _equal(path, group)
    return Wishes(tuple(relations), tuple(gaps))


def lines_of(group: GroupSpec) -> tuple[list[list[str]], list[list[str]]]:
    """(columns, rows) of names, from top to bottom and from left to right."""
    if group.column is not None:
        return [list(group.column)], []
    if group.row is not None:
        return [], [list(group.row)]
    grid = group.grid or ()
    wide = max((len(row) for row in grid), default=0)
    columns = [[row[c] for row in grid if c < len(row)] for c in range(wide)]
    return _named(columns), _named(grid)


def _named(lines: Sequence[Sequence[str | None]]) -> list[list[str]]:
    return [[name for name in line if name is not None] for line in lines]


def _relations(path: str, group: GroupSpec, unit: Unit) -> Iterator[Stated]:
    columns, rows = lines_of(group)
    column_align = group.align if group.align in COLUMN_ALIGN else None
    row_align = group.align if group.align in ROW_ALIGN else None
    if group.grid is not None:  # cells of a grid line up, or it would be none
        column_align, row_align = column_align or "left", row_align or "top"
    gap = group.gap if isinstance(group.gap, float) else None
    parts = ((columns, "below", column_align), (rows, "right_of", row_align))
    for lines, follows, align in parts:
        apart = None if gap is None else gap / unit.scale(follows)
        for line in lines:
            for one, other in pairwise(line):
                yield Stated(path, other, follows, one, apart, None, unit)
            if align is not None:
                for other in line[1:]:
                    yield Stated(path, other, ALIGNED[align], line[0])
    if group.grid is not None:
        yield from _rows_in_order(path, group.grid)
    members = [name for line in (columns if group.row is None else rows) for name in line]
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


def _equal(path: str, group: GroupSpec) -> Iterator[EqualGaps]:
    columns, rows = lines_of(group)
    for axis, lines in ((1, columns), (0, rows)):
        pairs = tuple(pair for line in lines for pair in pairwise(line))
        if len(pairs) > 1:
            yield EqualGaps(path, axis, pairs)

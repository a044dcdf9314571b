"""Names of a request looked up: relations, groups and the reading order by elements' numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from layoutdm.relations import CANVAS, CANVAS_NAME, CANVAS_NAMES, ELEMENT_NAMES
from layoutdm.relations.table import KINDS
from layoutdm.spec.problems import Problem, suggestion
from layoutdm.spec.stated import COLUMN_ALIGN, ROW_ALIGN, Stated, Wishes, lines_of
from layoutdm.spec.stated import KINDS as GROUPS

if TYPE_CHECKING:
    from layoutdm.spec.fields import GroupSpec
    from layoutdm.spec.model import Spec

SUGGESTED = 50


@dataclass(frozen=True)
class Linked:
    """Relation number `index` of all stated ones, with elements by number (-1: the canvas)."""

    index: int
    of: int
    code: int
    to: int


class Names:
    """Finds elements by name; unknown names get a suggestion, the first few at least."""

    def __init__(self, spec: Spec) -> None:
        self.index: dict[str, int] = {}
        for i, element in enumerate(spec.elements):
            if element.name is not None and element.name != CANVAS_NAME:
                self.index.setdefault(element.name, i)
        self.known = list(self.index)
        self.asked = 0

    def unknown(self, path: str, name: str) -> Problem:
        self.asked += 1
        if not self.known:
            hint = 'no element has a name; give it one with "name"'
        elif self.asked > SUGGESTED:
            hint = "it must be the name of an element"
        else:
            hint = suggestion(name, self.known, "names")
        return Problem(path, f"no element is named {name!r}; {hint}")


def link(k: int, wish: Stated, names: Names) -> Linked | Problem:
    """A relation with its elements' numbers, or what is wrong with it."""
    path = wish.path
    if wish.of == CANVAS_NAME:
        return Problem(f"{path}.of", "must be an element; the canvas can only stand in 'to'")
    if wish.of not in names.index:
        return names.unknown(f"{path}.of", wish.of)
    of = names.index[wish.of]
    if wish.gap is not None and (wish.to == CANVAS_NAME or not KINDS[wish.is_].gap):
        able = ", ".join(name for name, kind in KINDS.items() if kind.gap)
        return Problem(f"{path}.gap", f"a gap goes with one of {able} between elements")
    if wish.to == CANVAS_NAME:
        if wish.is_ not in CANVAS_NAMES:
            options = ", ".join(CANVAS_NAMES)
            return Problem(
                f"{path}.is", f"{wish.is_!r} is for elements; to the canvas it is {options}"
            )
        return Linked(k, of, CANVAS_NAMES[wish.is_], CANVAS)
    if wish.to not in names.index:
        return names.unknown(f"{path}.to", wish.to)
    if wish.of == wish.to:
        return Problem(path, f"{wish.of!r} is related to itself; name two different elements")
    if wish.is_ not in ELEMENT_NAMES:
        options = ", ".join(ELEMENT_NAMES)
        return Problem(
            f"{path}.is", f"{wish.is_!r} is for the canvas; between elements it is {options}"
        )
    return Linked(k, of, ELEMENT_NAMES[wish.is_], names.index[wish.to])


def group_problems(spec: Spec, names: Names, problems: list[Problem]) -> tuple[GroupSpec, ...]:
    """The groups, without what is in those that have a problem; their places stay."""
    usable = []
    for k, group in enumerate(spec.groups):
        found = list(_group(f"groups[{k}]", group, names))
        problems += found
        usable.append(
            group.model_copy(update={"column": None, "row": None, "grid": None}) if found else group
        )
    return tuple(usable)


def _group(path: str, group: GroupSpec, names: Names) -> list[Problem]:
    given = [kind for kind in GROUPS if getattr(group, kind) is not None]
    if len(given) != 1:
        said = f"both {' and '.join(given)}" if given else "none of them"
        return [Problem(path, f"must have one of column, row and grid, got {said}")]
    problems = []
    for way, kind in ((COLUMN_ALIGN, "column"), (ROW_ALIGN, "row")):
        if given == [kind] and group.align is not None and group.align not in way:
            text = f"{group.align!r} is not for a {kind}; it is {', '.join(way)}"
            problems.append(Problem(f"{path}.align", text))
    columns, rows = lines_of(group)
    seen: set[str] = set()
    for name in (name for line in (columns or rows) for name in line):
        if name in seen:
            problems.append(Problem(path, f"{name!r} stands in the group twice; list it once"))
        elif name not in names.index:
            problems.append(names.unknown(f"{path}.{given[0]}", name))
        seen.add(name)
    return problems


def linked_gaps(wishes: Wishes, names: Names) -> list[tuple[str, int, tuple[tuple[int, int], ...]]]:
    """Neighbours that are as far apart as each other, by number."""
    return [
        (gaps.path, gaps.axis, tuple((names.index[a], names.index[b]) for a, b in gaps.pairs))
        for gaps in wishes.gaps
    ]


def linked_columns(wishes: Wishes, names: Names) -> list[tuple[str, tuple[tuple[int, int], ...]]]:
    """Cells of columns that follow each other, by number."""
    return [
        (columns.path, tuple((names.index[a], names.index[b]) for a, b in columns.pairs))
        for columns in wishes.columns
    ]


def linked_order(spec: Spec, names: Names, problems: list[Problem]) -> list[int]:
    """The elements of the reading order whose names are known, each once."""
    first: dict[str, int] = {}
    order = []
    for k, name in enumerate(spec.reading_order):
        if name not in names.index:
            problems.append(names.unknown(f"reading_order[{k}]", name))
        elif name in first:
            where = f"reading_order[{first[name]}]"
            problems.append(
                Problem(f"reading_order[{k}]", f"{name!r} stands at {where} already; list it once")
            )
        else:
            order.append(names.index[name])
        first.setdefault(name, k)
    return order

"""What no layout could satisfy, found before sampling.

>>> from layoutdm.spec import Spec
>>> spec = Spec.parse({"elements": [{"label": "txet", "x": 0.9, "width": 0.4}]})
>>> for problem in check(spec, labels=("title", "text"), max_elements=25):
...     print(problem)
elements[0].label: unknown label 'txet'; did you mean 'text'? `layoutdm labels` lists all
elements[0].x: x 0.9 with width 0.4 spans 0.7 to 1.1, which leaves the canvas; 0 to 1 would be right

The check is sound: a request that some layout satisfies is never refused. It finds every
contradiction between edges, centres, sizes and fixed values along one axis, or between areas; it
does not search for the few that only arise from both axes together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from layoutdm.relations import CANVAS_NAME, PLACES, Relation
from layoutdm.relations.table import KINDS
from layoutdm.spec import labels as label_words
from layoutdm.spec.axis import bound_problems
from layoutdm.spec.consistency import contradictions
from layoutdm.spec.element_check import element_problems
from layoutdm.spec.linked import (
    Linked,
    Names,
    group_problems,
    link,
    linked_columns,
    linked_gaps,
    linked_order,
)
from layoutdm.spec.problems import Problem
from layoutdm.spec.shares import in_shares
from layoutdm.spec.stated import Wishes, stated
from layoutdm.spec.units import Unit

if TYPE_CHECKING:
    from layoutdm.spec.model import Spec

SUGGESTED = 50  # unknown words that get a suggestion; finding one takes time


@dataclass(frozen=True)
class Resolved:
    """A request in shares of the canvas, with names, labels and groups looked up."""

    spec: Spec
    wishes: Wishes
    labels: Mapping[str, str]  # what the user wrote to the model's label
    relations: tuple[Linked, ...]  # each once
    gaps: tuple[tuple[str, int, tuple[tuple[int, int], ...]], ...]  # path, axis, neighbours
    columns: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]  # path, cells side by side
    order: tuple[int, ...]
    problems: tuple[Problem, ...]


def check(
    spec: Spec, labels: Sequence[str], max_elements: int, aliases: Mapping[str, str] | None = None
) -> list[Problem]:
    """All problems of a request for a model with these labels and this many elements."""
    return list(resolve(spec, labels, max_elements, aliases).problems)


def resolve(
    spec: Spec, labels: Sequence[str], max_elements: int, aliases: Mapping[str, str] | None = None
) -> Resolved:
    """The request as the models need it, and all its problems."""
    shares, wrong_units = in_shares(spec)
    unit = Unit.of(spec)
    problems = [*_number(spec, max_elements)]
    found = _labels(spec, labels, aliases or {}, problems)
    problems += wrong_units
    in_the_way = {problem.path.split(".")[0] for problem in wrong_units}
    unusable = {i for i in range(len(spec.elements)) if f"elements[{i}]" in in_the_way}
    if spec.unit == "share" or spec.canvas is not None:
        for index, element in enumerate(shares.elements):
            wrong = [] if index in unusable else list(element_problems(index, element, unit))
            if wrong:
                unusable.add(index)
                problems += wrong
        for problem in bound_problems(shares, unusable):
            unusable.add(int(problem.path[9:].split("]")[0]))
            problems.append(problem)
    problems += _names(spec)
    names = Names(spec)
    usable = group_problems(spec, names, problems)
    wishes = stated(spec.model_copy(update={"groups": usable, "relations": shares.relations}), unit)
    relations = _linked_relations(wishes, names, problems)
    gaps, columns = linked_gaps(wishes, names), linked_columns(wishes, names)
    order = linked_order(spec, names, problems)
    if len(spec.elements) <= max_elements:
        hard = [r for r in relations if wishes.relations[r.index].strength is None]
        problems += contradictions(shares, wishes, hard, (gaps, columns), order, unusable)
    return Resolved(
        shares, wishes, found, tuple(relations), tuple(gaps), tuple(columns), tuple(order),
        tuple(problems),
    )  # fmt: skip


def _number(spec: Spec, max_elements: int) -> Iterator[Problem]:
    listed, wished = len(spec.elements), spec.number_of_elements
    if listed > max_elements:
        yield Problem(
            "elements", f"{listed:,} elements are listed, but the model has at most {max_elements}"
        )
    if not listed and not spec.may_add:
        yield Problem("more", "is false and no element is listed, so nothing could be generated")
    if wished is None:
        return
    if isinstance(wished, int):
        low, high, path = wished, wished, "number_of_elements"
        low_path = high_path = path
    else:
        low, high = wished.min or 1, wished.max or max(max_elements, wished.min or 1)
        low_path, high_path = "number_of_elements.min", "number_of_elements.max"
    if low > high:
        yield Problem(low_path, f"{low:,} is more than max, {high:,}; min must not exceed max")
    if low > max_elements:
        yield Problem(low_path, f"{low:,} elements are more than the model's {max_elements}")
    if high < listed:
        yield Problem(high_path, f"{high} is less than the {listed:,} elements that are listed")
    if low > listed > 0 and not spec.may_add:
        yield Problem(
            low_path,
            f"at least {low:,} elements are asked for, but only {listed:,} are listed and none may "
            'be added; set "more" to true',
        )


def _labels(
    spec: Spec, labels: Sequence[str], aliases: Mapping[str, str], problems: list[Problem]
) -> dict[str, str]:
    """The model's label of every word in the request; unknown ones become problems."""
    words = label_words.spellings(labels, aliases)
    known, found = set(labels), {}
    hints: dict[str, str] = {}
    for index, element in enumerate(spec.elements):
        for place, word in enumerate(element.label_choices):
            label = word if word in known else words.get(label_words.folded(word))
            if label is not None:
                found[word] = label
                continue
            if word not in hints and len(hints) < SUGGESTED:
                hints[word] = f"; {label_words.hint(word, labels, aliases)}"
            within = "" if isinstance(element.label, str) else f"[{place}]"
            problems.append(
                Problem(
                    f"elements[{index}].label{within}",
                    f"unknown label {word!r}{hints.get(word, '')}",
                )
            )
    return found


def _names(spec: Spec) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, element in enumerate(spec.elements):
        if element.name is None:
            continue
        path = f"elements[{index}].name"
        if element.name == CANVAS_NAME:
            yield Problem(path, "'canvas' means the canvas itself; choose another name")
        elif element.name in first:
            where = f"elements[{first[element.name]}]"
            yield Problem(path, f"{element.name!r} is the name of {where} too; names must differ")
        else:
            first[element.name] = index


def _linked_relations(wishes: Wishes, names: Names, problems: list[Problem]) -> list[Linked]:
    """The relations whose names are known, each once; contradictions of one pair are left out."""
    linked: dict[tuple[int, int, int, float | None, bool], Linked] = {}
    placed: dict[tuple[int, int], tuple[int, str]] = {}
    for k, wish in enumerate(wishes.relations):
        found = link(k, wish, names)
        if isinstance(found, Problem):
            problems.append(found)
            continue
        key = (found.of, found.code, found.to, wish.gap, wish.strength is None)
        if key in linked:
            continue
        if found.code in PLACES and wish.strength is None:
            pair = (min(found.of, found.to), max(found.of, found.to))
            straight = found.of < found.to or found.to < 0
            place = wish.is_ if straight else KINDS[wish.is_].mirrored
            earlier = placed.setdefault(pair, (k, place))
            if earlier[1] != place:
                problems.append(_contradiction(wishes, k, earlier[0]))
                continue
        linked[key] = found
    kept = list(linked.values())
    problems += _not_apart(wishes, kept)
    return kept


def _not_apart(wishes: Wishes, linked: Sequence[Linked]) -> Iterator[Problem]:
    """Pairs that are to be apart and to share some area."""
    together = {
        frozenset((r.of, r.to)): r
        for r in linked
        if r.to >= 0
        and r.code in (Relation.OVERLAPPING, Relation.INSIDE)
        and wishes.relations[r.index].strength is None
    }
    for one in linked:
        other = together.get(frozenset((one.of, one.to)))
        hard = wishes.relations[one.index].strength is None
        if one.code == Relation.APART and other is not None and hard:
            later, earlier = max(one.index, other.index), min(one.index, other.index)
            wish, before = wishes.relations[later], wishes.relations[earlier]
            yield Problem(
                wish.path, f"'{wish}' contradicts {before.path}, '{before}': choose one of them"
            )


def _contradiction(wishes: Wishes, k: int, earlier: int) -> Problem:
    one, other = wishes.relations[k], wishes.relations[earlier]
    only_one = (
        "an element's centre lies in one third of the canvas"
        if one.to == CANVAS_NAME
        else "it can be one of above, below, left_of and right_of (side by side), overlapping"
    )
    return Problem(one.path, f"'{one}' contradicts {other.path}, '{other}': {only_one}")

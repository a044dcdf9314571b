"""What no layout could satisfy, found before sampling.

>>> from layoutdm.spec import Spec
>>> spec = Spec.parse({"elements": [{"label": "txet", "x": 0.9, "width": 0.4}]})
>>> for problem in check(spec, labels=("title", "text"), max_elements=25):
...     print(problem)
elements[0].label: unknown label 'txet'; did you mean 'text'?
elements[0].x: x 0.9 with width 0.4 spans 0.7 to 1.1, which leaves the canvas; 0 to 1 would be right

The check is sound: a request that some layout satisfies is never refused. It finds every
contradiction between the order of edges, sizes and fixed values along one axis, or between areas;
it does not search for the few that only arise from both axes together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from layoutdm.constraints.relations import CANVAS_NAME, CANVAS_NAMES, ELEMENT_NAMES, is_size
from layoutdm.spec.consistency import Linked, contradictions
from layoutdm.spec.element_check import element_problems
from layoutdm.spec.problems import Problem, suggestion

if TYPE_CHECKING:
    from layoutdm.spec.model import RelationSpec, Spec

SUGGESTED = 50  # unknown words that get a suggestion; finding one takes time
# Seen from the other element of a pair.
_MIRRORED = {
    "above": "below", "below": "above", "left_of": "right_of", "right_of": "left_of",
    "overlapping": "overlapping",
}  # fmt: skip


def check(spec: Spec, labels: Sequence[str], max_elements: int) -> list[Problem]:
    """All problems of a request for a model with these labels and this many elements."""
    problems = [*_number(spec, max_elements), *_labels(spec, labels)]
    unusable: set[int] = set()
    for index, element in enumerate(spec.elements):
        found = list(element_problems(index, element))
        if found:
            unusable.add(index)
            problems += found
    problems += _names(spec)
    linked = _linked_relations(spec, problems)
    order = _linked_order(spec, problems)
    problems += contradictions(spec, linked, order, unusable)
    return problems


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


def _labels(spec: Spec, labels: Sequence[str]) -> Iterator[Problem]:
    known, listed = set(labels), list(labels)
    hints: dict[str, str] = {}
    for index, element in enumerate(spec.elements):
        for place, label in enumerate(element.label_choices):
            if label in known:
                continue
            if label not in hints and len(hints) < SUGGESTED:
                hints[label] = f"; {suggestion(label, listed, 'labels')}"
            within = "" if isinstance(element.label, str) else f"[{place}]"
            yield Problem(
                f"elements[{index}].label{within}",
                f"unknown label {label!r}{hints.get(label, '')}",
            )


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


class _Names:
    """Finds elements by name; unknown names get a suggestion, the first few at least."""

    def __init__(self, spec: Spec) -> None:
        self.index = {e.name: i for i, e in enumerate(spec.elements) if e.name is not None}
        self.known = [name for name in self.index if name != CANVAS_NAME]
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


def _linked_relations(spec: Spec, problems: list[Problem]) -> list[Linked]:
    """The relations whose names are known; those that contradict one for the same pair left out."""
    names = _Names(spec)
    linked = []
    placed: dict[tuple[int, int], tuple[int, str]] = {}
    for k, relation in enumerate(spec.relations):
        problem = _relation_problem(k, relation, names)
        if problem is not None:
            problems.append(problem)
            continue
        of, to = names.index[relation.of], names.index.get(relation.to, -1)
        code = (CANVAS_NAMES if to < 0 else ELEMENT_NAMES)[relation.is_]
        if not is_size(code):  # sizes are compared by area in consistency.py
            pair = (min(of, to), max(of, to))
            place = relation.is_ if of < to or to < 0 else _MIRRORED[relation.is_]
            earlier = placed.setdefault(pair, (k, place))
            if earlier[1] != place:
                problems.append(_contradiction(k, earlier[0], spec))
                continue
        linked.append(Linked(k, of, code, to))
    return linked


def _contradiction(k: int, earlier: int, spec: Spec) -> Problem:
    one, other = spec.relations[k], spec.relations[earlier]
    only_one = (
        "an element's centre lies in one third of the canvas"
        if one.to == CANVAS_NAME
        else "it can be one of above, below, left_of and right_of (side by side), overlapping"
    )
    return Problem(
        f"relations[{k}]",
        f"'{describe(one)}' contradicts relations[{earlier}], '{describe(other)}': {only_one}",
    )


def _relation_problem(k: int, relation: RelationSpec, names: _Names) -> Problem | None:
    path = f"relations[{k}]"
    if relation.of == CANVAS_NAME:
        return Problem(f"{path}.of", "must be an element; the canvas can only stand in 'to'")
    if relation.of not in names.index:
        return names.unknown(f"{path}.of", relation.of)
    if relation.to == CANVAS_NAME:
        if relation.is_ not in CANVAS_NAMES:
            options = ", ".join(CANVAS_NAMES)
            return Problem(
                f"{path}.is", f"{relation.is_!r} is for elements; to the canvas it is {options}"
            )
        return None
    if relation.to not in names.index:
        return names.unknown(f"{path}.to", relation.to)
    if relation.of == relation.to:
        return Problem(path, f"{relation.of!r} is related to itself; name two different elements")
    if relation.is_ not in ELEMENT_NAMES:
        options = ", ".join(ELEMENT_NAMES)
        return Problem(
            f"{path}.is", f"{relation.is_!r} is for the canvas; between elements it is {options}"
        )
    return None


def _linked_order(spec: Spec, problems: list[Problem]) -> list[int]:
    """The elements of the reading order whose names are known, each once."""
    names = _Names(spec)
    places: dict[str, list[int]] = defaultdict(list)
    order = []
    for k, name in enumerate(spec.reading_order):
        places[name].append(k)
        if name not in names.index or name == CANVAS_NAME:
            problems.append(names.unknown(f"reading_order[{k}]", name))
        elif len(places[name]) > 1:
            where = f"reading_order[{places[name][0]}]"
            problems.append(
                Problem(f"reading_order[{k}]", f"{name!r} stands at {where} already; list it once")
            )
        else:
            order.append(names.index[name])
    return order


def describe(relation: RelationSpec) -> str:
    """A relation as people say it: "hero below bar"."""
    return f"{relation.of} {relation.is_} {relation.to}"

"""What a request says along one axis: bounds of differences, and linear rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from layoutdm.layout import EDGE_TOLERANCE
from layoutdm.relations import is_size
from layoutdm.relations.measures import (
    BOTTOM,
    CENTRE_X,
    CENTRE_Y,
    HEIGHT,
    LEFT,
    LINEAR,
    RIGHT,
    TOP,
    WIDTH,
    Term,
)
from layoutdm.relations.table import kind_of
from layoutdm.spec.differences import Differences
from layoutdm.spec.fields import About
from layoutdm.spec.linear import Row, conflict
from layoutdm.spec.linked import Linked
from layoutdm.spec.problems import Problem
from layoutdm.spec.shares import AXES, sides
from layoutdm.spec.stated import Wishes

if TYPE_CHECKING:
    from layoutdm.spec.fields import ElementSpec
    from layoutdm.spec.model import Spec

ROUNDING = 1e-6  # edges that meet in the user's mind may differ by this in sums
SMALLEST = 1e-4  # of an element, as a share of the canvas
# Reasons of bounds: relation k is k, what element i fixes is ELEMENT - i.
CANVAS, OWN_SIZE, ELEMENT = -1, -2, -3
Pairs = tuple[tuple[int, int], ...]
# Equal gaps (path, axis, neighbours), and columns that follow each other (path, cells).
Gaps = tuple[Sequence[tuple[str, int, Pairs]], Sequence[tuple[str, Pairs]]]

# Which measures lie along an axis, as the place of their node among an element's three.
_NODE = ({LEFT: 0, RIGHT: 1, CENTRE_X: 2}, {TOP: 0, BOTTOM: 1, CENTRE_Y: 2})
_SIZE = (WIDTH, HEIGHT)


def nodes(element: int) -> tuple[int, int, int]:
    """The nodes of an element's low edge, high edge and centre; node 0 is the canvas's own."""
    return 1 + 3 * element, 2 + 3 * element, 3 + 3 * element


def terms_of(relation: Linked, wishes: Wishes) -> Iterator[Term]:
    """The terms of a relation, with the distance that it asks for."""
    kind = kind_of(relation.code, relation.to < 0)
    gap = wishes.relations[relation.index].gap
    for place, term in enumerate(kind.terms):
        if gap is None or place or not kind.gap:
            yield term
            continue
        yield Term(term.of, term.of_weight, term.to, term.to_weight, term.constant + gap)
        yield Term(term.of, -term.of_weight, term.to, -term.to_weight, -term.constant - gap)


def axis_system(
    spec: Spec, wishes: Wishes, relations: Sequence[Linked], unusable: set[int], axis: int
) -> Differences:
    """The bounds between edges and centres; node 0 is the canvas's left or top edge."""
    system = Differences(1 + 3 * len(spec.elements))
    slack = EDGE_TOLERANCE
    for i, element in enumerate(spec.elements):
        (low, high, middle), reason = nodes(i), ELEMENT - i
        system.add(0, low, slack, CANVAS)
        system.add(high, 0, 1 + slack, CANVAS)
        known = {} if i in unusable else _known(element, axis)
        if "size" not in known:
            system.add(low, high, -SMALLEST, OWN_SIZE)
            system.add(low, middle, -SMALLEST / 2, OWN_SIZE)
            system.add(middle, high, -SMALLEST / 2, OWN_SIZE)
        else:
            extent = known["size"]
            for u, v, distance in ((high, low, extent), (middle, low, extent / 2)):
                system.add(u, v, distance, reason)
                system.add(v, u, -distance, reason)
        for name, node in (("low", low), ("high", high), ("centre", middle)):
            if name in known:
                system.add(node, 0, known[name], reason)
                system.add(0, node, -known[name], reason)
        if "centre" in known and "size" not in known:
            # The edges are as far from the centre as the canvas allows.
            system.add(high, 0, 2 * known["centre"] + slack, reason)
            system.add(0, low, 1 - 2 * known["centre"] + slack, reason)
    for relation in relations:
        for u, v, c in _bounds(relation, wishes, axis):
            system.add(u, v, c + ROUNDING, relation.index)
    return system


def _known(element: ElementSpec, axis: int) -> dict[str, float]:
    given = zip(("low", "high", "centre", "size"), AXES[axis], strict=True)
    found = {name: element.fixed(field) for name, field in given}
    return {name: value for name, value in found.items() if value is not None}


def _bounds(relation: Linked, wishes: Wishes, axis: int) -> Iterator[tuple[int, int, float]]:
    if is_size(relation.code):
        return
    for term in terms_of(relation, wishes):
        place = _NODE[axis].get(term.of)
        if place is None:
            continue
        node = nodes(relation.of)[place]
        other = 0 if relation.to < 0 else nodes(relation.to)[_NODE[axis][term.to]]
        pair = (node, other) if term.of_weight > 0 else (other, node)
        yield *pair, -term.constant
        if relation.to < 0 and place == 2:  # a bound of the centre is one of the edges
            low, high, _ = nodes(relation.of)
            if term.of_weight > 0:
                yield high, 0, -2 * term.constant + EDGE_TOLERANCE
            else:
                yield 0, low, 1 - 2 * term.constant + EDGE_TOLERANCE


def axis_rows(
    spec: Spec,
    wishes: Wishes,
    relations: Sequence[Linked],
    gaps: Gaps,
    unusable: set[int],
    axis: int,
) -> list[Row]:
    """The whole axis as linear rows of centres (element, 0) and sizes (element, 1)."""
    rows: list[Row] = []
    margins = sides(spec)
    for i, element in enumerate(spec.elements):
        rows += _own_rows(i, element, (margins[axis], margins[2 + axis]), i in unusable, axis)
    for relation in relations:
        if is_size(relation.code):
            continue
        for term in terms_of(relation, wishes):
            if term.of in _NODE[axis] or term.of == _SIZE[axis]:
                parts = [(relation.of, term.of, term.of_weight)]
                if relation.to >= 0:
                    parts.append((relation.to, term.to, term.to_weight))
                rows.append(_row(parts, -term.constant + ROUNDING, relation.index, axis))
    start, end = (LEFT, RIGHT) if axis == 0 else (TOP, BOTTOM)
    for k, (_, along, pairs) in enumerate(gaps[0]):
        if along != axis:
            continue
        (a, b), *others = pairs
        for c, d in others:
            parts = [(b, start, 1.0), (a, end, -1.0), (d, start, -1.0), (c, end, 1.0)]
            for sign in (1.0, -1.0):
                some = [(e, m, sign * w) for e, m, w in parts]
                rows.append(_row(some, ROUNDING, len(wishes.relations) + k, axis))
    first = len(wishes.relations) + len(gaps[0])
    for k, (_, pairs) in enumerate(gaps[1] if axis == 0 else ()):
        for a, b in pairs:
            rows.append(_row([(a, RIGHT, 1.0), (b, LEFT, -1.0)], ROUNDING, first + k, axis))
    return rows


def _row(parts: list[tuple[int, int, float]], bound: float, reason: int, axis: int) -> Row:
    """From measures of elements to their centres and sizes along an axis."""
    coefficients: dict[tuple[int, int], float] = {}
    for element, measure, weight in parts:
        for which, attribute in ((0, axis), (1, 2 + axis)):
            value = weight * float(LINEAR[measure, attribute])
            if value:
                key = (element, which)
                coefficients[key] = coefficients.get(key, 0.0) + value
    return Row({key: value for key, value in coefficients.items() if value}, bound, reason)


def _own_rows(
    i: int, element: ElementSpec, margins: tuple[float, float], unusable: bool, axis: int
) -> Iterator[Row]:
    """The canvas, its margins, and what is given of one element."""
    low, high, centre, size = ({(i, 0): 1.0, (i, 1): -0.5}, {(i, 0): 1.0, (i, 1): 0.5},
                               {(i, 0): 1.0}, {(i, 1): 1.0})  # fmt: skip
    known = {} if unusable else _known(element, axis)
    first, last = margins_of(known, margins)
    yield Row(_minus(low), EDGE_TOLERANCE - first, CANVAS)
    yield Row(high, 1 - last + EDGE_TOLERANCE, CANVAS)
    yield Row(_minus(size), -min(SMALLEST, known.get("size", 1.0)), CANVAS)
    for name, form in (("low", low), ("high", high), ("centre", centre), ("size", size)):
        if name in known:
            yield Row(form, known[name] + ROUNDING, CANVAS)
            yield Row(_minus(form), ROUNDING - known[name], CANVAS)
    if unusable:
        return
    for field, form in ((AXES[axis][2], centre), (AXES[axis][3], size)):
        wish = getattr(element, field)
        if isinstance(wish, About) and wish.bounds:
            yield Row(form, wish.about + wish.within + ROUNDING, CANVAS)
            yield Row(_minus(form), ROUNDING - wish.about + wish.within, CANVAS)


def bound_problems(spec: Spec, unusable: set[int]) -> Iterator[Problem]:
    """Bounds and edges of single elements that leave no box on the canvas, within its margins."""
    margins = sides(spec)
    for i, element in enumerate(spec.elements):
        if i in unusable:
            continue
        for axis, fields in enumerate(AXES):
            wishes = [getattr(element, field) for field in fields]
            some = any(isinstance(wish, About) and wish.bounds for wish in wishes)
            if not some and wishes[0] is None and wishes[1] is None:
                continue
            sides_ = (margins[axis], margins[2 + axis])
            if conflict(list(_own_rows(i, element, sides_, False, axis))) is not None:
                given = [f for f, wish in zip(fields, wishes, strict=True) if wish is not None]
                text = f"no box on the canvas has the given {' and '.join(given)}"
                yield Problem(f"elements[{i}].{given[0]}", text)


def margins_of(known: dict[str, float], margins: tuple[float, float]) -> tuple[float, float]:
    """The margins of an axis that an element must keep; what is fixed beyond them stays there.

    >>> margins_of({"centre": 0.5, "size": 1.0}, (0.1, 0.1))
    (0.0, 0.0)
    """
    first, last = margins
    room = 1 - first - last
    centre, size = known.get("centre"), known.get("size")
    low, high = known.get("low"), known.get("high")
    if centre is not None and size is not None:
        low, high = centre - size / 2, centre + size / 2
    if size is not None and size > room + EDGE_TOLERANCE:
        return 0.0, 0.0
    if low is not None and low < first:
        first = 0.0
    if high is not None and high > 1 - last:
        last = 0.0
    if centre is not None and size is None and not first < centre < 1 - last:
        return 0.0, 0.0
    return first, last


def _minus(form: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    return {key: -value for key, value in form.items()}

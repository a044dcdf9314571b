"""Contradictions among relations, fixed values and the canvas.

Along one axis every relation says "this edge is not beyond that edge", a bound for the difference
of two values; sizes say the same of the logarithms of areas. differences.py finds out whether all
bounds can hold, and if not, which of them contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from layoutdm.constraints.relations import CANVAS_NAME, SIZE_TOLERANCE, Relation, is_size
from layoutdm.layout import EDGE_TOLERANCE
from layoutdm.spec.differences import Differences
from layoutdm.spec.element_check import size_bounds
from layoutdm.spec.problems import Problem

if TYPE_CHECKING:
    from layoutdm.spec.model import Spec

MOST_ELEMENTS = 500  # beyond that no model goes, and the search would take long
MOST_FOUND = 20
ROUNDING = 1e-6  # edges that meet in the user's mind may differ by this in sums
SMALLEST = 1e-4  # of an element, as a share of the canvas
# Reasons of bounds: relation k is k, what element i fixes is ELEMENT - i.
CANVAS, OWN_SIZE, ELEMENT = -1, -2, -3


@dataclass(frozen=True)
class Linked:
    """Relation number `index` of a request, with elements by number (-1: the canvas)."""

    index: int
    of: int
    code: int
    to: int


def contradictions(
    spec: Spec, relations: list[Linked], order: list[int], unusable: set[int]
) -> Iterator[Problem]:
    """Wishes that exclude each other; elements in `unusable` count as free."""
    n = len(spec.elements)
    if n > MOST_ELEMENTS or not (relations or len(order) > 1):
        return
    unique = list({(r.of, r.code, r.to): r for r in reversed(relations)}.values())[::-1]
    vertical = _axis_system(spec, unique, unusable, 1)
    horizontal = _axis_system(spec, unique, unusable, 0)
    reported: set[int] = set()
    axes = ((vertical, ("y", "height")), (horizontal, ("x", "width")))
    for system, fields in (*axes, (_area_system(spec, unique, unusable), _AREA_FIELDS)):
        if len(reported) >= MOST_FOUND:
            return
        for reasons in system.cycles():
            involved = sorted({r for r in reasons if r >= 0})
            if involved[-1] not in reported:
                yield _sentence(spec, reasons, involved, fields)
            reported.add(involved[-1])
            if len(reported) >= MOST_FOUND:
                return
    if len(order) > 1 and not reported:
        yield from _order_problems(spec, order, horizontal.widest(), vertical.widest())


_AREA_FIELDS = ("width", "height", "area")


def _axis_system(spec: Spec, relations: list[Linked], unusable: set[int], axis: int) -> Differences:
    """Node 0 is the canvas's left or top edge; see _nodes for those of the elements."""
    system = Differences(1 + 3 * len(spec.elements))
    position, size = ("x", "width") if axis == 0 else ("y", "height")
    slack = EDGE_TOLERANCE
    for i, element in enumerate(spec.elements):
        (low, high, middle), reason = _nodes(i), ELEMENT - i
        system.add(0, low, slack, CANVAS)
        system.add(high, 0, 1 + slack, CANVAS)
        centre = None if i in unusable else element.fixed(position)
        extent = None if i in unusable else element.fixed(size)
        if extent is None:
            system.add(low, high, -SMALLEST, OWN_SIZE)
            system.add(low, middle, -SMALLEST / 2, OWN_SIZE)
            system.add(middle, high, -SMALLEST / 2, OWN_SIZE)
        else:
            for u, v, distance in ((high, low, extent), (middle, low, extent / 2)):
                system.add(u, v, distance, reason)
                system.add(v, u, -distance, reason)
        if centre is not None:
            system.add(middle, 0, centre, reason)
            system.add(0, middle, -centre, reason)
            if extent is None:  # the edges are as far from the centre as the canvas allows
                system.add(high, 0, 2 * centre + slack, reason)
                system.add(0, low, 1 - 2 * centre + slack, reason)
    for relation in relations:
        for u, v, c in _axis_bounds(relation, axis):
            system.add(u, v, c + ROUNDING, relation.index)
    return system


def _nodes(element: int) -> tuple[int, int, int]:
    """The nodes of an element's low edge, high edge and centre."""
    return 1 + 3 * element, 2 + 3 * element, 3 + 3 * element


def _axis_bounds(relation: Linked, axis: int) -> Iterator[tuple[int, int, float]]:
    if is_size(relation.code):
        return
    if relation.to < 0:
        if axis == 1:
            yield from _third(relation)
        return
    low_j, high_j, _ = _nodes(relation.of)
    low_i, high_i, _ = _nodes(relation.to)
    before = {Relation.LEFT_OF: 0, Relation.ABOVE: 1}.get(Relation(relation.code))
    after = {Relation.RIGHT_OF: 0, Relation.BELOW: 1}.get(Relation(relation.code))
    if before == axis:
        yield high_j, low_i, 0.0
    elif after == axis:
        yield high_i, low_j, 0.0
    elif relation.code == Relation.OVERLAPPING or (
        axis == 1 and relation.code in (Relation.LEFT_OF, Relation.RIGHT_OF)
    ):
        yield low_i, high_j, 0.0
        yield low_j, high_i, 0.0


def _third(relation: Linked) -> Iterator[tuple[int, int, float]]:
    """The third of the canvas that the centre lies in, and what follows for the edges."""
    low, high, middle = _nodes(relation.of)
    least = {Relation.OVERLAPPING: 1 / 3, Relation.BELOW: 2 / 3}.get(Relation(relation.code), 0.0)
    most = {Relation.ABOVE: 1 / 3, Relation.OVERLAPPING: 2 / 3}.get(Relation(relation.code), 1.0)
    yield middle, 0, most
    yield 0, middle, -least
    yield high, 0, 2 * most + EDGE_TOLERANCE
    yield 0, low, 1 - 2 * least + EDGE_TOLERANCE


def _area_system(spec: Spec, relations: list[Linked], unusable: set[int]) -> Differences:
    """Node 0 is the canvas's area, node 1 + i that of element i, all in logarithms."""
    system = Differences(1 + len(spec.elements))
    less, more = math.log1p(-SIZE_TOLERANCE), math.log1p(SIZE_TOLERANCE)
    sizes = [r for r in relations if is_size(r.code)]
    for i in {e for r in sizes for e in (r.of, r.to) if e >= 0}:
        element, node, reason = spec.elements[i], 1 + i, ELEMENT - i
        system.add(node, 0, 2 * math.log1p(2 * EDGE_TOLERANCE), CANVAS)
        if i in unusable:
            continue
        (least_w, most_w), (least_h, most_h) = (size_bounds(element, axis) for axis in (0, 1))
        if most_w * most_h < 1:
            system.add(node, 0, math.log(max(most_w * most_h, 1e-12)), reason)
        if least_w * least_h > 0:
            system.add(0, node, -math.log(least_w * least_h), reason)
        if element.area is not None:
            system.add(node, 0, math.log(element.area) + more, reason)
            system.add(0, node, -math.log(element.area) - less, reason)
    for relation in sizes:
        j, i = 1 + relation.of, 1 + relation.to  # the canvas, -1, is node 0
        if relation.code == Relation.SMALLER:
            system.add(j, i, less + ROUNDING, relation.index)
        elif relation.code == Relation.LARGER:
            system.add(i, j, -more + ROUNDING, relation.index)
        else:
            system.add(j, i, more, relation.index)
            system.add(i, j, -less, relation.index)
    return system


def _sentence(
    spec: Spec, reasons: list[int], involved: list[int], fields: tuple[str, ...]
) -> Problem:
    from layoutdm.spec.check import describe

    *others, last = involved
    facts = []
    for index in sorted({ELEMENT - r for r in reasons if r <= ELEMENT}):
        element = spec.elements[index]
        given = [f for f in fields if element.fixed(f) is not None]
        if fields is _AREA_FIELDS:
            # A fixed place bounds a free size.
            pairs = (("width", "x"), ("height", "y"))
            given = [next((f for f in p if element.fixed(f) is not None), "") for p in pairs]
            given = [f for f in (*given, "area" if element.area else "") if f]
        name = repr(element.name) if element.name else f"elements[{index}]"
        facts.append(f"the given {' and '.join(given)} of {name}" if given else f"element {name}")
    wishes = [f"relations[{k}] ('{describe(spec.relations[k])}')" for k in others]
    with_ = _listed(wishes + facts)
    text = f"'{describe(spec.relations[last])}'"
    if not others and not facts:
        text += " cannot hold on the canvas"
    elif not others:
        text += f" is already violated by {with_}"
    elif (
        not facts
        and CANVAS not in reasons
        and not any(spec.relations[k].to == CANVAS_NAME for k in involved)
    ):
        text += f" closes a cycle with {with_}"
    else:
        text += f" cannot hold together with {with_}"
    return Problem(f"relations[{last}]", text)


def _listed(items: list[str], shown: int = 6) -> str:
    if len(items) > shown:
        items = [*items[:shown], f"{len(items) - shown} more"]
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _order_problems(
    spec: Spec,
    order: list[int],
    widest_x: NDArray[np.float64],
    widest_y: NDArray[np.float64],
) -> Iterator[Problem]:
    """An element read before one that must lie nearer to the top left corner."""
    corners = np.array([_nodes(i)[0] for i in order])
    first, second = np.triu_indices(len(order), 1)
    a, b = corners[first], corners[second]
    # The greatest lead that the second can have over the first, along each axis.
    lead_x, lead_y = widest_x[b, a], widest_y[b, a]
    clear = -SMALLEST / 2
    behind = ((lead_x < clear) & (lead_y < 1e-9)) | ((lead_y < clear) & (lead_x < 1e-9))
    furthest_b = np.hypot(np.maximum(widest_x[b, 0], 0), np.maximum(widest_y[b, 0], 0))
    nearest_a = np.hypot(np.maximum(-widest_x[0, a], 0), np.maximum(-widest_y[0, a], 0))
    wrong = np.flatnonzero(behind | (furthest_b < nearest_a - 2 * EDGE_TOLERANCE))
    for k in wrong[:MOST_FOUND]:
        one, other = (spec.elements[order[i]].name for i in (first[k], second[k]))
        yield Problem(
            f"reading_order[{first[k]}]",
            f"{one!r} is to be read before {other!r}, but fixed values and relations place it "
            "further from the top left corner",
        )

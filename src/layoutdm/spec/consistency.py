"""Contradictions among relations, fixed values and the canvas.

Along one axis every relation compares edges, centres and sizes, which are linear in an element's
centre and size; sizes say the same of the logarithms of areas. differences.py finds what
contradicts among edges quickly and names it well, linear.py finds the rest: a fixed centre, for
instance, moves both edges of an element at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from layoutdm.layout import EDGE_TOLERANCE
from layoutdm.relations import CANVAS_NAME, SIZE_TOLERANCE, Relation, is_size
from layoutdm.spec.axis import (
    CANVAS,
    ELEMENT,
    ROUNDING,
    SMALLEST,
    Gaps,
    axis_rows,
    axis_system,
    nodes,
)
from layoutdm.spec.differences import Differences
from layoutdm.spec.element_check import size_bounds
from layoutdm.spec.linear import conflict
from layoutdm.spec.linked import Linked
from layoutdm.spec.problems import Problem
from layoutdm.spec.stated import Wishes

if TYPE_CHECKING:
    from layoutdm.spec.model import Spec

MOST_ELEMENTS = 100  # beyond that the search would take long
MOST_RELATIONS = 3_000
MOST_FOUND = 20


def contradictions(
    spec: Spec,
    wishes: Wishes,
    relations: Sequence[Linked],
    gaps: Gaps,
    order: Sequence[int],
    unusable: set[int],
) -> Iterator[Problem]:
    """Wishes that exclude each other; elements in `unusable` count as free."""
    n = len(spec.elements)
    if n > MOST_ELEMENTS or not (relations or any(gaps) or len(order) > 1):
        return
    vertical = axis_system(spec, wishes, relations, unusable, 1)
    horizontal = axis_system(spec, wishes, relations, unusable, 0)
    reported: set[int] = set()
    axes = (
        (vertical, ("y", "height", "top", "bottom")),
        (horizontal, ("x", "width", "left", "right")),
    )
    for system, fields in (*axes, (_area_system(spec, relations, unusable), _AREA_FIELDS)):
        for reasons in system.cycles():
            involved = sorted({r for r in reasons if r >= 0})
            if involved[-1] not in reported:
                yield _sentence(spec, wishes, reasons, involved, fields)
            reported.add(involved[-1])
            if len(reported) >= MOST_FOUND:
                return
    if not reported and len(relations) <= MOST_RELATIONS:
        for axis, (_, fields) in ((1, axes[0]), (0, axes[1])):
            found = conflict(axis_rows(spec, wishes, relations, gaps, unusable, axis))
            if found:
                reported.add(found[-1])
                yield _together(spec, wishes, gaps, found, fields)
    if len(order) > 1 and not reported:
        yield from _order_problems(spec, order, horizontal.widest(), vertical.widest())


_AREA_FIELDS = ("width", "height", "area")


def _area_system(spec: Spec, relations: Sequence[Linked], unusable: set[int]) -> Differences:
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
        if least_w * least_h > 1e-300:
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


def _facts(spec: Spec, indices: Sequence[int], fields: tuple[str, ...]) -> list[str]:
    """What is given of some elements, in words."""
    facts = []
    for index in indices:
        element = spec.elements[index]
        given = [f for f in fields if getattr(element, f) is not None]
        if fields is _AREA_FIELDS:
            # A fixed place bounds a free size.
            pairs = (("width", "x"), ("height", "y"))
            given = [next((f for f in p if element.fixed(f) is not None), "") for p in pairs]
            given = [f for f in (*given, "area" if element.area else "") if f]
        name = repr(element.name) if element.name else f"elements[{index}]"
        facts.append(f"the given {' and '.join(given)} of {name}" if given else f"element {name}")
    return facts


def _sentence(
    spec: Spec, wishes: Wishes, reasons: list[int], involved: list[int], fields: tuple[str, ...]
) -> Problem:
    *others, last = involved
    stated = wishes.relations
    indices = sorted({ELEMENT - r for r in reasons if r <= ELEMENT})
    facts = _facts(spec, indices, fields)
    with_ = _listed([f"{stated[k].path} ('{stated[k]}')" for k in others] + facts)
    text = f"'{stated[last]}'"
    if not others and not facts:
        text += " cannot hold on the canvas"
    elif not others:
        text += f" is already violated by {with_}"
    elif (
        not facts
        and CANVAS not in reasons
        and not any(stated[k].to == CANVAS_NAME for k in involved)
    ):
        text += f" closes a cycle with {with_}"
    else:
        text += f" cannot hold together with {with_}"
    return Problem(stated[last].path, text)


def _together(
    spec: Spec, wishes: Wishes, gaps: Gaps, found: list[int], fields: tuple[str, ...]
) -> Problem:
    """Wishes that exclude each other together with what is given of their elements."""
    stated, index = wishes.relations, {e.name: i for i, e in enumerate(spec.elements) if e.name}
    words = [(stated[k].path, f"'{stated[k]}'") for k in found if k < len(stated)]
    rest_of = [(path, "its equal gaps") for path, _, _ in gaps[0]]
    rest_of += [(path, "its columns side by side") for path, _ in gaps[1]]
    words += [rest_of[k - len(stated)] for k in found if k >= len(stated)]
    ends = {end for k in found if k < len(stated) for end in (stated[k].of, stated[k].to)}
    given = [
        index[end]
        for end in sorted(ends)
        if end in index and any(getattr(spec.elements[index[end]], f) is not None for f in fields)
    ]
    (path, text), others = words[-1], words[:-1]
    rest = _listed([f"{where} ({said})" for where, said in others] + _facts(spec, given, fields))
    tail = f" together with {rest}" if rest else " on the canvas"
    return Problem(path, f"{text} cannot hold{tail}")


def _listed(items: list[str], shown: int = 6) -> str:
    if len(items) > shown:
        items = [*items[:shown], f"{len(items) - shown} more"]
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _order_problems(
    spec: Spec,
    order: Sequence[int],
    widest_x: NDArray[np.float64],
    widest_y: NDArray[np.float64],
) -> Iterator[Problem]:
    """An element read before one that must lie nearer to the top left corner."""
    corners = np.array([nodes(i)[0] for i in order])
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

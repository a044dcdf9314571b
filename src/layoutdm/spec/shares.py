"""A request in shares of the canvas: pixels divided, edges turned into centres and sizes.

>>> from layoutdm.spec import Spec
>>> spec = Spec.parse({"unit": "px", "canvas": {"width": 400, "height": 800},
...                    "elements": [{"left": 50, "right": 350, "top": 40}]})
>>> in_shares(spec)[0].elements[0].as_values()
{'x': 0.5, 'width': 0.75, 'top': 0.05}
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from layoutdm.layout import EDGE_TOLERANCE
from layoutdm.spec.fields import About, ElementSpec, Sides
from layoutdm.spec.problems import Problem
from layoutdm.spec.units import Unit

if TYPE_CHECKING:
    from layoutdm.spec.model import Spec

# The fields of one axis: low edge, high edge, centre, size.
AXES = (("left", "right", "x", "width"), ("top", "bottom", "y", "height"))
AGREE = 1e-6  # values of one axis that say the same may differ by this much


def in_shares(spec: Spec) -> tuple[Spec, list[Problem]]:
    """The same request in shares; of every axis the centre and size where they follow."""
    if spec.unit == "px" and spec.canvas is None:
        text = 'is missing; with "unit": "px" it must say how large the canvas is in pixels'
        return spec, [Problem("canvas", text)]
    problems: list[Problem] = []
    unit = Unit.of(spec)
    scales = unit.scales
    elements = []
    for index, element in enumerate(spec.elements):
        found = _scaled(element, scales)
        for axis in AXES:
            found = _joined(found, axis, f"elements[{index}]", unit, problems)
        elements.append(found)
    changes: dict[str, Any] = {"elements": tuple(elements)}
    if scales != (1.0, 1.0):
        changes |= _scaled_rest(spec, scales)
    problems += _wide_margins(sides(spec, scales))
    return spec.model_copy(update=changes), problems


def sides(spec: Spec, scales: tuple[float, float] = (1.0, 1.0)) -> tuple[float, ...]:
    """Left, top, right and bottom margin."""
    if spec.margins is None:
        return (0.0,) * 4
    given = spec.margins
    if not isinstance(given, Sides):
        given = Sides(left=given, top=given, right=given, bottom=given)
    width, height = scales
    return given.left / width, given.top / height, given.right / width, given.bottom / height


def _wide_margins(margins: tuple[float, ...]) -> list[Problem]:
    left, top, right, bottom = margins
    if left + right < 1 and top + bottom < 1:
        return []
    return [Problem("margins", "leave no room on the canvas; both sides together must be less")]


def _scaled(element: ElementSpec, scales: tuple[float, float]) -> ElementSpec:
    width, height = scales
    if scales == (1.0, 1.0):
        return element
    changes: dict[str, Any] = {}
    for fields, scale in zip(AXES, scales, strict=True):
        for field in fields:
            value = getattr(element, field)
            if isinstance(value, About):
                update = {"about": value.about / scale}
                if "within" in value.model_fields_set:
                    update["within"] = value.within / scale
                changes[field] = value.model_copy(update=update)
            elif value is not None:
                changes[field] = value / scale
    if element.area is not None:
        changes["area"] = element.area / (width * height)
    if element.aspect_ratio is not None:
        changes["aspect_ratio"] = element.aspect_ratio * width / height
    return element.model_copy(update=changes)


def _scaled_rest(spec: Spec, scales: tuple[float, float]) -> dict[str, Any]:
    """Distances of relations and groups, and margins."""
    left, top, right, bottom = sides(spec, scales)
    beside = ("left_of", "right_of")
    changes: dict[str, Any] = {"unit": "share"}
    changes["relations"] = tuple(
        relation
        if relation.gap is None
        else relation.model_copy(update={"gap": relation.gap / scales[relation.is_ not in beside]})
        for relation in spec.relations
    )
    if spec.margins is not None:
        changes["margins"] = Sides.model_construct(left=left, top=top, right=right, bottom=bottom)
    return changes


def _joined(
    element: ElementSpec, axis: tuple[str, ...], path: str, unit: Unit, problems: list[Problem]
) -> ElementSpec:
    """Centre and size of an axis, where two of its values say them."""
    given = {field: element.fixed(field) for field in axis}
    known = {field: value for field, value in given.items() if value is not None}
    low, high, centre, size = axis
    edges = [field for field in (low, high) if field in known]
    if not edges:
        return element
    for field in edges:
        if not -EDGE_TOLERANCE <= known[field] <= 1 + EDGE_TOLERANCE:
            said = unit.said(field, known[field])
            text = f"{said} lies outside the canvas; it must be within {unit.span(field)}"
            problems.append(Problem(f"{path}.{field}", text))
            return element.model_copy(update=dict.fromkeys(edges))
    if len(known) == 1:
        return element
    middle, extent = _centre_and_size(*(given[field] for field in axis))
    whole = dict(zip(axis, (middle - extent / 2, middle + extent / 2, middle, extent), strict=True))
    wrong = [field for field in known if abs(known[field] - whole[field]) > AGREE]
    if wrong or not extent > 0:
        said = " and ".join(f"{field} {unit.said(field, value)}" for field, value in known.items())
        text = f"{said} contradict each other" if wrong else f"{said} leave no {size}"
        problems.append(Problem(f"{path}.{(wrong or edges)[0]}", text))
        return element.model_copy(update=dict.fromkeys(edges))
    update: dict[str, Any] = dict.fromkeys(edges)
    # A value that was given stays exactly as it is.
    update |= {centre: known.get(centre, middle), size: known.get(size, extent)}
    return element.model_copy(update=update)


def _centre_and_size(
    low: float | None, high: float | None, centre: float | None, size: float | None
) -> tuple[float, float]:
    if low is not None and high is not None:
        return (low + high) / 2, high - low
    edge, sign = (low, 1) if low is not None else (high, -1)
    assert edge is not None  # at least one is known
    if size is not None:
        return edge + sign * size / 2, size
    assert centre is not None  # and so is another value
    return centre, 2 * sign * (centre - edge)


def finite(value: float | None) -> float:
    return math.nan if value is None else value

"""What can be wrong with one element of a request on its own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from layoutdm.layout import EDGE_TOLERANCE, FIELDS
from layoutdm.relations import SIZE_TOLERANCE
from layoutdm.spec.fields import About
from layoutdm.spec.problems import Problem
from layoutdm.spec.units import Unit

if TYPE_CHECKING:
    from layoutdm.spec.fields import ElementSpec

# Noise moves a draft's boxes off the canvas; more than this cannot be meant as a share of it.
DRAFT_OVERHANG = 0.5
_AXES = (("x", "width"), ("y", "height"))
_EDGES = (("left", "right"), ("top", "bottom"))


def element_problems(index: int, element: ElementSpec, unit: Unit) -> Iterator[Problem]:
    """Values off the canvas, and sizes that contradict each other; said in the user's unit."""
    values = list(_value_problems(element, unit))
    yield from (Problem(f"elements[{index}].{field}", text) for field, text in values)
    if values:
        return
    sizes = _size_problem(element, unit)
    if sizes:
        yield Problem(f"elements[{index}].{sizes[0]}", sizes[1])


def _value_problems(element: ElementSpec, unit: Unit) -> Iterator[tuple[str, str]]:
    wishes = [getattr(element, field) for field in FIELDS]
    is_draft = not any(wish is None or isinstance(wish, float) for wish in wishes)
    for field, wish in zip(FIELDS, wishes, strict=True):
        if wish is None:
            continue
        is_size = field in ("width", "height")
        if isinstance(wish, float):
            if not 0 < wish / 2 <= (1 + EDGE_TOLERANCE if is_size else 1 - 1e-9) / 2:
                most = unit.most(field)
                right = "more than 0 and at most " if is_size else "a centre between 0 and "
                said = unit.said(field, wish)
                yield field, f"{said} leaves no room on the canvas; it must be {right}{most}"
        else:
            overhang = DRAFT_OVERHANG if is_draft else 0.0
            if not -overhang <= wish.about <= 1 + overhang:
                said, span = unit.said(field, wish.about), unit.span(field)
                yield (
                    f"{field}.about",
                    f"{said} lies outside the canvas; it must be within {span}",
                )
    for position, size in _AXES:
        centre, extent = element.fixed(position), element.fixed(size)
        if centre is None or extent is None or not (0 <= centre <= 1 and 0 < extent <= 1):
            continue
        low, high = centre - extent / 2, centre + extent / 2
        if low < -EDGE_TOLERANCE or high > 1 + EDGE_TOLERANCE:
            at, wide, first, last = (unit.said(size, v) for v in (centre, extent, low, high))
            yield (
                position,
                f"{position} {at} with {size} {wide} spans {first} to {last}, "
                f"which leaves the canvas; {unit.span(size)} would be right",
            )
    if element.area is not None and not 0 < element.area <= 1 + SIZE_TOLERANCE:
        said, most = unit.said("area", element.area), unit.most("area")
        yield "area", f"{said} must be more than 0 and at most {most}, the whole canvas"
    if element.aspect_ratio is not None and not element.aspect_ratio > 0:
        yield (
            "aspect_ratio",
            f"{unit.ratio(element.aspect_ratio):g} must be more than 0 (height / width)",
        )


def size_bounds(element: ElementSpec, axis: int) -> tuple[float, float]:
    """(least, greatest) width (axis 0) or height (axis 1) that the fixed values allow."""
    position, size = _AXES[axis]
    extent, centre = element.fixed(size), element.fixed(position)
    if extent is not None:
        return extent, extent
    least, most = 0.0, 1.0 + 2 * EDGE_TOLERANCE
    if centre is not None:
        most = 2 * min(centre, 1 - centre) + 2 * EDGE_TOLERANCE
    low, high = (element.fixed(edge) for edge in _EDGES[axis])
    if low is not None:
        most = min(most, 1 - low + 2 * EDGE_TOLERANCE)
    if high is not None:
        most = min(most, high + 2 * EDGE_TOLERANCE)
    wish = getattr(element, size)
    if isinstance(wish, About) and wish.bounds:
        least, most = max(least, wish.about - wish.within), min(most, wish.about + wish.within)
    return least, max(most, least)


def _size_problem(element: ElementSpec, unit: Unit) -> tuple[str, str] | None:
    """Fixed sizes, area and aspect ratio, each wish within 10 %, that no box could have."""
    if element.area is None and element.aspect_ratio is None:
        return None
    bounds = [size_bounds(element, axis) for axis in (0, 1)]
    if _some_box(bounds, element.area, element.aspect_ratio):
        return None
    field = "area" if element.area is not None else "aspect_ratio"
    known = [(name, element.fixed(name)) for name in FIELDS]
    fixed = [f"{name} {unit.said(name, value)}" for name, value in known if value is not None]
    if _some_box(bounds, element.area, None) and element.aspect_ratio is not None:
        field = "aspect_ratio"
        if element.area is not None:
            fixed.append(f"area {unit.said('area', element.area)}")
    what = "area" if field == "area" else "aspect ratio (height / width)"
    given = f" with {' and '.join(fixed)}" if fixed else ""
    value = getattr(element, field)
    said = unit.said("area", value) if field == "area" else f"{unit.ratio(value):g}"
    return field, f"no box on the canvas has {what} {said}{given}"


def _some_box(bounds: list[tuple[float, float]], area: float | None, aspect: float | None) -> bool:
    """Whether a width and a height exist within the bounds, the area and the aspect ratio.

    In logarithms each condition is a strip; strips that meet do so at a corner where two of
    their edges cross, so it is enough to try all corners.
    """
    low, high = math.log1p(-SIZE_TOLERANCE), math.log1p(SIZE_TOLERANCE)
    least = math.log(1e-6)  # no element is smaller than a millionth of the canvas
    strips = [
        (1.0, 0.0, _log(bounds[0][0]) if bounds[0][0] else least, _log(bounds[0][1])),
        (0.0, 1.0, _log(bounds[1][0]) if bounds[1][0] else least, _log(bounds[1][1])),
    ]
    if area is not None:
        strips.append((1.0, 1.0, math.log(area) + low, math.log(area) + high))
    if aspect is not None:
        strips.append((-1.0, 1.0, math.log(aspect) + low, math.log(aspect) + high))
    for (a, b, *first), (c, d, *second) in itertools.combinations(strips, 2):
        determinant = a * d - b * c
        for p, q in itertools.product(first, second):
            w, h = (p * d - b * q) / determinant, (a * q - c * p) / determinant
            if all(s - 1e-9 <= u * w + v * h <= t + 1e-9 for u, v, s, t in strips):
                return True
    return False


def _log(value: float) -> float:
    return math.log(max(value, 1e-12))

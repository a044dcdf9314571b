"""Which wishes a layout meets, and by how much it misses the others.

>>> from layoutdm.layout import Layout
>>> from layoutdm.spec import Condition, Spec
>>> spec = Spec.parse({"elements": [{"label": "text", "width": 0.5, "y": {"about": 0.9}}]})
>>> condition = Condition.from_spec(spec, labels=("text",), max_elements=5)
>>> result = report(condition, Layout.create(["text"], [[0.5, 0.7, 0.5, 0.2]]))
>>> result.met, [(wish.path, round(wish.miss, 3)) for wish in result.missed]
(False, [('elements[0].y', 0.1)])

When is a wish met? Fixed values: equal. Labels: one of the choices. About: closer than `within`.
Relations: by the rules that detect them (relations.py). Area and aspect ratio: within 10 %, the
tolerance of the size relations. Reading order: no later element nearer to the top left corner.
A miss is in the wish's own unit: shares of the canvas for places, of its area for sizes, the
relative error less the tolerance for area and aspect ratio, elements for their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.constraints import hinges
from layoutdm.constraints.relations import (
    CANVAS,
    CANVAS_BOX,
    CANVAS_NAME,
    SIZE_TOLERANCE,
    detect,
    is_size,
    relation_name,
)
from layoutdm.layout import FIELDS, Layout

if TYPE_CHECKING:
    from layoutdm.spec.condition import Condition

Floats = NDArray[np.float64]

EXACT = 1e-9  # fixed values
TOUCHING = 1e-6  # edges that sums of rounded numbers put this far beyond each other still touch


@dataclass(frozen=True)
class Wish:
    """One wish of a request and how a layout meets it; `miss` is 0 when it does."""

    path: str  # JSON path in the request
    kind: str  # fixed, label, about, area, aspect_ratio, relation, reading_order, number
    wanted: str
    met: bool
    miss: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "kind": self.kind,
            "wanted": self.wanted,
            "met": self.met,
            "miss": round(self.miss, 6),
        }


@dataclass(frozen=True)
class Report:
    """All wishes of a request, against one layout."""

    wishes: tuple[Wish, ...]

    @property
    def met(self) -> bool:
        """Whether every wish is met."""
        return all(wish.met for wish in self.wishes)

    @property
    def missed(self) -> tuple[Wish, ...]:
        return tuple(wish for wish in self.wishes if not wish.met)

    @property
    def score(self) -> float:
        """1 when every wish is met; more wishes met is better, then a smaller sum of misses."""
        met = sum(wish.met for wish in self.wishes)
        return (met + 1 / (1 + sum(wish.miss for wish in self.wishes))) / (len(self.wishes) + 1)

    def as_dict(self) -> dict[str, Any]:
        """Plain data: the verdict, the counts, and the wishes that are missed."""
        return {
            "met": self.met,
            "score": round(self.score, 6),
            "wishes": len(self.wishes),
            "missed": [wish.as_dict() for wish in self.missed],
        }


def report(condition: Condition, layout: Layout) -> Report:
    """Compare a layout, whose first elements are the listed ones in order, with a condition."""
    n = len(condition)
    # An element that is not there misses all its wishes: NaN compares as "no" everywhere.
    boxes = np.full((n, 4), np.nan)
    boxes[: len(layout)] = layout.boxes[:n]
    return Report(
        (
            *_number(condition, layout),
            *_labels(condition, layout),
            *_values(condition, boxes),
            *_targets(condition, boxes),
            *_relations(condition, boxes),
            *_reading_order(condition, boxes),
        )
    )


def _wish(path: str, kind: str, wanted: str, miss: float, tolerance: float = 0.0) -> Wish:
    met = miss <= tolerance
    missing = not np.isfinite(miss)
    return Wish(path, kind, wanted, bool(met), 0.0 if met else 1.0 if missing else float(miss))


def _number(condition: Condition, layout: Layout) -> Iterator[Wish]:
    low, high = condition.min_elements, condition.max_elements
    wanted = f"{low}" if low == high else f"{low} to {high}"
    miss = max(low - len(layout), len(layout) - high, 0)
    yield _wish("number_of_elements", "number", f"{wanted} elements", miss)


def _labels(condition: Condition, layout: Layout) -> Iterator[Wish]:
    index_of = {label: index for index, label in enumerate(condition.labels)}
    for row, choices in enumerate(condition.label_choices):
        if choices.all() and len(choices) > 1:
            continue
        chosen = index_of.get(layout.labels[row], -1) if row < len(layout) else -1
        wanted = " or ".join(condition.labels[k] for k in np.flatnonzero(choices))
        met = chosen >= 0 and bool(choices[chosen])
        yield _wish(f"elements[{row}].label", "label", wanted, 0.0 if met else 1.0)


def _values(condition: Condition, boxes: Floats) -> Iterator[Wish]:
    for row, column in np.argwhere(np.isfinite(condition.fixed)):
        wished = condition.fixed[row, column]
        path = f"elements[{row}].{FIELDS[column]}"
        yield _wish(path, "fixed", f"{wished:g}", abs(boxes[row, column] - wished), EXACT)
    for row, column in np.argwhere(np.isfinite(condition.about)):
        wished, within = condition.about[row, column], condition.within[row, column]
        path = f"elements[{row}].{FIELDS[column]}"
        miss = abs(boxes[row, column] - wished) - within
        yield _wish(path, "about", f"{wished:.6g} within {within:g}", miss, EXACT)


def _targets(condition: Condition, boxes: Floats) -> Iterator[Wish]:
    width, height = boxes[:, 2], boxes[:, 3]
    for name, wished, got in (
        ("area", condition.area, width * height),
        ("aspect_ratio", condition.aspect_ratio, height / width),
    ):
        for row in np.flatnonzero(np.isfinite(wished)):
            error = abs(got[row] - wished[row]) / wished[row]
            path = f"elements[{row}].{name}"
            yield _wish(path, name, f"{wished[row]:g}", error - SIZE_TOLERANCE, EXACT)


def relation_costs(relations: NDArray[np.intp], boxes: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """By how much each relation (of, code, to) is missed, and whether it holds."""
    of, code, to = relations.T
    if not len(of):
        return np.zeros(0), np.zeros(0, bool)
    canvas = to == CANVAS
    others = np.where(canvas[:, None], np.array(CANVAS_BOX), boxes[to])
    size, location = detect(boxes[of], others, canvas)
    asked = np.where(code <= 3, size, location) == code
    parts = hinges.relation_hinges(np.arange(len(of)), of, code, to)
    costs = np.bincount(
        parts.owner, np.maximum(parts.values(hinges.measures(boxes)), 0.0), minlength=len(of)
    )
    # Rounding may leave edges that should touch a little apart, either way.
    near = costs <= np.where(code <= 3, EXACT, TOUCHING)
    there = np.isfinite(boxes[of]).all(1) & np.isfinite(others).all(1)
    ordered = ~np.isin(code, _STRICT) | canvas
    holds = there & (asked | (near & ordered))
    return np.where(there, costs, np.inf), holds


_STRICT = (2, 9)  # equal_size and overlapping between elements: boxes that only touch do not


def _relations(condition: Condition, boxes: Floats) -> Iterator[Wish]:
    costs, holds = relation_costs(condition.relations, boxes)
    for index, (of, code, to) in enumerate(condition.relations):
        canvas = to == CANVAS
        other = CANVAS_NAME if canvas else condition.names[to]
        wanted = f"{condition.names[of]} {relation_name(int(code), bool(canvas))} {other}"
        miss = 0.0 if holds[index] else max(float(costs[index]), 1e-8)
        yield _wish(f"relations[{index}]", "relation", wanted, miss)


def _reading_order(condition: Condition, boxes: Floats) -> Iterator[Wish]:
    order = condition.reading_order
    if len(order) < 2:
        return
    distance = np.hypot(*(boxes[order, :2] - boxes[order, 2:] / 2).T)
    back = np.maximum(distance[:-1] - distance[1:], 0.0)
    back = np.where(back <= TOUCHING, 0.0, back)
    wanted = ", ".join(str(condition.names[k]) for k in order)
    yield _wish("reading_order", "reading_order", wanted, float(back.sum()))


__all__ = ["Report", "Wish", "is_size", "relation_costs", "report"]

"""Which wishes a layout meets, and by how much it misses the others.

>>> from layoutdm.layout import Layout
>>> from layoutdm.spec import Condition, Spec
>>> spec = Spec.parse({"elements": [{"label": "text", "width": 0.5, "y": {"about": 0.9}}]})
>>> condition = Condition.from_spec(spec, labels=("text",), max_elements=5)
>>> result = report(condition, Layout.create(["text"], [[0.5, 0.7, 0.5, 0.2]]))
>>> result.met, [(wish.path, round(wish.miss, 3)) for wish in result.missed]
(False, [('elements[0].y', 0.1)])

When is a wish met? Fixed values: equal. Labels: one of the choices. About: closer than `within`.
Relations: by their terms (relations/table.py). Gaps and margins: to a millionth. Area and aspect
ratio: within 10 %, the tolerance of the size relations. Reading order: no later element nearer to
the top left corner.
A miss is in the wish's own unit: shares of the canvas for places, of its area for sizes, the
relative error less the tolerance for area and aspect ratio, elements for their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.boxes import to_corners
from layoutdm.layout import FIELDS, Layout
from layoutdm.relations import (
    CANVAS,
    CANVAS_BOX,
    CANVAS_NAME,
    SIZE_TOLERANCE,
    Relation,
    detect,
    hinges,
    is_size,
    relation_name,
)
from layoutdm.spec.bounds import EDGES, edge_bounds

if TYPE_CHECKING:
    from layoutdm.spec.condition import Condition

Floats = NDArray[np.float64]

EXACT = 1e-9  # fixed values
TOUCHING = 1e-6  # edges that sums of rounded numbers put this far beyond each other still touch


@dataclass(frozen=True)
class Wish:
    """One wish of a request and how a layout meets it; `miss` is 0 when it does."""

    path: str  # JSON path in the request
    kind: str  # fixed, label, about, area, aspect_ratio, relation, reading_order, number, ...
    wanted: str
    met: bool
    miss: float
    soft: bool = False  # only a pull: an `about` without `within`, or a wish with a strength

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
    def holds(self) -> bool:
        """Whether every wish that is more than a pull is met."""
        return all(wish.met or wish.soft for wish in self.wishes)

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
    wishes = [*_number(condition, layout)]
    if len(condition):
        wishes += _of_elements(condition, layout)
    if any(condition.margins):
        wishes += _margins(condition, layout)
    return Report(tuple(wishes))


def _of_elements(condition: Condition, layout: Layout) -> Iterator[Wish]:
    """The wishes about listed elements."""
    n = len(condition)
    # An element that is not there misses all its wishes: NaN compares as "no" everywhere.
    boxes = np.full((n, 4), np.nan)
    boxes[: len(layout)] = layout.boxes[:n]
    yield from _labels(condition, layout)
    yield from _values(condition, boxes)
    yield from _targets(condition, boxes)
    yield from _relations(condition, boxes)
    yield from _equal_gaps(condition, boxes)
    yield from _columns(condition, boxes)
    yield from _reading_order(condition, boxes)


def _wish(
    path: str, kind: str, wanted: str, miss: float, tolerance: float = 0.0, soft: bool = False
) -> Wish:
    met = bool(miss <= tolerance)
    missing = not np.isfinite(miss)
    return Wish(path, kind, wanted, met, 0.0 if met else 1.0 if missing else float(miss), soft)


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
        soft = not condition.bound[row, column]
        yield _wish(path, "about", f"{wished:.6g} within {within:g}", miss, EXACT, soft)
    corners = to_corners(boxes)
    for row, column in np.argwhere(np.isfinite(condition.edges)):
        wished = condition.edges[row, column]
        path = f"elements[{row}].{EDGES[column]}"
        yield _wish(path, "fixed", f"{wished:g}", abs(corners[row, column] - wished), EXACT)


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


def relation_costs(
    relations: NDArray[np.intp], boxes: Floats, gap: Floats | None = None
) -> tuple[Floats, NDArray[np.bool_]]:
    """By how much each relation (of, code, to) is missed, and whether it holds."""
    of, code, to = relations.T
    if not len(of):
        return np.zeros(0), np.zeros(0, bool)
    canvas = to == CANVAS
    others = np.where(canvas[:, None], np.array(CANVAS_BOX), boxes[to])
    size, location = detect(boxes[of], others, canvas)
    asked = np.where(code <= Relation.LARGER, size, location) == code
    if gap is not None:
        asked &= np.isnan(gap)
    parts = hinges.relation_hinges(np.arange(len(of)), of, code, to, gap=gap)
    costs = np.bincount(
        parts.owner, np.maximum(parts.values(hinges.measures(boxes)), 0.0), minlength=len(of)
    )
    costs = np.where(code == Relation.APART, _shared(boxes[of], others), costs)
    # Rounding may leave edges that should touch a little apart, either way.
    near = costs <= np.where(code <= Relation.LARGER, EXACT, TOUCHING)
    there = np.isfinite(boxes[of]).all(1) & np.isfinite(others).all(1)
    ordered = ~np.isin(code, _STRICT) | canvas
    # Side by side means at one height: boxes that touch at a corner are above each other.
    beside = np.isin(code, _BESIDE) & ~canvas & np.isin(location, (Relation.ABOVE, Relation.BELOW))
    holds = there & (asked | (near & ordered & ~beside))
    return np.where(there, costs, np.inf), holds


_BESIDE = (Relation.LEFT_OF, Relation.RIGHT_OF)
_STRICT = (Relation.EQUAL_SIZE, Relation.OVERLAPPING)  # boxes that only touch do not overlap


def _shared(boxes: Floats, others: Floats) -> Floats:
    """How far boxes must move to be apart; 0 when they are."""
    one, other = to_corners(boxes), to_corners(others)
    sides = np.minimum(one[:, 2:], other[:, 2:]) - np.maximum(one[:, :2], other[:, :2])
    return np.asarray(np.maximum(sides.min(axis=1), 0.0))


def _relations(condition: Condition, boxes: Floats) -> Iterator[Wish]:
    costs, holds = relation_costs(condition.relations, boxes, condition.gap)
    for index, (of, code, to) in enumerate(condition.relations):
        canvas = to == CANVAS
        other = CANVAS_NAME if canvas else condition.names[to]
        wanted = f"{condition.names[of]} {relation_name(int(code), bool(canvas))} {other}"
        if np.isfinite(condition.gap[index]):
            wanted += f" by {condition.gap[index]:g}"
        miss = 0.0 if holds[index] else max(float(costs[index]), 1e-8)
        soft = bool(np.isfinite(condition.relation_strength[index]))
        yield _wish(condition.relation_paths[index], "relation", wanted, miss, soft=soft)


def _equal_gaps(condition: Condition, boxes: Floats) -> Iterator[Wish]:
    corners = to_corners(boxes)
    for path, axis, pairs in condition.equal_gaps:
        gaps = np.array([corners[b, axis] - corners[a, 2 + axis] for a, b in pairs])
        named = dict.fromkeys(str(condition.names[i]) for pair in pairs for i in pair)
        wanted = f"equal gaps of {', '.join(named)}"
        yield _wish(path, "gap", wanted, float(np.ptp(gaps)), TOUCHING)


def _columns(condition: Condition, boxes: Floats) -> Iterator[Wish]:
    corners = to_corners(boxes)
    for path, pairs in condition.columns:
        beyond = max(float(corners[a, 2] - corners[b, 0]) for a, b in pairs)
        yield _wish(path, "columns", "columns side by side", max(beyond, 0.0), TOUCHING)


def _margins(condition: Condition, layout: Layout) -> Iterator[Wish]:
    low, high = edge_bounds(condition, len(layout))
    corners = to_corners(layout.boxes)
    beyond = np.maximum(low - corners[:, :2], corners[:, 2:] - high)
    wanted = ", ".join(
        f"{side} {value:g}" for side, value in zip(EDGES, condition.margins, strict=True)
    )
    yield _wish("margins", "margins", wanted, float(beyond.max(initial=0.0)), TOUCHING)


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

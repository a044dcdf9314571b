"""The relational wishes of a batch of layouts, as hinges over the elements that they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.relations import CANVAS, hinges
from layoutdm.spec import Condition

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Edges:
    """Hinges over rows, one row for each element that some wish names."""

    layout: Ints  # (rows,)
    slot: Ints  # (rows,)
    exact: Floats  # (rows, 4): NaN where the value is not known exactly
    hinges: hinges.Hinges


def edges_of(conditions: Sequence[Condition]) -> Edges:
    """Relations, areas, aspect ratios and reading orders of some layouts.

    >>> from layoutdm.spec import Spec
    >>> spec = Spec.parse({
    ...     "elements": [{"name": "a"}, {"name": "b", "y": 0.2}, {"name": "c"}],
    ...     "relations": [{"of": "c", "is": "below", "to": "b"}],
    ... })
    >>> edges_of([Condition.from_spec(spec, ("text",), 25)] * 2).slot.tolist()
    [1, 2, 1, 2]
    """
    slots = max([1, *(len(condition) for condition in conditions)])
    # An element is its number, counted through all layouts.
    related = [_related(condition, b * slots) for b, condition in enumerate(conditions)]
    of, code, to = np.concatenate([np.zeros((3, 0), np.intp), *related], axis=1)
    orders = [b * slots + condition.reading_order for b, condition in enumerate(conditions)]
    before = _joined([order[:-1] for order in orders])
    after = _joined([order[1:] for order in orders])
    areas, aspects = (np.full((len(conditions), slots), np.nan) for _ in range(2))
    exact = np.full((len(conditions), slots, 4), np.nan)
    for b, condition in enumerate(conditions):
        areas[b, : len(condition)] = condition.area
        aspects[b, : len(condition)] = condition.aspect_ratio
        exact[b, : len(condition)] = condition.fixed
    targets = [(np.flatnonzero(np.isfinite(wished)), wished) for wished in (areas, aspects)]
    named = [of, to[to != CANVAS], before, after, *(at for at, _ in targets)]
    rows = np.unique(np.concatenate(named))

    def row(element: Ints) -> Ints:
        return np.where(element == CANVAS, CANVAS, np.searchsorted(rows, element))

    gaps = np.concatenate([np.zeros(0), *(condition.gap for condition in conditions)])
    layout = of // slots
    parts = [
        hinges.relation_hinges(layout, row(of), code, row(to), gap=gaps),
        hinges.order_hinges(before // slots, row(before), row(after)),
    ]
    for (at, wished), measure in zip(targets, (hinges.AREA, hinges.ASPECT), strict=True):
        parts.append(hinges.target_hinges(at // slots, row(at), measure, wished.ravel()[at]))
    owner, slot = np.divmod(rows, slots)
    return Edges(owner, slot, exact[owner, slot], hinges.join(parts))


def _related(condition: Condition, start: int) -> Ints:
    """(3, relations): element, code, element or CANVAS."""
    of, code, to = condition.relations.T
    return np.stack([start + of, code, np.where(to == CANVAS, CANVAS, start + to)])


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.intp), *parts])

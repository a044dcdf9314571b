"""What a condition says about the order in which elements are read: by top edge, then left edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.relations import CANVAS, Relation
from layoutdm.spec import Condition

THIRDS = {
    Relation.ABOVE: (0.0, 1 / 3),
    Relation.OVERLAPPING: (1 / 3, 2 / 3),
    Relation.BELOW: (2 / 3, 1.0),
}
NEAR = 0.05  # a known centre stands for a span of this much above and below it


@dataclass(frozen=True, eq=False)
class Reading:
    """Of n listed elements."""

    before: NDArray[np.bool_]  # (n, n): [i, j] says that i is read before j
    span: NDArray[np.float64]  # (n, 2): between which heights its centre lies; NaN: anywhere


def reading(condition: Condition) -> Reading:
    """Elements above others come first, and so do those that a wished order names first.

    >>> from layoutdm.spec import Condition, Spec
    >>> spec = Spec.parse({
    ...     "elements": [{"name": "a", "label": "text"}, {"name": "b", "label": "text"}],
    ...     "relations": [{"of": "a", "is": "below", "to": "b"},
    ...                   {"of": "b", "is": "top", "to": "canvas"}],
    ... })
    >>> found = reading(Condition.from_spec(spec, ("text",), 25))
    >>> found.before.tolist(), found.span.round(2).tolist()
    ([[False, False], [True, False]], [[nan, nan], [0.0, 0.33]])
    """
    n = len(condition)
    before = np.zeros((n, n), dtype=bool)
    span = np.full((n, 2), np.nan)
    for centre in (condition.about[:, 1], condition.fixed[:, 1]):
        known = np.isfinite(centre)
        span[known] = np.clip(centre[known, None] + [-NEAR, NEAR], 0.0, 1.0)
    for of, code, to in condition.relations.tolist():
        if to == CANVAS:
            if code in THIRDS and np.isnan(span[of, 0]):
                span[of] = THIRDS[Relation(code)]
        elif code == Relation.ABOVE:
            before[of, to] = True
        elif code == Relation.BELOW:
            before[to, of] = True
    order = condition.reading_order
    before[order[:-1], order[1:]] = True
    return Reading(before, span)

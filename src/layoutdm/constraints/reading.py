"""What relations say about the order in which elements are read: by top edge, then left edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from layoutdm.constraints.relations import CANVAS, Relation

if TYPE_CHECKING:
    from layoutdm.spec.condition import Condition

ANYWHERE = -1  # the third of an element that no wish binds to one
_THIRDS = {Relation.ABOVE: 0, Relation.OVERLAPPING: 1, Relation.BELOW: 2}


@dataclass(frozen=True, eq=False)
class Reading:
    """Of n elements."""

    before: NDArray[np.bool_]  # (n, n): [i, j] says that i is read before j
    third: NDArray[np.int64]  # (n,): of the canvas, 0 for the upper one, or ANYWHERE


def reading(condition: Condition) -> Reading:
    """Elements above others come first, and so do those that a wished order names first.

    >>> from layoutdm.spec import Condition, Spec
    >>> spec = Spec.parse({
    ...     "elements": [{"name": "a", "label": "text"}, {"name": "b", "label": "text"}],
    ...     "relations": [{"of": "a", "is": "below", "to": "b"},
    ...                   {"of": "b", "is": "top", "to": "canvas"}],
    ... })
    >>> found = reading(Condition.from_spec(spec, ("text",), 25))
    >>> found.before.tolist(), found.third.tolist()
    ([[False, False], [True, False]], [-1, 0])
    """
    n = len(condition)
    before = np.zeros((n, n), dtype=bool)
    third = np.full(n, ANYWHERE, dtype=np.int64)
    for of, code, to in condition.relations.tolist():
        if to == CANVAS:
            third[of] = _THIRDS.get(code, third[of])
        elif code == Relation.ABOVE:
            before[of, to] = True
        elif code == Relation.BELOW:
            before[to, of] = True
    order = condition.reading_order
    before[order[:-1], order[1:]] = True
    return Reading(before, third)

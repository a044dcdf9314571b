"""How far the values of a condition may go: fixed values, bounds of weak wishes, margins.

>>> from layoutdm.spec import Condition, Spec
>>> spec = Spec.parse({"elements": [{"width": 1.0, "height": 0.1}], "margins": 0.05})
>>> low, high = edge_bounds(Condition.from_spec(spec, ("text",), 5), 2)
>>> low.tolist(), high.tolist()             # what is fixed beyond a margin stays there
([[0.0, 0.05], [0.05, 0.05]], [[1.0, 0.95], [0.95, 0.95]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from layoutdm.spec.condition import Condition

Floats = NDArray[np.float64]

EDGES = ("left", "top", "right", "bottom")


def edge_bounds(condition: Condition, count: int) -> tuple[Floats, Floats]:
    """(count, 2) each: the least left and top, the greatest right and bottom edge of elements."""
    from layoutdm.spec.axis import margins_of

    low, high = np.zeros((count, 2)), np.ones((count, 2))
    if not any(condition.margins):
        return low, high
    for axis in (0, 1):
        margins = condition.margins[axis], condition.margins[2 + axis]
        low[:, axis], high[:, axis] = margins[0], 1 - margins[1]
        for i in range(min(len(condition), count)):
            given = (
                ("centre", condition.fixed[i, axis]),
                ("size", condition.fixed[i, 2 + axis]),
                ("low", condition.edges[i, axis]),
                ("high", condition.edges[i, 2 + axis]),
            )
            known = {name: float(value) for name, value in given if np.isfinite(value)}
            first, last = margins_of(known, margins)
            low[i, axis], high[i, axis] = first, 1 - last
    return low, high


def value_bounds(condition: Condition, count: int) -> tuple[Floats, Floats]:
    """(count, 4) each: the least and greatest x, y, width, height that the wishes leave."""
    low, high = np.zeros((count, 4)), np.ones((count, 4))
    n = min(len(condition), count)
    bound = condition.bound[:n]
    about, within = condition.about[:n], condition.within[:n]
    low[:n] = np.where(bound, np.maximum(about - within, 0.0), low[:n])
    high[:n] = np.where(bound, np.minimum(about + within, 1.0), high[:n])
    fixed = np.isfinite(condition.fixed[:n])
    low[:n] = np.where(fixed, condition.fixed[:n], low[:n])
    high[:n] = np.where(fixed, condition.fixed[:n], high[:n])
    return low, high

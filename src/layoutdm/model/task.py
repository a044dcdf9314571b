"""Which of the paper's tasks a condition comes closest to; its usual options are used."""

from __future__ import annotations

import numpy as np

from layoutdm.spec import Condition


def task_of(condition: Condition) -> str:
    """unconditional, c, cwh, completion, refinement or relation.

    Any mixture is allowed in a request. Relations count first, then drafts of all boxes, then
    elements that are added, then sizes of all boxes whose place is open.
    """
    if condition.guided:
        return "relation"
    if len(condition) == 0:
        return "unconditional"
    known = np.isfinite(condition.fixed)
    about = np.isfinite(condition.about)
    if about.any() and (known | about).all():
        return "refinement"
    if condition.more:
        return "completion"
    placed, sized = known[:, :2].all(axis=1), known[:, 2:].all(axis=1)
    return "cwh" if (placed | sized).all() else "c"

"""Which of the paper's tasks a request comes closest to; its sampling defaults are used."""

from __future__ import annotations

import numpy as np

from layoutdm.spec import Condition


def task_of(condition: Condition) -> str:
    """unconditional, c, cwh, completion, refinement or relation.

    Any mixture is allowed in a request; relations then count first, drafts second.
    """
    if condition.guided:
        return "relation"
    if len(condition) == 0:
        return "unconditional"
    if np.isfinite(condition.about).any():
        return "refinement"
    if condition.more:
        return "completion"
    return "cwh" if np.isfinite(condition.fixed).any() else "c"

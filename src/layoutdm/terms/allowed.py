"""The term of what is allowed: labels that an element may have, and where PAD may stand."""

from __future__ import annotations

import numpy as np

from layoutdm.diffusion.network import Bools
from layoutdm.plan.batch import Batch
from layoutdm.terms.rows import Rows


class Allowed:
    """Rules out labels that the condition does not name, and PAD where an element must be."""

    def __init__(self, batch: Batch) -> None:
        self._pad = batch.pad
        self._choices = _choices(batch)

    def __call__(self, rows: Rows) -> None:
        at = (rows.layout, rows.slot)
        if rows.view.pad:
            size = rows.log.shape[1] - 1
            wrong = np.zeros(rows.log.shape, dtype=bool)
            wrong[:, size] = True if self._pad is None else ~self._pad[at]
            rows.rule_out(wrong)
        if rows.modality == 0 and self._choices is not None:
            rows.rule_out(~self._choices[at])


def _choices(batch: Batch) -> Bools | None:
    """(B, S, labels); None where no element has a choice of some labels."""
    some = [
        bool((~condition.label_choices).any() and (condition.label_choices.sum(axis=1) > 1).any())
        for condition in batch.conditions
    ]
    if not any(some):
        return None
    size, slots, _ = batch.tokens.shape
    allowed = np.ones((size, slots, batch.conditions[0].label_choices.shape[1]), dtype=bool)
    for row, condition in enumerate(batch.conditions):
        allowed[row, : len(condition)] = condition.label_choices
    return allowed

"""The term of weak wishes: values near a wished one become more likely."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from layoutdm.plan.batch import Batch
from layoutdm.spec import Condition
from layoutdm.terms.priors import Floats, condition_priors
from layoutdm.terms.rows import Rows

SINGLE = 4.0  # times the paper's strength, for single values of which the request says no more


class Near:
    """Adds the priors of a batch's weak wishes (see priors.py).

    The network reads whole drafts better than a prior does, so values of such layouts have one
    only where the request itself gives a strength. A single value is seldom said without meaning
    it: where the request gives no strength, its prior is stronger than the paper's.
    """

    def __init__(self, batch: Batch, centres: Sequence[Floats]) -> None:
        size, slots, _ = batch.tokens.shape
        self._priors = [np.zeros((size, slots, len(values))) for values in centres]
        found: dict[tuple[int, bool], list[Floats]] = {}
        for row, condition in enumerate(batch.conditions):
            key = (id(condition), batch.draft is not None and bool(batch.draft[row].any()))
            if key not in found:
                found[key] = _priors(condition, centres, drafted=key[1])
            for whole, own in zip(self._priors, found[key], strict=False):
                whole[row, : len(condition)] = own

    def __call__(self, rows: Rows) -> None:
        if rows.modality:
            rows.add(self._priors[rows.modality - 1][rows.layout, rows.slot])


def _priors(condition: Condition, centres: Sequence[Floats], *, drafted: bool) -> list[Floats]:
    priors = condition_priors(condition, centres) or []
    others = [np.zeros_like(prior) if drafted else SINGLE * prior for prior in priors]
    return [
        np.where(condition.insisted[:, a, None], prior, other)
        for a, (prior, other) in enumerate(zip(priors, others, strict=True))
    ]

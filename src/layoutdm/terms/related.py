"""The term of relations, areas, aspect ratios and reading order: guidance by their energies.

Ours ("bins") makes each value less likely by how much it would miss the wishes. The paper's
("box") follows the gradient of the energy of the expected boxes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from layoutdm.plan.batch import Batch
from layoutdm.terms.energies import Floats, Guide, Relaxation
from layoutdm.terms.rows import Rows, View

UPDATES = 3  # gradient steps for each answer of the network, as published
LAST_LEVELS = 0.1  # share of the levels, at the end, in which the published code does not guide


class Related:
    """Pulls what is drawn towards the wishes that join elements; it looks at all predictions.

    move_sizes False: relations of place do not stretch elements towards each other. Where sizes
    are decided before places, that is what they would do.
    """

    reads_all = True

    def __init__(
        self,
        batch: Batch,
        centres: Sequence[Floats],
        strength: float,
        form: Relaxation = "bins",
        *,
        move_sizes: bool = True,
    ) -> None:
        self._guide = Guide(batch.conditions, centres)
        self._strength, self._form, self._move_sizes = strength, form, move_sizes
        size, slots, _ = batch.tokens.shape
        self._values = [np.full((size, slots, len(bins)), -np.inf) for bins in centres]
        self._before = [values.copy() for values in self._values]
        self._named = np.zeros((size, slots, 4), dtype=bool)  # values that some wish depends on
        self._named[self._guide.pairs] = True
        self._seen: View | None = None

    def __call__(self, rows: Rows) -> None:
        late = self._form == "box" and rows.view.noise < LAST_LEVELS
        if not rows.modality or late:
            return
        a, at = rows.modality - 1, (rows.layout, rows.slot)
        if not self._named[(*at, a)].any():
            return
        if self._seen is not rows.view:  # once for each answer of the network
            self._steer(rows.view)
        with np.errstate(invalid="ignore"):  # of values that were ruled out before and after
            change = self._values[a][at] - self._before[a][at]
        # Where schedules replace tokens, one that is drawn again counted as decided: no change.
        seen = rows.view.state.tokens[(*at, rows.modality)] < self._values[a].shape[2]
        change[seen] = 0.0
        rows.add(change)

    def _steer(self, view: View) -> None:
        """Predictions of all values of x, y, width and height, moved by the guide."""
        self._seen = view
        asked, slots = np.nonzero(view.index >= 0)
        undecided = np.ones(self._named.shape, dtype=bool)
        for a, (values, before) in enumerate(zip(self._values, self._before, strict=True)):
            size = values.shape[2]
            before[asked, slots] = view.predicted(asked, slots, a + 1)[:, :size]
            np.copyto(values, before)
            tokens = view.state.tokens[..., a + 1]
            undecided[..., a] = tokens >= size
            at = np.nonzero(tokens < size)
            values[at] = -np.inf  # one-hot at what is decided
            values[(*at, tokens[at])] = 0.0
        self._guide.update(
            self._values, self._strength, UPDATES, self._form, move_sizes=self._move_sizes,
            undecided=undecided,
        )  # fmt: skip

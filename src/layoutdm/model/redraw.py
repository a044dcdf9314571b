"""Drawing again what settling had to move far, or could not save.

Settling moves a few elements far and leaves the others where they were. So the first draw that
follows takes the others as known and draws only those few: what it costs hangs on how many they
are, and the network puts them where they suit what is there. Later draws begin from nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from layoutdm.model.result import Result
from layoutdm.settle import Settled
from layoutdm.spec import Condition

REDRAWS = 4  # draws at most, where settling leaves a wish unmet or elements on top of each other
# A draw that settling moves by more than FAR in all is far from what the network would draw, and
# of two the better one is kept. An element that moves by more than STAYS is one of those drawn.
FAR, STAYS = 0.2, 0.01


@dataclass(frozen=True, eq=False)
class Made:
    """A result, and what it took to make its wishes hold."""

    result: Result
    settled: Settled | None

    @property
    def spoiled(self) -> bool:
        """Whether a wish does not hold, or elements lie on top of each other."""
        settled = self.settled
        close = settled is not None and settled.close > 0 and not settled.heavy
        return close or not self.result.report.holds

    @property
    def far(self) -> bool:
        """Whether it is spoiled, or settling had to move much."""
        settled = self.settled
        far = settled is not None and settled.moved > FAR and not settled.heavy
        return far or self.spoiled

    @property
    def need(self) -> tuple[bool, int, float, float]:
        """How far a layout is from what was asked for; the less the better."""
        settled = self.settled
        close, moved = (0, 0.0) if settled is None else (settled.close, settled.moved)
        # Where little moved, the first draw is as good as any: choosing by less would prefer what
        # is simple, and layouts would differ from what the network draws.
        report = self.result.report
        return not report.holds, close, -report.score, max(moved, FAR)


def reopened(condition: Condition, made: Made) -> Condition | None:
    """The condition with all listed elements known, but those that were moved far or are on top.

    Elements that were not listed are drawn anew, as many as there were. None: all would stay.
    """
    if made.settled is None or not made.far:
        return None
    layout, n = made.result.layout, len(condition)
    open_: NDArray[np.bool_] = made.settled.moves > STAYS
    open_[made.settled.crowded] = True
    if not open_.any():
        return None
    stay = ~open_[:n, None]
    wanted = [condition.labels.index(label) for label in layout.labels[:n]]
    choices = np.zeros_like(condition.label_choices)
    choices[np.arange(n), wanted] = True
    return replace(
        condition,
        label_choices=choices,
        fixed=np.where(stay, layout.boxes[:n], condition.fixed),
        about=np.where(stay, np.nan, condition.about),
        within=np.where(stay, np.nan, condition.within),
        bound=condition.bound & ~stay,
        min_elements=len(layout),
        max_elements=len(layout),
    )

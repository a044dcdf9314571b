"""What wishes say about widths and heights: areas, aspect ratios, and sizes that are the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.plan.batch import Batch
from layoutdm.relations import SIZE_TOLERANCE, Relation
from layoutdm.terms.rows import Rows

Floats = NDArray[np.float64]

_LESS, _MORE = 1 - SIZE_TOLERANCE, 1 + SIZE_TOLERANCE
# least and greatest share of the other's area
_SHARES = {
    Relation.SMALLER: (0.0, _LESS),
    Relation.EQUAL_SIZE: (_LESS, _MORE),
    Relation.LARGER: (_MORE, np.inf),
}
_SAME = {Relation.SAME_WIDTH: 2, Relation.SAME_HEIGHT: 3}


class Sizes:
    """The limits of sizes, as far as other values are decided."""

    def __init__(self, batch: Batch) -> None:
        areas: list[tuple[float, ...]] = []
        same: list[tuple[int, ...]] = []
        size, slots, _ = batch.tokens.shape
        self._slots = slots
        self._area, self._aspect = (np.full((size, slots), np.nan) for _ in range(2))
        for row, condition in enumerate(batch.conditions):
            n = len(condition)
            self._area[row, :n] = condition.area
            self._aspect[row, :n] = condition.aspect_ratio
            hard = np.isnan(condition.relation_strength)
            for of, code, to in condition.relations[hard].tolist():
                if code in _SHARES:
                    least, most = _SHARES[Relation(code)]
                    areas.append((row, of, to, least, most))
                    if to >= 0:
                        back = (1 / most if most else np.inf, 1 / least if least else np.inf)
                        areas.append((row, to, of, *back))
                elif code in _SAME and to >= 0:
                    same.append((row, of, to, _SAME[Relation(code)]))
                    same.append((row, to, of, _SAME[Relation(code)]))
        self._shares = np.array(areas, np.float64).reshape(-1, 5)
        self._same = np.array(same, np.intp).reshape(-1, 4)

    def limits(self, rows: Rows, boxes: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The least and greatest width or height, narrowed."""
        a = rows.modality - 1
        other = boxes[rows.layout, rows.slot, 5 - a]  # height of a width, width of a height
        least, most = self._areas(rows, boxes)
        area = self._area[rows.layout, rows.slot]
        wished = np.isfinite(area)
        least = np.where(wished, np.maximum(least, _LESS * area), least)
        most = np.where(wished, np.minimum(most, _MORE * area), most)
        known = np.isfinite(other)
        across = np.where(known, other, 1.0)
        low = np.maximum(low, least / np.maximum(across, 1e-6))
        high = np.where(known, np.minimum(high, most / np.maximum(across, 1e-6)), high)
        ratio = self._aspect[rows.layout, rows.slot]
        ratio = ratio if a == 3 else 1 / ratio
        tied = np.isfinite(ratio) & known
        low = np.where(tied, np.maximum(low, _LESS * ratio * across), low)
        high = np.where(tied, np.minimum(high, _MORE * ratio * across), high)
        return self._alike(rows, boxes, low, high)

    def _areas(self, rows: Rows, boxes: Floats) -> tuple[Floats, Floats]:
        """The least and greatest area that relations to decided boxes leave."""
        least, most = np.zeros(len(rows.layout)), np.full(len(rows.layout), np.inf)
        if not len(self._shares):
            return least, most
        layout, of, to = self._shares[:, :3].astype(np.intp).T
        at, found = _matches(rows, layout, of, self._slots)
        boxed = boxes[layout[found], to[found], 2] * boxes[layout[found], to[found], 3]
        known = np.where(to[found] < 0, 1.0, boxed)
        with np.errstate(invalid="ignore"):
            low, high = (self._shares[found, k] * known for k in (3, 4))
        np.maximum.at(least, at, np.where(np.isnan(known), 0.0, low))
        np.minimum.at(most, at, np.where(np.isnan(known), np.inf, high))
        return least, most

    def _alike(self, rows: Rows, boxes: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Sizes that are the same as one that is decided."""
        same = self._same[self._same[:, 3] == rows.modality - 1]
        if not len(same):
            return low, high
        layout, of, to, column = same.T
        at, found = _matches(rows, layout, of, self._slots)
        value = boxes[layout[found], to[found], column[found]]
        known = ~np.isnan(value)
        low, high = low.copy(), high.copy()
        np.maximum.at(low, at[known], value[known])
        np.minimum.at(high, at[known], value[known])
        return low, high


def _matches(
    rows: Rows, layout: NDArray[np.intp], of: NDArray[np.intp], slots: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(places in rows, places in the list) of wishes about what is drawn now."""
    drawn = rows.layout * slots + rows.slot
    order = np.argsort(drawn, kind="stable")
    keys = layout * slots + of
    at = np.minimum(np.searchsorted(drawn[order], keys), len(drawn) - 1)
    found = np.flatnonzero(drawn[order][at] == keys)
    return order[at[found]], found

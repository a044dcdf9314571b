"""The term of the canvas: once a size is decided its centre fits to it, and the other way round."""

from __future__ import annotations

import numpy as np

from layoutdm.terms.rows import Rows
from layoutdm.tokens import Bins


class OnCanvas:
    """Rules out values with which no box of the decided size, or at the decided centre, fits."""

    def __init__(self, bins: Bins) -> None:
        self._wrong = [None]  # of labels
        for modality in (1, 2, 3, 4):
            fits = bins.on_canvas((modality - 1) % 2)  # (sizes, centres)
            fits = fits if modality <= 2 else fits.T
            # PAD and MASK leave all values, and so does a partner with which nothing fits.
            none = np.zeros((2, fits.shape[1]), dtype=bool)
            wrong = np.where(fits.any(axis=1, keepdims=True), ~fits, False)
            self._wrong.append(np.concatenate([wrong, none]))  # type: ignore[arg-type]

    def __call__(self, rows: Rows) -> None:
        wrong = self._wrong[rows.modality]
        if wrong is not None:
            other = rows.view.state.tokens[rows.layout, rows.slot, partner(rows.modality)]
            found = wrong[other]
            if found.any():
                rows.rule_out(found)


def partner(modality: int) -> int:
    """Of x the width, of y the height, and the other way round; all as numbers of modalities."""
    return modality + 2 if modality <= 2 else modality - 2

"""What a model gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.constraints import Report
from layoutdm.layout import Layout


@dataclass(frozen=True, eq=False)
class Frame:
    """A state on the way: what is decided so far of each element at a level of noise."""

    level: int
    labels: tuple[str | None, ...]
    boxes: NDArray[np.float64]  # (elements, 4), NaN where not decided

    def reordered(self, order: NDArray[np.int64]) -> Frame:
        """The same state with its elements in another order."""
        return Frame(self.level, tuple(self.labels[i] for i in order), self.boxes[order])


@dataclass(frozen=True, eq=False)
class Result:
    """One layout, and how far it meets the request.

    Names of the request's elements are in `layout.metadata["names"]`, None for added ones.
    """

    layout: Layout
    report: Report
    seed: int
    index: int
    invalid: int = 0  # slots that mixed values and PAD, and were left out
    attempts: int = 1
    trace: tuple[Frame, ...] = ()

    @property
    def met(self) -> bool:
        """Whether every wish of the request is met."""
        return self.report.met

    def as_dict(self) -> dict[str, Any]:
        """The layout's native record with the report beside it."""
        return {**self.layout.as_dict(), "report": self.report.as_dict()}

"""What a model gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layoutdm.generator import Frame
from layoutdm.layout import Layout
from layoutdm.spec.report import Report


@dataclass(frozen=True, eq=False)
class Result:
    """One layout, and how far it meets the request.

    Names of the request's elements are in `layout.metadata["names"]`, None for added ones.
    """

    layout: Layout
    report: Report
    seed: int
    index: int
    attempts: int = 1
    outside: int = 0  # elements that were drawn beyond the canvas, and moved onto it
    trace: tuple[Frame, ...] = ()

    @property
    def met(self) -> bool:
        """Whether every wish of the request is met."""
        return self.report.met

    def as_dict(self) -> dict[str, Any]:
        """The layout's native record, the report, and the trace where there is one."""
        record = {**self.layout.as_dict(), "report": self.report.as_dict()}
        if self.trace:
            record["trace"] = [_frame(frame) for frame in self.trace]
        return record


def _frame(frame: Frame) -> dict[str, Any]:
    """A state on the way; None stands for what is not decided yet."""
    boxes = [[None if value != value else value for value in box] for box in frame.boxes.tolist()]
    return {"level": frame.level, "labels": list(frame.labels), "boxes": boxes}

"""What the numbers of a request mean, and how they are said in sentences about it.

>>> phone = Unit((390.0, 844.0), pixels=True)
>>> phone.said("width", 0.5), phone.span("width"), Unit().said("width", 0.5)
('195 px', '0 to 390 px', '0.5')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layoutdm.spec.model import Spec

_ACROSS = ("left", "right", "x", "width", "left_of", "right_of")


@dataclass(frozen=True)
class Unit:
    """Shares of the canvas, or pixels of one."""

    scales: tuple[float, float] = (1.0, 1.0)  # what numbers along x and y are divided by
    pixels: bool = False

    @classmethod
    def of(cls, spec: Spec) -> Unit:
        """The unit of a request; pixels of no canvas count as shares."""
        if spec.unit == "share" or spec.canvas is None:
            return cls()
        return cls((spec.canvas.width, spec.canvas.height), True)

    def scale(self, field: str) -> float:
        """Of a field or relation; an area has that of the whole canvas."""
        width, height = self.scales
        return width * height if field == "area" else width if field in _ACROSS else height

    def said(self, field: str, share: float) -> str:
        """A share of the canvas as the user would say it."""
        if not self.pixels:
            return f"{share:.6g}"
        pixels = "square px" if field == "area" else "px"
        return f"{round(share * self.scale(field), 3):.9g} {pixels}"

    def most(self, field: str) -> str:
        """The whole canvas along a field."""
        return self.said(field, 1.0)

    def span(self, field: str) -> str:
        """From one end of the canvas to the other."""
        return f"0 to {self.most(field)}"

    def ratio(self, shares: float) -> float:
        """Height / width, from shares to what is seen."""
        width, height = self.scales
        return shares * height / width


SHARES = Unit()

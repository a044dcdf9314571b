"""The paper's filters over whole layouts, with a count of what each removed.

>>> from collections import Counter
>>> from layoutdm import Layout
>>> wide = Layout.create(["text"], [[0.5, 0.5, 0.8, 0.7]], width=4, height=3)
>>> removed = Counter()
>>> list(keep([wide], Filters(), removed)), dict(removed)
([], {'landscape': 1})

Elements outside the canvas or without size never become part of a Layout: the readers of the
original Rico and PubLayNet files drop and count them (`element_flaw`), all other readers call
them bad input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout

# What was removed and why: the keys of `Dataset.removed`.
LANDSCAPE = "landscape"
EMPTY = "no elements"
TOO_MANY = "too many elements"
SHIFTED = "canvas not at (0, 0)"
OUTSIDE = "elements outside the canvas"
NO_SIZE = "elements without size"
OTHER_LABEL = "elements with another label"


@dataclass(frozen=True)
class Filters:
    """Which layouts stay: portrait or square, with min_elements to max_elements elements."""

    min_elements: int = 1
    max_elements: int | None = 25
    portrait: bool = True

    def __post_init__(self) -> None:
        if self.max_elements is not None and self.max_elements < 1:
            raise LayoutdmError(f"max_elements must be at least 1, got {self.max_elements}")

    def reason(self, layout: Layout) -> str | None:
        """Why this layout is removed; None when it stays. The first reason counts."""
        if self.portrait and layout.height < layout.width:
            return LANDSCAPE
        if len(layout) < self.min_elements:
            return EMPTY
        if self.max_elements is not None and len(layout) > self.max_elements:
            return TOO_MANY
        return None


def element_flaw(corners: Sequence[float], width: float, height: float) -> str | None:
    """Why an element (left, top, right, bottom, in pixels) is dropped; None when it stays."""
    left, top, right, bottom = corners
    if left < 0 or top < 0 or right > width or bottom > height:
        return OUTSIDE
    if right <= left or bottom <= top:
        return NO_SIZE
    return None


PAPER = Filters()
NONE = Filters(min_elements=0, max_elements=None, portrait=False)


def keep(layouts: Iterable[Layout], filters: Filters, removed: Counter[str]) -> Iterator[Layout]:
    """The layouts that stay; the others are counted in `removed` by reason."""
    for layout in layouts:
        reason = filters.reason(layout)
        if reason is None:
            yield layout
        else:
            removed[reason] += 1

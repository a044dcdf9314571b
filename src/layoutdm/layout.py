"""The value types: a Layout is label names and boxes on a canvas.

>>> layout = Layout.create(["title", "text"], [[0.5, 0.1, 0.8, 0.1], [0.5, 0.6, 0.8, 0.7]])
>>> len(layout), layout.labels
(2, ('title', 'text'))
>>> layout.corners()[0].round(3).tolist()
[0.1, 0.05, 0.9, 0.15]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from layoutdm import boxes as box_math
from layoutdm.boxes import (
    EDGE_TOLERANCE,
    FIELDS,
    Boxes,
    all_right,
    box_problem,
    reading_order,
)
from layoutdm.errors import LayoutdmError, shown
from layoutdm.one_liners import OneLiners

__all__ = ["EDGE_TOLERANCE", "FIELDS", "Element", "Layout"]


@dataclass(frozen=True)
class Element:
    """One labelled box: centre x, centre y, width, height, as shares of the canvas."""

    label: str
    x: float
    y: float
    width: float
    height: float

    def __post_init__(self) -> None:
        name = f"element {shown(self.label)}"
        if not isinstance(self.label, str) or not self.label:
            raise LayoutdmError(f"element: label must be a non-empty text, got {shown(self.label)}")
        for field_name, value in zip(FIELDS, self.box, strict=True):
            if not _is_number(value):
                raise LayoutdmError(f"{name}: {field_name} must be a number, got {shown(value)}")
        problem = box_problem(self.box)
        if problem:
            raise LayoutdmError(f"{name}: {problem}")

    @property
    def box(self) -> tuple[float, float, float, float]:
        return (self.x, self.y, self.width, self.height)

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """(left, top, right, bottom)."""
        w, h = self.width / 2, self.height / 2
        return (self.x - w, self.y - h, self.x + w, self.y + h)

    @property
    def area(self) -> float:
        return self.width * self.height


@dataclass(frozen=True, eq=False)
class Layout(OneLiners):
    """Labels and boxes (centre x, centre y, width, height in 0..1) on a canvas; never changes."""

    labels: tuple[str, ...]
    boxes: Boxes
    width: float = 1.0
    height: float = 1.0
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_types(self)
        boxes = _rows(self.boxes, _name(self))
        boxes.flags.writeable = False
        object.__setattr__(self, "boxes", boxes)
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))
        _check(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and deepcopy, which cannot take the read-only view of the metadata."""
        values = (self.labels, self.boxes, self.width, self.height, self.id, dict(self.metadata))
        return (Layout, values)

    @classmethod
    def create(
        cls,
        labels: Sequence[str],
        boxes: ArrayLike,
        *,
        width: float = 1.0,
        height: float = 1.0,
        id: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> Layout:
        """Build from anything array-like; a wrong shape or type gets one clear sentence."""
        # The constructor makes of both what the fields say, after a look at them.
        return cls(cast(Any, labels), cast(Any, boxes), width, height, id, metadata or {})

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Element]:
        for label, box in zip(self.labels, self.boxes, strict=True):
            yield Element(label, *(float(v) for v in box))

    def __getitem__(self, index: int) -> Element:
        return Element(self.labels[index], *(float(v) for v in self.boxes[index]))

    def __eq__(self, other: object) -> bool:
        """Same canvas, id, labels and boxes, in the same order; metadata takes no part."""
        if not isinstance(other, Layout):
            return NotImplemented
        return self.approx_equal(other, tolerance=0.0) and self.id == other.id

    def __hash__(self) -> int:
        boxes = (self.boxes + 0.0).tobytes()  # so that -0.0 counts as 0.0, which it equals
        return hash((self.id, self.labels, self.width, self.height, boxes))

    def approx_equal(self, other: Layout, tolerance: float = 1e-6) -> bool:
        """Same canvas, labels and order, and no box coordinate further off than `tolerance`."""
        return (
            self.labels == other.labels
            and (self.width, self.height) == (other.width, other.height)
            and bool(np.all(np.abs(self.boxes - other.boxes) <= tolerance))
        )

    # Boxes in other conventions ------------------------------------------------------------

    def _scaled(self, boxes: Boxes, pixels: bool) -> Boxes:
        return boxes * box_math.canvas_scale(self.width, self.height) if pixels else boxes

    def centres(self, *, pixels: bool = False) -> Boxes:
        """(centre x, centre y, width, height) rows."""
        return self._scaled(self.boxes, pixels)

    def corners(self, *, pixels: bool = False) -> Boxes:
        """(left, top, right, bottom) rows."""
        return self._scaled(box_math.to_corners(self.boxes), pixels)

    def left_top(self, *, pixels: bool = False) -> Boxes:
        """(left, top, width, height) rows."""
        return self._scaled(box_math.to_left_top(self.boxes), pixels)

    @property
    def areas(self) -> Boxes:
        return np.asarray(self.boxes[:, 2] * self.boxes[:, 3])

    # Orders ----------------------------------------------------------------------------------

    def take(self, indices: ArrayLike) -> Layout:
        """The elements at these indices, in this order."""
        order = np.asarray(indices, dtype=np.intp)
        return replace(self, labels=tuple(self.labels[i] for i in order), boxes=self.boxes[order])

    def sorted_top_left(self) -> Layout:
        """By top edge, then left edge, then label; ties keep their order."""
        corners = self.corners()
        return self.take(reading_order(corners[:, 0], corners[:, 1], np.array(self.labels)))

    def sorted_by_label(self) -> Layout:
        """By label name; elements of one label keep their order."""
        return self.take(sorted(range(len(self)), key=lambda i: self.labels[i]))

    def shuffled(self, seed: int) -> Layout:
        """In an order drawn with this seed."""
        return self.take(np.random.default_rng(seed).permutation(len(self)))


def _name(layout: Layout) -> str:
    return f"layout {shown(layout.id)}" if layout.id else "layout"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _check_types(layout: Layout) -> None:
    """Raise one sentence if a field cannot be looked into, or return."""
    if not isinstance(layout.id, str):
        raise LayoutdmError(f"layout: id must be a text, got {shown(layout.id)}")
    if isinstance(layout.labels, str) or not isinstance(layout.labels, Iterable):
        raise LayoutdmError(
            f"{_name(layout)}: labels must be a list of texts, got {shown(layout.labels)}"
        )
    if not isinstance(layout.metadata, Mapping):
        raise LayoutdmError(
            f"{_name(layout)}: metadata must be a dictionary, got {shown(layout.metadata)}"
        )


def _rows(boxes: ArrayLike, name: str) -> Boxes:
    """A fresh array of shape (elements, 4), or one sentence."""
    try:
        rows = np.array(boxes, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise LayoutdmError(
            f"{name}: boxes must be rows of four numbers (centre x, centre y, width, height), "
            f"but they cannot be read as numbers: {error}"
        ) from None
    if rows.size == 0:
        return rows.reshape(0, 4)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise LayoutdmError(f"{name}: boxes must have shape (elements, 4), got {rows.shape}")
    return rows


def _check(layout: Layout) -> None:
    """Raise one sentence that names the element and the field, or return."""
    name = _name(layout)
    for side in ("width", "height"):
        value = getattr(layout, side)
        if not _is_number(value):
            raise LayoutdmError(f"{name}: canvas {side} must be a number, got {shown(value)}")
        if not (np.isfinite(value) and value > 0):
            raise LayoutdmError(f"{name}: canvas {side} must be positive, got {value}")
    if len(layout.labels) != len(layout.boxes):
        raise LayoutdmError(
            f"{name}: {len(layout.labels)} labels but {len(layout.boxes)} boxes; "
            "each element needs one of both"
        )
    for index, label in enumerate(layout.labels):
        if not isinstance(label, str) or not label:
            raise LayoutdmError(
                f"{name}: element {index}: label must be a non-empty text, got {shown(label)}"
            )
    if all_right(layout.boxes):
        return
    for index, box in enumerate(layout.boxes.tolist()):
        problem = box_problem(box)
        if problem:
            raise LayoutdmError(f"{name}: element {index} ({layout.labels[index]}): {problem}")

"""The value types: a Layout is label names and boxes on a canvas.

>>> layout = Layout.create(["title", "text"], [[0.5, 0.1, 0.8, 0.1], [0.5, 0.6, 0.8, 0.7]])
>>> len(layout), layout.labels
(2, ('title', 'text'))
>>> layout.corners()[0].round(3).tolist()
[0.1, 0.05, 0.9, 0.15]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from layoutdm import boxes as box_math
from layoutdm.boxes import Boxes
from layoutdm.errors import LayoutdmError

FIELDS = ("x", "y", "width", "height")

# Files round coordinates: a box may stick out of the canvas by this much and still count as inside.
EDGE_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Element:
    """One labelled box: centre x, centre y, width, height, as shares of the canvas."""

    label: str
    x: float
    y: float
    width: float
    height: float

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
class Layout:
    """Labels and boxes (centre x, centre y, width, height in 0..1) on a canvas; never changes."""

    labels: tuple[str, ...]
    boxes: Boxes
    width: float = 1.0
    height: float = 1.0
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        boxes = np.array(self.boxes, dtype=np.float64).reshape(-1, 4)
        boxes.flags.writeable = False
        object.__setattr__(self, "boxes", boxes)
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))
        _check(self)

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
        try:
            array = np.array(boxes, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise LayoutdmError(
                f"layout {id!r}: boxes must be rows of four numbers (centre x, centre y, width, "
                f"height), but they cannot be read as numbers: {error}"
            ) from None
        if array.size == 0:
            array = array.reshape(0, 4)
        if array.ndim != 2 or array.shape[1] != 4:
            raise LayoutdmError(
                f"layout {id!r}: boxes must have shape (elements, 4), got {array.shape}"
            )
        return cls(tuple(labels), array, width, height, id, dict(metadata or {}))

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
        return hash((self.id, self.labels, self.width, self.height, self.boxes.tobytes()))

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
        return self.take(np.lexsort((np.array(self.labels), corners[:, 0], corners[:, 1])))

    def sorted_by_label(self) -> Layout:
        """By label name; elements of one label keep their order."""
        return self.take(sorted(range(len(self)), key=lambda i: self.labels[i]))

    def shuffled(self, seed: int) -> Layout:
        """In an order drawn with this seed."""
        return self.take(np.random.default_rng(seed).permutation(len(self)))

    # Formats: one-liners over layoutdm.formats ------------------------------------------------

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Layout:
        """From a native record: {"id", "width", "height", "labels", "boxes"}."""
        from layoutdm.formats.jsonl import from_record

        return from_record(record)

    def as_dict(self) -> dict[str, Any]:
        """As a native record, ready for json.dumps."""
        from layoutdm.formats.jsonl import to_record

        return to_record(self)

    @classmethod
    def from_file(cls, path: str | Path, format: str | None = None) -> Layout:
        """The first layout of a file or folder in any readable format."""
        from layoutdm.formats import read

        for layout in read(path, format=format):
            return layout
        raise LayoutdmError(f"{path}: holds no layout; it should hold at least one")

    def as_svg(self) -> str:
        from layoutdm.formats.svg import to_svg

        return to_svg(self)

    def as_html(self, mode: str = "absolute") -> str:
        from layoutdm.formats.html import to_html

        return to_html(self, mode=mode)

    def save(self, path: str | Path, format: str | None = None) -> Path:
        """Write this one layout; the format follows from the path unless given."""
        from layoutdm.formats import write

        return write([self], path, format=format)


def _check(layout: Layout) -> None:
    """Raise one sentence that names the element and the field, or return."""
    name = f"layout {layout.id!r}" if layout.id else "layout"
    for side in ("width", "height"):
        value = getattr(layout, side)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise LayoutdmError(f"{name}: canvas {side} must be a number, got {value!r}")
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
                f"{name}: element {index}: label must be a non-empty text, got {label!r}"
            )
    if _all_right(layout.boxes):
        return
    for index, box in enumerate(layout.boxes):
        problem = box_problem(box)
        if problem:
            raise LayoutdmError(f"{name}: element {index} ({layout.labels[index]}): {problem}")


def _all_right(boxes: Boxes) -> bool:
    """Whether no box has a problem, in one look: data sets hold millions of them."""
    with np.errstate(invalid="ignore"):  # infinity minus infinity, which fails below as NaN does
        half = boxes[:, 2:] / 2
        low, high = boxes[:, :2] - half, boxes[:, :2] + half
    inside = (low >= -EDGE_TOLERANCE) & (high <= 1 + EDGE_TOLERANCE) & (half > 0)
    return bool(inside.all())


def box_problem(box: ArrayLike) -> str | None:
    """What is wrong with a normalised centre box, as half a sentence; None when it is right."""
    values = np.asarray(box, dtype=np.float64)
    for field_name, value in zip(FIELDS, values, strict=True):
        if not np.isfinite(value):
            return f"{field_name} must be a finite number, got {value}"
    for field_name, value in zip(FIELDS[2:], values[2:], strict=True):
        if value <= 0:
            return f"{field_name} must be greater than 0, got {value:g}"
    for axis, field_name in enumerate(FIELDS[:2]):
        low, high = values[axis] - values[axis + 2] / 2, values[axis] + values[axis + 2] / 2
        if low < -EDGE_TOLERANCE or high > 1 + EDGE_TOLERANCE:
            return (
                f"{field_name} spans {low:.6g} to {high:.6g}, which leaves the canvas; "
                "it should lie within 0 to 1"
            )
    return None

"""Layouts as padded arrays, the one input that every metric takes.

>>> from layoutdm.layout import Layout
>>> page = Layout.create(["title", "text"], [[0.5, 0.1, 0.8, 0.1], [0.5, 0.6, 0.8, 0.7]])
>>> packed = pack([page, page.take([1])], ["text", "title"])
>>> packed.bbox.shape, packed.label.tolist(), packed.mask.sum(1).tolist()
((2, 2, 4), [[1, 0], [0, 0]], [2, 1])

Where the mask is False, box and label mean nothing: no metric looks at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# Pairs of elements looked at at once.
PAIRS = 500_000


@dataclass(frozen=True, eq=False)
class Packed:
    """Boxes (B, S, 4) centre x, centre y, width, height; labels (B, S); mask (B, S) True = valid.

    Unpacks like a tuple: `bbox, label, mask = packed`.
    """

    bbox: Floats
    label: Ints
    mask: Bools

    def __post_init__(self) -> None:
        bbox, mask = check_boxes(self.bbox, self.mask)
        label = np.asarray(self.label)
        if label.shape != mask.shape:
            raise LayoutdmError(
                f"label: shape {label.shape} does not match the mask's {mask.shape}; "
                "both must be (layouts, elements)"
            )
        if not np.issubdtype(label.dtype, np.integer):
            raise LayoutdmError(f"label: must hold integers, got {label.dtype}")
        if np.any(label[mask] < 0):
            raise LayoutdmError("label: a valid element has a negative label; indices start at 0")
        object.__setattr__(self, "bbox", bbox)
        object.__setattr__(self, "label", label.astype(np.int64))
        object.__setattr__(self, "mask", mask)

    def __len__(self) -> int:
        """How many layouts."""
        return len(self.mask)

    def __iter__(self) -> Iterator[NDArray[np.generic]]:
        yield from (self.bbox, self.label, self.mask)

    @property
    def counts(self) -> Ints:
        """Number of valid elements of each layout."""
        return np.asarray(self.mask.sum(axis=1), dtype=np.int64)

    def take(self, indices: ArrayLike) -> Packed:
        """These layouts, in this order."""
        rows = np.asarray(indices)
        return Packed(self.bbox[rows], self.label[rows], self.mask[rows])


# What two-set metrics accept: a Packed, or the three arrays in a tuple.
Layouts = Packed | tuple[ArrayLike, ArrayLike, ArrayLike]


def pack(layouts: Sequence[Layout], labels: Sequence[str], *, length: int | None = None) -> Packed:
    """Pad layouts to one length (the longest, or `length`); labels become positions in `labels`."""
    layouts = list(layouts)
    index = {name: position for position, name in enumerate(labels)}
    longest = max((len(layout) for layout in layouts), default=0)
    size = longest if length is None else length
    if size < longest:
        raise LayoutdmError(
            f"length is {size}, but a layout has {longest} elements; it must be at least that"
        )
    bbox = np.zeros((len(layouts), size, 4))
    label = np.zeros((len(layouts), size), dtype=np.int64)
    mask = np.zeros((len(layouts), size), dtype=bool)
    for row, layout in enumerate(layouts):
        try:
            label[row, : len(layout)] = [index[name] for name in layout.labels]
        except KeyError as missing:
            name = repr(layout.id) if layout.id else str(row)
            raise LayoutdmError(
                f"layout {name}: label {missing.args[0]!r} is not among the labels "
                f"{', '.join(labels) or '(none)'}"
            ) from None
        bbox[row, : len(layout)] = layout.boxes
        mask[row, : len(layout)] = True
    return Packed(bbox, label, mask)


def as_packed(layouts: Layouts) -> Packed:
    """A Packed from a Packed or from a (bbox, label, mask) tuple, checked."""
    if isinstance(layouts, Packed):
        return layouts
    if isinstance(layouts, (str, bytes)) or not isinstance(layouts, Sequence) or len(layouts) != 3:
        raise LayoutdmError(
            "layouts must be given as Packed or as a (bbox, label, mask) tuple of arrays, "
            f"got {type(layouts).__name__}"
        )
    bbox, label, mask = layouts
    return Packed(np.asarray(bbox), np.asarray(label), np.asarray(mask))


def check_boxes(bbox: ArrayLike, mask: ArrayLike) -> tuple[Floats, Bools]:
    """Boxes as float64 and mask as bool, or one sentence about what is wrong with them."""
    boxes, valid = np.asarray(bbox), np.asarray(mask)
    if boxes.ndim != 3 or boxes.shape[-1] != 4:
        raise LayoutdmError(f"bbox: shape must be (layouts, elements, 4), got {boxes.shape}")
    if valid.shape != boxes.shape[:2]:
        raise LayoutdmError(
            f"mask: shape {valid.shape} does not match the boxes' {boxes.shape[:2]}; "
            "both must be (layouts, elements)"
        )
    if valid.dtype != np.bool_:
        if not np.all((valid == 0) | (valid == 1)):
            raise LayoutdmError("mask: must be True or False (1 or 0) for each element")
        valid = valid.astype(bool)
    # Rubbish in padded slots must not reach any sum, so it is cut off here once for all metrics.
    boxes = np.where(valid[..., None], boxes, 0.0).astype(np.float64)
    wrong = ~np.isfinite(boxes).all(-1) | (boxes[..., 2:] < 0).any(-1)
    if wrong.any():
        row, column = (int(v) for v in np.argwhere(wrong)[0])
        raise LayoutdmError(
            f"bbox: layout {row}, element {column} is {boxes[row, column].tolist()}; a box needs "
            "four finite numbers (centre x, centre y, width, height) and no negative size"
        )
    return boxes, valid


def blocks(mask: Bools) -> Iterator[slice]:
    """Slices of layouts, so many at a time that a (B, S, S) array stays at some tens of MB."""
    step = max(1, PAIRS // max(mask.shape[1], 1) ** 2)
    for start in range(0, len(mask), step):
        yield slice(start, start + step)


def mean_of(values: Floats) -> float:
    """Mean over layouts; an empty set has none, so it is refused."""
    if values.size == 0:
        raise LayoutdmError("no layouts: an empty set has no mean; give at least one")
    return float(values.mean())

"""From what a generator drew to a layout: fixed values as given, every box on the canvas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.generator import Drawn
from layoutdm.layout import Layout
from layoutdm.settle import Settled, has_wishes, settle, tidy_boxes
from layoutdm.settle.tidy import MARGIN, MOST
from layoutdm.spec import Condition
from layoutdm.spec.drafts import CAREFUL
from layoutdm.spec.report import report
from layoutdm.terms.apart import Apart

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TRUST = 0.4  # share of a generator's changes to a careful draft that is taken over
SAME_SHAPE = 0.1  # canvases whose height / width differ by less count as of one shape
OUTSIDE = 0.01  # of the canvas: a box that sticks out by more has left it
SMALLEST = 1e-3  # free sizes are at least this share of the canvas: a box must have an area


@dataclass(frozen=True, eq=False)
class Fitted:
    """A layout, and what it took to make its wishes hold; None: nothing was wished."""

    layout: Layout
    settled: Settled | None = None
    outside: int = 0  # elements that were drawn beyond the canvas


def layout_of(
    drawn: Drawn,
    row: int,
    condition: Condition,
    canvas: tuple[float, float],
    id: str = "",
    *,
    hold: bool = False,
    tidy: bool = False,
    apart: Apart | None = None,
) -> Fitted:
    """One drawn layout; its first elements are the listed ones, in their order.

    hold: wishes are made to hold; tidy: what is nearly equal becomes equal; apart: which labels
    keep apart while wishes are made to hold.
    """
    there = drawn.mask[row]
    boxes, labels = drawn.box[row][there], drawn.label[row][there]
    fixed = np.zeros(boxes.shape, dtype=bool)
    n = min(len(condition), len(boxes))
    given = np.isfinite(condition.fixed[:n])
    boxes[:n][given] = condition.fixed[:n][given]
    fixed[:n] = given
    careful = condition.noise < CAREFUL and n == len(condition)
    if careful:
        boxes[:n] = kept_draft(boxes[:n], condition)
    settled, outside = None, leaving(boxes)
    boxes = fit_boxes(boxes, fixed)
    if hold and n == len(condition) and (careful or has_wishes(condition)):
        keep = (None, 0.1) if apart is None else (apart.labels, apart.free)
        settled = settle(condition, boxes, labels, *keep)
        boxes = fit_boxes(settled.boxes, fixed)
    if (tidy or careful) and len(boxes):
        margins = (1.5 * condition.noise,) * 2 if careful and not tidy else (MARGIN, MOST)
        tidied = fit_boxes(tidy_boxes(boxes, *margins, condition=condition), fixed)
        if _holds(condition, tidied, labels) or not _holds(condition, boxes, labels):
            boxes = tidied
    metadata: dict[str, Any] = {}
    if any(name is not None for name in condition.names):
        metadata["names"] = [*condition.names, *(None,) * (len(boxes) - len(condition))]
    if condition.canvas is not None:
        metadata.update(other_shape(condition.canvas, canvas))
    names = tuple(condition.labels[label] for label in labels)
    layout = Layout(names, boxes, *(condition.canvas or canvas), id, metadata)
    return Fitted(layout, settled, outside)


def _holds(condition: Condition, boxes: Floats, labels: Any) -> bool:
    """Whether these boxes meet all wishes that must hold."""
    names = tuple(condition.labels[label] for label in labels)
    return report(condition, Layout(names, boxes, 1.0, 1.0)).holds


def kept_draft(boxes: Floats, condition: Condition) -> Floats:
    """A careful draft, with a share of what the generator would change within its noise."""
    change = boxes - condition.about
    change = TRUST * np.clip(change, -2 * condition.noise, 2 * condition.noise)
    return np.where(np.isfinite(condition.about), condition.about + change, boxes)


def other_shape(asked: tuple[float, float], own: tuple[float, float]) -> dict[str, Any]:
    """What is said of a canvas whose shape differs from that of the model's data."""
    shape, usual = asked[1] / asked[0], own[1] / own[0]
    if own == (1.0, 1.0) or abs(shape / usual - 1) < SAME_SHAPE:
        return {}
    return {"trained_on": f"{own[0]:g} x {own[1]:g}; shares of it are used on this canvas"}


def leaving(boxes: Floats) -> int:
    """How many boxes leave the canvas by more than rounding to bins may make them.

    >>> leaving(np.array([[0.9, 0.5, 0.4, 0.2], [0.5, 0.5, 1.01, 1.0]]))
    1
    """
    ends = np.concatenate([boxes[:, 2:] / 2 - boxes[:, :2], boxes[:, :2] + boxes[:, 2:] / 2 - 1], 1)
    return int((ends > OUTSIDE).any(axis=1).sum())


def fit_boxes(boxes: Floats, fixed: Bools) -> Floats:
    """Move and shrink free values, never fixed ones, until each box lies inside the canvas.

    >>> free = np.zeros((1, 4), dtype=bool)
    >>> fit_boxes(np.array([[0.9, 0.5, 0.4, 0.2]]), free).round(3).tolist()
    [[0.8, 0.5, 0.4, 0.2]]
    """
    centre, size = boxes[:, :2].copy(), boxes[:, 2:].copy()
    centre_fixed, size_fixed = fixed[:, :2], fixed[:, 2:]
    room = np.where(centre_fixed, 2 * np.minimum(centre, 1 - centre), 1.0)
    fitted = np.clip(size, SMALLEST, np.maximum(room, 1e-6))
    size = np.where(size_fixed, size, fitted)
    moved = np.clip(centre, size / 2, np.maximum(1 - size / 2, size / 2))
    return np.concatenate([np.where(centre_fixed, centre, moved), size], axis=1)

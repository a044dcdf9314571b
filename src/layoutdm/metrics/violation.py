"""Relation violation rate: the share of asked relations that generated layouts break.

>>> import numpy as np
>>> bbox = np.array([[[0.5, 0.2, 0.8, 0.1], [0.5, 0.7, 0.8, 0.4]]])
>>> mask = np.ones((1, 2), dtype=bool)
>>> edges = relation_edges([[(0, Relation.ABOVE, 1), (0, Relation.LARGER, 1)]])
>>> violation(bbox, mask, edges)  # it is above, but not larger
0.5

Edges are rows (layout, of, is, to): in this layout, element `of` stands in relation `is` to element
`to`; -1 is the canvas. The rules are those of `layoutdm.relations`, which also numbers
the relations; rows of a `Condition`'s relations, with the layout's number in front, are edges.
Lower is better. An element that is missing from the generated layout breaks its relations.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from layoutdm.errors import LayoutdmError
from layoutdm.metrics.pack import Bools, Floats, Ints, check_boxes
from layoutdm.relations import CANVAS, CANVAS_BOX, SIZES, Relation, detect


def relation_edges(relations: Iterable[ArrayLike]) -> Ints:
    """(E, 4) edges from each layout's (r, 3) relations (of, is, to)."""
    rows = [np.zeros((0, 4), dtype=np.int64)]
    for layout, part in enumerate(relations):
        triples = np.asarray(part, dtype=np.int64).reshape(-1, 3)
        rows.append(np.insert(triples, 0, layout, axis=1))
    return np.concatenate(rows)


def violation(
    bbox: ArrayLike, mask: ArrayLike, edges: ArrayLike, *, published: bool = False
) -> float:
    """Mean over layouts of the share of broken relations; layouts without relations are left out.

    `published=True` keeps those in the mean, as the released code does: each counts as 0, so the
    rate comes out lower.
    """
    rates = violations(bbox, mask, edges)
    asked = ~np.isnan(rates)
    if published:
        return float(rates[asked].sum() / max(len(rates), 1))
    return float(rates[asked].mean()) if asked.any() else 0.0


def violations(bbox: ArrayLike, mask: ArrayLike, edges: ArrayLike) -> Floats:
    """The share of broken relations of each layout; NaN where none was asked."""
    broken = broken_edges(bbox, mask, edges)
    rows = np.asarray(edges, dtype=np.int64).reshape(-1, 4)
    size = len(np.asarray(mask))
    asked = np.bincount(rows[:, 0], minlength=size).astype(np.float64)
    failed = np.bincount(rows[:, 0], weights=broken, minlength=size)
    return np.asarray(np.divide(failed, asked, out=np.full(size, np.nan), where=asked > 0))


def broken_edges(bbox: ArrayLike, mask: ArrayLike, edges: ArrayLike) -> Bools:
    """(E,) True where the layouts break the asked relation."""
    boxes, valid = check_boxes(bbox, mask)
    layout, of, asked, to = _checked(edges, valid.shape)
    box_of, box_to = _boxes(boxes, layout, of), _boxes(boxes, layout, to)
    # Against the canvas only the element's own place counts, whichever end the canvas is at.
    canvas = (of == CANVAS) | (to == CANVAS)
    size, _ = detect(box_of, box_to)
    _, place = detect(np.where((of == CANVAS)[:, None], box_to, box_of), box_to, canvas)
    found = np.where(np.isin(asked, SIZES), size, place)
    present = _present(valid, layout, of) & _present(valid, layout, to)
    return np.asarray((found != asked) | ~present)


def _boxes(boxes: Floats, layout: Ints, element: Ints) -> Floats:
    if not layout.size:
        return np.zeros((0, 4))
    return np.where((element == CANVAS)[:, None], np.array(CANVAS_BOX), boxes[layout, element])


def _present(valid: Bools, layout: Ints, element: Ints) -> Bools:
    return np.asarray((element == CANVAS) | valid[layout, element])


def _checked(edges: ArrayLike, shape: tuple[int, ...]) -> tuple[Ints, Ints, Ints, Ints]:
    rows = np.asarray(edges, dtype=np.int64)
    if rows.size == 0:
        rows = rows.reshape(0, 4)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise LayoutdmError(
            f"edges: shape must be (E, 4) with layout, of, is, to in each row, got {rows.shape}"
        )
    layout, of, asked, to = rows.T
    wrong = (layout < 0) | (layout >= shape[0])
    for end in (of, to):
        wrong |= (end < CANVAS) | (end >= shape[1])
    wrong |= ~np.isin(asked, list(Relation)) | (of == to)
    if wrong.any():
        number = int(np.flatnonzero(wrong)[0])
        raise LayoutdmError(
            f"edges: row {number} is {rows[number].tolist()}; it must be a layout below "
            f"{shape[0]}, two different elements below {shape[1]} (-1 for the canvas) and between "
            f"them a relation out of {[int(r) for r in Relation]}"
        )
    return layout, of, asked, to

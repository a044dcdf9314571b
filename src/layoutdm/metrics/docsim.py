"""DocSim: similarity of each generated layout to the real one in the same place of the list.

>>> import numpy as np
>>> bbox = np.array([[[0.5, 0.5, 0.4, 0.4]]])
>>> layouts = (bbox, np.array([[0]]), np.array([[True]]))
>>> round(docsim(layouts, layouts), 6)  # the square root of the area: not 1 for a copy
0.4

Two elements of one label weigh sqrt(smaller area) * 2^(-centre distance - 2 (|dw| + |dh|)), two of
different labels 0. A pair of layouts scores the mean weight of its best one-to-one matching, or 0
when their numbers of elements differ by three or more. Higher is better; the ceiling is what the
real layouts score against themselves.
"""

from __future__ import annotations

import numpy as np

from layoutdm.errors import LayoutdmError
from layoutdm.metrics.matching import best_matching
from layoutdm.metrics.pack import Floats, Layouts, Packed, as_packed, blocks, mean_of

# Layouts whose numbers of elements differ by this much or more are not alike at all.
TOO_DIFFERENT = 3


def docsim(generated: Layouts, reference: Layouts, *, published: bool = False) -> float:
    """Mean over the pairs of `docsims`."""
    return mean_of(docsims(generated, reference, published=published))


def docsims(generated: Layouts, reference: Layouts, *, published: bool = False) -> Floats:
    """One figure per pair of layouts; both sets must be of one length and in one order.

    `published=True` gives the figures of the released code, which fills the matrix of weights in
    the wrong order when the two layouts differ in their number of elements.
    """
    # Rows are the reference, as in the released code; that matters for its wrong order only.
    first, second = as_packed(reference), as_packed(generated)
    if len(first) != len(second):
        raise LayoutdmError(
            f"DocSim compares pairs, but there are {len(second)} generated and {len(first)} "
            "reference layouts; give as many of both, in the same order"
        )
    scores = np.zeros(len(first))
    wider = max(first.mask, second.mask, key=lambda mask: mask.shape[1])
    for block in blocks(wider):
        part = np.arange(len(first))[block]
        scores[part] = _docsims(first.take(part), second.take(part), published)
    return scores


def _docsims(first: Packed, second: Packed, published: bool) -> Floats:
    weights = _weights(*_compact(first), *_compact(second))
    scores = np.zeros(len(first))
    for row, (n, m) in enumerate(zip(first.counts, second.counts, strict=True)):
        if min(n, m) == 0 or abs(n - m) >= TOO_DIFFERENT:
            continue
        weight = weights[row, :n, :m]
        if published:
            weight = weight.T.reshape(n, m)
        scores[row] = weight[best_matching(weight)].mean()
    return scores


def _compact(packed: Packed) -> tuple[Floats, Floats]:
    """Boxes and labels with the valid elements first, in their order."""
    order = np.argsort(~packed.mask, axis=1, kind="stable")
    boxes = np.take_along_axis(packed.bbox, order[..., None], 1)
    return boxes, np.take_along_axis(packed.label, order, 1).astype(np.float64)


def _weights(boxes_1: Floats, label_1: Floats, boxes_2: Floats, label_2: Floats) -> Floats:
    """(B, N, M) weights of all pairs of elements."""
    area_1, area_2 = (boxes[..., 2] * boxes[..., 3] for boxes in (boxes_1, boxes_2))
    gap = boxes_1[:, :, None] - boxes_2[:, None]
    centre = np.sqrt(gap[..., 0] ** 2 + gap[..., 1] ** 2)
    size = np.abs(gap[..., 2]) + np.abs(gap[..., 3])
    weight = np.sqrt(np.minimum(area_1[:, :, None], area_2[:, None])) * np.exp2(-centre - 2 * size)
    return np.where(label_1[:, :, None] == label_2[:, None], weight, 0.0)

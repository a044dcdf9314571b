"""Maximum IoU: how well generated layouts match real ones with the same labels.

>>> import numpy as np
>>> bbox = np.array([[[0.3, 0.3, 0.2, 0.2], [0.7, 0.8, 0.4, 0.1]]])
>>> layouts = (bbox, np.array([[0, 1]]), np.ones((1, 2), dtype=bool))
>>> max_iou(layouts, layouts)
1.0

Layouts are grouped by their multiset of labels; only multisets that occur in both sets count. Two
layouts of a group score the mean IoU of their elements under the best one-to-one matching within
each label. In each group, layouts are matched one to one so that the total is largest, and the
figure is the mean over all matched pairs. Higher is better, 1 is a copy.
"""

from __future__ import annotations

import numpy as np

from layoutdm.boxes import to_corners
from layoutdm.metrics.pack import Floats, Ints, Layouts, Packed, as_packed


def max_iou(generated: Layouts, reference: Layouts, *, published: bool = False) -> float:
    """Mean over matched pairs; 0 when no multiset of labels occurs in both sets.

    `published=True` gives the figure of the released code, which fills each group's score matrix in
    the wrong order when the two sides differ in size, so that a layout can be matched twice.
    """
    scores = max_ious(generated, reference, published=published)
    return float(scores.mean()) if scores.size else 0.0


def max_ious(generated: Layouts, reference: Layouts, *, published: bool = False) -> Floats:
    """The score of each matched pair, group after group."""
    from scipy.optimize import linear_sum_assignment

    first, second = _groups(as_packed(generated)), _groups(as_packed(reference))
    found = [np.zeros(0)]
    for key in first:
        if key not in second or not key:
            continue
        labels = np.frombuffer(key, dtype=np.int64)
        # Rows are the reference, as in the released code; that matters for its wrong order only.
        score = score_matrix(second[key], first[key], labels)
        if published:
            score = score.T.reshape(score.shape)
        found.append(score[linear_sum_assignment(score, maximize=True)])
    return np.concatenate(found)


def score_matrix(first: Floats, second: Floats, labels: Ints) -> Floats:
    """(N, M) pair scores of corner boxes (N, E, 4) and (M, E, 4), elements sorted by label."""
    from scipy.optimize import linear_sum_assignment

    total = np.zeros((len(first), len(second)))
    for label in np.unique(labels):
        a, b = first[:, labels == label], second[:, labels == label]
        for i in range(len(a)):
            iou = _iou(a[i][None, :, None], b[:, None])
            if iou.shape[1] == 1:
                total[i] += iou[:, 0, 0]
                continue
            for j in range(len(b)):
                total[i, j] += iou[j][linear_sum_assignment(iou[j], maximize=True)].sum()
    return total / len(labels)


def _iou(a: Floats, b: Floats) -> Floats:
    low, high = np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])
    shared = np.prod(np.clip(high - low, 0.0, None), axis=-1)
    union = np.prod(a[..., 2:] - a[..., :2], -1) + np.prod(b[..., 2:] - b[..., :2], -1) - shared
    return np.asarray(np.divide(shared, union, out=np.zeros_like(shared), where=union > 0))


def _groups(packed: Packed) -> dict[bytes, Floats]:
    """Corner boxes (N, E, 4) by sorted label multiset; elements sorted by label."""
    corners = to_corners(packed.bbox)
    last = np.iinfo(np.int64).max
    order = np.argsort(np.where(packed.mask, packed.label, last), axis=1, kind="stable")
    label = np.take_along_axis(packed.label, order, 1)
    corners = np.take_along_axis(corners, order[..., None], 1)
    rows: dict[bytes, list[int]] = {}
    for row, count in enumerate(packed.counts):
        rows.setdefault(label[row, :count].tobytes(), []).append(row)
    return {key: corners[index, : len(key) // 8] for key, index in rows.items()}

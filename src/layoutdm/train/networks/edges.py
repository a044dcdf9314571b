"""Which edge of the canvas' grid each pair of a centre and a size falls on.

Boxes are diffused as centres and sizes, because that is what people give. What lines up on a
screen or a page are edges, and to copy a neighbour's edge from centres and sizes a network would
have to add. These tables do the adding: once one of centre and size is known, every value of the
other stands for a left and a right edge, and the network's edge scores are read at these places.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

EDGES = ("left", "right", "top", "bottom")


OUTSIDE = 0.006  # of the canvas: what rounding to bins may carry an edge beyond it
NO_EDGE = 1  # after `count` lines and one place for all edges outside


def edge_tables(centres: Sequence[Sequence[float]], count: int) -> list[NDArray[np.int16]]:
    """For left, right, top, bottom: (sizes + 2, centres + 2) places on a grid of `count` lines.

    `centres` are the bin centres of x, y, width and height. An edge outside the canvas is at place
    `count`. Ids that are no value (PAD, MASK) have no edge: their place is `count` + 1.

    >>> left, right, top, bottom = edge_tables([[0.25, 0.5], [0.5], [0.5, 1.0], [1.0]], 5)
    >>> left.tolist()
    [[0, 1, 6, 6], [5, 0, 6, 6], [6, 6, 6, 6], [6, 6, 6, 6]]
    """
    tables = []
    for edge in range(4):
        axis, side = divmod(edge, 2)
        middle = np.asarray(centres[axis], dtype=np.float64)
        size = np.asarray(centres[2 + axis], dtype=np.float64)
        at = middle[None, :] + (side - 0.5) * size[:, None]
        # Rounded first: values that are meant to be equal differ in their last digits.
        place = np.rint(np.round(np.clip(at, 0.0, 1.0) * (count - 1), 3)).astype(np.int16)
        place[(at < -OUTSIDE) | (at > 1.0 + OUTSIDE)] = count
        tables.append(np.pad(place, ((0, 2), (0, 2)), constant_values=count + NO_EDGE))
    return tables

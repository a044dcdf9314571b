"""The eleven measures of a box that relations compare.

>>> box = np.array([[0.5, 0.4, 0.8, 0.2]])
>>> measures(box)[0, [LEFT, BOTTOM, AREA, WIDTH]].round(2).tolist()
[0.1, 0.5, 0.16, 0.8]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.relations.codes import CANVAS_BOX

Floats = NDArray[np.float64]

LEFT, TOP, RIGHT, BOTTOM, CENTRE_Y, AREA, ASPECT, DISTANCE, CENTRE_X, WIDTH, HEIGHT = range(11)
MEASURES = 11
STRICT = 1e-8
BENT = (ASPECT, DISTANCE)  # neither linear in one attribute nor a product of two

# measure = LINEAR[measure] @ (x, y, width, height); area, aspect and distance are not linear.
LINEAR = np.zeros((MEASURES, 4))
LINEAR[LEFT, [0, 2]] = 1, -0.5
LINEAR[TOP, [1, 3]] = 1, -0.5
LINEAR[RIGHT, [0, 2]] = 1, 0.5
LINEAR[BOTTOM, [1, 3]] = 1, 0.5
LINEAR[CENTRE_X, 0] = LINEAR[CENTRE_Y, 1] = LINEAR[WIDTH, 2] = LINEAR[HEIGHT, 3] = 1
# Which of x, y, width, height each measure depends on.
DEPENDS = LINEAR != 0
DEPENDS[AREA, 2:] = DEPENDS[ASPECT, 2:] = DEPENDS[DISTANCE] = True


@dataclass(frozen=True)
class Term:
    """One part of a relation: of_weight * F_j[of] + to_weight * F_i[to] + constant <= 0.

    strict: less than 0. exact: one half of an equality, whose other half has the other signs.
    """

    of: int
    of_weight: float
    to: int
    to_weight: float
    constant: float = 0.0
    strict: bool = False
    exact: bool = False


def measures(boxes: Floats, extra: bool = True) -> Floats:
    """The measures of each box, (rows, 11); without `extra` aspect and distance are not set."""
    result = np.empty((len(boxes), MEASURES))
    half = boxes[:, 2:] / 2
    np.subtract(boxes[:, :2], half, out=result[:, LEFT : TOP + 1])
    np.add(boxes[:, :2], half, out=result[:, RIGHT : BOTTOM + 1])
    width, height = boxes[:, 2], boxes[:, 3]
    result[:, CENTRE_Y] = boxes[:, 1]
    np.multiply(width, height, out=result[:, AREA])
    result[:, CENTRE_X] = boxes[:, 0]
    result[:, WIDTH : HEIGHT + 1] = boxes[:, 2:]
    if extra:
        np.divide(height, np.maximum(width, 1e-9), out=result[:, ASPECT])
        np.hypot(result[:, LEFT], result[:, TOP], out=result[:, DISTANCE])
    return result


CANVAS_MEASURES = measures(np.array([CANVAS_BOX]))[0]


def box_gradient(slopes: Floats, boxes: Floats, measured: Floats, extra: bool = True) -> Floats:
    """From dE/d(measures) to dE/d(box), shape (rows, 4)."""
    low, high = slopes[:, LEFT : TOP + 1], slopes[:, RIGHT : BOTTOM + 1]
    if extra:
        outward = slopes[:, DISTANCE] / np.maximum(measured[:, DISTANCE], 1e-9)
        low = low + outward[:, None] * measured[:, LEFT : TOP + 1]
    result = np.empty((len(boxes), 4))
    np.add(low, high, out=result[:, :2])
    result[:, 0] += slopes[:, CENTRE_X]
    result[:, 1] += slopes[:, CENTRE_Y]
    np.subtract(high, low, out=result[:, 2:])
    result[:, 2:] *= 0.5
    result[:, 2:] += slopes[:, WIDTH : HEIGHT + 1]
    result[:, 2:] += slopes[:, AREA, None] * boxes[:, :1:-1]  # width by height, height by width
    if extra:
        per_width = slopes[:, ASPECT] / np.maximum(boxes[:, 2], 1e-9)
        result[:, 2] -= per_width * measured[:, ASPECT]
        result[:, 3] += per_width
    return result

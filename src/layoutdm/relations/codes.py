"""The numbers of relations, and what counts as equal."""

from __future__ import annotations

from enum import IntEnum

CANVAS = -1  # the number of the canvas wherever an element's number stands
CANVAS_NAME = "canvas"
CANVAS_BOX: tuple[float, float, float, float] = (0.5, 0.5, 1.0, 1.0)
SIZE_TOLERANCE = 0.1  # the paper's gamma: areas that differ by less count as equal


class Relation(IntEnum):
    """The relations; 1 to 9 as the flags of the published code (0 and 4 mean unknown there)."""

    SMALLER = 1
    EQUAL_SIZE = 2  # the paper's "equal"
    LARGER = 3
    LEFT_OF = 5  # the paper's "left"
    ABOVE = 6  # the paper's "top"; against the canvas: its upper third
    RIGHT_OF = 7  # the paper's "right"
    BELOW = 8  # the paper's "bottom"; against the canvas: its lower third
    OVERLAPPING = 9  # the paper's "center"; against the canvas: its middle third
    LEFT_ALIGNED = 10
    RIGHT_ALIGNED = 11
    TOP_ALIGNED = 12
    BOTTOM_ALIGNED = 13
    CENTERED_WITH = 14
    LEVEL_WITH = 15
    SAME_WIDTH = 16
    SAME_HEIGHT = 17
    INSIDE = 18
    APART = 19


SIZES = (Relation.SMALLER, Relation.EQUAL_SIZE, Relation.LARGER)
# Every two boxes have exactly one of these places.
PLACES = (
    Relation.LEFT_OF,
    Relation.ABOVE,
    Relation.RIGHT_OF,
    Relation.BELOW,
    Relation.OVERLAPPING,
)


def is_size(code: int) -> bool:
    """Whether a relation compares areas."""
    return code <= Relation.LARGER

"""Relations between boxes: their names, their numbers, and the rules that detect them.

>>> import numpy as np
>>> bar, hero = np.array([0.5, 0.05, 1.0, 0.1]), np.array([0.5, 0.4, 0.8, 0.3])
>>> relation_name(int(detect_location(hero, bar)))
'below'
>>> relation_name(int(detect_canvas_location(hero[1])), canvas=True)
'middle'

A relation describes element j ("of") relative to element i ("to"): "hero below bar" has
j = hero and i = bar. Against the canvas only the height of the centre counts.
"""

from __future__ import annotations

from layoutdm.relations.codes import (
    CANVAS,
    CANVAS_BOX,
    CANVAS_NAME,
    PLACES,
    SIZE_TOLERANCE,
    SIZES,
    Relation,
    is_size,
)
from layoutdm.relations.names import (
    CANVAS_NAMES,
    ELEMENT_NAMES,
    PAPER_NAMES,
    paper_name,
    relation_name,
)
from layoutdm.relations.rules import (
    detect,
    detect_all,
    detect_canvas_location,
    detect_location,
    detect_size,
)

__all__ = [
    "CANVAS",
    "CANVAS_BOX",
    "CANVAS_NAME",
    "CANVAS_NAMES",
    "ELEMENT_NAMES",
    "PAPER_NAMES",
    "PLACES",
    "SIZES",
    "SIZE_TOLERANCE",
    "Relation",
    "detect",
    "detect_all",
    "detect_canvas_location",
    "detect_location",
    "detect_size",
    "is_size",
    "paper_name",
    "relation_name",
]

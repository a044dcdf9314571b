"""The names of relations, in requests and in the paper.

>>> relation_name(Relation.ABOVE), relation_name(Relation.ABOVE, canvas=True)
('above', 'top')
"""

from __future__ import annotations

from layoutdm.relations.codes import Relation
from layoutdm.relations.table import CANVAS_KINDS, KINDS, kind_of

ELEMENT_NAMES: dict[str, Relation] = {name: kind.code for name, kind in KINDS.items()}
CANVAS_NAMES: dict[str, Relation] = {name: kind.code for name, kind in CANVAS_KINDS.items()}
PAPER_NAMES: dict[Relation, str] = {
    Relation.SMALLER: "smaller",
    Relation.EQUAL_SIZE: "equal",
    Relation.LARGER: "larger",
    Relation.LEFT_OF: "left",
    Relation.ABOVE: "top",
    Relation.RIGHT_OF: "right",
    Relation.BELOW: "bottom",
    Relation.OVERLAPPING: "center",
}


def relation_name(code: int, canvas: bool = False) -> str:
    """The name of a relation in a request; `canvas` says that it is one against the canvas."""
    return kind_of(code, canvas).name


def paper_name(code: int) -> str:
    """The paper's name of a relation."""
    return PAPER_NAMES[Relation(code)]

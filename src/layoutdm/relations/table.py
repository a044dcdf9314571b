"""Every relation, declared once: its name, other words for it, what it means, and its terms.

>>> KINDS["below"].terms          # its top is not above the other's bottom: TOP_j >= BOTTOM_i
(Term(of=1, of_weight=-1, to=3, to_weight=1, constant=0.0, strict=False, exact=False),)
>>> known("left of").name, known("under"), suggested("under")
('left_of', None, 'below')

The rules that report a relation, the energies that guide towards it, the rows of the solver that
makes it hold, the contradiction check, the JSON schema and the documentation all read this table.
A new relation is a number in codes.py and an entry here.

With e for "strictly" (j is "of", i is "to"):

- smaller: a_j - 0.9 a_i; larger: 1.1 a_i - a_j; equal_size: 0.9 a_i - a_j + e, a_j - 1.1 a_i + e
- above: bottom_j - top_i; below: bottom_i - top_j
- left_of: right_j - left_i, right_of: right_i - left_j, both with "vertical overlap", which is
  top_i - bottom_j + e, top_j - bottom_i + e
- overlapping: left_i - right_j + e, left_j - right_i + e, and vertical overlap
- canvas: top: y - 1/3; middle: 1/3 - y + e, y - 2/3 + e; bottom: 2/3 - y
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from layoutdm.relations.codes import SIZE_TOLERANCE, Relation
from layoutdm.relations.measures import (
    AREA,
    BOTTOM,
    CANVAS_MEASURES,
    CENTRE_X,
    CENTRE_Y,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Term,
)

_LESS, _MORE = 1 - SIZE_TOLERANCE, 1 + SIZE_TOLERANCE


@dataclass(frozen=True)
class Kind:
    """A relation. All its terms must hold; `apart` has none, as it is a choice of four places."""

    name: str
    code: Relation
    means: str
    terms: tuple[Term, ...]
    also: tuple[str, ...] = ()  # words of people who mean it
    mirrored: str = ""  # its name, seen from the other element
    gap: bool = False  # whether a distance can be given; the first term is the one that it moves


def _equal(measure: int, other: int | None = None) -> tuple[Term, ...]:
    to = measure if other is None else other
    return Term(measure, 1, to, -1, exact=True), Term(measure, -1, to, 1, exact=True)


_SHARE_HEIGHT = (Term(BOTTOM, -1, TOP, 1, strict=True), Term(TOP, 1, BOTTOM, -1, strict=True))

_ALL = (
    Kind(
        "above", Relation.ABOVE, "it ends before the other begins, top to bottom",
        (Term(BOTTOM, 1, TOP, -1),), ("over", "on top of", "before", "higher than", "north of"),
        "below", gap=True,
    ),
    Kind(
        "below", Relation.BELOW, "it begins where the other ends or later, top to bottom",
        (Term(TOP, -1, BOTTOM, 1),),
        ("under", "beneath", "underneath", "after", "lower than", "south of", "follows"),
        "above", gap=True,
    ),
    Kind(
        "left_of", Relation.LEFT_OF, "side by side: it ends before the other begins, left to "
        "right, and they share some height",
        (Term(RIGHT, 1, LEFT, -1), *_SHARE_HEIGHT), ("left", "to the left of", "west of"),
        "right_of", gap=True,
    ),
    Kind(
        "right_of", Relation.RIGHT_OF, "side by side: it begins where the other ends or later, "
        "left to right, and they share some height",
        (Term(LEFT, -1, RIGHT, 1), *_SHARE_HEIGHT),
        ("right", "to the right of", "east of", "next to", "beside"), "left_of", gap=True,
    ),
    Kind(
        "overlapping", Relation.OVERLAPPING, "they share some area",
        (Term(RIGHT, -1, LEFT, 1, strict=True), Term(LEFT, 1, RIGHT, -1, strict=True),
         *_SHARE_HEIGHT),
        ("overlaps", "covers", "over each other", "crossing", "intersects"), "overlapping",
    ),
    Kind(
        "inside", Relation.INSIDE, "it lies within the other",
        (Term(LEFT, -1, LEFT, 1), Term(RIGHT, 1, RIGHT, -1), Term(TOP, -1, TOP, 1),
         Term(BOTTOM, 1, BOTTOM, -1)),
        ("in", "within", "contained in", "into", "on"),
    ),
    Kind(
        "apart", Relation.APART, "they share no area", (),
        ("separate", "separate from", "away from", "not overlapping", "disjoint"), "apart",
    ),
    Kind(
        "left_aligned", Relation.LEFT_ALIGNED, "the same left edge", _equal(LEFT),
        ("aligned", "align left", "aligned left", "flush left", "same left"), "left_aligned",
    ),
    Kind(
        "right_aligned", Relation.RIGHT_ALIGNED, "the same right edge", _equal(RIGHT),
        ("align right", "aligned right", "flush right", "same right"), "right_aligned",
    ),
    Kind(
        "top_aligned", Relation.TOP_ALIGNED, "the same top edge", _equal(TOP),
        ("align top", "aligned top", "same top"), "top_aligned",
    ),
    Kind(
        "bottom_aligned", Relation.BOTTOM_ALIGNED, "the same bottom edge", _equal(BOTTOM),
        ("align bottom", "aligned bottom", "same bottom", "same baseline"), "bottom_aligned",
    ),
    Kind(
        "centered_with", Relation.CENTERED_WITH, "the same centre, left to right",
        _equal(CENTRE_X),
        ("centered", "centred with", "centred", "align center", "centered on", "same x"),
        "centered_with",
    ),
    Kind(
        "level_with", Relation.LEVEL_WITH, "the same centre, top to bottom", _equal(CENTRE_Y),
        ("level", "middle aligned", "align middle", "vertically centered", "same y"),
        "level_with",
    ),
    Kind(
        "same_width", Relation.SAME_WIDTH, "the same width", _equal(WIDTH),
        ("equal width", "as wide as", "width equals"), "same_width",
    ),
    Kind(
        "same_height", Relation.SAME_HEIGHT, "the same height", _equal(HEIGHT),
        ("equal height", "as high as", "as tall as", "height equals"), "same_height",
    ),
    Kind(
        "smaller", Relation.SMALLER, "its area is smaller by at least 10 %",
        (Term(AREA, 1, AREA, -_LESS),), ("smaller than", "less than", "tinier"), "larger",
    ),
    Kind(
        "equal_size", Relation.EQUAL_SIZE, "areas within 10 %",
        (Term(AREA, -1, AREA, _LESS, strict=True), Term(AREA, 1, AREA, -_MORE, strict=True)),
        ("same size", "same size as", "equal", "as large as", "as big as"), "equal_size",
    ),
    Kind(
        "larger", Relation.LARGER, "its area is larger by at least 10 %",
        (Term(AREA, -1, AREA, _MORE),),
        ("bigger", "larger than", "bigger than", "greater", "greater than"), "smaller",
    ),
)  # fmt: skip


def _to_canvas(kind: Kind) -> Kind:
    """The relation to the canvas, whose measures are known."""
    terms = tuple(
        replace(
            term,
            to=term.of,
            to_weight=0.0,
            constant=term.constant + term.to_weight * float(CANVAS_MEASURES[term.to]),
        )
        for term in kind.terms
    )
    return replace(kind, terms=terms, mirrored="", gap=False)


def _third(name: str, code: Relation, *terms: Term, also: tuple[str, ...] = ()) -> Kind:
    return Kind(name, code, f"its centre lies in the {name} third of the canvas", terms, also)


_NOT_TO_CANVAS = ("above", "below", "left_of", "right_of", "overlapping", "inside", "apart")

KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
CANVAS_KINDS: dict[str, Kind] = {
    "top": _third(
        "top", Relation.ABOVE, Term(CENTRE_Y, 1, CENTRE_Y, 0, -1 / 3),
        also=("at the top", "upper third"),
    ),
    "middle": _third(
        "middle", Relation.OVERLAPPING, Term(CENTRE_Y, -1, CENTRE_Y, 0, 1 / 3, strict=True),
        Term(CENTRE_Y, 1, CENTRE_Y, 0, -2 / 3, strict=True), also=("in the middle", "center"),
    ),
    "bottom": _third(
        "bottom", Relation.BELOW, Term(CENTRE_Y, -1, CENTRE_Y, 0, 2 / 3),
        also=("at the bottom", "lower third"),
    ),
    **{kind.name: _to_canvas(kind) for kind in _ALL if kind.name not in _NOT_TO_CANVAS},
}  # fmt: skip
NAMES = tuple(dict.fromkeys((*KINDS, *CANVAS_KINDS)))

_OF = {
    canvas: {kind.code: kind for kind in kinds.values()}
    for canvas, kinds in ((False, KINDS), (True, CANVAS_KINDS))
}
_EVERY = {name: (KINDS.get(name) or CANVAS_KINDS[name]) for name in NAMES}


def kind_of(code: int, canvas: bool = False) -> Kind:
    """The declared relation with this number."""
    return _OF[canvas][Relation(code)]


def known(word: str) -> Kind | None:
    """The relation that is called so, whatever the case and the sign between its words."""
    return _EVERY.get(_spelled(word))


def suggested(word: str) -> str | None:
    """The relation that people mean with this word, if it is one of those listed."""
    return _MEANT.get(_spelled(word))


def _spelled(word: str) -> str:
    words = re.sub(r"[\s_-]+", "_", word.strip().casefold())
    return words.removeprefix("is_")


_MEANT = {
    _spelled(word): kind.name for kind in (*_ALL, *CANVAS_KINDS.values()) for word in kind.also
}

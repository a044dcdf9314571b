"""Condition: a request as arrays, ready for any model.

>>> from layoutdm.spec import Spec
>>> spec = Spec.parse({"elements": [{"label": "text", "width": 0.8}], "more": True})
>>> condition = Condition.from_spec(spec, labels=("title", "text"), max_elements=25)
>>> condition.label_choices.tolist(), condition.fixed.tolist()
([[False, True]], [[nan, nan, 0.8, nan]])
>>> condition.min_elements, condition.max_elements
(1, 25)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.layout import FIELDS
from layoutdm.spec.bounds import EDGES
from layoutdm.spec.check import resolve
from layoutdm.spec.drafts import draft_noise
from layoutdm.spec.priors import NO_PRIOR, Prior
from layoutdm.spec.problems import SpecError
from layoutdm.spec.shares import sides

if TYPE_CHECKING:
    from layoutdm.spec.model import Spec

Floats = NDArray[np.float64]


def _nothing() -> NDArray[Any]:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Condition:
    """What is known about a layout, for n listed elements and L labels; never changes.

    Arrays over attributes have the columns x, y, width, height.
    """

    labels: tuple[str, ...]  # of the model
    names: tuple[str | None, ...]  # of the n listed elements
    label_choices: NDArray[np.bool_]  # (n, L): labels that the element may have; all True: free
    fixed: Floats  # (n, 4): NaN where free
    about: Floats  # (n, 4): as the user gave it; NaN where there is no such wish
    within: Floats  # (n, 4): the margin of `about`
    strength: Floats  # (n, 4): the weight of `about`
    insisted: NDArray[np.bool_]  # (n, 4): whether the request itself gives that weight
    prior: NDArray[np.int8]  # (n, 4): a priors.Prior, or NO_PRIOR
    min_elements: int  # all elements count, listed and added
    max_elements: int
    relations: NDArray[np.intp]  # (r, 3): of, is (a relations.Relation), to (CANVAS = -1)
    area: Floats  # (n,): NaN where there is no wish
    aspect_ratio: Floats  # (n,): height / width in shares of the canvas; NaN: no wish
    reading_order: NDArray[np.intp]  # (k,): listed elements, first read first; empty: no wish
    # What follows is empty where the request says nothing about it.
    bound: NDArray[np.bool_] = field(default_factory=_nothing)  # (n, 4): `within` must hold
    edges: Floats = field(default_factory=_nothing)  # (n, 4): left, top, right, bottom; NaN: free
    relation_paths: tuple[str, ...] = ()  # (r,): where each relation stands in the request
    gap: Floats = field(default_factory=_nothing)  # (r,): how far apart, exactly; NaN: any
    relation_strength: Floats = field(default_factory=_nothing)  # (r,): NaN: the relation holds
    # (path, axis, neighbours (a, b)): all neighbours are as far apart as each other
    equal_gaps: tuple[tuple[str, int, tuple[tuple[int, int], ...]], ...] = ()
    # (path, cells (a, b)): a ends where b begins, or before, from left to right
    columns: tuple[tuple[str, tuple[tuple[int, int], ...]], ...] = ()
    margins: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)  # left, top, right, bottom
    canvas: tuple[float, float] | None = None  # as the user gave it
    noise: float = math.nan  # of a whole draft (spec/drafts.py); NaN: unknown, or there is none

    def __post_init__(self) -> None:
        n, r = len(self.names), len(self.relations)
        shapes = {"bound": (n, 4), "edges": (n, 4), "gap": (r,), "relation_strength": (r,)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:  # left out
                empty = np.zeros(shape, bool) if name == "bound" else np.full(shape, np.nan)
                object.__setattr__(self, name, empty)
        if len(self.relation_paths) != r:
            paths = tuple(f"relations[{k}]" for k in range(r))
            object.__setattr__(self, "relation_paths", paths)
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __len__(self) -> int:
        return len(self.names)

    @property
    def more(self) -> bool:
        """Whether the model may add elements to the listed ones."""
        return self.max_elements > len(self)

    @property
    def guided(self) -> bool:
        """Whether any wish needs guidance by energies (relations, area, aspect, reading order)."""
        return bool(
            len(self.relations)
            or len(self.reading_order) > 1
            or np.isfinite(self.area).any()
            or np.isfinite(self.aspect_ratio).any()
        )

    @classmethod
    def unknown(cls, labels: Sequence[str], max_elements: int = 25) -> Condition:
        """Nothing is known: the unconditional task."""
        none = np.zeros((0, 4))
        return cls(
            labels=tuple(labels),
            names=(),
            label_choices=np.ones((0, len(labels)), bool),
            fixed=none,
            about=none.copy(),
            within=none.copy(),
            strength=none.copy(),
            insisted=np.zeros((0, 4), bool),
            prior=np.zeros((0, 4), np.int8),
            min_elements=1,
            max_elements=max_elements,
            relations=np.zeros((0, 3), np.intp),
            area=np.zeros(0),
            aspect_ratio=np.zeros(0),
            reading_order=np.zeros(0, np.intp),
        )

    @classmethod
    def from_spec(
        cls,
        spec: Spec,
        labels: Sequence[str],
        max_elements: int,
        aliases: Mapping[str, str] | None = None,
    ) -> Condition:
        """From a request, for a model with these labels; a request that cannot be met raises."""
        if not spec.model_fields_set:  # an empty request has nothing to be checked
            return cls.unknown(labels, max_elements)
        resolved = resolve(spec, labels, max_elements, aliases)
        if resolved.problems:
            raise SpecError(resolved.problems)
        elements = resolved.spec.elements
        n = len(elements)
        index_of_label = {label: index for index, label in enumerate(labels)}
        choices = np.ones((n, len(labels)), bool)
        fixed, about, within, strength, edges = (np.full((n, 4), np.nan) for _ in range(5))
        prior = np.full((n, 4), NO_PRIOR, np.int8)
        insisted, bound = np.zeros((n, 4), bool), np.zeros((n, 4), bool)
        for row, element in enumerate(elements):
            if element.label is not None:
                choices[row] = False
                named = [resolved.labels[word] for word in element.label_choices]
                choices[row, [index_of_label[label] for label in named]] = True
            edges[row] = _optional([element.fixed(name) for name in EDGES])
            for column, name in enumerate(FIELDS):
                value = getattr(element, name)
                if value is None:
                    continue
                if isinstance(value, float):
                    fixed[row, column] = value
                    continue
                about[row, column] = value.about
                within[row, column] = value.within
                strength[row, column] = value.strength
                insisted[row, column] = "strength" in value.model_fields_set
                bound[row, column] = value.bounds
                prior[row, column] = Prior.select(value.prior, value.form)
        stated = [resolved.wishes.relations[r.index] for r in resolved.relations]
        low, high = spec.number_range(max_elements)
        return cls(
            labels=tuple(labels),
            names=tuple(element.name for element in elements),
            label_choices=choices,
            fixed=fixed,
            about=about,
            within=within,
            strength=strength,
            insisted=insisted,
            prior=prior,
            min_elements=low,
            max_elements=high,
            relations=np.array([(r.of, r.code, r.to) for r in resolved.relations], np.intp).reshape(
                -1, 3
            ),
            area=_optional([e.area for e in elements]),
            aspect_ratio=_optional([e.aspect_ratio for e in elements]),
            reading_order=np.array(resolved.order, np.intp),
            bound=bound,
            edges=edges,
            relation_paths=tuple(wish.path for wish in stated),
            gap=_optional([wish.gap for wish in stated]),
            relation_strength=_optional([wish.strength for wish in stated]),
            equal_gaps=resolved.gaps,
            columns=resolved.columns,
            margins=sides(resolved.spec),
            noise=_noise(about, fixed, insisted),
            canvas=None if spec.canvas is None else (spec.canvas.width, spec.canvas.height),
        )


def _noise(about: Floats, fixed: Floats, insisted: NDArray[np.bool_]) -> float:
    """Of a draft of all boxes, unless the request says itself how strongly it pulls."""
    boxes = np.where(np.isfinite(fixed), fixed, about)
    if insisted.any() or not np.isfinite(about).any() or not np.isfinite(boxes).all():
        return math.nan
    return draft_noise(boxes)


def _optional(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float64)

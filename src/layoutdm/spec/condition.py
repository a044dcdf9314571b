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

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from layoutdm.constraints.relations import CANVAS, CANVAS_NAME, CANVAS_NAMES, ELEMENT_NAMES
from layoutdm.constraints.weak import NO_PRIOR, Prior
from layoutdm.layout import FIELDS

if TYPE_CHECKING:
    from layoutdm.spec.model import Spec

Floats = NDArray[np.float64]


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
    prior: NDArray[np.int8]  # (n, 4): a weak.Prior, or weak.NO_PRIOR
    min_elements: int  # all elements count, listed and added
    max_elements: int
    relations: NDArray[np.intp]  # (r, 3): of, is (a relations.Relation), to (CANVAS = -1)
    area: Floats  # (n,): NaN where there is no wish
    aspect_ratio: Floats  # (n,): height / width in shares of the canvas; NaN: no wish
    reading_order: NDArray[np.intp]  # (k,): listed elements, first read first; empty: no wish

    def __post_init__(self) -> None:
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
    def from_spec(cls, spec: Spec, labels: Sequence[str], max_elements: int) -> Condition:
        """From a request, for a model with these labels; a request that cannot be met raises."""
        spec.ensure(labels, max_elements)
        elements = spec.elements
        n = len(elements)
        index_of_label = {label: index for index, label in enumerate(labels)}
        choices = np.ones((n, len(labels)), bool)
        fixed, about, within, strength = (np.full((n, 4), np.nan) for _ in range(4))
        prior = np.full((n, 4), NO_PRIOR, np.int8)
        for row, element in enumerate(elements):
            if element.label is not None:
                choices[row] = False
                choices[row, [index_of_label[label] for label in element.label_choices]] = True
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
                prior[row, column] = Prior.select(value.prior, value.form)
        index_of_name = {e.name: row for row, e in enumerate(elements) if e.name is not None}
        relations = [
            (index_of_name[r.of], CANVAS_NAMES[r.is_], CANVAS)
            if r.to == CANVAS_NAME
            else (index_of_name[r.of], ELEMENT_NAMES[r.is_], index_of_name[r.to])
            for r in spec.relations
        ]
        low, high = spec.number_range(max_elements)
        return cls(
            labels=tuple(labels),
            names=tuple(element.name for element in elements),
            label_choices=choices,
            fixed=fixed,
            about=about,
            within=within,
            strength=strength,
            prior=prior,
            min_elements=low,
            max_elements=high,
            relations=np.array(relations, np.intp).reshape(-1, 3),
            area=_optional([e.area for e in elements]),
            aspect_ratio=_optional([e.aspect_ratio for e in elements]),
            reading_order=np.array([index_of_name[name] for name in spec.reading_order], np.intp),
        )


def _optional(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float64)

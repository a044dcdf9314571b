"""Spec: the request that Python, the command line and the HTTP API share.

>>> spec = Spec.parse('{"elements": [{"name": "bar", "label": "Toolbar", "height": 0.08}]}')
>>> spec.elements[0].height, spec.may_add
(0.08, False)
>>> Spec.parse({"elements": [{"label": "Toolbar", "hight": 0.08}]})
Traceback (most recent call last):
    ...
layoutdm.spec.problems.SpecError: elements[0].hight: unknown field; did you mean 'height'?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field, StrictBool, ValidationError

from layoutdm.spec import parsing
from layoutdm.spec.fields import (
    About,
    CanvasSpec,
    Count,
    ElementSpec,
    GroupSpec,
    Margins,
    Name,
    NumberRange,
    Part,
    RelationSpec,
    Sides,
)
from layoutdm.spec.json_words import JsonWords
from layoutdm.spec.limits import MAX_GROUPS, MAX_LISTED, MAX_RELATIONS
from layoutdm.spec.problems import Problem, SpecError

if TYPE_CHECKING:
    from layoutdm.layout import Layout

__all__ = [
    "About",
    "CanvasSpec",
    "ElementSpec",
    "GroupSpec",
    "NumberRange",
    "RelationSpec",
    "Sides",
    "Spec",
]
LIMITS = {
    "elements": MAX_LISTED,
    "relations": MAX_RELATIONS,
    "reading_order": MAX_LISTED,
    "groups": MAX_GROUPS,
}
Aliases = Mapping[str, str]


class Spec(Part):
    """What is known about a layout; an empty one asks for anything."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, title="layoutdm request"
    )

    elements: tuple[ElementSpec, ...] = Field((), description="The elements that are known.")
    more: StrictBool | None = Field(
        None, description="May others be added? Absent: only when no element is listed."
    )
    number_of_elements: Count | None = Field(
        None, description="How many elements in all: a number, or bounds."
    )
    relations: tuple[RelationSpec, ...] = ()
    groups: tuple[GroupSpec, ...] = Field((), description="Columns, rows and grids.")
    reading_order: tuple[Name, ...] = Field(
        (), description="Names; nearer to the top left corner is read first."
    )
    canvas: CanvasSpec | None = Field(
        None, description="The canvas that comes back; absent: that of the model's data."
    )
    unit: Literal["share", "px"] = Field(
        "share",
        description="What numbers mean: shares of the canvas, from 0 to 1, or pixels of `canvas`.",
    )
    margins: Margins | None = Field(
        None, description="How far elements stay from the edges of the canvas."
    )

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise SpecError(parsing.problems_of(error, type(self))) from None

    @classmethod
    def parse(cls, source: Spec | Mapping[str, Any] | str | Path | None) -> Spec:
        """From a dict, JSON text, a Path of a JSON file, or nothing (the empty request).

        A text is always JSON, never the name of a file.
        """
        if isinstance(source, cls):
            return source
        if source is None or source == {}:
            return cls()
        data = parsing.load(source)
        problems = parsing.too_large(data, LIMITS)
        if problems:
            raise SpecError(problems)
        try:
            return cls(**data)
        except SpecError as error:
            error.rest = cls._rest(data, error.problems)
            raise

    @classmethod
    def _rest(cls, data: dict[str, Any], problems: Sequence[Problem]) -> Spec | None:
        """What can be read of a request with problems, so that all others can be told, too."""
        try:
            return cls(**parsing.without(data, [problem.path for problem in problems]))
        except SpecError:
            return None

    @classmethod
    def from_layout(cls, layout: Layout, task: str = "c", seed: int = 0, **options: Any) -> Spec:
        """The input of one of the paper's tasks, made from a layout; see spec/tasks.py."""
        from layoutdm.spec.tasks import build

        return build(layout, task, seed, **options)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON schema (draft 2020-12) of a request."""
        schema = cls.model_json_schema(by_alias=True, schema_generator=JsonWords)
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}

    def as_dict(self) -> dict[str, Any]:
        """As plain data; Spec.parse gives the same request back."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    @property
    def may_add(self) -> bool:
        """Whether the model may add elements to the listed ones."""
        return not self.elements if self.more is None else self.more

    def number_range(self, max_elements: int) -> tuple[int, int]:
        """(fewest, most) elements in all, for a model with this many slots."""
        low, high = max(len(self.elements), 1), max_elements
        if not self.may_add:
            high = len(self.elements)
        wished = self.number_of_elements
        if isinstance(wished, NumberRange):
            low, high = max(low, wished.min or 0), min(high, wished.max or high)
        elif wished is not None:
            low, high = max(low, wished), min(high, wished)
        return low, high

    def check(
        self, labels: Sequence[str], max_elements: int, aliases: Aliases | None = None
    ) -> list[Problem]:
        """Everything that no layout of a model with these labels could satisfy; [] when fine."""
        from layoutdm.spec.check import check

        return check(self, labels, max_elements, aliases or {})

    def ensure(
        self, labels: Sequence[str], max_elements: int, aliases: Aliases | None = None
    ) -> None:
        """Raise all problems that `check` finds."""
        problems = self.check(labels, max_elements, aliases)
        if problems:
            raise SpecError(problems)

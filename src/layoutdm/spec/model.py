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
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
)

from layoutdm.spec import parsing
from layoutdm.spec.problems import Problem, SpecError

if TYPE_CHECKING:
    from layoutdm.layout import Layout

MAX_LISTED = 10_000  # elements of a request; far beyond any model, near enough to answer at once
MAX_RELATIONS = 100_000

Number = Annotated[
    float, BeforeValidator(parsing.plain_number), Field(strict=True, allow_inf_nan=False)
]
RELATIONS_BETWEEN = (
    "above", "below", "left_of", "right_of", "overlapping", "smaller", "equal_size", "larger",
)  # fmt: skip
RELATIONS_TO_CANVAS = ("top", "middle", "bottom", "smaller", "equal_size", "larger")
RelationName = Literal[
    "above", "below", "left_of", "right_of", "overlapping", "smaller", "equal_size", "larger",
    "top", "middle", "bottom",
]  # fmt: skip


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class About(_Part):
    """A weak wish: near a value, as far as the strength says."""

    about: Number = Field(description="The value to be near, a share of the canvas.")
    within: Number = Field(0.1, gt=0, description="The margin around it (the paper's m).")
    strength: Number = Field(3.0, ge=0, description="The weight of the wish (the paper's lambda).")
    prior: Literal["default", "gaussian", "negation"] = Field(
        "default", description="Which of the paper's priors pulls towards the value."
    )
    form: Literal["paper", "code"] | None = Field(
        None, description="The prior as printed or as in the published code; absent: the better."
    )


def _kind(tags: Mapping[type, str], other: str) -> Discriminator:
    def choose(value: Any) -> str:
        return next((tag for kind, tag in tags.items() if isinstance(value, kind)), other)

    return Discriminator(choose)


# Tags start with "#" so that they can be told from field names in the paths of problems.
Value = Annotated[
    Annotated[Number, Tag("#value")] | Annotated[About, Tag("#about")],
    _kind({Mapping: "#about", About: "#about"}, "#value"),
]
Name = Annotated[StrictStr, Field(min_length=1, max_length=200)]
Label = Annotated[
    Annotated[Name, Tag("#value")]
    | Annotated[tuple[Name, ...], Field(min_length=1, max_length=MAX_LISTED), Tag("#list")],
    _kind({list: "#list", tuple: "#list"}, "#value"),
]


class ElementSpec(_Part):
    """One element; every field that is absent is free."""

    name: Name | None = Field(None, description="What relations and reading_order call it.")
    label: Label | None = Field(None, description="Its label, or a list of labels to choose from.")
    x: Value | None = Field(None, description="Centre, from 0 (left) to 1 (right).")
    y: Value | None = Field(None, description="Centre, from 0 (top) to 1 (bottom).")
    width: Value | None = Field(None, description="A share of the canvas's width.")
    height: Value | None = Field(None, description="A share of the canvas's height.")
    area: Number | None = Field(None, description="Wished width * height, within 10 %.")
    aspect_ratio: Number | None = Field(None, description="Wished height / width, within 10 %.")

    @property
    def label_choices(self) -> tuple[str, ...]:
        """The labels that the element may have; empty when it is free."""
        if self.label is None:
            return ()
        return (self.label,) if isinstance(self.label, str) else self.label

    def fixed(self, field: str) -> float | None:
        """The value of x, y, width or height if it is fixed."""
        value = getattr(self, field)
        return value if isinstance(value, float) else None


class NumberRange(_Part):
    """Bounds for the number of elements, listed and added together."""

    min: StrictInt | None = Field(None, ge=1)
    max: StrictInt | None = Field(None, ge=1)


class RelationSpec(_Part):
    """`of` is ... relative to `to`: {"of": "hero", "is": "below", "to": "bar"}."""

    of: Name = Field(description="The name of an element.")
    is_: RelationName = Field(
        alias="is",
        description="top, middle and bottom are for the canvas; places such as above for elements.",
    )
    to: Name = Field(description='The name of another element, or "canvas".')


Count = Annotated[
    Annotated[StrictInt, Field(ge=1), Tag("#value")] | Annotated[NumberRange, Tag("#range")],
    _kind({Mapping: "#range", NumberRange: "#range"}, "#value"),
]


class Spec(_Part):
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
    reading_order: tuple[Name, ...] = Field(
        (), description="Names; nearer to the top left corner is read first."
    )

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise SpecError(parsing.problems_of(error, type(self))) from None

    @classmethod
    def parse(cls, source: Spec | Mapping[str, Any] | str | Path | None) -> Spec:
        """From a dict, JSON text, the path of a JSON file, or nothing (the empty request)."""
        if isinstance(source, cls):
            return source
        data = parsing.load(source)
        limits = (
            ("elements", MAX_LISTED),
            ("relations", MAX_RELATIONS),
            ("reading_order", MAX_LISTED),
        )
        too_long = [
            Problem(key, f"{len(data[key]):,} entries; at most {limit:,} are allowed")
            for key, limit in limits
            if isinstance(data.get(key), Sequence) and len(data[key]) > limit
        ]
        if too_long:
            raise SpecError(too_long)
        return cls(**data)

    @classmethod
    def from_layout(cls, layout: Layout, task: str = "c", seed: int = 0, **options: Any) -> Spec:
        """The input of one of the paper's tasks, made from a layout; see spec/tasks.py."""
        from layoutdm.spec.tasks import build

        return build(layout, task, seed, **options)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON schema (draft 2020-12) of a request."""
        schema = cls.model_json_schema(by_alias=True)
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}

    def as_dict(self) -> dict[str, Any]:
        """As plain data; Spec.parse gives the same request back."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)

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

    def check(self, labels: Sequence[str], max_elements: int) -> list[Problem]:
        """Everything that no layout of a model with these labels could satisfy; [] when fine."""
        from layoutdm.spec.check import check

        return check(self, labels, max_elements)

    def ensure(self, labels: Sequence[str], max_elements: int) -> None:
        """Raise all problems that `check` finds."""
        problems = self.check(labels, max_elements)
        if problems:
            raise SpecError(problems)

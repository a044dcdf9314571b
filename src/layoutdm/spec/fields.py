"""The parts of a request: elements, weak wishes, relations, groups, margins and the canvas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictInt,
    StrictStr,
    Tag,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from layoutdm.relations import table
from layoutdm.spec import parsing
from layoutdm.spec.limits import MAX_LISTED, MAX_NAME
from layoutdm.spec.problems import nearest, shorten

# Far beyond any canvas; what is larger would become infinite in shares of a small one.
MOST = 1e9
Number = Annotated[
    float,
    BeforeValidator(parsing.plain_number),
    Field(strict=True, allow_inf_nan=False, ge=-MOST, le=MOST),
]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class About(Part):
    """A weak wish: near a value. With `within` it is a bound that holds."""

    about: Number = Field(description="The value to be near.")
    within: Number = Field(
        0.1,
        gt=0,
        description="The margin around it (the paper's m). Where it is given and no strength is, "
        "the value is never further away than this.",
    )
    strength: Number = Field(
        3.0,
        ge=0,
        description="The weight of the wish (the paper's lambda); given: the wish is soft.",
    )
    prior: Literal["default", "gaussian", "negation"] = Field(
        "default", description="Which of the paper's priors pulls towards the value."
    )
    form: Literal["paper", "code"] | None = Field(
        None, description="The prior as printed or as in the published code; absent: the better."
    )

    @property
    def bounds(self) -> bool:
        """Whether `within` is a bound that holds, not only the width of a pull."""
        return "within" in self.model_fields_set and "strength" not in self.model_fields_set


def kind(tags: Mapping[type, str], other: str) -> Discriminator:
    def choose(value: Any) -> str:
        return next((tag for kind, tag in tags.items() if isinstance(value, kind)), other)

    return Discriminator(choose)


# Tags start with "#" so that they can be told from field names in the paths of problems.
Value = Annotated[
    Annotated[Number, Tag("#value")] | Annotated[About, Tag("#about")],
    kind({Mapping: "#about", About: "#about"}, "#value"),
]
Name = Annotated[StrictStr, Field(min_length=1, max_length=MAX_NAME)]
Label = Annotated[
    Annotated[Name, Tag("#value")]
    | Annotated[tuple[Name, ...], Field(min_length=1, max_length=MAX_LISTED), Tag("#list")],
    kind({list: "#list", tuple: "#list"}, "#value"),
]


class ElementSpec(Part):
    """One element; every field that is absent is free."""

    name: Name | None = Field(None, description="What relations and reading_order call it.")
    label: Label | None = Field(None, description="Its label, or a list of labels to choose from.")
    x: Value | None = Field(None, description="Centre, from 0 (left) to 1 (right).")
    y: Value | None = Field(None, description="Centre, from 0 (top) to 1 (bottom).")
    width: Value | None = Field(None, description="A share of the canvas's width.")
    height: Value | None = Field(None, description="A share of the canvas's height.")
    left: Number | None = Field(None, description="Where its left edge is.")
    top: Number | None = Field(None, description="Where its top edge is.")
    right: Number | None = Field(None, description="Where its right edge is, from the left.")
    bottom: Number | None = Field(None, description="Where its bottom edge is, from the top.")
    area: Number | None = Field(None, description="Wished width * height, within 10 %.")
    aspect_ratio: Number | None = Field(None, description="Wished height / width, within 10 %.")

    @property
    def label_choices(self) -> tuple[str, ...]:
        """The labels that the element may have; empty when it is free."""
        if self.label is None:
            return ()
        return (self.label,) if isinstance(self.label, str) else self.label

    def as_values(self) -> dict[str, Any]:
        """The fields that are given, as plain data."""
        return self.model_dump(mode="json", exclude_none=True)

    def fixed(self, field: str) -> float | None:
        """The value of a field if it is fixed."""
        value = getattr(self, field)
        return value if isinstance(value, float) else None


class NumberRange(Part):
    """Bounds for the number of elements, listed and added together."""

    min: StrictInt | None = Field(None, ge=1)
    max: StrictInt | None = Field(None, ge=1)


Count = Annotated[
    Annotated[StrictInt, Field(ge=1), Tag("#value")] | Annotated[NumberRange, Tag("#range")],
    kind({Mapping: "#range", NumberRange: "#range"}, "#value"),
]


def _relation(word: str) -> str:
    found = table.known(word)
    if found is not None:
        return found.name
    meant = table.suggested(word) or nearest(word, table.NAMES)
    hint = f"did you mean {meant!r}?" if meant else f"the relations are {', '.join(table.NAMES)}"
    raise PydanticCustomError("relation", "unknown relation {word}; {hint}", {
        "word": shorten(word), "hint": hint,
    })  # fmt: skip


RelationName = Annotated[
    StrictStr,
    AfterValidator(_relation),
    WithJsonSchema({"type": "string", "enum": list(table.NAMES)}),
]


class RelationSpec(Part):
    """`of` is ... relative to `to`: {"of": "hero", "is": "below", "to": "bar"}."""

    of: Name = Field(description="The name of an element.")
    is_: RelationName = Field(
        alias="is",
        description="top, middle and bottom are for the canvas; places such as above for elements.",
    )
    to: Name = Field(description='The name of another element, or "canvas".')
    gap: Number | None = Field(
        None, ge=0, description="With above, below, left_of and right_of: how far apart, exactly."
    )
    strength: Number | None = Field(
        None, ge=0, description="Given: a soft wish of this weight; absent: it holds."
    )


Names = Annotated[tuple[Name, ...], Field(min_length=2, max_length=MAX_LISTED)]
Gap = Annotated[
    Annotated[Number, Field(ge=0), Tag("#value")] | Annotated[Literal["equal"], Tag("#word")],
    kind({str: "#word"}, "#value"),
]


class GroupSpec(Part):
    """Elements that stand together: one of column, row and grid."""

    column: Names | None = Field(None, description="Names, from top to bottom.")
    row: Names | None = Field(None, description="Names, from left to right.")
    grid: Annotated[tuple[tuple[Name | None, ...], ...], Field(min_length=1)] | None = Field(
        None, description="Rows of names; null is an empty cell."
    )
    gap: Gap | None = Field(
        None, description='The distance between neighbours, or "equal" for the same everywhere.'
    )
    align: Literal["left", "center", "right", "top", "middle", "bottom"] | None = Field(
        None, description="left, center, right for a column; top, middle, bottom for a row."
    )
    same: Literal["width", "height", "size"] | None = Field(
        None, description="What all of them have in common; size is width and height."
    )


class Sides(Part):
    """Distances to the edges of the canvas."""

    left: Number = Field(0.0, ge=0)
    top: Number = Field(0.0, ge=0)
    right: Number = Field(0.0, ge=0)
    bottom: Number = Field(0.0, ge=0)


Margins = Annotated[
    Annotated[Number, Field(ge=0), Tag("#value")] | Annotated[Sides, Tag("#sides")],
    kind({Mapping: "#sides", Sides: "#sides"}, "#value"),
]


class CanvasSpec(Part):
    """The size of the canvas, in pixels or any other unit."""

    width: Number = Field(ge=1e-3, le=1e6)
    height: Number = Field(ge=1e-3, le=1e6)

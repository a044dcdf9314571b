"""JSON Schema's words for bounds; pydantic keeps its own where a type reads values itself."""

from __future__ import annotations

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

BOUNDS = {
    "ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum",
}  # fmt: skip


class JsonWords(GenerateJsonSchema):
    """Makes schemas in which every bound has its name of the standard."""

    def generate_inner(self, schema: object) -> JsonSchemaValue:
        found = super().generate_inner(schema)  # type: ignore[arg-type]
        return {BOUNDS.get(name, name): value for name, value in found.items()}

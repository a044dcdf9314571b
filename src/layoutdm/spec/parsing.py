"""From text and files to plain data, and from pydantic's errors to our sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from layoutdm.errors import LayoutdmError
from layoutdm.spec.problems import Problem, SpecError, json_path, shorten, suggestion

MAX_BYTES = 64 * 2**20


def plain_number(value: Any) -> Any:
    """numpy numbers as Python's, whole numbers as floats; anything else as it is."""
    if isinstance(value, np.number):
        value = value.item()
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return float("inf")  # refused as such
    return value


def load(source: Any) -> dict[str, Any]:
    """The top-level object of a request, from a mapping, JSON text, or the path of a file."""
    if source is None:
        return {}
    if isinstance(source, Path):
        source = _from_text(_read(source), f"{source}: ")
    elif isinstance(source, str):
        looks_like_json = source.lstrip()[:1] in ("{", "[", '"') or not source.strip()
        source = _from_text(source, "") if looks_like_json else load(Path(source))
    if not isinstance(source, Mapping):
        raise SpecError([Problem("", f"must be an object in braces, got {shorten(source)}")])
    strange = [key for key in source if not isinstance(key, str)]
    if strange:
        raise SpecError([Problem("", f"field names must be text, got {shorten(strange[0])}")])
    return dict(source)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise LayoutdmError(f"{path}: larger than 64 MB, which no request needs")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise LayoutdmError(f"{path}: no such file; give a JSON file or JSON text") from None
    except IsADirectoryError:
        raise LayoutdmError(f"{path}: is a folder; give a JSON file") from None
    except UnicodeDecodeError:
        raise LayoutdmError(f"{path}: is not text in UTF-8; give a JSON file") from None
    except OSError as error:  # such as a name that is too long, when text was meant
        raise LayoutdmError(
            f"{shorten(str(path))}: cannot be read ({error.strerror}); "
            "give a JSON file or JSON text"
        ) from None
    except ValueError:
        raise LayoutdmError(f"{shorten(str(path))}: is neither a file name nor JSON") from None


def _from_text(text: str, where: str) -> Any:
    if len(text) > MAX_BYTES:
        raise LayoutdmError(f"{where}request: longer than 64 MB, which no request needs")
    twice: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            keys = [key for key, _ in pairs]
            twice.extend(sorted({key for key in keys if keys.count(key) > 1}))
        return result

    try:
        data = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise LayoutdmError(
            f"{where}request: not valid JSON at line {error.lineno}, column {error.colno}: "
            f"{error.msg[0].lower()}{error.msg[1:]}"
        ) from None
    except RecursionError:
        raise LayoutdmError(f"{where}request: nested too deeply to be a request") from None
    except ValueError:  # Python refuses to read whole numbers with thousands of digits
        raise LayoutdmError(f"{where}request: holds a number with too many digits") from None
    if twice:
        raise SpecError(
            Problem("", f"field {shorten(key)} is given twice in one object; give it once")
            for key in twice
        )
    return data


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Our sentence for each of pydantic's errors."""
    problems = []
    for details in error.errors(include_url=False):
        parts = tuple(part for part in details["loc"] if not str(part).startswith("#"))
        problems.append(Problem(json_path(parts), _sentence(details, parts, model)))
    return list(dict.fromkeys(problems))


def _sentence(error: ErrorDetails, parts: tuple[int | str, ...], model: type[BaseModel]) -> str:
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    got = f", got {shorten(value)}"
    match kind:
        case "extra_forbidden":
            known = _fields_at(error["loc"], model)
            return f"unknown field; {suggestion(str(parts[-1]), known, 'fields')}"
        case "missing":
            return "is missing; it must be given"
        case "finite_number":
            return f"must be a finite number{got}"
        case "float_type" | "float_parsing":
            wish = ', or {"about": number}' if "#value" in error["loc"] else ""
            return f"must be a number{wish}{got}"
        case "int_type" | "int_from_float" | "int_parsing" | "int_parsing_size":
            wish = ', or {"min": ..., "max": ...}' if "#value" in error["loc"] else ""
            return f"must be a whole number{wish}{got}"
        case "bool_type":
            return f"must be true or false{got}"
        case "string_type":
            wish = " or a list of texts" if "#value" in error["loc"] else ""
            return f"must be a text{wish}{got}"
        case "string_too_short":
            return "must not be empty"
        case "string_too_long":
            return f"must have at most {context['max_length']} characters{got}"
        case "tuple_type":
            return f"must be a list{got}"
        case "too_short":
            return "must list at least one"
        case "too_long":
            return f"must list at most {context['max_length']}"
        case "greater_than":
            return f"must be greater than {context['gt']:g}{got}"
        case "greater_than_equal":
            return f"must be at least {context['ge']:g}{got}"
        case "literal_error":
            choices = [str(c) for c in _literals(context["expected"])]
            if isinstance(value, str):
                return f"unknown value {shorten(value)}; {suggestion(value, choices, 'values')}"
            return f"must be one of {context['expected']}{got}"
        case "model_type" | "model_attributes_type":
            return f"must be an object in braces{got}"
        case _:
            return f"{error['msg'][0].lower()}{error['msg'][1:]}{got}"


def _literals(expected: str) -> Iterator[str]:
    """The choices in pydantic's "'a', 'b' or 'c'"."""
    return (word.strip("'") for word in expected.replace(" or ", ", ").split(", "))


def _fields_at(loc: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """The field names of the object that an unknown field was found in."""
    from layoutdm.spec.model import About, ElementSpec, NumberRange, RelationSpec

    tagged: dict[str, type[BaseModel]] = {"#about": About, "#range": NumberRange}
    listed: dict[str, type[BaseModel]] = {"elements": ElementSpec, "relations": RelationSpec}
    inner = next((tagged[str(p)] for p in reversed(loc) if str(p) in tagged), None)
    if inner is None and len(loc) > 1:
        inner = listed.get(str(loc[0]))
    return [field.alias or name for name, field in (inner or model).model_fields.items()]

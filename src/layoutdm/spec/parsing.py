"""From text and files to plain data, and from pydantic's errors to our sentences."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from layoutdm.errors import LayoutdmError
from layoutdm.spec.limits import MAX_BYTES, MAX_DEPTH, MAX_FIELDS, MAX_VALUES
from layoutdm.spec.problems import Problem, SpecError, json_path, shorten, suggestion

SUGGESTED = 50  # unknown fields that get a suggestion; finding one takes time


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
    """The top-level object of a request, from a mapping, JSON text, or a Path."""
    if source is None:
        return {}
    if isinstance(source, Path):
        source = from_text(_read(source), f"{source}: ")
    elif isinstance(source, str):
        source = from_text(source, "")
    if not isinstance(source, Mapping):
        raise SpecError([Problem("", f"must be an object in braces, got {shorten(source)}")])
    strange = [key for key in source if not isinstance(key, str)]
    if strange:
        raise SpecError([Problem("", f"field names must be text, got {shorten(strange[0])}")])
    return dict(source)


def _read(path: Path) -> str:
    """The text of a file that may be a request; never more than a request can have."""
    content, what = b"", ""
    try:
        if path.is_file():
            with path.open("rb") as stream:
                content = stream.read(MAX_BYTES + 1)
        else:
            what = "is a folder" if path.is_dir() else "no such file"
    except OSError as error:  # such as a name that is too long, when text was meant
        what = f"cannot be read ({error.strerror})"
    except ValueError:
        what = "is not the name of a file"
    if what:
        raise LayoutdmError(f"{shorten(str(path))}: {what}; give a JSON file")
    if len(content) > MAX_BYTES:
        raise LayoutdmError(f"{path}: larger than {_SIZE}, which no request needs")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LayoutdmError(f"{path}: is not text in UTF-8; give a JSON file") from None


_SIZE = f"{MAX_BYTES // 2**20} MB"


def from_text(text: str, where: str) -> Any:
    """Plain data of JSON text; `where` begins the sentences about what is wrong."""
    if len(text) > MAX_BYTES:
        raise LayoutdmError(f"{where}request: longer than {_SIZE}, which no request needs")
    twice: dict[str, None] = {}

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice.update(dict.fromkeys(sorted(key for key, count in counts.items() if count > 1)))
        return result

    try:
        data = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise LayoutdmError(
            f"{where}request: not valid JSON at line {error.lineno}, column {error.colno}: "
            f"{error.msg[0].lower()}{error.msg[1:]}{_hint(text)}"
        ) from None
    except RecursionError:
        raise LayoutdmError(f"{where}request: nested too deeply to be a request") from None
    except ValueError:  # Python refuses to read whole numbers with thousands of digits
        raise LayoutdmError(f"{where}request: holds a number with too many digits") from None
    if twice:
        raise SpecError(
            Problem("", f"field {shorten(key)} is given twice in one object; give it once")
            for key in list(twice)[:MAX_FIELDS]
        )
    return data


def _hint(text: str) -> str:
    """For those who gave the name of a file as text."""
    looks_like_json = text.lstrip()[:1] in ("{", "[", '"') or not text.strip()
    return (
        ""
        if looks_like_json
        else '; a request is a text such as {"elements": [...]}, a file a Path'
    )


def too_large(data: Mapping[str, Any], limits: Mapping[str, int]) -> list[Problem]:
    """What is beyond the limits of a request; told before anything else is looked at."""
    problems = [
        Problem(key, f"{len(data[key]):,} entries; at most {limit:,} are allowed")
        for key, limit in limits.items()
        if isinstance(data.get(key), Sequence) and len(data[key]) > limit
    ]
    return problems or _oversized(data)


def _oversized(data: Mapping[str, Any]) -> list[Problem]:
    """Objects with too many fields, and requests that are too deep or hold too much."""
    values = 0
    left: list[tuple[str, Any, int]] = [("", data, 0)]
    while left:
        path, value, depth = left.pop()
        if isinstance(value, str):
            continue
        if isinstance(value, Mapping) and len(value) > MAX_FIELDS:
            return [Problem(path, f"has {len(value):,} fields; an object has at most {MAX_FIELDS}")]
        if depth > MAX_DEPTH:
            return [Problem(path, f"is nested deeper than {MAX_DEPTH}, which no request needs")]
        inner: list[tuple[Any, Any]] = []
        if isinstance(value, Mapping):
            inner = list(value.items())
        elif isinstance(value, (list, tuple)):
            inner = list(enumerate(value))
        values += len(inner)
        if values > MAX_VALUES:
            return [Problem("", f"holds more than {MAX_VALUES:,} values, which no request needs")]
        for key, item in inner:
            if isinstance(item, (Mapping, list, tuple)):
                part = f"[{key}]" if isinstance(key, int) else f".{shorten(key)}" if path else key
                left.append((f"{path}{part}" if depth < 4 else path, item, depth + 1))
    return []


def without(data: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """The data without what stands at these JSON paths."""
    unwanted = {tuple(re.findall(r"[^.\[\]]+", path)) for path in paths}
    # A list keeps its length, so that other paths stay right; what is left of a bad relation is
    # of no use, that of an element may be.
    return {
        key: kept
        for key, value in data.items()
        if (kept := _kept(value, (key,), unwanted)) is not None
    }


def _kept(value: Any, at: tuple[str, ...], unwanted: set[tuple[str, ...]]) -> Any:
    if at in unwanted:
        return {} if len(at) == 2 and at[0] == "elements" else None
    if isinstance(value, Mapping):
        kept = {key: _kept(item, (*at, str(key)), unwanted) for key, item in value.items()}
        if (
            at[0] in ("relations", "groups")
            and len(at) == 2
            and len(kept)
            and None in kept.values()
        ):
            return None
        return {key: item for key, item in kept.items() if item is not None}
    if isinstance(value, (list, tuple)):
        items = [_kept(item, (*at, str(k)), unwanted) for k, item in enumerate(value)]
        return [item for item in items if item is not None]
    return value


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Our sentence for each of pydantic's errors."""
    problems: dict[Problem, None] = {}
    for details in error.errors(include_url=False):
        *inner, last = details["loc"] or ("",)
        parts = tuple(part for part in inner if not str(part).startswith("#"))
        if details["type"] == "extra_forbidden" or not str(last).startswith("#"):
            parts = (*parts, last)  # a tag of ours, unless it is a field that the user named so
        many = len(problems) >= SUGGESTED and details["type"] == "extra_forbidden"
        text = "unknown field" if many else _sentence(details, parts, model)
        problems[Problem(json_path(parts), text)] = None
    return list(problems)


def _finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):  # no number, or one of hundreds of digits
        return False


def _sentence(error: ErrorDetails, parts: tuple[int | str, ...], model: type[BaseModel]) -> str:
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    got = f", got {shorten(value)}"
    if kind in ("greater_than_equal", "less_than_equal") and not _finite(value):
        kind = "finite_number"  # bounds are looked at first
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
        case "tuple_type" | "list_type":
            return f"must be a list{got}"
        case "too_short":
            least = {1: "one", 2: "two"}.get(context["min_length"], context["min_length"])
            return f"must list at least {least}"
        case "too_long":
            return f"must list at most {context['max_length']}"
        case "greater_than":
            return f"must be greater than {_bound(context['gt'])}{got}"
        case "relation":
            return error["msg"]
        case "greater_than_equal":
            return f"must be at least {_bound(context['ge'])}{got}"
        case "less_than_equal":
            return f"must be at most {_bound(context['le'])}{got}"
        case "literal_error":
            choices = [str(c) for c in _literals(context["expected"])]
            if isinstance(value, str):
                return f"unknown value {shorten(value)}; {suggestion(value, choices, 'values')}"
            return f"must be one of {context['expected']}{got}"
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"must be an object in braces{got}"
        case _:
            return f"{error['msg'][0].lower()}{error['msg'][1:]}{got}"


def _bound(value: float) -> str:
    """A limit as it is: a whole number loses no digit."""
    return str(value) if isinstance(value, int) else f"{value:g}"


def _literals(expected: str) -> Iterator[str]:
    """The choices in pydantic's "'a', 'b' or 'c'"."""
    return (word.strip("'") for word in expected.replace(" or ", ", ").split(", "))


def _fields_at(loc: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """The field names of the object that an unknown field was found in."""
    from layoutdm.spec.fields import (
        About,
        CanvasSpec,
        ElementSpec,
        GroupSpec,
        NumberRange,
        RelationSpec,
        Sides,
    )

    tagged: dict[str, type[BaseModel]] = {
        "#about": About, "#range": NumberRange, "#sides": Sides,
    }  # fmt: skip
    listed: dict[str, type[BaseModel]] = {
        "elements": ElementSpec, "relations": RelationSpec, "groups": GroupSpec,
        "canvas": CanvasSpec,
    }  # fmt: skip
    inner = next((tagged[str(p)] for p in reversed(loc) if str(p) in tagged), None)
    if inner is None and len(loc) > 1:
        inner = listed.get(str(loc[0]))
    return [field.alias or name for name, field in (inner or model).model_fields.items()]

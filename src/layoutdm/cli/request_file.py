"""Requests from files and standard input: JSON or YAML."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError

MOST_BYTES = 8 * 2**20  # of a file; no request needs a tenth of it
YAML = (".yaml", ".yml")  # endings
PLACES = ("x", "y", "width", "height", "left", "top", "right", "bottom")


def read_request(source: str) -> dict[str, Any]:
    """The request of a file as plain data; what it says is checked later, all at once.

    The name of a file tells YAML from JSON; `-` is standard input, whose first sign does.
    """
    where = "standard input" if source == "-" else source
    text = _text(source, where)
    if not text.strip() and not source.lower().endswith(YAML):  # in YAML nothing is a value
        raise LayoutdmError(f"{where}: is empty; a request without any wish is {{}}")
    data = _yaml(text, where) if _is_yaml(source, text) else _json(text, where)
    if not isinstance(data, dict):
        raise LayoutdmError(f"{where}: a request is an object, such as {{}} in JSON")
    for name in ("elements", "relations"):
        if not isinstance(data.get(name, []), list):
            raise LayoutdmError(f"{where}: {name} must be a list")
    return data


def pixels_hint(request: Mapping[str, Any]) -> str | None:
    """How to say it right, where a request seems to speak of pixels.

    >>> pixels_hint({"elements": [{"x": 120}]})[:43]
    'values are shares of the canvas, not pixels'
    """
    if request.get("unit") == "px" or not any(value > 2 for value in _values(request)):
        return None
    return (
        "values are shares of the canvas, not pixels: divide by its width or height (180 of 360 "
        'is 0.5), or add "unit": "px" and "canvas": {"width": 360, "height": 640} to the request'
    )


def _values(request: Mapping[str, Any]) -> Iterator[float]:
    elements = request.get("elements")
    for element in elements if isinstance(elements, list) else ():
        for name in PLACES if isinstance(element, Mapping) else ():
            value = element.get(name)
            value = value.get("about") if isinstance(value, Mapping) else value
            if isinstance(value, (int, float)):
                yield value


def _text(source: str, where: str) -> str:
    try:
        if source == "-":
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(source).open("rb") as file:
                content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise LayoutdmError(
            f"{source}: no such file; --spec takes a JSON or YAML file or -"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LayoutdmError(f"{where}: cannot be read ({reason}); give a JSON file") from None
    if len(content) > MOST_BYTES:
        raise LayoutdmError(f"{where}: larger than {MOST_BYTES >> 20} MB, which no request needs")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LayoutdmError(f"{where}: is not UTF-8 text; a request is JSON") from None


def _is_yaml(source: str, text: str) -> bool:
    if source == "-":  # no name: a JSON request begins with a brace, which few write in YAML
        return text.lstrip()[:1] not in ("{", "[", '"')
    return source.lower().endswith(YAML)


def _flaw(error: Exception) -> str:
    """What a parser found, without its advice to the programmer."""
    digits = re.search(r"value has (\d+) digits", str(error))
    if digits:
        return f"a number has {int(digits[1]):,} digits; values are shares, such as 0.5"
    return str(error)[:100]


def _json(text: str, where: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise LayoutdmError(f"{where}: {key[:60]!r} is given twice in one object")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=once)
    except LayoutdmError:
        raise
    except RecursionError:
        raise LayoutdmError(f"{where}: nested too deeply to be a request") from None
    except ValueError as error:
        raise LayoutdmError(f"{where}: is not valid JSON: {_flaw(error)}") from None


def _yaml(text: str, where: str) -> Any:
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # the package has no types
        """Plain data only: aliases could stand for more than any memory holds."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise LayoutdmError(f"{where}: aliases (*name) are not read; write the value out")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for key, _ in node.value:
                name = str(getattr(key, "value", key))
                if name in seen:
                    raise LayoutdmError(f"{where}: {name[:60]!r} is given twice in one object")
                seen.add(name)
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        reason = str(getattr(error, "problem", None) or "it cannot be parsed")[:100]
        raise LayoutdmError(f"{where}: is not valid YAML{place}: {reason}") from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, LayoutdmError):
            raise
        raise LayoutdmError(f"{where}: is not valid YAML: {_flaw(error)}") from None

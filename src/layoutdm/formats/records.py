"""Checks that all readers share: raw values from a file become plain ones or one sentence.

>>> number("12", "width")
Traceback (most recent call last):
layoutdm.errors.LayoutdmError: width must be a number, got '12'
>>> identifier(7)
'7'
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from layoutdm.boxes import Boxes, all_right, box_problem, canvas_scale
from layoutdm.errors import LayoutdmError, shown
from layoutdm.formats.problems import Problems
from layoutdm.layout import Layout

# The largest canvas side that is believed; beyond it a box can no longer be told apart.
LARGEST_SIDE = 1e9

# Labels, ids and file names are words, not documents.
LONGEST_TEXT = 10_000

LARGEST = sys.float_info.max


def number(value: object, what: str) -> float:
    """A finite float, or a sentence; text that looks like a number is not one."""
    if type(value) is float and -LARGEST <= value <= LARGEST:  # nearly always, so asked first
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LayoutdmError(f"{what} must be a number, got {shown(value)}")
    try:
        result = float(value)
    except OverflowError:
        raise LayoutdmError(f"{what} must be a number below 1e308, got a larger one") from None
    if result != result or result in (float("inf"), float("-inf")):
        raise LayoutdmError(f"{what} must be a finite number, got {result}")
    return result


def parsed(text: str, what: str) -> float:
    """The finite number that a text cell holds, or a sentence."""
    try:
        value = float(text)
    except ValueError:
        raise LayoutdmError(f"{what} must be a number, got {shown(text)}") from None
    return number(value, what)


def side(value: object, what: str) -> float:
    """A canvas width or height."""
    result = number(value, what)
    if not 0 < result <= LARGEST_SIDE:
        raise LayoutdmError(f"{what} must be above 0 and at most 1e9, got {result:g}")
    return result


def text(value: object, what: str) -> str:
    """A non-empty text that can be written to a UTF-8 file, or a sentence."""
    if not isinstance(value, str) or not value:
        raise LayoutdmError(f"{what} must be a non-empty text, got {shown(value)}")
    if len(value) > LONGEST_TEXT:
        raise LayoutdmError(
            f"{what} must have at most {LONGEST_TEXT:,} characters, got {len(value):,}"
        )
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise LayoutdmError(f"{what} holds half a character, got {shown(value)}") from None
    return value


def identifier(value: object) -> str:
    """An id as text; whole numbers are allowed, nothing else."""
    if value == "":
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= 2**63:
            raise LayoutdmError("id must fit in 64 bits, got a larger number")
        return str(value)
    if isinstance(value, str):
        return text(value, "id")
    raise LayoutdmError(f"id must be a text or a whole number, got {shown(value)}")


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """A JSON object, or a sentence."""
    if not isinstance(value, dict):
        raise LayoutdmError(f"{what} must be a JSON object, got {shown(value)}")
    return value


def required(record: Mapping[str, Any], key: str, what: str) -> Any:
    """The value of a key that must be there."""
    try:
        return record[key]
    except KeyError:
        keys = ", ".join(sorted(map(str, record))[:8]) or "no keys at all"
        raise LayoutdmError(f"{what} lacks the key {key!r}; it has {shown(keys)}") from None


def plain(value: float) -> int | float:
    """A whole number without its `.0`, as people write canvas sizes."""
    return int(value) if float(value).is_integer() else float(value)


def parse_json(data: bytes | str) -> Any:
    """json.loads with every way to fail turned into half a sentence."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise LayoutdmError(f"not valid JSON at {place}: {error.msg}") from None
    except UnicodeDecodeError:
        raise LayoutdmError("not valid JSON: the text is not UTF-8") from None
    except (ValueError, RecursionError):
        raise LayoutdmError("not valid JSON: a number too long or a nesting too deep") from None


def to_centre(convert: Callable[[Boxes], Boxes], boxes: Boxes, scale: Boxes | float) -> Boxes:
    """Boxes in a file's convention and units as centre boxes in 0..1.

    Absurdly large numbers become infinite, without a warning: `keep_good` reports those.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return convert(boxes / scale)


def keep_good(
    labels: Sequence[str],
    centre: Boxes,
    place: Callable[[int], str],
    problems: Problems,
) -> tuple[list[str], Boxes]:
    """The elements whose boxes are right; each of the others is reported at its place."""
    if all_right(centre):
        return list(labels), centre
    kept = []
    for index, box in enumerate(centre.tolist()):
        problem = box_problem(box)
        if problem:
            problems.report(place(index), f"{labels[index]}: {problem}")
        else:
            kept.append(index)
    return [labels[index] for index in kept], centre[kept]


def tidy(value: float) -> float:
    """To twelve digits: enough for any box, and no tails like 100.00000000000001."""
    return float(f"{value:.12g}")


def tidy_rows(boxes: Boxes, scale: Boxes) -> list[list[float]]:
    """Rows of tidy numbers; positions within a billionth of the canvas of an edge become 0."""
    boxes = boxes.copy()
    position = boxes[:, :2]
    position[np.abs(position) < 1e-9 * scale[:2]] = 0.0
    return [[tidy(value) for value in row] for row in boxes.tolist()]


def pixel_rows(layout: Layout) -> list[list[float]]:
    """(left, top, width, height) in pixels, tidy."""
    return tidy_rows(layout.left_top(pixels=True), canvas_scale(layout.width, layout.height))

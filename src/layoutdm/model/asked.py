"""Checks of what a model is asked: numbers that are numbers, and requests in the right shape.

>>> whole("seed", 5)
5
>>> [request for request in several([{"more": True}, None])]
[{'more': True}, None]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from layoutdm.errors import LayoutdmError
from layoutdm.spec import Spec

MOST = 2**64 - 1  # seeds and indices are keys of this size


def whole(name: str, value: Any, least: int = 0, most: int = MOST) -> int:
    """A whole number from `least` to `most`, as Python's."""
    right = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not right or not least <= value <= most:
        upper = f" to {most:,}" if most < MOST else " to 2^64 - 1"
        shown = repr(value) if not right or abs(value) < 10**40 else "one with too many digits"
        raise LayoutdmError(f"{name} must be a whole number from {least}{upper}, got {shown[:80]}")
    return int(value)


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise LayoutdmError(f"{name} must be true or false, got {value!r}")
    return bool(value)


def several(requests: Any) -> Iterable[Any]:
    """Many requests; one alone is a mistake that would be read as its own field names."""
    if isinstance(requests, (Mapping, Spec, str, bytes)) or requests is None:
        raise LayoutdmError(
            "generate_many takes a list of requests, got one request; "
            "write generate(request), or generate_many([request])"
        )
    return iterable("requests", requests)


def iterable(name: str, value: Any) -> Iterable[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise LayoutdmError(f"{name} must be a list or another iterable, got {value!r}")
    return value


def rows(name: str, values: Any, parts: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Tuples of as many parts as there are names."""
    for value in iterable(name, values):
        if not isinstance(value, (tuple, list)) or len(value) != len(parts):
            raise LayoutdmError(f"{name} must be ({', '.join(parts)}) each, got {value!r}")
        yield tuple(value)

"""A request's body: strict JSON, read in linear time, and nothing but JSON.

>>> parse(b'{"count": 8}', depth=32)
{'count': 8}
>>> parse(b'{"n": 8, "n": 9}', depth=32)
Traceback (most recent call last):
    ...
layoutdm.serve.failures.ServeError: request: field 'n' is given twice in one object; give it once
>>> parse(b'[NaN]', depth=32)
Traceback (most recent call last):
    ...
layoutdm.serve.failures.ServeError: request: NaN is not JSON; give a finite number
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

from layoutdm.serve.failures import ServeError
from layoutdm.spec import Problem
from layoutdm.spec.problems import shorten

SHOWN = 20  # fields given twice that are named
FIELDS = 1_000  # of one object; no request needs a tenth of them
_SURROGATE = re.compile("[\ud800-\udfff]")


def parse(data: bytes, depth: int) -> Any:
    """The value that a body holds; anything that is not plain JSON raises a ServeError (400)."""
    twice: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs) and len(twice) < SHOWN:
            counts = Counter(key for key, _ in pairs)
            twice.extend(key for key, number in counts.items() if number > 1)
        return result

    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=unique, parse_constant=_constant)
    except ServeError:
        raise
    except UnicodeDecodeError:
        raise _bad("not text in UTF-8; a body is JSON") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _bad(f"not valid JSON at {place}: {error.msg[0].lower()}{error.msg[1:]}") from None
    except RecursionError:
        raise _bad(f"nested too deeply; at most {depth} levels are allowed") from None
    except ValueError:  # Python refuses to read whole numbers with thousands of digits
        raise _bad("holds a number with too many digits") from None
    if twice:
        problems = [
            Problem("", f"field {shorten(key)} is given twice in one object; give it once")
            for key in list(dict.fromkeys(twice))[:SHOWN]
        ]
        raise ServeError(400, str(problems[0]), problems)
    _look(value, depth)
    return value


def _look(value: Any, depth: int) -> None:
    """Refuse what is too deep, infinite, or half a character; no recursion, each value once."""
    level = [value]
    for _ in range(depth + 1):
        deeper: list[Any] = []  # only what holds more: a long list of numbers costs nothing here
        for one in level:
            if isinstance(one, dict):
                if len(one) > FIELDS:
                    raise _bad(f"an object has {len(one):,} fields; at most {FIELDS:,} are allowed")
                for key in one:
                    _check(key)
            for inner in one.values() if isinstance(one, dict) else _listed(one):
                if isinstance(inner, (dict, list)):
                    deeper.append(inner)
                else:
                    _check(inner)
        if not deeper:
            return
        level = deeper
    raise _bad(f"nested too deeply; at most {depth} levels are allowed")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _check(value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise _bad("holds a number beyond 1e308; numbers must be finite")
    if isinstance(value, str) and not value.isascii() and _SURROGATE.search(value):
        raise _bad("holds half a character (a lone surrogate); texts must be whole")


def _constant(name: str) -> float:
    raise _bad(f"{name} is not JSON; give a finite number")


def _bad(message: str) -> ServeError:
    problem = Problem("", message)
    return ServeError(400, str(problem), [problem])

"""Problems of a request: where, and one sentence each.

>>> print(Problem("elements[0].label", "unknown label 'Imag'; did you mean 'Image'?"))
elements[0].label: unknown label 'Imag'; did you mean 'Image'?
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from layoutdm.errors import LayoutdmError

if TYPE_CHECKING:
    from layoutdm.spec.model import Spec

SHOWN = 20  # problems spelled out in a message; the rest is counted
LONGEST_WORD = 64  # letters of a word that gets a suggestion
COMPARED = 8  # known words that are looked at closely


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a request; `path` is its JSON path, "" the whole request."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path or 'request'}: {self.message}"

    def as_dict(self) -> dict[str, str]:
        return {"path": self.path, "message": self.message}


class SpecError(LayoutdmError):
    """A request that cannot be used; `problems` holds everything that is wrong with it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        self.rest: Spec | None = None  # what could be read all the same
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        left = len(self.problems) - len(lines)
        if len(self.problems) > 1:
            lines = [
                f"the request has {len(self.problems)} problems",
                *(f"  {line}" for line in lines),
            ]
        if left:
            lines.append(f"  and {left} more")
        super().__init__("\n".join(lines))

    def with_others(
        self, labels: Sequence[str], max_elements: int, aliases: Mapping[str, str] | None = None
    ) -> SpecError:
        """The same with what else is wrong, as far as the rest of the request can be read."""
        if self.rest is None:
            return self
        told = {problem.path.split(".")[0].split("[")[0] for problem in self.problems}
        # Places in these lists may have moved, as their bad entries were left out.
        moved = told & {"relations", "groups", "reading_order"}
        others = [
            problem
            for problem in self.rest.check(labels, max_elements, aliases)
            if problem.path.split("[")[0].split(".")[0] not in moved
        ]
        return SpecError(dict.fromkeys([*self.problems, *others]))


def json_path(parts: Iterable[str | int]) -> str:
    """("elements", 3, "x") as elements[3].x."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path


def suggestion(word: str, known: Sequence[str], what: str, shown: int = 12) -> str:
    """ "did you mean 'Image'?", or which ones there are when none is near."""
    near = nearest(word, known)
    if near is not None:
        return f"did you mean {near!r}?"
    if not known:
        return f"there are no {what}"
    listed = ", ".join(repr(name) for name in known[:shown])
    return f"the {what} are {listed}" + (" and others" if len(known) > shown else "")


def nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word most like this one, if any is like it at all."""
    if len(word) > LONGEST_WORD or len(known) > 2000:
        return None
    by_fold = {name.casefold().replace("_", " "): name for name in known}
    folded = word.casefold().replace("_", " ")
    if folded in by_fold:
        return by_fold[folded]
    # The comparison is quadratic: only words that share the most pairs of letters are compared.
    pairs = _pairs(folded)
    short = [name for name in by_fold if len(name) <= LONGEST_WORD]
    likely = sorted(short, key=lambda name: -len(pairs & _pairs(name)))[:COMPARED]
    close = difflib.get_close_matches(folded, likely, n=1, cutoff=0.6)
    return by_fold[close[0]] if close else None


def _pairs(word: str) -> set[str]:
    return {word[i : i + 2] for i in range(len(word) - 1)} | set(word)


def _unprintable(value: object) -> str:
    """
    >>> _unprintable(10**5000)
    'a number of about 5,001 digits'
    """
    if isinstance(value, int):
        return f"a number of about {int(value.bit_length() * math.log10(2)) + 1:,} digits"
    return f"a {type(value).__name__}"


def shorten(value: object, length: int = 60) -> str:
    """A value as the user wrote it, cut to a readable length."""
    try:
        if isinstance(value, (str, bytes)):
            value = value[:length]
        text = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
        text = _unprintable(value)
    return text if len(text) <= length else f"{text[: length - 3]}..."

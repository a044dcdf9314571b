"""What is wrong with a file: raised at once, or collected while the bad records are left out.

>>> problems = Problems(skip=True)
>>> problems.report("pages.jsonl, line 3", "width must be positive, got 0")
>>> problems.count, str(problems.listed[0])
(1, 'pages.jsonl, line 3: width must be positive, got 0')
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from layoutdm.errors import LayoutdmError

# A file of millions of bad records must not fill the memory: all are counted, these many kept.
KEPT = 10_000


# Nor must one message: it may quote an id of a million letters.
LONGEST = 600


class ReportedError(LayoutdmError):
    """A problem that was reported with its place; readers let it pass as it is."""


@dataclass(frozen=True)
class Problem:
    """One bad record: where it stands, and what is wrong with it."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass
class Problems:
    """Takes every problem that a reader meets; the reader then leaves that record out.

    Strict by default: the first report raises. With `skip=True` reports are counted and listed.
    """

    skip: bool = False
    count: int = 0
    listed: list[Problem] = field(default_factory=list)
    # What a rule left out, by reason (the paper's filters); never an error, never silent either.
    removed: Counter[str] = field(default_factory=Counter)

    def report(self, where: str, message: str) -> None:
        """Raise, or note that the record at `where` was left out because of `message`."""
        problem = Problem(_short(where), _short(message))
        if not self.skip:
            raise ReportedError(str(problem))
        self.count += 1
        if len(self.listed) < KEPT:
            self.listed.append(problem)


def _short(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} ... {text[-half:]}"

"""What goes wrong, as an answer: a status, one sentence, and the places in the request.

>>> ServeError(404, "model 'x' is unknown").as_dict("a1")
{'error': {'message': "model 'x' is unknown", 'problems': []}, 'request_id': 'a1'}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.spec import Problem, SpecError

MOST_PROBLEMS = 1_000  # that an answer spells out; a hostile request has any number


class ServeError(LayoutdmError):
    """A request that is not answered as wished."""

    def __init__(
        self,
        status: int,
        message: str,
        problems: Iterable[Problem] = (),
        *,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problems = tuple(problems)
        self.retry_after = retry_after

    def as_dict(self, request_id: str) -> dict[str, Any]:
        listed = [problem.as_dict() for problem in self.problems[:MOST_PROBLEMS]]
        return {"error": {"message": str(self), "problems": listed}, "request_id": request_id}


def refused(problems: Iterable[Problem]) -> ServeError:
    """422 with everything that is wrong, in the words of the command line."""
    error = SpecError(problems)
    return ServeError(422, str(error), error.problems)


def as_failure(error: LayoutdmError) -> ServeError:
    """Any of our errors as an answer; what is no ServeError yet is the user's."""
    if isinstance(error, ServeError):
        return error
    if isinstance(error, SpecError):
        return refused(error.problems)
    return ServeError(422, str(error), [Problem("", str(error))])

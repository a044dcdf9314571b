"""From a body to an order: every problem of a request at once, in the words of the command line.

order = ordered(body, catalogue, limits)      # an Order, or a ServeError with all problems
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from layoutdm.errors import LayoutdmError
from layoutdm.model import Model
from layoutdm.serve.batcher import Order
from layoutdm.serve.catalogue import Catalogue, unknown
from layoutdm.serve.failures import ServeError, refused
from layoutdm.serve.limits import Limits
from layoutdm.serve.schemas import CheckBody, GenerateBody, JobBody
from layoutdm.spec import Condition, Problem, Spec, SpecError
from layoutdm.spec.parsing import problems_of

MOST_OPTIONS = 100
LONGEST_VALUE = 100
Body = TypeVar("Body", bound=BaseModel)

NOT_HERE = ("trace", "tidy", "self", "asked")  # fields of the body, and no options


def validated(kind: type[Body], data: Any) -> Body:
    """A body of this kind, or a ServeError with all its problems."""
    if not isinstance(data, dict):
        raise refused([Problem("", "a body must be a JSON object in braces")])
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise refused(problems_of(error, kind)) from None


def ordered(
    body: GenerateBody | JobBody, catalogue: Catalogue, limits: Limits, *, most: int
) -> Order:
    """What is to be drawn; a request beyond a limit, or one that cannot be met, is refused."""
    problems: list[Problem] = []
    if body.count > most:
        problems.append(
            Problem("count", f"{body.count:,} layouts; this server takes at most {most:,} here")
        )
    model, spec = _looked_at(body, catalogue, limits, problems)
    if model is not None:
        problems += _options(body.options, model, limits)
    if problems or model is None or spec is None:
        raise refused(problems)
    options = {name: value for name, value in body.options.items() if value is not None}
    if isinstance(body, GenerateBody) and body.trace:
        if not hasattr(model.generator, "trace"):
            raise refused([Problem("trace", f"{model.name} has no steps to trace; leave it out")])
        options["trace"] = True
    if isinstance(body, GenerateBody) and body.tidy:
        options["tidy"] = True
    return Order(model, spec, body.seed, 0, body.count, options)


def problems_in(body: CheckBody, catalogue: Catalogue, limits: Limits) -> list[Problem]:
    """Everything that is wrong with a request."""
    problems: list[Problem] = []
    _looked_at(body, catalogue, limits, problems)
    return problems


def _looked_at(
    body: CheckBody | GenerateBody | JobBody,
    catalogue: Catalogue,
    limits: Limits,
    problems: list[Problem],
) -> tuple[Model | None, Spec | None]:
    model: Model | None = None
    spec: Spec | None = None
    if body.model is None or body.model in catalogue.models:
        model = catalogue.find(body.model)
    else:
        problems.append(unknown(body.model, catalogue))
    too_long = list(_too_long(body.spec, limits))
    problems += too_long
    if too_long:
        return model, None
    try:
        spec = Spec.parse(body.spec)
    except SpecError as error:
        # A later look may find more, in what can be read of the request.
        others = getattr(error, "with_others", None)
        if others is not None and model is not None:
            words: Any = getattr(model, "aliases", {})
            error = others(model.labels, model.max_elements, words)
        problems += error.problems
    if model is not None and spec is not None:
        problems += _refusals(model, spec)
    return model, spec


def _too_long(spec: Mapping[str, Any], limits: Limits) -> Iterator[Problem]:
    """Lists beyond the limits are not looked into."""
    for key, value in spec.items():
        most = limits.elements if key == "elements" else limits.relations
        if isinstance(value, list) and len(value) > most:
            yield Problem(key, f"{len(value):,} entries; this server takes at most {most:,}")


def _refusals(model: Model, spec: Spec) -> list[Problem]:
    try:
        condition = condition_of(model, spec)
    except SpecError as error:
        return list(error.problems)
    reason = model.generator.refuses(condition)
    return [] if reason is None else [Problem("", reason)]


def condition_of(model: Model, spec: Spec) -> Condition:
    """A request as a model reads it: its labels, and other words for them where it has any."""
    words = getattr(model, "aliases", None)
    from_spec: Any = Condition.from_spec
    found: Condition = from_spec(
        spec, model.labels, model.max_elements, *((words,) if words else ())
    )
    return found


def _options(options: Mapping[str, Any], model: Model, limits: Limits) -> Iterator[Problem]:
    if len(options) > MOST_OPTIONS:
        yield Problem("options", f"{len(options):,} options; a model has fewer")
        return
    wrong = False
    for name, value in options.items():
        message = _option(name, value, model, limits)
        if message is not None:
            wrong = True
            yield Problem(f"options.{name}", message)
    if not wrong:
        message = _told(model, dict(options))
        if message is not None:
            yield Problem("options", message)


def _option(name: str, value: Any, model: Model, limits: Limits) -> str | None:
    """What is wrong with one option, or None."""
    if value is None:
        return None
    if name == "require":
        return None if isinstance(value, bool) else f"must be true or false, got {value!r:.60}"
    whole = isinstance(value, int) and not isinstance(value, bool)
    most = {"steps": limits.steps, "tries": limits.tries, "draws": limits.tries}.get(name)
    if most is not None:
        if not whole or value < 1:
            return f"must be a whole number from 1, got {value!r:.60}"
        if value > most:
            return f"{value:,} is more than this server's {most:,}"
    if isinstance(value, (dict, list, str)) and len(value) > LONGEST_VALUE:
        return "is too long to be an option's value"
    if name in NOT_HERE or not name.isidentifier():
        return f"unknown option {name!r:.60}"
    return _told(model, {name: value})


def _told(model: Model, options: dict[str, Any]) -> str | None:
    """What a model says to options, when it is asked to draw nothing with them."""
    try:
        model.draw_many((), **options)
    except LayoutdmError as error:
        return str(error)
    except (TypeError, ValueError, OverflowError):
        return f"cannot have the value {options!r:.60}"
    return None


__all__ = ["ServeError", "ordered", "problems_in", "validated"]

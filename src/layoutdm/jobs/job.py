"""A job as a value: everything that decides the bytes it writes, and nothing else.

>>> job = Job(count=8, seed=5, formats=("jsonl", "coco"))
>>> Job.from_dict(job.as_dict()) == job
True
>>> job.id(3)
'5-3'
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from layoutdm.errors import LayoutdmError

if TYPE_CHECKING:
    from layoutdm.model import Model, Request

MOST = 10**12  # layouts in one job
# Two runs of one job may differ in these: how many, and in which files; and a model may be moved.
MAY_CHANGE = ("count", "formats", "model")


@dataclass(frozen=True)
class Job:
    """Layouts `first` to `first + count` of a request, from one seed and one model's weights.

    Batch size, threads and machines are no part of a job: they do not change a byte.
    """

    count: int
    request: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    model: str = ""  # its name, for people
    weights: str = ""  # its fingerprint
    labels: tuple[str, ...] = ()  # in the order in which formats number them
    options: Mapping[str, Any] = field(default_factory=dict)
    formats: tuple[str, ...] = ("jsonl",)
    kind: str = "generate"  # the command
    first: int = 0  # index of the first layout: a part of a larger job has its own

    def __post_init__(self) -> None:
        for name, least, most in (("count", 1, MOST), ("first", 0, MOST), ("seed", 0, 2**64 - 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise LayoutdmError(
                    f"{name} must be a whole number from {least} to {most:,}, got {_short(value)}"
                )
        for name in ("model", "weights", "kind"):
            if not isinstance(getattr(self, name), str):
                raise LayoutdmError(f"{name} must be a text, got {getattr(self, name)!r}")
        object.__setattr__(self, "request", _plain("request", self.request))
        object.__setattr__(self, "options", _decisive(_plain("options", self.options)))
        object.__setattr__(self, "labels", _texts("labels", self.labels))
        object.__setattr__(self, "formats", _texts("formats", self.formats) or ("jsonl",))

    @classmethod
    def of(
        cls,
        model: Model,
        request: Request = None,
        count: int = 8,
        seed: int = 0,
        *,
        formats: Sequence[str] = ("jsonl",),
        kind: str = "generate",
        first: int = 0,
        **options: Any,
    ) -> Self:
        """A job for a loaded model; a request that it cannot draw is told here."""
        from layoutdm.spec import Spec

        model.condition(request)  # tells all that is wrong, and knows other words for labels
        spec = Spec.parse(request)
        return cls(
            count=count, request=spec.as_dict(), seed=seed, model=model.name,
            weights=model.generator.fingerprint, labels=model.labels, options=options,
            formats=tuple(formats), kind=kind, first=first,
        )  # fmt: skip

    @property
    def require(self) -> bool:
        """Whether the layouts are put in order in the end, best first."""
        return bool(self.options.get("require"))

    @property
    def fingerprint(self) -> str:
        """Changes when anything does that decides the bytes of the job's files."""
        record = {key: value for key, value in self.as_dict().items() if key != "model"}
        text = json.dumps(record, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def id(self, index: int) -> str:
        """The id of the layout with this index."""
        return f"{self.seed}-{index}"

    def difference(self, other: Job) -> str | None:
        """The first thing in which another job would make other layouts; None: it would not."""
        mine, others = self.as_dict(), other.as_dict()
        for key in sorted(mine):
            if key not in MAY_CHANGE and mine[key] != others[key]:
                return f"{key} ({_short(others[key])}, now {_short(mine[key])})"
        return None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        record = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**record, "labels": list(self.labels), "formats": list(self.formats)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        known = {item.name for item in fields(cls)}
        if not isinstance(record, Mapping) or "count" not in record:
            raise LayoutdmError(f"a job is an object with a count, got {_short(record)}")
        for key in record:
            if key not in known:
                raise LayoutdmError(f"a job has no {key!r}; it has: {', '.join(sorted(known))}")
        return cls(**record)


def _decisive(options: dict[str, Any]) -> dict[str, Any]:
    """Options without those that leave everything as it is."""
    kept = {key: value for key, value in sorted(options.items()) if value is not None}
    if not kept.get("require"):
        kept.pop("require", None)
        kept.pop("tries", None)
    return kept


def _plain(name: str, value: Any) -> dict[str, Any]:
    """As JSON keeps it, so that a job that was read equals the one that was written."""
    try:
        record = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise LayoutdmError(f"{name} of a job must be plain data: {error}") from None
    if not isinstance(record, dict):
        raise LayoutdmError(f"{name} of a job must be an object, got {_short(value)}")
    return record


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise LayoutdmError(f"{name} of a job must be a list of texts, got {_short(value)}")
    return tuple(dict.fromkeys(value))


def _short(value: Any) -> str:
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

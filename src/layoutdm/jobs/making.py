"""What a job is made of: one record a layout, and the function that makes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layoutdm.jobs.job import Job
    from layoutdm.model import Model, Result


@dataclass(frozen=True)
class Made:
    """One layout as a record of the native format with the id `job.id(index)`.

    `files` are written beside it, by their names inside the job's folder, before its record is: a
    record in the journal means that its files are whole.
    """

    record: Mapping[str, Any]
    files: Mapping[str, bytes] = field(default_factory=dict)


# Indices in, what was made of each out, in their order.
Make = Callable[[range], Iterator[Made]]


def made(result: Result) -> Made:
    """The report is part of the metadata where there are wishes."""
    record = result.layout.as_dict()
    wishes = result.report.as_dict()
    if wishes["wishes"] > 1:  # the number of elements alone always holds
        record["metadata"] = {**record.get("metadata", {}), "report": wishes}
    return Made(record)


def line(result: Result) -> str:
    """A result as one line of JSON."""
    return to_line(made(result).record)


def to_line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def maker(model: Model, job: Job, batch_size: int = 64) -> Make:
    """Draws the layouts of a job with a model of this process."""
    from layoutdm.spec import Spec

    spec = Spec.parse(job.request)

    def make(indices: range) -> Iterator[Made]:
        drawn = model.stream(spec, indices, job.seed, batch_size=batch_size, **job.options)
        return (made(result) for result in drawn)

    return make

"""`generate` by chunks: a maker for the workers of a pool or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from layoutdm.errors import LayoutdmError
from layoutdm.jobs import Job
from layoutdm.jobs.making import Made, Make, maker
from layoutdm.layout import Layout
from layoutdm.scale.work import Task, Work, chunks

CHUNK = 256  # layouts that a worker gets at a time

Runner = Callable[[Work, Iterator[Task]], Iterator[Made]]


class LayoutMaker:
    """Draws layouts of a job with the model of this name, which must have the job's weights.

    >>> from layoutdm.model import load
    >>> job = Job.of(load("publaynet", threads=1), count=2, seed=3)
    >>> [made.record["id"] for made in LayoutMaker(job, "publaynet", 64).make(range(0, 2))]
    ['3-0', '3-1']
    """

    def __init__(self, job: Job, model: str, batch_size: int) -> None:
        self._job, self._model, self._batch_size = job, model, batch_size

    @cached_property
    def _make(self) -> Make:
        from layoutdm.model import load

        model = load(self._model, threads=1)
        check_weights(self._model, model.generator.fingerprint, self._job.weights)
        return maker(model, self._job, self._batch_size)

    def make(self, indices: range, layouts: Iterable[Layout] | None = None) -> Iterator[Made]:
        return self._make(indices)


def check_weights(name: str, here: str, wanted: str) -> None:
    """A worker with other weights would make other layouts without a word."""
    if wanted and here != wanted:
        raise LayoutdmError(
            f"model {name!r} has other weights on a worker ({here}, wanted {wanted}); "
            "give all machines the same model"
        )


def make(job: Job, model: str, runner: Runner, workers: int, batch_size: int = 64) -> Make:
    """The function that a job calls with the indices that are missing."""
    work = Work(LayoutMaker, (job, model, batch_size))

    def make_layouts(indices: range) -> Iterator[Made]:
        size = max(1, min(CHUNK, -(-len(indices) // (4 * workers))))
        return runner(work, ((part, None) for part in chunks(indices, size)))

    return make_layouts

"""What all routes share: the models, the batcher, the metrics, the jobs, and the bounds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from layoutdm.errors import LayoutdmError
from layoutdm.serve.batcher import Batcher, stopping
from layoutdm.serve.catalogue import Catalogue
from layoutdm.serve.converting import too_slow
from layoutdm.serve.failures import ServeError
from layoutdm.serve.metrics import SIZES, Metrics
from layoutdm.serve.settings import Settings

if TYPE_CHECKING:
    from layoutdm.serve.job_room import JobRoom

log = logging.getLogger("layoutdm.serve")

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE = 2  # checks that work at the same time; the others wait


class Room:
    """The inside of one server."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.catalogue = Catalogue.load(settings.models, settings.threads)
        self.stopping = False
        self.metrics = Metrics()
        self.requests = self.metrics.counter(
            "requests_total", "Requests answered.", "route", "status"
        )
        self.seconds = self.metrics.histogram(
            "request_seconds", "From a request's arrival to the end of its answer.", "route"
        )
        self.layouts = self.metrics.counter("layouts_total", "Layouts drawn.", "model")
        self.batches = self.metrics.histogram(
            "batch_layouts", "Layouts drawn together.", "model", bounds=SIZES
        )
        self.drawing = self.metrics.histogram(
            "batch_seconds", "Time in which a batch was drawn.", "model"
        )
        self.batcher = Batcher(self.limits, settings.linger, self._drawn)
        self.metrics.gauge(
            "queue_layouts", "Layouts that wait to be drawn.", lambda: self.batcher.waiting
        )
        self.metrics.gauge(
            "drawing_layouts", "Layouts that are being drawn.", lambda: self.batcher.at_work
        )
        self._busy = 0
        self._places = asyncio.Semaphore(AT_ONCE)
        self._slow = asyncio.Semaphore(1)
        self.jobs: JobRoom | None = None
        self.no_jobs = "it was started without a folder for them (--jobs FOLDER)"
        self.metrics.gauge(
            "jobs_unfinished",
            "Jobs that wait or run.",
            lambda: self.jobs.running() if self.jobs else 0,
        )

    def _drawn(self, model: str, layouts: int, seconds: float) -> None:
        self.layouts.add(layouts, model)
        self.batches.observe(layouts, model)
        self.drawing.observe(seconds, model)

    async def aside(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do something that takes a moment in a thread, a few at a time."""
        async with self._places:
            return await asyncio.to_thread(work, *args, **kwargs)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """The one place for slow work; refused when too many wait, or after too long a wait."""
        if self._busy >= self.limits.converting:
            raise ServeError(
                429,
                f"{self.limits.converting:,} conversions are at work or wait; try again later",
                retry_after=1,
            )
        self._busy += 1
        try:
            try:
                await asyncio.wait_for(self._slow.acquire(), self.limits.seconds)
            except TimeoutError:
                raise too_slow(self.limits.seconds) from None
            try:
                yield
            finally:
                self._slow.release()
        finally:
            self._busy -= 1

    def open_jobs(self) -> None:
        """Go on with the jobs of the folder; without one, or with one in use, there are none."""
        folder = self.settings.jobs
        if folder is None:
            return
        from layoutdm.serve.job_room import JobRoom

        try:
            self.jobs = JobRoom(folder, self.catalogue, self.batcher, self.limits)
        except LayoutdmError as error:
            self.no_jobs = str(error)
            log.warning("no jobs: %s", error)

    def ensure_open(self) -> None:
        if self.stopping:
            raise stopping()

    def close(self) -> None:
        """Stop drawing; jobs go on when the server is started again."""
        self.stopping = True
        if self.jobs is not None:
            self.jobs.close()
        self.batcher.close()


def dumps(value: Any) -> bytes:
    """JSON without spaces; NaN would be a mistake of ours."""
    import json

    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()

"""A pool of processes on this machine: chunks go out, what they made comes back in order."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.jobs.making import Made
from layoutdm.layout import Layout
from layoutdm.scale.work import Maker, Task, Work

AHEAD = 3  # chunks a worker that may be made before they are written

_here: dict[str, Maker] = {}  # the maker of this worker process


def made_here(work: Work, tasks: Iterator[Task]) -> Iterator[Made]:
    """Without other processes."""
    maker = work.maker()
    for indices, layouts in tasks:
        yield from maker.make(indices, layouts)


def made_by_processes(work: Work, tasks: Iterator[Task], workers: int) -> Iterator[Made]:
    """The same by several processes. Only a few chunks are under way, whatever the number."""
    context = multiprocessing.get_context("spawn")  # threads of the model would not survive a fork
    with ProcessPoolExecutor(workers, context, _start, (work, dict(os.environ))) as pool:
        waiting: deque[Future[list[Made]]] = deque()
        try:
            for task in tasks:
                waiting.append(pool.submit(_make, *task))
                if len(waiting) >= AHEAD * workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool:
            raise LayoutdmError(
                "a worker process ended by itself, perhaps for lack of memory; continue with "
                "--resume, with fewer --workers if it happens again"
            ) from None
        finally:
            for future in waiting:
                future.cancel()


def _start(work: Work, environment: dict[str, Any]) -> None:
    os.environ.update(environment)
    # One thread each: the processes share the cores already.
    os.environ["OMP_NUM_THREADS"] = "1"
    _here["maker"] = work.maker()


def _make(indices: range, layouts: Sequence[Layout] | None) -> list[Made]:
    return list(_here["maker"].make(indices, layouts))

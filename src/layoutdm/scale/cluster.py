"""Ray: the same chunks on every machine of a cluster, by Ray Data.

    with cluster("auto") as (runner, workers):
        for made in runner(work, tasks):
            ...

Nothing but plain values travels: a chunk of indices goes out, its records and files come back. A
worker that dies, alone or with its machine, costs only the chunks that it had not handed over;
Ray makes those again elsewhere, and since each is a function of (seed, index) they are the same.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from layoutdm import __version__
from layoutdm.errors import LayoutdmError
from layoutdm.jobs.making import Made
from layoutdm.scale.work import Task, Work

AHEAD = 4  # chunks a worker that Ray may hold before they are written
Runner = Callable[[Work, Iterator[Task]], Iterator[Made]]

ANSWER = 10.0  # seconds that a cluster may take to answer


@contextmanager
def cluster(address: str = "auto") -> Iterator[tuple[Runner, int]]:
    """A runner on the cluster at this address, and how many workers it has.

    `local` starts Ray on this machine alone, `auto` finds the cluster that this machine belongs to.
    """
    ray = _ray()
    ours = not ray.is_initialized()
    if ours:
        # Ray's own messages would stand between the lines of the progress bar.
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        try:
            _reached(address)
            ray.init(address=None if address == "local" else address, **options)
        except (OSError, RuntimeError, ValueError) as error:
            raise LayoutdmError(
                f"--ray {address}: no cluster answers there ({_short(error)}); start one with "
                "`ray start --head`, give its HOST:PORT, or use --ray local"
            ) from None
    try:
        workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        yield made_by_ray, workers
    finally:
        if ours:
            ray.shutdown()


def _reached(address: str) -> None:
    """Raise OSError where nobody listens: Ray itself would end the process."""
    host, _, port = address.rpartition(":")
    if "/" not in address and host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=ANSWER).close()


def made_by_ray(work: Work, tasks: Iterator[Task]) -> Iterator[Made]:
    """Chunks out, what they made back in order; a few chunks a worker are under way at a time."""
    for data in mapped(_Maker, (work, __version__), (pickle.dumps(task) for task in tasks)):
        yield from pickle.loads(data)


def mapped(
    worker: type, arguments: tuple[Any, ...], tasks: Iterator[bytes], *, ordered: bool = True
) -> Iterator[bytes]:
    """Ray Data: one actor a processor, one task a block; answers come in the tasks' order."""
    ray = _ray()
    items = [{"task": task} for task in tasks]
    if not items:
        return
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = ordered
    context.max_errored_blocks = 0
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    found = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
        worker,
        batch_size=1,
        batch_format="numpy",
        concurrency=(1, min(workers, len(items))),
        num_cpus=1,
        fn_constructor_args=arguments,
    )
    try:
        for batch in found.iter_batches(batch_size=1, prefetch_batches=0, batch_format="numpy"):
            yield bytes(batch["made"][0])
    except ray.exceptions.RayError as error:
        raise _told(error) from None


class _Maker:
    """Lives in a worker of the cluster and holds its maker."""

    def __init__(self, work: Work, version: str) -> None:
        os.environ["OMP_NUM_THREADS"] = "1"
        check_version(version)
        self._maker = work.maker()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        indices, layouts = pickle.loads(bytes(batch["task"][0]))
        made = pickle.dumps(list(self._maker.make(indices, layouts)))
        return {"made": np.array([made], dtype=object)}


def check_version(version: str) -> None:
    """All machines must have the same program, or their bytes would differ."""
    if version != __version__:
        raise LayoutdmError(
            f"a machine of the cluster has layoutdm {__version__}, this one has {version}; "
            "install the same version on all of them"
        )


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise LayoutdmError("--ray needs the package ray; install layoutdm[ray]") from None
    return ray


def _told(error: Exception) -> LayoutdmError:
    """The sentence of an error that happened in a worker, without its travels."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, LayoutdmError):
            return cause
        cause = getattr(cause, "cause", None) or cause.__cause__
    for line in reversed(str(error).splitlines()):
        if "LayoutdmError: " in line:
            return LayoutdmError(line.split("LayoutdmError: ", 1)[1])
    return LayoutdmError(f"the cluster gave up: {_short(error)}; continue with --resume")


def _short(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [repr(error)]
    return lines[-1] if len(lines[-1]) <= 160 else lines[-1][:157] + "..."

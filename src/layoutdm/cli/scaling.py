"""`--ray`, `--shard` and addresses such as s3://bucket/set, for `generate` and `pages`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layoutdm.errors import LayoutdmError

if TYPE_CHECKING:
    from layoutdm.jobs import Job, Outcome

NOWHERE = "auto"  # the address that --ray means alone


def bare_ray(arguments: list[str]) -> list[str]:
    """The arguments with an address after every --ray that has none.

    >>> bare_ray(["pages", "--ray", "--out", "set"])
    ['pages', '--ray', 'auto', '--out', 'set']
    >>> bare_ray(["pages", "--ray", "10.0.0.1:6379"])
    ['pages', '--ray', '10.0.0.1:6379']
    """
    found: list[str] = []
    for at, word in enumerate(arguments):
        found.append(word)
        after = arguments[at + 1] if at + 1 < len(arguments) else "-"
        if word == "--ray" and after.startswith("-"):
            found.append(NOWHERE)
    return found


def scaled(out: str, ray: str | None, shard: int | None) -> bool:
    """Whether more than this process, or another place than a folder, is asked for."""
    return ray is not None or shard is not None or "://" in out


def in_shards(out: str, shard: int | None) -> bool:
    return shard is not None or "://" in out


def connected(ray: str | None) -> AbstractContextManager[tuple[Any, int]]:
    """The runner of a cluster and its number of workers; without an address, nothing."""
    if ray is None:
        return nullcontext((None, 1))
    from layoutdm.scale.cluster import cluster

    return cluster(ray)


def run_scaled(
    job: Job, model: str, out: str, ray: str | None, shard: int | None, batch_size: int,
    resume: bool, overwrite: bool, progress: Callable[[int], None],
) -> Outcome:  # fmt: skip
    """A job of `generate` on a cluster or in shards."""
    from layoutdm.jobs import OUTPUTS, Outcome, Tally, run
    from layoutdm.scale import layouts, shards
    from layoutdm.scale.parquet_shards import of_layouts
    from layoutdm.scale.work import Work

    with connected(ray) as (runner, workers):
        if not in_shards(out, shard):
            make = layouts.make(job, model, runner, workers, batch_size)
            return run(job, Path(out), make=make, resume=resume, overwrite=overwrite,
                       progress=progress)  # fmt: skip
        if job.require:
            raise LayoutdmError(
                "--require puts the best layouts first, which shards cannot; write to a folder "
                "without --shard"
            )
        plan = shards.Shards(
            job,
            Work(layouts.LayoutMaker, (job, model, batch_size)),
            out,
            shard or shards.SIZE,
            of_layouts if "parquet" in job.formats else None,
        )
        made = shards.run(
            plan, OUTPUTS, on_cluster=ray is not None, resume=resume, overwrite=overwrite,
            progress=progress,
        )  # fmt: skip
        tally = Tally()
        for record in shards.records(plan):
            tally.add(record)
    return Outcome(job, Path(out), True, made, tally)

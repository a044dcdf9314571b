"""Sharded output at any address: each worker writes its own shards, and COCO is merged at the end.

    s3://bucket/set/job.json
                    layouts-00000-of-00040.jsonl
                    layouts-00000-of-00040.parquet
                    coco.json

A shard's lines are written last, so a shard that is there is whole, and a resumed job makes only
the others. Concatenated, the shards are the `layouts.jsonl` of one machine, byte for byte.
"""

from __future__ import annotations

import json
import pickle
import posixpath
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layoutdm import __version__
from layoutdm.errors import LayoutdmError
from layoutdm.jobs import Job
from layoutdm.jobs.making import Made, to_line
from layoutdm.jobs.outputs import Output
from layoutdm.layout import Layout
from layoutdm.scale.work import Maker, Work

SIZE = 2000  # layouts of a shard
NOTE = "job.json"
_NAME = re.compile(r"layouts-(\d+)-of-(\d+)\.jsonl")

# Writes one shard's Parquet from what was made: (made, job, path on this machine).
WriteParquet = Callable[[Sequence[Made], Job, Path], None]


@dataclass(frozen=True)
class Shards:
    """Where the shards of a job go."""

    job: Job
    work: Work
    address: str
    size: int = SIZE
    parquet: WriteParquet | None = None  # a function of a module, so that it travels

    @property
    def count(self) -> int:
        return -(-self.job.count // self.size)

    def name(self, number: int, ending: str = "jsonl") -> str:
        return f"layouts-{number:05d}-of-{self.count:05d}.{ending}"

    def indices(self, number: int) -> range:
        first = number * self.size
        return range(first, min(first + self.size, self.job.count))


def place(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path there."""
    try:
        import fsspec
    except ImportError:
        raise LayoutdmError(f"{address}: needs the package fsspec; install layoutdm[ray]") from None
    try:
        found, path = fsspec.core.url_to_fs(address)
    except (ValueError, ImportError) as error:
        raise LayoutdmError(f"{address}: cannot be opened ({error})") from None
    return found, str(path).rstrip("/")


def put(address: str, name: str, data: bytes) -> None:
    """A whole file or none: a local one appears under its name when it is complete."""
    system, root = place(address)
    target = posixpath.join(root, name)
    system.makedirs(posixpath.dirname(target), exist_ok=True)
    if "file" not in _protocols(system):
        system.pipe_file(target, data)  # object stores show an object when it is whole
        return
    temporary = posixpath.join(posixpath.dirname(target), f".{posixpath.basename(target)}.part")
    system.pipe_file(temporary, data)
    system.mv(temporary, target)


def _protocols(system: Any) -> tuple[str, ...]:
    return (system.protocol,) if isinstance(system.protocol, str) else tuple(system.protocol)


class ShardWriter:
    """Lives in a worker: makes a shard and writes its files."""

    def __init__(self, shards: Shards, version: str) -> None:
        from layoutdm.scale.cluster import check_version

        check_version(version)
        self._shards = shards
        self._maker: Maker = shards.work.maker()

    def write(self, number: int, layouts: Sequence[Layout] | None) -> int:
        """One shard; how many layouts it has. Done twice, it writes the same bytes again."""
        shards = self._shards
        lines: list[str] = []
        kept: list[Made] = []
        for made in self._maker.make(shards.indices(number), layouts):
            for name, data in made.files.items():
                put(shards.address, name, data)
            lines.append(to_line(made.record) + "\n")
            if shards.parquet is not None:
                kept.append(made)
        if shards.parquet is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "shard.parquet"
                shards.parquet(kept, shards.job, path)
                put(shards.address, shards.name(number, "parquet"), path.read_bytes())
        put(shards.address, shards.name(number), "".join(lines).encode())
        return len(lines)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        number, layouts = pickle.loads(bytes(batch["task"][0]))
        done = self.write(number, layouts)
        return {"made": np.array([pickle.dumps((number, done))], dtype=object)}


def run(
    shards: Shards,
    outputs: Mapping[str, Output],
    *,
    layouts: Callable[[range], Sequence[Layout]] | None = None,
    on_cluster: bool,
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Write the shards that are missing, then the formats; how many layouts were made now."""
    for name in shards.job.formats:
        if name not in ("jsonl", "parquet", *outputs):
            raise LayoutdmError(
                f"format {name!r} cannot be written in shards; choose from jsonl, parquet, "
                f"{', '.join(outputs)}"
            )
    there = _begin(shards, resume, overwrite)
    missing = [number for number in range(shards.count) if number not in there]
    done = sum(len(shards.indices(number)) for number in there)
    progress(done)
    made = 0
    tasks = ((n, layouts(shards.indices(n)) if layouts else None) for n in missing)
    for count in _written(shards, tasks, on_cluster):
        made += count
        progress(done + made)
    _merge(shards, outputs)
    _note(shards, finished=True)
    return made


def _written(
    shards: Shards, tasks: Iterator[tuple[int, Sequence[Layout] | None]], on_cluster: bool
) -> Iterator[int]:
    if on_cluster:
        from layoutdm.scale.cluster import mapped

        packed = (pickle.dumps(task) for task in tasks)
        for data in mapped(ShardWriter, (shards, __version__), packed, ordered=False):
            yield pickle.loads(data)[1]
        return
    writer = ShardWriter(shards, __version__)
    for number, layouts in tasks:
        yield writer.write(number, layouts)


# The note and the shards that are there -----------------------------------------------------


def _note(shards: Shards, *, finished: bool) -> None:
    record = {"job": shards.job.as_dict(), "shard": shards.size, "finished": finished}
    put(shards.address, NOTE, (json.dumps(record, indent=1) + "\n").encode())


def _begin(shards: Shards, resume: bool, overwrite: bool) -> set[int]:
    """The shards of an earlier run of the same job; another job's are refused."""
    system, root = place(shards.address)
    try:
        before = json.loads(system.cat_file(posixpath.join(root, NOTE)))
        job, size = Job.from_dict(before["job"]), int(before["shard"])
    except FileNotFoundError:
        _note(shards, finished=False)
        return set()
    except (ValueError, KeyError, TypeError, LayoutdmError):
        raise LayoutdmError(
            f"{shards.address}/{NOTE}: is not the note of a job, or is damaged; choose "
            "another place"
        ) from None
    if overwrite:
        for path in system.ls(root, detail=False):
            if _NAME.fullmatch(posixpath.basename(path)):
                system.rm(path)
        _note(shards, finished=False)
        return set()
    if not resume:
        raise LayoutdmError(
            f"{shards.address}: holds a job; add --resume to continue it, --overwrite to make "
            "everything anew, or choose another place"
        )
    difference = shards.job.difference(job)
    if difference is None and job.count != shards.job.count:
        difference = f"count ({job.count:,}, now {shards.job.count:,})"
    if difference is None and size != shards.size:
        difference = f"shard size ({size:,}, now {shards.size:,})"
    if difference is not None:
        raise LayoutdmError(
            f"{shards.address}: holds a job with another {difference}; resume with the same "
            "options or choose another place"
        )
    system.invalidate_cache()
    names = {posixpath.basename(path) for path in system.ls(root, detail=False)}
    return {number for number in range(shards.count) if shards.name(number) in names}


def records(shards: Shards) -> Iterator[Mapping[str, Any]]:
    """All records in order, one shard in memory at a time."""
    system, root = place(shards.address)
    for number in range(shards.count):
        data = system.cat_file(posixpath.join(root, shards.name(number)))
        for line in data.splitlines():
            yield json.loads(line)


def _merge(shards: Shards, outputs: Mapping[str, Output]) -> None:
    """Formats that are one whole: made on this machine as the shards stream by, then sent."""
    for name in shards.job.formats:
        output = outputs.get(name)
        if name == "parquet" or output is None or output.write is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "parts" / output.name
            target.parent.mkdir()
            output.write(lambda: records(shards), target, shards.job)
            files = [target] if target.is_file() else sorted(target.rglob("*"))
            for path in (path for path in files if path.is_file()):
                put(shards.address, path.relative_to(target.parent).as_posix(), path.read_bytes())

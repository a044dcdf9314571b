"""Large orders: written to a folder of their own, one after the other, through restarts.

    ROOT/ID/order.json     what was asked, and how it ended, if it has ended
    ROOT/ID/files/         the job's folder, as `layoutdm generate --out` would write it

Ids are made here and names of files come from the job's own list: no text of a client becomes a
path. The layouts are drawn by the server's one worker, after those of waiting clients.
"""

from __future__ import annotations

import json
import logging
import queue
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.jobs import OUTPUTS, Job, Made, made, run, status
from layoutdm.lock import locked
from layoutdm.serve.batcher import Batcher, Order, Part, Ticket
from layoutdm.serve.catalogue import Catalogue
from layoutdm.serve.failures import ServeError, refused
from layoutdm.serve.limits import Limits
from layoutdm.spec import Problem, Spec
from layoutdm.spec.problems import suggestion

log = logging.getLogger("layoutdm.serve")

TOGETHER = 64  # layouts of a job that are asked for at once: a kill loses at most so many
LISTED = 1_000  # files that a job's record names
ENDED = ("finished", "cancelled", "failed")
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Record:
    """A job as the server knows it."""

    id: str
    created: float
    model: str  # its name in the catalogue
    job: dict[str, Any]
    state: str = "waiting"
    done: int = 0
    error: str | None = None

    def view(self, files: tuple[str, ...] = ()) -> dict[str, Any]:
        """What clients see."""
        return {
            "id": self.id,
            "state": self.state,
            "done": self.done,
            "count": self.job["count"],
            "model": self.model,
            "formats": list(self.job["formats"]),
            "files": list(files[:LISTED]),
            "error": self.error,
        }


class JobRoom:
    """All jobs of one server, and the thread that runs them."""

    def __init__(self, root: Path, catalogue: Catalogue, batcher: Batcher, limits: Limits) -> None:
        self.root, self.catalogue, self.batcher, self.limits = root, catalogue, batcher, limits
        self._held = ExitStack()
        self._held.enter_context(locked(root, "serve"))
        self._changed = threading.Condition()
        self._records: dict[str, Record] = {}
        self._closing = False
        self._at_work: str | None = None
        for record in sorted(self._found(), key=lambda record: record.created):
            self._records[record.id] = record
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)
        self._thread.start()

    # What clients do ---------------------------------------------------------------------------

    def add(self, order: Order, name: str, formats: list[str]) -> Record:
        """Queue a job; it is on the disk before the client hears of it."""
        problems = [
            Problem(f"formats[{k}]", f"unknown format {form!r}; {_hint(form)}")
            for k, form in enumerate(formats)
            if form not in OUTPUTS
        ]
        if problems:
            raise refused(problems)
        job = Job.of(
            order.model, order.spec, order.stop, order.seed, formats=formats, **order.options
        )
        with self._changed:
            if len(self._records) >= self.limits.jobs:
                raise ServeError(
                    429,
                    f"{self.limits.jobs:,} jobs are kept already; delete one of them first",
                    retry_after=60,
                )
            record = Record(secrets.token_hex(8), time.time(), name, job.as_dict())
            self._keep(record)
            self._changed.notify_all()
        return record

    def all(self) -> list[Record]:
        """Every job, the newest first."""
        with self._changed:
            return list(reversed(self._records.values()))

    def find(self, id: str) -> Record:
        with self._changed:
            if id not in self._records:
                raise ServeError(404, f"there is no job {id[:40]!r}; /v1/jobs lists them")
            return self._records[id]

    def remove(self, id: str) -> Record:
        """Cancel a job that has not ended; forget one that has, with its files."""
        with self._changed:
            record = self.find(id)
            if record.state not in ENDED:
                record = replace(record, state="cancelled")
                self._keep(record)
                return record
            if id == self._at_work:  # it was cancelled and is just ending
                return record
            del self._records[id]
            shutil.rmtree(self.root / id, ignore_errors=True)
            return replace(record, state="deleted")

    def files(self, id: str) -> tuple[str, ...]:
        """The names of what a finished job wrote."""
        if self.find(id).state != "finished":
            return ()
        return status(self._folder(id)).files

    def path(self, id: str, name: str) -> Path:
        """The file of this name; only names from the job's own list are known."""
        record = self.find(id)
        if record.state != "finished":
            raise ServeError(
                409, f"the job is {record.state}; its files are there when it is finished"
            )
        if name not in set(self.files(id)):
            raise ServeError(404, f"the job has no file {name[:100]!r}; its record lists them")
        return self._folder(id) / name

    def running(self) -> int:
        """How many jobs have not ended."""
        with self._changed:
            return sum(record.state not in ENDED for record in self._records.values())

    def close(self) -> None:
        """Stop after the layout at work; the job goes on when the server starts again."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(60)
        self._held.close()

    # The disk ----------------------------------------------------------------------------------

    def _folder(self, id: str) -> Path:
        return self.root / id / "files"

    def _keep(self, record: Record) -> None:
        """Remember a record; on the disk only what cannot be found out again."""
        self._records[record.id] = record
        folder = self.root / record.id
        folder.mkdir(exist_ok=True)
        temporary = folder / ".order.json.part"
        temporary.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")
        temporary.replace(folder / "order.json")

    def _found(self) -> Iterator[Record]:
        for folder in self.root.iterdir():
            if not _ID.fullmatch(folder.name):
                continue
            try:
                record = Record(**json.loads((folder / "order.json").read_text(encoding="utf-8")))
                Job.from_dict(record.job)
            except (OSError, ValueError, TypeError, RecursionError) as error:
                log.warning("job %s cannot be read and is left out: %s", folder.name, error)
                continue
            if record.id == folder.name:
                yield record if record.state in ENDED else replace(record, state="waiting")

    # The thread --------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._closing and self._next() is None:
                    self._changed.wait()
                record = self._next()
                if self._closing or record is None:
                    return
                record = replace(record, state="running")
                self._at_work = record.id
                self._keep(record)
            self._run(record)
            with self._changed:
                self._at_work = None

    def _next(self) -> Record | None:
        return next((r for r in self._records.values() if r.state == "waiting"), None)

    def _run(self, record: Record) -> None:
        try:
            outcome = run(
                Job.from_dict(record.job),
                self._folder(record.id),
                make=self._maker(record),
                resume=True,
                progress=lambda done: self._progress(record.id, done),
                stop=lambda: self._stopped(record.id),
            )
            if outcome.finished:
                self._end(record.id, "finished")
        except LayoutdmError as error:
            if not self._stopped(record.id):
                self._end(record.id, "failed", str(error).replace(f"{self.root}/", ""))
        except Exception:
            log.exception("job %s failed", record.id)
            self._end(record.id, "failed", "the server failed to do this job; its log says why")
        with self._changed:
            if self._records[record.id].state == "cancelled":
                shutil.rmtree(self._folder(record.id), ignore_errors=True)

    def _maker(self, record: Record) -> Any:
        """Layouts of this job, drawn by the worker of all."""
        job = Job.from_dict(record.job)
        if record.model not in self.catalogue.models:
            raise LayoutdmError(f"model {record.model!r} is not offered any more")
        model, spec = self.catalogue.models[record.model], Spec.parse(job.request)

        def make(indices: range) -> Iterator[Made]:
            for start in range(indices.start, indices.stop, TOGETHER):
                stop = min(start + TOGETHER, indices.stop)
                yield from self._drawn(Order(model, spec, job.seed, start, stop, job.options))

        return make

    def _drawn(self, order: Order) -> Iterator[Made]:
        box: queue.SimpleQueue[Part] = queue.SimpleQueue()
        ticket = Ticket(order, box.put, background=True)
        self.batcher.put(ticket)
        try:
            left = order.stop - order.start
            while left:
                part = box.get()
                if isinstance(part, LayoutdmError):
                    raise part
                left -= len(part)
                for _, result in part:
                    yield made(result)
        finally:
            self.batcher.cancel(ticket)

    def _progress(self, id: str, done: int) -> None:
        with self._changed:
            self._records[id] = replace(self._records[id], done=done)

    def _stopped(self, id: str) -> bool:
        with self._changed:
            return self._closing or self._records[id].state == "cancelled"

    def _end(self, id: str, state: str, error: str | None = None) -> None:
        with self._changed:
            if self._records[id].state == "running":
                self._keep(replace(self._records[id], state=state, error=error))


def _hint(form: str) -> str:
    return suggestion(form, list(OUTPUTS), "formats")

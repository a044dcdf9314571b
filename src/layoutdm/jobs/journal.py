"""The journal of a job: one line a layout, in the order of the indices, as they are made.

The number of whole lines says which layout comes next.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.jobs.job import Job
from layoutdm.jobs.making import to_line
from layoutdm.jobs.tally import Tally

FOREIGN = "is no layout"  # but whole: no interruption leaves such a line


def recover(path: Path, job: Job) -> Tally:
    """Cut off what was being written when the job was interrupted; count what is whole.

    Bad lines at the end are such a rest. A bad line with good ones after it is damage of another
    kind: nothing is cut off then, and the error says where it stands.
    """
    tally = Tally()
    if not path.exists():
        return tally
    seen = _Seen(job)
    end = 0  # of the last good line
    bad: tuple[int, str] | None = None
    with path.open("rb") as file:
        for number, text in enumerate(file, 1):
            record, reason = _parse(text)
            if record is not None:
                reason = seen.add(record)
            elif reason == FOREIGN:
                seen.strange = True
            if reason is not None:
                bad = bad or (number, reason)
                continue
            if bad is not None:
                raise LayoutdmError(
                    f"{path}, line {bad[0]}: {bad[1]}; remove that line and all after it to have "
                    "them made again with --resume, or make everything anew with --overwrite"
                )
            assert record is not None
            tally.add(record)
            end += len(text)
    if bad is not None and seen.strange:
        raise LayoutdmError(
            f"{path}, line {bad[0]}: {bad[1]}; make everything anew with --overwrite"
        )
    seen.check(path)
    os.truncate(path, end)
    return tally


@contextmanager
def appending(path: Path) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Gives a function that appends one record."""
    with path.open("a", encoding="utf-8") as file:

        def append(record: Mapping[str, Any]) -> None:
            file.write(to_line(record) + "\n")
            # Handed to the system at once: what is counted as done survives a kill.
            file.flush()

        yield append


def records(path: Path) -> Iterator[dict[str, Any]]:
    """What is written so far, one record at a time."""
    with path.open(encoding="utf-8") as file:
        for text in file:
            yield json.loads(text)


def count(path: Path) -> int:
    """How many whole lines a journal has."""
    try:
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(2**20), b""))
    except FileNotFoundError:
        return 0


def sort(path: Path) -> None:
    """Best first, by the scores of the reports; only places in the file are held in memory."""
    places: list[tuple[float, int, int]] = []
    with path.open("rb") as file:
        at = 0
        for text in file:
            record = json.loads(text)
            report = (record.get("metadata") or {}).get("report") or {}
            index = int(str(record["id"]).rpartition("-")[2])
            places.append((-float(report.get("score", 1.0)), index, at))
            at += len(text)
        temporary = path.with_suffix(".sorted")
        with temporary.open("wb") as target:
            for _, _, start in sorted(places):
                file.seek(start)
                target.write(file.readline())
    temporary.replace(path)


class _Seen:
    """Which layouts of a job a journal holds: each once, and none left out."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._there = bytearray()
        self._count = 0
        self.strange = False  # a whole record that does not belong here

    def add(self, record: Mapping[str, Any]) -> str | None:
        """What is wrong with one more record, if anything."""
        head, _, tail = str(record.get("id")).rpartition("-")
        index = (
            int(tail) - self._job.first
            if tail.isascii() and tail.isdigit() and len(tail) < 16
            else -1
        )
        if head != str(self._job.seed) or not 0 <= index < self._job.count:
            self.strange = True
            return f"the layout {record.get('id')!r} is not of this job"
        if index >= len(self._there):
            self._there.extend(bytes(index + 1 - len(self._there)))
        if self._there[index]:
            self.strange = True
            return f"the layout {record.get('id')!r} is there twice"
        self._there[index] = 1
        self._count += 1
        return None

    def check(self, path: Path) -> None:
        if self._count != len(self._there):
            index = self._job.first + self._there.index(0)
            raise LayoutdmError(
                f"{path}: the layout {self._job.id(index)!r} is missing although later ones are "
                "there; make everything anew with --overwrite"
            )


def _parse(text: bytes) -> tuple[dict[str, Any] | None, str | None]:
    """A whole line as a record, or what is wrong with it."""
    if not text.endswith(b"\n"):
        return None, "is cut off"
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None, "is damaged (not JSON)"
    if not isinstance(record, dict) or not {"id", "labels", "boxes"} <= record.keys():
        return None, FOREIGN
    return record, None

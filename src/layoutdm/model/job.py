"""A large job in a folder: written as it goes, and continued after an interruption.

    journal = Journal(Path("out"), {"model": "rico25", "seed": 0}, resume=True)
    with journal.writing() as write:
        for result in model.stream(spec, range(journal.done, 100_000)):
            write(result)

Layouts are written in the order of their indices, one line each, so the number of whole lines in
`layouts.jsonl.part` says which layout comes next. What else the job depends on is in `job.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.formats.jsonl import from_record
from layoutdm.layout import Layout
from layoutdm.model.result import Result

FILE = "layouts.jsonl"
JOB = "job.json"


class Journal:
    """The layouts of one job, whole lines only; `done` of them are there already."""

    def __init__(self, folder: Path, job: Mapping[str, Any], *, resume: bool) -> None:
        self.folder = folder
        self.file, self.part, self.note = folder / FILE, folder / f"{FILE}.part", folder / JOB
        self.job = json.loads(json.dumps(job))
        folder.mkdir(parents=True, exist_ok=True)
        before = self._note()
        if before is None or not resume:
            self._refuse_to_overwrite(before)
            self.done = 0
            self.file.unlink(missing_ok=True)
            self.part.unlink(missing_ok=True)
            self._write_note(finished=0)
            return
        self._compare(before["job"])
        if self.file.exists() and not self.part.exists():
            self.file.rename(self.part)
        self.done = self._recover()

    @contextmanager
    def writing(self) -> Iterator[Callable[[Result], None]]:
        """Gives a function that appends one result."""
        with self.part.open("a", encoding="utf-8") as file:

            def write(result: Result) -> None:
                file.write(line(result) + "\n")
                # Handed to the system at once: what is counted as done survives a kill.
                file.flush()
                self.done += 1

            yield write

    def layouts(self) -> Iterator[Layout]:
        """What is written so far, one layout at a time."""
        path = self.part if self.part.exists() else self.file
        with path.open(encoding="utf-8") as file:
            for text in file:
                yield from_record(json.loads(text))

    def sort(self) -> None:
        """Best first, by the scores of the reports; only places in the file are held in memory."""
        places: list[tuple[float, int]] = []
        with self.part.open("rb") as file:
            at = 0
            for text in file:
                metadata = json.loads(text).get("metadata", {})
                places.append((-float(metadata.get("report", {}).get("score", 1.0)), at))
                at += len(text)
            temporary = self.part.with_suffix(".sorted")
            with temporary.open("wb") as target:
                for _, start in sorted(places):
                    file.seek(start)
                    target.write(file.readline())
        temporary.replace(self.part)

    def finish(self) -> None:
        """The job is done: its lines become layouts.jsonl."""
        self.part.replace(self.file)
        self._write_note(finished=self.done)

    # Parts -------------------------------------------------------------------------------------

    def _note(self) -> dict[str, Any] | None:
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
            return {"job": dict(note["job"]), "finished": int(note["finished"])}
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            raise LayoutdmError(
                f"{self.note}: is damaged; choose another folder or delete this one"
            ) from None

    def _write_note(self, *, finished: int) -> None:
        temporary = self.note.with_suffix(".json.part")
        note = {"job": self.job, "finished": finished}
        temporary.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
        temporary.replace(self.note)

    def _refuse_to_overwrite(self, before: Mapping[str, Any] | None) -> None:
        if before is not None and not before["finished"] and self.part.exists():
            raise LayoutdmError(
                f"{self.folder}: holds an unfinished job; add --resume to continue it, "
                "or choose another folder"
            )

    def _compare(self, before: Mapping[str, Any]) -> None:
        for key in sorted({*before, *self.job}):
            if before.get(key) != self.job.get(key):
                raise LayoutdmError(
                    f"{self.folder}: holds a job with another {key} "
                    f"({_short(before.get(key))}, now {_short(self.job.get(key))}); "
                    "resume with the same options or choose another folder"
                )

    def _recover(self) -> int:
        """Cut off a line that was being written when the job was interrupted; count the rest."""
        if not self.part.exists():
            return 0
        lines, end = 0, 0
        with self.part.open("rb") as file:
            for text in file:
                if not text.endswith(b"\n"):
                    break
                lines += 1
                end += len(text)
        os.truncate(self.part, end)
        return lines


def line(result: Result) -> str:
    """One line of the native format; the report is part of the metadata where there are wishes."""
    record = result.layout.as_dict()
    wishes = result.report.as_dict()
    if wishes["wishes"] > 1:  # the number of elements alone always holds
        record["metadata"] = {**record.get("metadata", {}), "report": wishes}
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."

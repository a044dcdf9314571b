"""Run a job in a folder: draw what is missing, write the formats, leave nothing half done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from layoutdm.errors import LayoutdmError
from layoutdm.jobs import journal
from layoutdm.jobs.folder import FILES, PARTS, JobFolder, Note
from layoutdm.jobs.job import Job
from layoutdm.jobs.making import Made, Make
from layoutdm.jobs.outputs import JOURNAL, OUTPUTS, Output
from layoutdm.jobs.tally import Tally
from layoutdm.lock import holder, locked

Progress = Callable[[int], None]  # layouts that are done, of job.count
Outputs = Mapping[str, Output]


@dataclass(frozen=True)
class Outcome:
    """How a run ended: the folder's layouts, those made in this run, and what they miss."""

    job: Job
    folder: Path
    finished: bool  # False: it was stopped
    made: int
    tally: Tally


@dataclass(frozen=True)
class Status:
    """What a folder tells about its job."""

    job: Job
    state: str  # running, stopped or finished
    done: int  # layouts in the journal
    files: tuple[str, ...]  # what the job wrote, once it is finished


def run(
    job: Job,
    folder: Path,
    *,
    make: Make,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    outputs: Outputs = OUTPUTS,
    on_made: Callable[[Made], None] | None = None,
) -> Outcome:
    """Make the layouts of a job that its folder does not hold yet, and write its formats.

    A folder that holds a job is only touched with `resume`, which continues the same job (its
    count may grow, formats may be added), or `overwrite`, which removes what the earlier job wrote
    and begins anew. `make` gets the indices that are missing; `stop` is asked after every layout.
    Two runs in one folder at a time: the second is refused.
    """
    if resume and overwrite:
        raise LayoutdmError("resume and overwrite exclude each other; choose one")
    for name in job.formats:
        if name not in outputs:
            raise LayoutdmError(f"format {name!r} is unknown; choose from {', '.join(outputs)}")
    place = JobFolder(folder)
    _check(place, job, outputs, resume, overwrite)  # before anything is touched, and once more
    with locked(folder, job.kind):
        _check(place, job, outputs, resume, overwrite)
        if overwrite and place.note() is not None:
            place.clear()
        note = _begin(place, job, outputs)
        if note.state == "finished":
            return Outcome(note.job, folder, True, 0, journal.recover(place.journal, note.job))
        tally = journal.recover(place.part, note.job)
        before = tally.count
        if note.state == "drawing" or tally.count < note.job.count:
            stopped = _draw(place, note.job, make, tally, progress or _silent, stop, on_made)
            if stopped:
                return Outcome(note.job, folder, False, tally.count - before, tally)
            note = _drawn(place, note)
        _write(place, note, outputs)
    return Outcome(note.job, folder, True, tally.count - before, tally)


def status(folder: Path) -> Status:
    """How far the job of a folder is; it may be running in another process."""
    place = JobFolder(folder)
    note = place.note()
    if note is None:
        raise LayoutdmError(f"{folder}: holds no job; give the folder of one")
    if note.state == "finished":
        files = tuple(sorted(place.files()))
        return Status(note.job, "finished", note.job.count, files)
    state = "running" if holder(folder) is not None else "stopped"
    done = max(journal.count(place.part), journal.count(place.journal))
    return Status(note.job, state, done, ())


# Before -----------------------------------------------------------------------------------------


def _check(place: JobFolder, job: Job, outputs: Outputs, resume: bool, overwrite: bool) -> None:
    """Refuse a folder in which the job would lose something; nothing is changed here."""
    if place.path.exists() and not place.path.is_dir():
        raise LayoutdmError(f"{place.path}: is a file; give the name of a folder")
    note = place.note()
    names = [outputs[name].name for name in job.formats]
    if note is None:
        names = [JOURNAL, f"{JOURNAL}.part", FILES, PARTS, *names]
    taken = place.foreign(names)
    if taken is not None:
        raise LayoutdmError(
            f"{place.path}: already holds {taken}, which is not of this job and would be lost; "
            "choose another folder or move it away"
        )
    if note is None or overwrite:
        return
    if not resume:
        kind = "a finished" if note.state == "finished" else "an unfinished"
        raise LayoutdmError(
            f"{place.path}: holds {kind} job; add --resume to continue it, --overwrite to make "
            "everything anew, or choose another folder"
        )
    difference = job.difference(note.job)
    if difference is not None:
        raise LayoutdmError(
            f"{place.path}: holds a job with another {difference}; resume with the same options, "
            "--overwrite it, or choose another folder"
        )
    if job.count < note.job.count:
        raise LayoutdmError(
            f"{place.path}: holds a job of {note.job.count:,} layouts, more than the "
            f"{job.count:,} asked for; ask for as many, --overwrite it, or choose another folder"
        )


def _begin(place: JobFolder, job: Job, outputs: Outputs) -> Note:
    """The note to go on with; formats of the earlier run stay, so that none is out of date."""
    before = place.note()
    if before is None:
        note = Note(job)
        place.write_note(note)
        place.reopen_journal()
        return note
    job = replace(job, formats=tuple(dict.fromkeys((*before.job.formats, *job.formats))))
    if before.state != "drawing" and job.count == before.job.count and place.has_journal():
        there = (name for name in before.written if (place.path / outputs[name].name).exists())
        note = replace(before, job=job, written=tuple(there))
        if note.state == "finished" and set(job.formats) <= set(note.written):
            return note
        note = note.with_state("drawn")
    else:
        place.clear_parts()
        note = Note(job)
    place.write_note(note)
    place.reopen_journal()
    return note


# Drawing ----------------------------------------------------------------------------------------


def _draw(
    place: JobFolder,
    job: Job,
    make: Make,
    tally: Tally,
    progress: Progress,
    stop: Callable[[], bool] | None,
    on_made: Callable[[Made], None] | None,
) -> bool:
    """Append what is missing to the journal; True if it was asked to stop."""
    progress(tally.count)
    if tally.count == job.count:
        return False
    rest = range(job.first + tally.count, job.first + job.count)
    with journal.appending(place.part) as append:
        for index, item in zip(rest, make(rest), strict=True):
            if item.record.get("id") != job.id(index):
                raise LayoutdmError(
                    f"layout {job.id(index)!r} was to be made next, got {item.record.get('id')!r}"
                )
            place.write_files(item.files)
            append(item.record)
            tally.add(item.record)
            if on_made is not None:
                on_made(item)
            progress(tally.count)
            if stop is not None and tally.count < job.count and stop():
                return True
    return False


def _drawn(place: JobFolder, note: Note) -> Note:
    if note.job.require:
        journal.sort(place.part)
    note = note.with_state("drawn")
    place.write_note(note)
    return note


def _silent(done: int) -> None:
    """The progress that shows nothing."""


# After ------------------------------------------------------------------------------------------


def _write(place: JobFolder, note: Note, outputs: Outputs) -> None:
    """The formats, from the lines on the disk: memory stays the same at any count.

    Each is written aside and noted when it is whole, so that a killed job writes it only once.
    """
    place.clean_parts()
    for name in note.job.formats:
        output = outputs[name]
        if name in note.written or output.write is None:
            continue
        if not (place.parts / output.name).is_file():
            if not output.resumes:
                place.clear_part(output.name)
            output.write(lambda: journal.records(place.part), place.parts / output.name, note.job)
        place.place(output.name)
        note = note.with_written(name)
        place.write_note(note)
    place.part.replace(place.journal)
    place.write_note(replace(note, state="finished", written=note.job.formats))
    place.clear_parts()

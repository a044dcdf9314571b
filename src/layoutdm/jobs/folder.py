"""The folder of a job: what the job is, how far it got, and which files are its own.

>>> import tempfile
>>> folder = JobFolder(Path(tempfile.mkdtemp()))
>>> folder.note() is None
True
>>> folder.own(["coco.json"])
>>> sorted(folder.files())
['coco.json']
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.jobs.job import Job
from layoutdm.jobs.outputs import JOURNAL

NOTE = "job.json"
FILES = "files.txt"
PARTS = ".parts"  # where formats are written before they take their places
FORMAT = 2
STATES = ("drawing", "drawn", "finished")


@dataclass(frozen=True)
class Note:
    """What job.json says: the job, its state, and the formats that are written whole."""

    job: Job
    state: str = "drawing"  # then "drawn": all layouts are there; then "finished"
    written: tuple[str, ...] = field(default=())

    def with_state(self, state: str) -> Note:
        return replace(self, state=state)

    def with_written(self, name: str) -> Note:
        return replace(self, written=(*self.written, name))


class JobFolder:
    """Paths and small files of a job; whoever writes holds the folder's lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal, self.part = path / JOURNAL, path / f"{JOURNAL}.part"
        self.parts = path / PARTS

    # The note ----------------------------------------------------------------------------------

    def note(self) -> Note | None:
        """The note of the job that the folder belongs to; None if there is none."""
        path = self.path / NOTE
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, RecursionError, OSError):
            raise self._damaged() from None
        if isinstance(record, dict) and "finished" in record and "format" not in record:
            raise LayoutdmError(
                f"{self.path}: holds a job of an earlier version; choose another folder"
            )
        try:
            return _note(record)
        except (LayoutdmError, KeyError, TypeError, AttributeError):
            raise self._damaged() from None

    def write_note(self, note: Note) -> None:
        record = {
            "format": FORMAT,
            "job": note.job.as_dict(),
            "state": note.state,
            "written": list(note.written),
        }
        temporary = self.path / f".{NOTE}.part"
        temporary.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        temporary.replace(self.path / NOTE)

    def _damaged(self) -> LayoutdmError:
        return LayoutdmError(
            f"{self.path / NOTE}: is not the note of a job, or is damaged; choose another folder"
        )

    # Files of the job --------------------------------------------------------------------------

    def files(self) -> set[str]:
        """Names of the files that the job wrote or began to write, inside its folder."""
        try:
            text = (self.path / FILES).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return set()
        # A last line without its end was being written when the job was killed.
        return {line for line in text.split("\n")[:-1] if line and _inside(line)}

    def own(self, names: Iterable[str]) -> None:
        """Note files as this job's; done before they appear, so that none is ever forgotten."""
        with (self.path / FILES).open("a+", encoding="utf-8") as file:
            if file.tell() and not _ends_whole(self.path / FILES):
                file.write("\n")
            for name in names:
                file.write(f"{name}\n")

    def owned(self, name: str, files: set[str]) -> bool:
        """Whether a file is of this job, or a folder that the job made."""
        return name in files or any(file.startswith(f"{name}/") for file in files)

    def foreign(self, names: Iterable[str]) -> str | None:
        """The first of these names that is taken by something that is not of this job."""
        taken = [name for name in names if _taken(self.path / name)]
        files = self.files() if taken else set()
        return next((name for name in taken if not self.owned(name, files)), None)

    def write_files(self, files: Mapping[str, bytes]) -> None:
        """Files that belong to one layout, whole, before its record is written."""
        for name, content in files.items():
            if not _inside(name):
                raise LayoutdmError(f"{name}: a file of a job must lie inside its folder")
            self.refuse_foreign([name])
            self.own([name])
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            self.parts.mkdir(exist_ok=True)
            temporary = self.parts / ".file"
            temporary.write_bytes(content)
            temporary.replace(target)

    def refuse_foreign(self, names: Iterable[str]) -> None:
        taken = self.foreign(names)
        if taken is not None:
            raise LayoutdmError(
                f"{self.path / taken}: is not of this job and would be lost; move it away, "
                "then continue with --resume"
            )

    def clear(self) -> None:
        """Remove everything that the job wrote, and nothing else; the note goes last."""
        for name in sorted(self.files()):
            (self.path / name).unlink(missing_ok=True)
        for name in sorted(self.files(), reverse=True):
            _remove_empty(self.path, (self.path / name).parent)
        self.clear_parts()
        self.part.unlink(missing_ok=True)
        for name in (FILES, NOTE):
            (self.path / name).unlink(missing_ok=True)

    def has_journal(self) -> bool:
        return self.journal.exists() or self.part.exists()

    def reopen_journal(self) -> None:
        """What a finished job wrote is a part again while it grows."""
        if JOURNAL not in self.files():
            self.own([JOURNAL])
        if self.journal.exists() and not self.part.exists():
            self.journal.rename(self.part)

    def clear_parts(self) -> None:
        shutil.rmtree(self.parts, ignore_errors=True)

    def clean_parts(self) -> None:
        """Remove what a killed writer left half written; whole parts are kept."""
        self.parts.mkdir(exist_ok=True)
        for leftover in self.parts.glob("**/.*"):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)

    def clear_part(self, name: str) -> None:
        """Remove a folder among the parts, of which a killed job may have moved some files."""
        shutil.rmtree(self.parts / name, ignore_errors=True)

    def place(self, name: str) -> None:
        """Move what was written among the parts to its place in the folder."""
        source = self.parts / name
        moved = (
            [source] if source.is_file() else sorted(p for p in source.rglob("*") if p.is_file())
        )
        names = [str(path.relative_to(self.parts)) for path in moved]
        self.refuse_foreign(names)
        own = self.files()
        stale = [file for file in own if file == name or file.startswith(f"{name}/")]
        self.own(sorted({*names} - own))
        for path, target in zip(moved, names, strict=True):
            (self.path / target).parent.mkdir(parents=True, exist_ok=True)
            path.replace(self.path / target)
        for file in sorted({*stale} - {*names}):  # of an earlier, longer or different set
            (self.path / file).unlink(missing_ok=True)


def _note(record: Mapping[str, Any]) -> Note:
    job, state = Job.from_dict(record["job"]), record["state"]
    written = tuple(str(name) for name in record["written"])
    if record["format"] != FORMAT or state not in STATES:
        raise KeyError("format")
    return Note(job, state, written)


def _taken(path: Path) -> bool:
    """Whether a name is in use; an empty folder is as good as none."""
    return path.exists() and not (path.is_dir() and not any(path.iterdir()))


def _inside(name: str) -> bool:
    """Whether a name stays inside the folder: the list of files may have been tampered with."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _remove_empty(root: Path, folder: Path) -> None:
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent

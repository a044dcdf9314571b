"""The formats that a job can write, from the records of its journal.

>>> OUTPUTS["coco"].name
'coco.json'

Another command brings a table of its own: a name in the folder, and a function that writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layoutdm.jobs.job import Job
    from layoutdm.layout import Layout

JOURNAL = "layouts.jsonl"
SHEET = 48  # layouts on a contact sheet

Records = Callable[[], Iterator[Mapping[str, Any]]]


@dataclass(frozen=True)
class Output:
    """A file or folder of this name; `write(records, path, job)` makes it whole or not at all.

    When a killed job goes on, `write` is called again; where it resumes, it finds what it had.
    """

    name: str
    write: Callable[[Records, Path, Job], None] | None = None  # None: the journal itself
    resumes: bool = False


def _layouts(records: Records) -> Iterator[Layout]:
    from layoutdm.formats.jsonl import from_record

    return (from_record(record) for record in records())


def _plain(format: str, *, labelled: bool = False) -> Callable[[Records, Path, Job], None]:
    def write_plain(records: Records, path: Path, job: Job) -> None:
        from layoutdm.formats import write

        options = {"labels": job.labels} if labelled and job.labels else {}
        write(_layouts(records), path, format, **options)

    return write_plain


def _pictures(format: str) -> Callable[[Records, Path, Job], None]:
    """One file a layout; those that are there already were written whole and are kept."""

    def write_pictures(records: Records, path: Path, job: Job) -> None:
        path.mkdir(exist_ok=True)
        for layout in _layouts(records):
            target = path / f"{layout.id}.{format}"
            if not target.exists():
                layout.save(target, format)

    return write_pictures


def _sheet(records: Records, path: Path, job: Job) -> None:
    from layoutdm.formats import write

    write(islice(_layouts(records), SHEET), path, "png")


OUTPUTS: Mapping[str, Output] = {
    "jsonl": Output(JOURNAL),
    "coco": Output("coco.json", _plain("coco", labelled=True)),
    "yolo": Output("yolo", _plain("yolo", labelled=True)),
    "voc": Output("voc", _plain("voc")),
    "labelstudio": Output("labelstudio.json", _plain("labelstudio")),
    "csv": Output("layouts.csv", _plain("csv")),
    "parquet": Output("layouts.parquet", _plain("parquet", labelled=True)),
    "svg": Output("svg", _pictures("svg"), resumes=True),
    "png": Output("png", _pictures("png"), resumes=True),
    "html": Output("html", _pictures("html"), resumes=True),
    "pptx": Output("layouts.pptx", _plain("pptx")),
    "sheet": Output("sheet.png", _sheet),
}

"""One shard as Parquet: layouts, or pages with their images and words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from layoutdm.jobs import Job
from layoutdm.jobs.making import Made


def of_layouts(made: Sequence[Made], job: Job, path: Path) -> None:
    from layoutdm.formats import write
    from layoutdm.formats.jsonl import from_record

    write((from_record(item.record) for item in made), path, "parquet", labels=job.labels)


def of_pages(made: Sequence[Made], job: Job, path: Path) -> None:
    from layoutdm.pages.parquet import write_split

    files = {name: data for item in made for name, data in item.files.items()}
    write_split((item.record for item in made), files.__getitem__, path, job.labels)

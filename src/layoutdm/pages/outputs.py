"""The formats of a set of pages, written from its journal and the truth of its pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from layoutdm.jobs import Job
from layoutdm.jobs.outputs import JOURNAL, Output, Records
from layoutdm.layout import Layout
from layoutdm.pages import word_files
from layoutdm.pages.choices import SPLITS


def _layouts(records: Records, split: str | None = None) -> Iterator[Layout]:
    from layoutdm.formats.jsonl import from_record

    for record in records():
        if split is None or record["metadata"]["split"] == split:
            yield from_record(record)


def splits_of(job: Job) -> list[str]:
    """The splits that get any pages at all."""
    shares = job.options.get("splits", (1, 0, 0))
    return [name for name, share in zip(SPLITS, shares, strict=True) if share > 0]


def _coco(records: Records, path: Path, job: Job) -> None:
    from layoutdm.formats import write

    path.mkdir(exist_ok=True)
    for split in splits_of(job):
        target = path / f"{split}.json"
        write(_layouts(records, split), target, "coco", labels=job.labels)


def _yolo(records: Records, path: Path, job: Job) -> None:
    number = {label: index for index, label in enumerate(job.labels)}
    for split in splits_of(job):
        (path / split).mkdir(parents=True, exist_ok=True)
    for layout in _layouts(records):
        lines = [
            " ".join([str(number[label]), *(f"{value:.6f}" for value in box)])
            for label, box in zip(layout.labels, layout.boxes.tolist(), strict=True)
        ]
        target = path / layout.metadata["split"] / f"{layout.id}.txt"
        target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _yolo_data(records: Records, path: Path, job: Job) -> None:
    """No `path` key: trainers then take the folder of this file, wherever the set is moved."""
    there = splits_of(job)
    lines = [f"{split}: images/{split}" for split in there]
    if "val" not in there:
        lines.append(f"val: images/{there[0]}")
    lines += [f"nc: {len(job.labels)}", "names:"]
    lines += [f"  {index}: {json.dumps(label)}" for index, label in enumerate(job.labels)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _plain(format: str) -> Callable[[Records, Path, Job], None]:
    def write_plain(records: Records, path: Path, job: Job) -> None:
        from layoutdm.formats import write

        write(_layouts(records), path, format)

    return write_plain


def _words(make: Callable[[Mapping[str, Any], str], str], ending: str) -> Any:
    """One text file a page, from the page's truth."""

    def write_words(records: Records, path: Path, job: Job) -> None:
        folder = path.parent.parent  # formats are written aside, in a folder of the set's folder
        for record in records():
            split, id = record["metadata"]["split"], record["id"]
            truth = json.loads((folder / f"truth/{split}/{id}.json").read_bytes())
            target = path / split / f"{id}.{ending}"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(make(truth, record["metadata"]["file_name"]), encoding="utf-8")

    return write_words


def _parquet(records: Records, path: Path, job: Job) -> None:
    from layoutdm.pages.parquet import write_split

    folder = path.parent.parent
    path.mkdir(exist_ok=True)
    for split in splits_of(job):
        some = (record for record in records() if record["metadata"]["split"] == split)
        write_split(
            some, lambda name: (folder / name).read_bytes(), path / f"{split}.parquet", job.labels
        )


OUTPUTS: Mapping[str, Output] = {
    "jsonl": Output(JOURNAL),
    "coco": Output("annotations", _coco),
    "yolo": Output("labels", _yolo),
    "yolo-data": Output("data.yaml", _yolo_data),
    "voc": Output("voc", _plain("voc")),
    "labelstudio": Output("labelstudio.json", _plain("labelstudio")),
    "parquet": Output("parquet", _parquet),
    "hocr": Output("hocr", _words(word_files.hocr, "hocr")),
    "alto": Output("alto", _words(word_files.alto, "xml")),
}
NEED_WORDS = ("hocr", "alto")
FORMATS = tuple(name for name in OUTPUTS if name != "yolo-data")
# What can be written where only the records are at hand, not the files of the pages.
IN_SHARDS = {name: OUTPUTS[name] for name in ("coco", "yolo", "yolo-data", "voc", "labelstudio")}

"""Every declared format keeps what its record says: one table-driven round trip over all."""

from __future__ import annotations

from pathlib import Path

import pytest

from layoutdm import Layout, LayoutdmError
from layoutdm.formats import FORMATS, Format, Problems, detect, detect_target, read, write
from layoutdm.formats.table import by_suffix

LAYOUTS = [
    Layout.create(
        ["text", "title"], [[0.5, 0.5, 0.8, 0.2], [0.5, 0.2, 0.6, 0.1]], width=600, height=800,
        id="p1",
    ),
    Layout.create([], [], width=600, height=800, id="p2"),
    Layout.create(["text"], [[0.25, 0.75, 0.125, 0.25]], width=320, height=200, id="p3"),
]  # fmt: skip

TWO_WAYS = [format for format in FORMATS if format.reads and format.writes]


def name(format: Format) -> str:
    return format.name


@pytest.mark.parametrize("format", TWO_WAYS, ids=name)
def test_what_is_written_is_recognised_and_read_back(format: Format, tmp_path: Path) -> None:
    path = write(LAYOUTS, tmp_path / format.target, format.name)
    assert detect(path) == format.name
    back = list(read(path))
    assert [layout.id for layout in back] == ["p1", "p2", "p3"]
    for before, after in zip(LAYOUTS, back, strict=True):
        assert before.approx_equal(after, 1e-9)


@pytest.mark.parametrize("format", TWO_WAYS, ids=name)
def test_writing_again_replaces_and_gives_the_same_bytes(format: Format, tmp_path: Path) -> None:
    path = tmp_path / format.target
    contents = []
    for _ in range(2):
        write(LAYOUTS, path, format.name)
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        contents.append([(file.name, file.read_bytes()) for file in files])
    assert contents[0] == contents[1]
    assert [p.name for p in tmp_path.iterdir()] == [format.target]


@pytest.mark.parametrize("format", [f for f in FORMATS if f.writes], ids=name)
def test_the_suffix_names_the_format_to_write(format: Format, tmp_path: Path) -> None:
    for end in format.suffixes:
        assert by_suffix(end) is format
        if format.name != "voc":  # VOC is written as a folder
            assert detect_target(tmp_path / f"a{end}") == format.name
            assert detect_target(tmp_path / f"A{end.upper()}") == format.name


@pytest.mark.parametrize("format", [f for f in FORMATS if f.labels], ids=name)
def test_given_labels_fix_the_list_and_its_order(format: Format, tmp_path: Path) -> None:
    labels = ["unused", "title", "text"]
    path = write(LAYOUTS, tmp_path / format.target, format.name, labels=labels)
    assert [layout.labels for layout in read(path)] == [layout.labels for layout in LAYOUTS]


@pytest.mark.parametrize("format", [f for f in FORMATS if f.picture], ids=name)
def test_pictures_are_written_and_never_read(format: Format, tmp_path: Path) -> None:
    path = write(LAYOUTS[:1], tmp_path / f"a{format.suffixes[0]}")
    assert path.stat().st_size > 100
    refused = r"cannot be told|holds no layouts|but not read|zip archive"
    with pytest.raises(LayoutdmError, match=refused):
        detect(path)


@pytest.mark.parametrize("format", FORMATS, ids=name)
def test_every_record_has_the_functions_it_declares(format: Format) -> None:
    module = format.load()
    assert hasattr(module, "read") == format.reads
    assert hasattr(module, "write") == format.writes


def test_records_are_told_apart() -> None:
    for field in ("name", "module"):
        values = [getattr(format, field) for format in FORMATS]
        assert len(set(values)) == len(values)
    targets = [format.target for format in FORMATS if format.writes]
    assert len(set(targets)) == len(targets) and all(targets)
    ends = [end for format in FORMATS for end in format.suffixes]
    assert len(set(ends)) == len(ends)


@pytest.mark.parametrize("note", [True, False])
def test_a_folder_of_a_job_is_read_as_its_layouts(note: bool, tmp_path: Path) -> None:
    write(LAYOUTS, tmp_path / "layouts.jsonl.gz")
    write(LAYOUTS, tmp_path / "layouts.parquet")
    write(LAYOUTS, tmp_path / "yolo", "yolo")
    if not note:
        assert detect(tmp_path) == "parquet"
        return
    (tmp_path / "job.json").write_text("{}")
    assert detect(tmp_path) == "jsonl"
    assert list(read(tmp_path, problems=Problems())) == LAYOUTS

"""Small packed files cannot fill the memory: a ratio and a limit, both said and both raisable."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import threading
import zipfile
from pathlib import Path

import pytest

from layoutdm import Layout, LayoutdmError
from layoutdm.formats import Problems, limits, read, write

MIB = 2**20
ROW = b"1,a,1,1,t,.5,.5,.1,.1\n"
CSV = b"layout,id,width,height,label,x,y,w,h\n" + ROW
LINE = b'{"labels":["a"],"boxes":[[0.5,0.5,0.5,0.5]]}\n'

GZIP_BOMBS = {
    "spaces.jsonl": (LINE, b" "),
    "same.jsonl": (LINE, b'{"labels":[],"boxes":[]}\n'),
    "long.jsonl": (b'{"labels":[', b'"a",'),
    "images.json": (b'{"annotations":[],"categories":[],"images":[{}', b",{}"),
    "info.json": (b'{"annotations":[],"categories":[],"images":[],"info":[0', b",0"),
    "tasks.json": (b"[", b'{"annotations":[{"result":[]}]},'),
    "rows.csv": (CSV, ROW),
    "spaces.csv": (CSV, b" "),
}


def bomb(path: Path, start: bytes, unit: bytes, size: int = 3 * MIB) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(size // MIB):
            file.write(unit * (MIB // len(unit)))
    return path


def everything_wrong(path: Path) -> str:
    """All that is said about a file, whether it stops the reading or not."""
    problems = Problems(skip=True)
    try:
        for _ in read(path, problems=problems):
            pass
    except LayoutdmError as error:
        return f"{error} {' '.join(map(str, problems.listed))}"
    return " ".join(map(str, problems.listed))


@pytest.mark.parametrize("name", GZIP_BOMBS)
def test_gzip_unpacks_to_fifty_times_its_size_at_most(name: str, tmp_path: Path) -> None:
    path = bomb(tmp_path / f"{name}.gz", *GZIP_BOMBS[name])
    said = everything_wrong(path)
    assert "unpack to more than 1 MiB" in said
    assert "LAYOUTDM_LIMITS=10" in said


@pytest.mark.parametrize("row", [b"\n", b",,,,,,,,\n"])
def test_a_table_of_nothing_is_not_called_right(row: bytes, tmp_path: Path) -> None:
    path = bomb(tmp_path / "a.csv.gz", CSV, row, 2 * MIB)
    assert "10,000" in everything_wrong(path)


@pytest.mark.parametrize("row", [b"\n", b"0\n"])
def test_lines_of_nothing_end_the_reading(row: bytes, tmp_path: Path) -> None:
    path = bomb(tmp_path / "a.jsonl.gz", LINE, row, 2 * MIB)
    problems = Problems(skip=True)
    said = everything_wrong(path)
    assert "10,000 lines before it are empty" in said or "10,000 bad lines in a row" in said
    assert problems.count <= 10_000


def test_the_limits_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write([Layout.create(["a"], [[0.5, 0.5, 0.5, 0.5]])] * 40_000, tmp_path / "a.jsonl.gz")
    assert "LAYOUTDM_LIMITS=10" in everything_wrong(path)
    monkeypatch.setenv(limits.VARIABLE, "10")
    assert sum(1 for _ in read(path)) == 40_000


@pytest.mark.parametrize("value", ["", "much", "0", "-1", "nan", "inf"])
def test_a_wrong_limit_is_said(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write([Layout.create(["a"], [[0.5, 0.5, 0.5, 0.5]])], tmp_path / "a.jsonl")
    monkeypatch.setenv(limits.VARIABLE, value)
    with pytest.raises(LayoutdmError, match="LAYOUTDM_LIMITS must be a number above 0"):
        list(read(path))


def test_real_files_of_many_layouts_are_read_as_before(tmp_path: Path) -> None:
    layouts = [
        Layout.create(["text"], [[0.5, 0.5, 0.8, 0.1 + n / 1e6]], id=f"page-{n}")
        for n in range(12_000)
    ]
    for name in ("a.jsonl.gz", "a.csv.gz", "a.json.gz", "a.parquet"):
        assert sum(1 for _ in read(write(layouts, tmp_path / name))) == len(layouts)


# Zip -------------------------------------------------------------------------------------------


SCREEN = {"bounds": [0, 0, 9, 16], "children": [{"bounds": [1, 1, 2, 2], "componentLabel": "Text"}]}


def archive(path: Path, screens: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in screens.items():
            file.writestr(name, text)
    return path


def test_a_zip_unpacks_to_fifty_times_its_size_at_most(tmp_path: Path) -> None:
    padded = json.dumps(SCREEN).encode() + b" " * (2 * MIB)
    path = archive(tmp_path / "a.zip", {f"{n}.json": padded for n in range(12)})
    for format in (None, "rico"):
        with pytest.raises(LayoutdmError, match=r"unpack to more than 1\.\d+ MiB"):
            list(read(path, format))


def test_a_screen_has_eight_mebibytes_at_most(tmp_path: Path) -> None:
    padded = json.dumps(SCREEN).encode() + b" " * (9 * MIB)
    path = archive(tmp_path / "a.zip", {"1.json": padded})
    with pytest.raises(LayoutdmError, match=r"1\.json: longer than 8 MiB"):
        list(read(path))


def test_an_encrypted_zip_is_said(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"1.json": json.dumps(SCREEN).encode()})
    data = bytearray(path.read_bytes())
    data[6] |= 1  # the flag in the file's own header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    path.write_bytes(data)
    for format in (None, "rico"):
        with pytest.raises(LayoutdmError, match=r"1\.json is encrypted; unpack the archive with"):
            list(read(path, format))


# Parquet ---------------------------------------------------------------------------------------


def test_equal_values_count_as_often_as_they_occur(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    count = 5_000_000
    codes = arrow.array([0] * count, arrow.int8())
    labels = arrow.DictionaryArray.from_arrays(codes, arrow.array(["a"]))
    one_row = arrow.ListArray.from_arrays(arrow.array([0, count], arrow.int32()), labels)
    table = arrow.table({"bbox": arrow.array([[[0.5, 0.5, 0.5, 0.5]]]), "label": one_row})
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 10_000
    with pytest.raises(LayoutdmError, match="unpack to more than 1 MiB"):
        list(read(path))


def test_one_long_text_for_many_rows_is_unpacked_few_rows_at_a_time(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    count = 200
    codes = arrow.array([0] * count, arrow.int32())
    text = arrow.DictionaryArray.from_arrays(codes, arrow.array(["x" * 900_000]))
    boxes, labels = [[[0.5, 0.5, 0.5, 0.5]]] * count, [["a"]] * count
    table = arrow.table({"id": text, "bbox": arrow.array(boxes), "label": arrow.array(labels)})
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path, compression="zstd")
    before = arrow.default_memory_pool().max_memory()
    problems = Problems(skip=True)
    assert list(read(path, problems=problems)) == []
    assert problems.count == count
    assert "at most 10,000 characters" in problems.listed[0].message
    assert arrow.default_memory_pool().max_memory() - before < 120 * MIB


# Messages --------------------------------------------------------------------------------------


def test_messages_stay_short_whatever_they_quote(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    record = {"labels": ["a" * 9_000], "boxes": [[5.0, 0.5, 0.5, 0.5]], "id": "b" * 9_000}
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(LayoutdmError) as caught:
        list(read(path))
    assert len(str(caught.value)) < 1500


def test_a_pipe_has_the_same_limits(tmp_path: Path) -> None:
    path = bomb(tmp_path / "a.jsonl.gz", LINE, b'{"labels":[],"boxes":[]}\n')
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=_copy, args=(path, pipe))
    writer.start()
    with pytest.raises(LayoutdmError, match="unpack to more than 1 MiB"):
        for _ in read(pipe, "jsonl"):
            pass
    writer.join(900)


def _copy(source: Path, pipe: Path) -> None:
    with contextlib.suppress(BrokenPipeError):
        pipe.write_bytes(source.read_bytes())

"""Whole files that are missing, empty, of another kind or nearly right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from layoutdm.formats import read, write
from test_formats_bad import GOOD, LAYOUT, message

FORMATS = ("jsonl", "coco", "yolo", "voc", "labelstudio", "csv", "parquet")


def test_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    for format in (None, *FORMATS):
        assert message(path, format) == f"{path}: no such file or folder; check the path"


@pytest.mark.parametrize("format", [None, *FORMATS])
def test_files_that_cannot_be_read(format: str | None, tmp_path: Path) -> None:
    makers: dict[str, Callable[[Path], object]] = {
        "empty": lambda path: path.write_bytes(b""),
        "blank": lambda path: path.write_bytes(b"\n \n"),
        "junk": lambda path: path.write_bytes(bytes(range(256)) * 40),
        "picture": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99)),
        "prose": lambda path: path.write_text("Dear all,\nthe layouts are attached.\n"),
        "folder": lambda path: path.mkdir(),
        "zip": lambda path: path.write_bytes(b"PK\x03\x04" + bytes(50)),
        "svg": lambda path: path.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>"),
        "page": lambda path: path.write_text("<!doctype html><html></html>"),
        "number": lambda path: path.write_text("12"),
    }
    for name, make in makers.items():
        path = tmp_path / name
        make(path)
        assert message(path, format).startswith(str(path))


@pytest.mark.parametrize("actual", FORMATS)
@pytest.mark.parametrize("claimed", FORMATS)
def test_a_file_of_another_format(actual: str, claimed: str, tmp_path: Path) -> None:
    path = write([LAYOUT], tmp_path / "data", format=actual)
    if actual == claimed:
        assert len(list(read(path, format=claimed))) == 1
    else:
        assert message(path, claimed).startswith(str(path))


def test_files_that_are_nearly_right_get_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([GOOD]))
    assert "one object a line" in message(path)
    path.write_text(json.dumps([{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}]))
    assert "COCO results without images" in message(path)
    folder = write([LAYOUT], tmp_path / "yolo", format="yolo")
    assert "give its folder" in message(folder / "data.yaml")
    (folder / "data.yaml").unlink()
    (folder / "classes.txt").unlink()
    assert "neither classes.txt nor data.yaml" in message(folder)
    several = tmp_path / "several"
    several.mkdir()
    (several / "train.jsonl").write_text(json.dumps(GOOD))
    assert "name one of them" in message(several)


def test_without_pyarrow(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = write([LAYOUT], tmp_path / "a.parquet")
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from layoutdm.formats import read\n"
        f"list(read({str(path)!r}))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stderr.strip().endswith("run: pip install 'layoutdm[parquet]'")

"""`layoutdm stats` as a real process."""

import json
import os
import subprocess
import sys

import pytest

from layoutdm import Layout
from layoutdm.formats import write


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "layoutdm", "stats", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", **environment},
        timeout=900,
    )


@pytest.fixture
def source(tmp_path):
    boxes = [[0.5, 0.1, 0.8, 0.1], [0.5, 0.6, 0.8, 0.7]]
    layouts = [
        Layout.create(["title", "text"], boxes, width=600, height=800, id=str(i)) for i in range(4)
    ]
    write(layouts[:3], tmp_path / "set" / "train.jsonl")
    write(layouts[3:], tmp_path / "set" / "test.jsonl")
    return tmp_path / "set"


def test_tables(source):
    result = run(source)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "set  4 layouts, 8 elements, 2 labels"
    assert any(line.split()[:4] == ["train", "3", "6", "2.00"] for line in lines)
    assert any(line.split()[:3] == ["title", "4", "50.0%"] for line in lines)
    assert "\x1b" not in result.stdout
    assert all(line == line.rstrip() for line in lines)


def test_tables_in_plain_letters(source):
    result = run(source, PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert result.stdout.isascii()
    assert "####" in result.stdout


def test_json_and_page(source, tmp_path):
    out = tmp_path / "new" / "report.html"
    result = run(source, "--split", "train", "--json", "--out", out)
    assert result.returncode == 0
    report = json.loads(result.stdout)
    assert (report["layouts"], report["labels"]["text"]["elements"]) == (3, 3)
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "report.html" in result.stderr


def test_skipped_records_are_listed(source):
    with (source / "train.jsonl").open("a") as file:
        file.write("{broken\n")
    stopped = run(source)
    assert stopped.returncode == 1
    assert stopped.stderr.startswith("error: ")
    assert "line 4" in stopped.stderr
    skipped = run(source, "--on-error", "skip")
    assert skipped.returncode == 0
    assert "line 4" in skipped.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing"], 1, "no such file or folder"),
        (["sample", "--split", "dev"], 2, "--split"),
        (["sample", "--from", "docx"], 2, "--from"),
        (["sample", "--out", "report.pdf"], 2, "must end in .html"),
    ],
)
def test_mistakes(tmp_path, arguments, code, message):
    result = run(*arguments)
    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_the_sample_set():
    result = run("sample", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["layouts"] >= 100

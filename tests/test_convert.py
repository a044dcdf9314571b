"""`layoutdm convert` and `layoutdm validate` as real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from layoutdm import Layout
from layoutdm.formats import read, write

LAYOUTS = [
    Layout.create(["text", "list"], [[0.5, 0.5, 0.5, 0.5]] * 2, id=str(i), width=30, height=40)
    for i in range(1, 4)
]
BAD = '{"id": "bad", "labels": ["a"], "boxes": [[0.5, 0.5, 0, 1]]}\n'


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "layoutdm", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert "Traceback" not in result.stderr
    return result


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    path = write(LAYOUTS, tmp_path / "mixed.jsonl")
    path.write_text(path.read_text() + BAD)
    return path


def test_there_and_back(tmp_path: Path) -> None:
    source = write(LAYOUTS, tmp_path / "a.jsonl")
    first = run("convert", source, tmp_path / "folder", "--to", "yolo")
    assert first.returncode == 0
    assert first.stdout == ""
    assert "3 layouts, 6 elements" in first.stderr
    second = run("convert", tmp_path / "folder", tmp_path / "b.jsonl.gz", "--json")
    assert second.returncode == 0
    assert second.stderr == ""
    summary = json.loads(second.stdout)
    assert (summary["from"], summary["to"], summary["layouts"]) == ("yolo", "jsonl", 3)
    assert list(read(tmp_path / "b.jsonl.gz")) == LAYOUTS


def test_a_bad_record_stops_and_leaves_the_target_alone(mixed: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    result = run("convert", mixed, target)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: {mixed}, line 4: layout 'bad': element 0 (a): width")
    assert result.stderr.count("\n") == 1
    assert target.read_text() == "old"


def test_skipping_counts_and_lists(mixed: Path, tmp_path: Path) -> None:
    result = run("convert", mixed, tmp_path / "out.json", "--on-error", "skip")
    assert result.returncode == 0
    assert "left out 1 bad record:" in result.stderr
    assert f"{mixed}, line 4: " in result.stderr
    assert list(read(tmp_path / "out.json")) == LAYOUTS
    result = run("convert", mixed, tmp_path / "out.json", "--on-error", "skip", "--json")
    summary = json.loads(result.stdout)
    assert summary["left_out"] == 1
    assert summary["problems"][0]["where"] == f"{mixed}, line 4"


def test_when_nothing_is_left(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text(BAD)
    result = run("convert", source, tmp_path / "out.json", "--on-error", "skip")
    assert result.returncode == 1
    assert "nothing is left" in result.stderr
    assert not (tmp_path / "out.json").exists()


def test_standard_output_and_forced_progress(tmp_path: Path) -> None:
    source = write(LAYOUTS, tmp_path / "a.json")
    result = run("convert", source, "-", "--progress")
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["1", "2", "3"]
    assert "3 layouts" in result.stderr
    assert run("convert", source, "-").stdout == result.stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--from", "word"], "--from"),
        (["--to", "rico"], "--to"),
        (["--on-error", "ignore"], "--on-error"),
        (["--kind", "predictions"], "--kind"),
    ],
)
def test_usage_errors(options: list[str], expected: str, tmp_path: Path) -> None:
    source = write(LAYOUTS[:1], tmp_path / "a.jsonl")
    result = run("convert", source, tmp_path / "b.jsonl", *options)
    assert result.returncode == 2
    assert expected in result.stderr


def test_validate(mixed: Path, tmp_path: Path) -> None:
    result = run("validate", mixed)
    assert result.returncode == 1
    assert result.stdout.splitlines()[0].startswith(f"{mixed}, line 4: ")
    assert "1 problem; 3 good layouts, 6 elements, 2 labels" in result.stdout
    summary = json.loads(run("validate", mixed, "--json").stdout)
    assert (summary["valid"], summary["layouts"], summary["left_out"]) == (False, 3, 1)
    assert summary["labels"] == {"text": 3, "list": 3}
    good = write(LAYOUTS, tmp_path / "good.parquet")
    result = run("validate", good)
    assert result.returncode == 0
    assert "no problems" in result.stdout


def test_validate_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"images": [')
    result = run("validate", path, "--json")
    assert result.returncode == 1
    assert "it ends too early" in json.loads(result.stdout)["problems"][0]["message"]
    result = run("validate", tmp_path / "none")
    assert result.returncode == 1
    assert "no such file or folder" in result.stdout


def test_a_pipe_is_read_when_its_format_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "layoutdm", "convert", "/dev/stdin", str(tmp_path / "a.csv")]
    line = '{"id": "p", "labels": ["text"], "boxes": [[0.5, 0.5, 0.2, 0.2]]}\n'
    unnamed = subprocess.run(command, input=line, capture_output=True, text=True)
    assert unnamed.returncode == 1 and "/dev/stdin: is a pipe" in unnamed.stderr
    assert "--from" in unnamed.stderr
    named = subprocess.run(
        [*command, "--from", "jsonl"], input=line, capture_output=True, text=True
    )
    assert named.returncode == 0, named.stderr
    assert [layout.id for layout in read(tmp_path / "a.csv")] == ["p"]


def test_validate_names_the_file_once(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"images": [}')
    result = run("validate", path)
    assert result.returncode == 1
    assert result.stdout.startswith(f"{path}, line 1, column 13: not valid JSON")

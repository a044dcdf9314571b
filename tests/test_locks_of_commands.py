"""train, fit-features and evaluate: one at a time in a folder, and on only with --resume."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from layoutdm.lock import locked
from tiny_models import folder
from training_samples import write_dataset

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
pytestmark = pytest.mark.slow  # each command imports torch


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "layoutdm", *map(str, arguments)],
        capture_output=True, text=True, env=ENVIRONMENT, timeout=900,
    )  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("data"), train=60)


def commands(data, out):
    return {
        "train": ["train", data, "--out", out, "--preset", "tiny", "--steps", 2],
        "fit-features": ["fit-features", data, "--out", out, "--steps", 2],
        "evaluate": ["evaluate", "--model", folder(), "--data", data, "--out", out,
                     "--split", "val", "--task", "unconditional", "--samples", 4, "--seeds", 0],
    }  # fmt: skip


@pytest.mark.parametrize("command", ["train", "fit-features", "evaluate"])
def test_a_folder_in_use_is_refused_and_left_alone(tmp_path, data, command):
    out = tmp_path / "out"
    with locked(out, command):
        before = sorted(path.name for path in out.rglob("*"))
        done = run(*commands(data, out)[command])
        assert done.returncode == 1 and done.stdout == ""
        assert f"in use by `{command}`" in done.stderr and "Traceback" not in done.stderr
        assert sorted(path.name for path in out.rglob("*")) == before
    done = run(*commands(data, out)[command])
    assert done.returncode == 0, done.stderr
    assert not (out / ".layoutdm.lock").exists()


@pytest.mark.parametrize(
    ("command", "name", "more"),
    [("train", "README.md", []), ("train", "run/notes.txt", []),
     ("train", "README.md", ["--resume"]), ("train", "run/notes.txt", ["--resume"]),
     ("fit-features", "metrics.jsonl", []), ("fit-features", "metrics.jsonl", ["--resume"]),
     ("evaluate", "table.md", []), ("evaluate", "layouts/mine.jsonl", [])],
)  # fmt: skip
def test_foreign_files_are_not_written_over(tmp_path, data, command, name, more):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    done = run(*commands(data, tmp_path)[command], *more)
    assert done.returncode == 1 and f"already holds {name}, which is not of this" in done.stderr
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [Path(name).name]
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("command", ["train", "fit-features"])
def test_a_run_goes_on_only_with_resume(tmp_path, data, command):
    words = commands(data, tmp_path)[command]
    assert run(*words).returncode == 0
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    again = run(*words, "--seed", 5)
    assert again.returncode == 1 and "--resume" in again.stderr
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
    other = run(*words, "--resume", "--seed", 5)
    assert other.returncode == 1 and "seed" in other.stderr and "Traceback" not in other.stderr
    more = run(*words[:-1], 4, "--resume", "--json")
    assert more.returncode == 0 and json.loads(more.stdout)["steps"] == 4


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"[1]", b"{", b"[" * 100_000, b'{"strange": 1}']
)
def test_settings_of_a_run_that_cannot_be_read_are_one_sentence(tmp_path, data, content):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "training.json").write_bytes(content)
    done = run("train", data, "--out", tmp_path, "--resume", "--steps", 2)
    assert done.returncode == 1 and done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_damaged_checkpoint_of_features_is_one_sentence(tmp_path, data):
    words = commands(data, tmp_path)["fit-features"]
    for content in (b"", b"not a checkpoint", b"PK\x03\x04"):
        (tmp_path / "checkpoint.pt").write_bytes(content)
        done = run(*words, "--resume")
        assert done.returncode == 1 and "checkpoint.pt: is damaged" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["plan.json", "scores", "layouts"])
def test_damaged_files_of_an_evaluation_are_one_sentence(tmp_path, data, name):
    words = commands(data, tmp_path)["evaluate"]
    assert run(*words).returncode == 0
    found = tmp_path / name
    found = found if found.is_file() else next(p for p in found.iterdir() if "time" not in p.name)
    lines = found.read_bytes().splitlines(keepends=True)
    found.write_bytes(b"".join([b"\xff{oops\n", *lines[1:]]))
    done = run(*words)
    assert done.returncode == 1 and f"{found.name}" in done.stderr, done.stderr
    assert "damaged" in done.stderr and "Traceback" not in done.stderr

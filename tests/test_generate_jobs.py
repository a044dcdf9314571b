"""`layoutdm generate --out` as real processes: two at once, killed again and again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from killing import killed_after
from tiny_models import folder

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}


def command(*arguments):
    words = ["generate", "--model", folder(), *arguments]
    return [sys.executable, "-m", "layoutdm", *map(str, words)]


def generate(*arguments, stdin=None):
    return subprocess.run(
        command(*arguments), input=stdin, capture_output=True, text=True, env=ENVIRONMENT,
        timeout=900,
    )  # fmt: skip


def files(out):
    return {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}


def test_a_second_run_needs_to_be_told_what_to_do(tmp_path):
    out = tmp_path / "out"
    assert generate("-n", 3, "--out", out, "--to", "jsonl,coco,sheet").returncode == 0
    before = files(out)
    refused = generate("-n", 2, "--seed", 1, "--out", out)
    assert refused.returncode == 1 and "--overwrite" in refused.stderr and files(out) == before
    both = generate("-n", 2, "--out", out, "--resume", "--overwrite")
    assert both.returncode == 2 and files(out) == before
    anew = generate("-n", 2, "--seed", 1, "--out", out, "--overwrite")
    assert anew.returncode == 0, anew.stderr
    assert set(files(out)) == {"job.json", "files.txt", "layouts.jsonl"}
    assert [json.loads(line)["id"] for line in files(out)["layouts.jsonl"].splitlines()] == [
        "1-0", "1-1",
    ]  # fmt: skip


def test_foreign_files_are_refused_and_left_alone(tmp_path):
    (tmp_path / "svg").mkdir()
    for name in ("layouts.jsonl", "svg/a.svg", "svg/b.svg"):
        (tmp_path / name).write_text("mine")
    before = files(tmp_path)
    for words in ([], ["--resume"], ["--overwrite"], ["--to", "svg"]):
        done = generate("-n", 2, "--out", tmp_path, *words)
        assert done.returncode == 1 and "would be lost" in done.stderr
        assert files(tmp_path) == before


@pytest.mark.slow
def test_two_at_once_double_nothing(tmp_path):
    out = tmp_path / "out"
    words = command("-n", 400, "--steps", 20, "--batch-size", 4, "--out", out, "--resume")
    both = [
        subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=900)[1] for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 1], [0, 0])  # the second may have begun after the first had ended
    assert codes == [0, 0] or any("in use by `generate`" in text for text in said)
    ids = [json.loads(line)["id"] for line in (out / "layouts.jsonl").read_text().splitlines()]
    assert ids == [f"0-{i}" for i in range(400)]


@pytest.mark.slow
def test_a_job_that_is_killed_after_every_layout_advances_and_ends_the_same(tmp_path):
    """Each time it is killed as soon as one more layout is on the disk."""
    options = ["-n", 60, "--steps", 10, "--to", "jsonl,coco,yolo,svg"]
    assert generate("--out", tmp_path / "whole", *options).returncode == 0
    out, part = tmp_path / "cut", tmp_path / "cut" / "layouts.jsonl.part"
    for lines in (1, 2, 3):
        killed_after(1, ["generate", "--model", folder(), "--out", out, "--resume", *options],
                     ENVIRONMENT)  # fmt: skip
        assert part.read_bytes().count(b"\n") == lines
    assert generate("--out", out, "--resume", *options).returncode == 0
    assert files(out) == files(tmp_path / "whole")


@pytest.mark.parametrize("words", [[], ["--out", "OUT"]])
def test_wishes_that_are_missed_with_require_are_exit_code_3(tmp_path, words):
    request = {"elements": [{"x": {"about": 0.2, "within": 1e-6, "strength": 0}}]}
    words = [str(tmp_path / "out") if word == "OUT" else word for word in words]
    done = generate("--spec", "-", "--require", "--tries", 2, "-n", 3, *words,
                    stdin=json.dumps(request))  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "3 of 3 layouts miss a wish after 2 tries each:" in done.stderr
    assert "elements[0].x" in done.stderr and ": 3" in done.stderr
    plain = generate("--spec", "-", "-n", 3, stdin=json.dumps(request))
    assert plain.returncode == 0 and "--require draws again" in plain.stderr
    if words:
        again = generate("--spec", "-", "--require", "--tries", 2, "-n", 3, *words, "--resume",
                         stdin=json.dumps(request))  # fmt: skip
        assert again.returncode == 3 and "3 of 3 layouts" in again.stderr


def test_a_damaged_journal_is_one_sentence(tmp_path):
    assert generate("-n", 5, "--out", tmp_path).returncode == 0
    journal = tmp_path / "layouts.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([*lines[:2], "{oops\n", *lines[3:]]))
    done = generate("-n", 8, "--out", tmp_path, "--resume")
    assert done.returncode == 1 and "line 3: is damaged" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupted_job_says_how_to_go_on(tmp_path):
    process = subprocess.Popen(
        command("-n", 100_000, "--out", tmp_path, "--batch-size", 4), env=ENVIRONMENT,
        stderr=subprocess.PIPE, text=True,
        # A suite that a shell started in the background would hand on that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    part = tmp_path / "layouts.jsonl.part"
    while process.poll() is None and not (part.exists() and part.stat().st_size):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=900)[1]
    assert process.returncode == 130 and "--resume" in said and "Traceback" not in said
    assert not (tmp_path / ".layoutdm.lock").exists()

"""The commands and the Python of docs/generate.md's part on large jobs, run as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from layoutdm.model import embedded

PAGE = (Path(__file__).parents[1] / "docs" / "generate.md").read_text(encoding="utf-8")
PART = PAGE.partition("## Large jobs")[2].partition("\n## ")[0]
COUNTS = {"100000": "12", "120000": "14", "100": "3"}  # the same, sooner

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not embedded(), reason="the package was built without models"),
]


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PART, re.DOTALL)


def run(words, folder):
    return subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=900,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def test_the_commands(tmp_path):
    lines = [line.split("  #")[0].strip() for line in blocks("sh")[0].splitlines()]
    assert len(lines) == 5
    lengths = []
    for line in lines:
        for count, fewer in COUNTS.items():
            line = re.sub(rf"--count {count}\b", f"--count {fewer}", line)
        done = run(["-m", *shlex.split(line)], tmp_path)
        assert done.returncode == 0, (line, done.stderr)
        lengths.append(len((tmp_path / "big" / "layouts.jsonl").read_text().splitlines()))
    assert lengths == [12, 12, 14, 3, 3]
    assert (tmp_path / "sheet.png").exists()
    assert not (tmp_path / "big" / "coco.json").exists()  # of the job that was overwritten


def test_the_python(tmp_path):
    done = run(["-c", blocks("python")[0]], tmp_path)
    assert done.returncode == 0 and done.stdout.strip() == "True 12 finished", done.stderr
    assert {"job.json", "files.txt", "layouts.jsonl", "coco.json"} == {
        path.name for path in (tmp_path / "made").iterdir()
    }

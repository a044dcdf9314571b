"""A short run of the fuzz in bench/fuzz_files.py, with a seed of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "bench" / "fuzz_files.py"


def test_damaged_files_raise_only_our_error_and_take_little(tmp_path: Path) -> None:
    out = tmp_path / "fuzz.json"
    command = [sys.executable, str(SCRIPT), "--files", "400", "--seed", "77", "--out", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert run.returncode == 0, run.stderr
    found = json.loads(out.read_text())
    assert found["files"] == sum(found["ends"].values()) == 400
    assert found["failures"] == []
    assert found["peak_mb"] <= 300
    assert min(found["ends"].get(end, 0) for end in ("read", "read in part", "refused")) > 20

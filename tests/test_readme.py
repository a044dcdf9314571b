"""Every command and the Python example of the README, run as a newcomer would."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from layoutdm.data import open as open_data
from layoutdm.formats import write

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.S)
COMMANDS = [
    line.split(" #")[0].strip()
    for block in BLOCKS
    for line in block.splitlines()
    if line.startswith("layoutdm ")
]
SERVERS = (
    "layoutdm studio",
    "layoutdm serve",
)  # they run until they are stopped: tests/test_serve*
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "2", "COLUMNS": "120"}


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    assert words[0] == "layoutdm"
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True
    )


def test_the_python_example() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    scope: dict[str, object] = {}
    exec(code, scope)
    assert scope["result"].met  # type: ignore[attr-defined]


@pytest.mark.slow
def test_all_commands_in_their_order(tmp_path: Path) -> None:
    """Training stops after a few steps here; everything else runs as it stands there."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    sample = open_data("sample")
    for split, layouts in sample.splits.items():
        write(layouts, tmp_path / "annotations" / f"{split}.jsonl")
    for command in COMMANDS:
        if command.startswith(SERVERS):
            assert run(f"{command} --help", tmp_path).returncode == 0
            continue
        done = run(re.sub(r"--minutes \d+", "--steps 3", command), tmp_path)
        assert done.returncode == 0, (command, done.stderr[-2000:])
    assert (tmp_path / "screens" / "sheet.png").is_file()
    assert len(list((tmp_path / "variants" / "svg").glob("*.svg"))) == 8
    assert (tmp_path / "set" / "data.yaml").is_file()


def test_every_page_that_is_linked_is_there() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in link:
                assert (page.parent / link).exists(), (page.name, link)

"""The commands of docs/systems.md run as they stand there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from layoutdm.baselines.systems import SYSTEMS
from layoutdm.paper.items import ITEMS

PAGE = Path(__file__).parent.parent / "docs" / "systems.md"


@pytest.mark.slow
def test_the_first_commands_run(tmp_path: Path) -> None:
    block = re.search(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert block is not None
    for line in block[1].splitlines():
        program, *arguments = shlex.split(line)
        assert program == "layoutdm"
        command = [sys.executable, "-m", "layoutdm", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)
    assert any((tmp_path / "layouts").iterdir())


def test_the_page_names_every_system_and_every_table() -> None:
    text = PAGE.read_text()
    for name in SYSTEMS:
        short = name.removeprefix("layoutdm-paper") or name
        assert f"`{name}`" in text or f"`{short}`" in text, name
    for name in ITEMS:
        assert f"`{name}`" in text, name

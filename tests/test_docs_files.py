"""Every command and every piece of Python in docs/formats.md and docs/pictures.md runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from layoutdm import Layout
from layoutdm.data import sample
from layoutdm.formats import write

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("formats.md", "pictures.md")


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the pages speak of."""
    layouts = sample.generate("page", 4)
    for name in ("instances.json", "export.json", "layouts.jsonl", "screen.jsonl"):
        write(layouts, tmp_path / name)
    write([Layout.create(["a"], [[0.5, 0.5, 0.5, 0.5]])] * 25_000, tmp_path / "copies.jsonl.gz")
    write(layouts, tmp_path / "OUT" / "layouts.jsonl")
    (tmp_path / "OUT" / "job.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_runs(page: str, folder: Path) -> None:
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line.strip()]
    assert lines
    for line in lines:
        command = line.replace("layoutdm ", f"{sys.executable} -m layoutdm ", 1)
        run = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{line}\n{run.stderr}"


@pytest.mark.parametrize("page", PAGES)
def test_every_piece_of_python_of_the_page_runs(page: str, folder: Path) -> None:
    pieces = blocks(page, "python")
    assert pieces
    for piece in pieces:
        exec(compile(piece, page, "exec"), {})

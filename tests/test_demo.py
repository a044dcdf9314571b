"""The gallery of `make demo`, made by a real process from the embedded models."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from layoutdm.model import embedded

DEMO = Path(__file__).resolve().parents[1] / "examples" / "demo.py"


@pytest.mark.slow
def test_gallery_shows_every_condition_of_every_model(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DEMO), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "gallery.html") in done.stdout
    page = (tmp_path / "gallery.html").read_text()
    assert set(embedded()) == {"rico25", "publaynet"}
    for name in embedded():
        assert f">{name}<" in page
    assert page.count("<section") == 7 * len(embedded())
    assert page.count("<svg") >= 4 * 7 * len(embedded())

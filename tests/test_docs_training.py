"""The Python of docs/training.md runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "training.md"


@pytest.mark.slow
def test_python_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S)
    exec(compile(block, str(PAGE), "exec"), {})
    assert (tmp_path / "my_model" / "model.onnx").is_file()

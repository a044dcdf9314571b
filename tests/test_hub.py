"""Push and pull: clear sentences where the hub cannot be reached or the names are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from layoutdm.errors import LayoutdmError
from layoutdm.model.hub import pull, push


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub on a port that nothing listens to."""
    import huggingface_hub.constants as constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")


def model_folder(folder: Path) -> Path:
    for name in ("config.json", "model.onnx"):
        (folder / name).write_text("{}")
    return folder


def test_no_connection(tmp_path: Path, nowhere: None) -> None:
    with pytest.raises(LayoutdmError, match=r"could not upload .* check the connection"):
        push(model_folder(tmp_path), "anna/posters")
    with pytest.raises(LayoutdmError, match="could not download 'anna/posters'"):
        pull("anna/posters", tmp_path / "out")


@pytest.mark.parametrize("name", ["posters", "/posters", "anna/", "a/b/c"])
def test_wrong_names(name: str, tmp_path: Path) -> None:
    with pytest.raises(LayoutdmError, match="OWNER/NAME"):
        push(model_folder(tmp_path), name)
    with pytest.raises(LayoutdmError, match="OWNER/NAME"):
        pull(name)


def test_what_is_no_model_is_not_uploaded(tmp_path: Path) -> None:
    with pytest.raises(LayoutdmError, match=r"no config\.json there"):
        push(tmp_path, "anna/posters")

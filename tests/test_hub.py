"""Push and pull with a hub on this machine; clear sentences where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import layoutdm
import tiny_models
from hub_stub import running
from layoutdm.errors import LayoutdmError
from layoutdm.model import Model, embedded
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


@pytest.mark.slow
def test_there_and_back(tmp_path: Path) -> None:
    """Real commands and the real client; then without the hub, from the client's cache."""
    model = tmp_path / "model"
    shutil.copytree(tiny_models.folder(), model)
    (model / "run").mkdir()
    (model / "run" / "checkpoint-000000001.json").write_text("{}")

    def run(address: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        names = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "cache"), "HF_TOKEN": "made up",
                 "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}  # fmt: skip
        command = [sys.executable, "-m", "layoutdm", *map(str, arguments)]
        env = {**os.environ, **names}
        return subprocess.run(command, capture_output=True, text=True, env=env, check=False)

    with running() as hub:
        pushed = run(hub.address, "push", model, "anna/posters")
        assert pushed.returncode == 0, pushed.stderr
        assert pushed.stdout.strip() == f"{hub.address}/anna/posters"
        assert set(hub.files) == {"config.json", "model.onnx", "README.md"}  # not the checkpoint
        pulled = run(hub.address, "pull", "anna/posters", "--out", tmp_path / "pulled")
        assert pulled.returncode == 0, pulled.stderr
        for name in hub.files:
            assert (tmp_path / "pulled" / name).read_bytes() == (model / name).read_bytes()
        first = run(hub.address, "generate", "--model", "anna/posters", "--count", "1")
        assert first.returncode == 0, first.stderr
        missing = run(hub.address, "pull", "anna/nothing")
        assert missing.stderr.startswith("error: could not download 'anna/nothing'")
    again = run("http://127.0.0.1:9", "generate", "--model", "anna/posters", "--count", "1")
    assert again.stdout == first.stdout


def test_from_pretrained_takes_names_folders_and_hub_ids(nowhere: None) -> None:
    folder = tiny_models.folder()
    one, two = Model.from_pretrained(folder), layoutdm.load(str(folder))
    assert one.labels == two.labels == tiny_models.LABELS
    for name in embedded():
        assert Model.from_pretrained(name).name == name
    with pytest.raises(LayoutdmError, match="nor a folder, and could not download"):
        Model.from_pretrained("anna/elsewhere", revision="main")
    with pytest.raises(LayoutdmError, match="is unknown: the embedded models are"):
        Model.from_pretrained("nothing")

"""Models that cannot be loaded: each reason is told apart."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

import layoutdm
from layoutdm.errors import LayoutdmError
from tiny_models import LABELS, folder


def test_an_unknown_model_is_told_what_there_is(monkeypatch):
    with pytest.raises(LayoutdmError, match=r"'rico99' is unknown.*embedded models are"):
        layoutdm.load("rico99")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(LayoutdmError, match="install huggingface_hub"):
        layoutdm.load("somebody/something")


def test_damaged_model_folders_are_told_apart(tmp_path):
    with pytest.raises(LayoutdmError, match=r"holds no config\.json"):
        layoutdm.load(tmp_path)
    broken = tmp_path / "broken"
    shutil.copytree(folder(), broken)
    config = json.loads((broken / "config.json").read_text())
    for change, message in (
        ({"format": 2}, "format 2 is unknown"),
        ({"labels": list(LABELS[:3])}, "differ from those"),
        ({"bins": {"kind": "x"}}, "damaged"),
        ({"network": {}}, "damaged"),
    ):
        (broken / "config.json").write_text(json.dumps({**config, **change}))
        with pytest.raises(LayoutdmError, match=message):
            layoutdm.load(broken)
    (broken / "config.json").write_text("{")
    with pytest.raises(LayoutdmError, match="not valid JSON"):
        layoutdm.load(broken)
    (broken / "config.json").write_text(json.dumps(config))
    (broken / "model.onnx").write_bytes(b"no network")
    with pytest.raises(LayoutdmError, match="ONNX Runtime cannot load it"):
        layoutdm.load(broken)
    (broken / "model.onnx").unlink()
    with pytest.raises(LayoutdmError, match="no such file"):
        layoutdm.load(broken)

"""Models that cannot be loaded: each reason is told apart."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest

import layoutdm
from layoutdm.errors import LayoutdmError
from tiny_models import LABELS, folder

BAD_MODELS = (
    ({"free": 0.1, "labels": {"nobody": []}}, "apart: 'nobody' is not one of the model's labels"),
    ({"free": 0.1, "labels": {LABELS[0]: LABELS[1]}}, "must have a list of labels"),
    ({"free": 10**400, "labels": {}}, "damaged"),
    ({"free": 1.5, "labels": {}}, "free must be from 0 to less than 1, got 1.5"),
    ({"free": "much", "labels": {}}, "damaged"),
    ({"free": 0.1}, "'labels' is missing"),
    ([1], "damaged"),
)


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
        ({"format": 2}, "format '2' is unknown"),
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
    with pytest.raises(LayoutdmError, match="is not an ONNX file"):
        layoutdm.load(broken)
    (broken / "model.onnx").unlink()
    with pytest.raises(LayoutdmError, match="no such file"):
        layoutdm.load(broken)


def test_a_model_says_which_labels_keep_apart(tmp_path):
    shutil.copytree(folder(), tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    config = json.loads(path.read_text())
    label, other = config["labels"][:2]
    record = {"free": 0.2, "labels": {label: [other], other: [label]}}
    path.write_text(json.dumps({**config, "apart": record}))
    apart = layoutdm.load(path.parent).generator.config.apart
    assert apart is not None and apart.free == 0.2
    assert [pair.tolist() for pair in np.nonzero(apart.labels)] == [[0, 1], [1, 0]]
    path.write_text(json.dumps(config))
    model = layoutdm.load(path.parent)
    assert model.generator.config.apart is None
    assert len(model.generate(count=2, keep_apart=True)) == 2


@pytest.mark.parametrize(("record", "message"), BAD_MODELS)
def test_a_damaged_part_is_one_sentence(tmp_path, record, message):
    shutil.copytree(folder(), tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "apart": record}))
    with pytest.raises(LayoutdmError, match=message):
        layoutdm.load(path.parent)

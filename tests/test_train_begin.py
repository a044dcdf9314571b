"""A run that was killed before its first checkpoint begins again, with the same weights."""

from __future__ import annotations

from pathlib import Path

import layoutdm.data
from layoutdm.train.recipe import preset
from layoutdm.train.run import train

SETTINGS = preset("tiny", steps=2, batch_size=8, validations=1, precision="fp32")


def test_a_run_without_a_checkpoint_ends_as_one_that_was_never_killed(tmp_path: Path) -> None:
    data = layoutdm.data.open("sample")
    train(data, SETTINGS, tmp_path / "whole")
    killed = tmp_path / "killed" / "run"
    killed.mkdir(parents=True)
    for name in ("start.json", "training.json"):
        (killed / name).write_bytes((tmp_path / "whole" / "run" / name).read_bytes())
    train(data, SETTINGS, tmp_path / "killed", resume=True)
    for name in ("model.onnx", "labels.npz", "config.json"):
        whole = (tmp_path / "whole" / name).read_bytes()
        assert (tmp_path / "killed" / name).read_bytes() == whole, name

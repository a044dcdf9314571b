"""`layoutdm labels`: names, how often they were seen, and a warning for rare ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from layoutdm.cli.labels import labels


def folder(tmp_path: Path, **more: object) -> str:
    record = {"format": 1, "labels": ["text", "map"], **more}
    (tmp_path / "config.json").write_text(json.dumps(record))
    return str(tmp_path)


def test_counts_are_shown_and_rare_labels_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels(folder(tmp_path, label_counts={"text": 900, "map": 7}, layouts=1000))
    shown = capsys.readouterr()
    assert shown.out.splitlines() == ["text        900   90.0%", "map           7    0.7%"]
    assert "fewer than 50 layouts, so hardly learned: map" in shown.err


def test_models_without_counts_list_their_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels(folder(tmp_path))
    assert capsys.readouterr() == ("text\nmap\n", "")
    labels(folder(tmp_path, label_counts={"text": 900, "map": 7}), as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert [(row["label"], row["seen"]) for row in rows] == [("text", 900), ("map", 7)]

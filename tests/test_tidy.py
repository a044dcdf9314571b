"""Tidy: nearly equal becomes equal, nothing moves far, nothing new overlaps, wishes hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from layoutdm import Layout
from layoutdm.settle import tidy
from test_wishes_hold import MODEL


def corners(boxes: np.ndarray) -> np.ndarray:
    return np.concatenate(
        [boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], axis=1
    )


def overlap(boxes: np.ndarray) -> np.ndarray:
    c = corners(boxes)
    low = np.maximum(c[:, None, :2], c[None, :, :2])
    high = np.minimum(c[:, None, 2:], c[None, :, 2:])
    return np.maximum((high - low).min(axis=2), 0.0) * (1 - np.eye(len(boxes)))


def rough(seed: int) -> np.ndarray:
    """A column of rows that are meant to be alike, a little off."""
    rng = np.random.default_rng(seed)
    exact = np.array([[0.5, 0.1 + 0.15 * k, 0.8, 0.1] for k in range(6)])
    return exact + rng.uniform(-0.004, 0.004, exact.shape)


def test_a_rough_column_becomes_straight() -> None:
    for seed in range(5):
        before = rough(seed)
        after = tidy(Layout.create(["Text"] * 6, before)).boxes
        assert len(np.unique(after[:, 2].round(9))) < len(np.unique(before[:, 2].round(9)))
        edges = corners(after)
        assert len(np.unique(edges[:, 0].round(9))) <= 2
        assert np.abs(edges - corners(before)).max() <= 0.02 + 1e-9


def test_nothing_new_overlaps_and_nothing_moves_far() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        size = rng.uniform(0.05, 0.4, (8, 2))
        boxes = np.concatenate([size / 2 + rng.random((8, 2)) * (1 - size), size], axis=1)
        after = tidy(Layout.create(["Text"] * 8, boxes)).boxes
        assert (overlap(after) <= overlap(boxes) + 1e-6).all()
        assert np.abs(corners(after) - corners(boxes)).max() <= 0.02 + 1e-6


def test_wishes_keep_holding() -> None:
    request = {
        "elements": [{"name": n, "label": "Text"} for n in "abcd"],
        "relations": [{"of": "b", "is": "below", "to": "a", "gap": 0.03},
                      {"of": "c", "is": "larger", "to": "d"}],
        "margins": 0.03,
    }  # fmt: skip
    for result in MODEL.generate(request, count=4, tidy=True):
        assert result.met


def test_command_from_file_to_file(tmp_path: Path) -> None:
    source, target = tmp_path / "rough.jsonl", tmp_path / "tidy.jsonl"
    Layout.create(["Text"] * 6, rough(0), id="a").save(source)
    command = [sys.executable, "-m", "layoutdm", "tidy", str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "wrote 1 layouts" in done.stderr
    after = Layout.from_file(target)
    assert len(np.unique(after.corners()[:, 0].round(6))) <= 2

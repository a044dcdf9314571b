"""The run half alone: score works, and a command that needs more says so in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from layoutdm.extras import EXTRAS
from layoutdm.formats import write
from layoutdm.metrics.matching import match_by_paths
from training_samples import make_layouts

# Stands in for an installation without extras: their packages cannot be imported.
BLOCKED = f"""
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(EXTRAS)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocker())
from layoutdm.cli import main
main()
"""


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, *map(str, arguments)], capture_output=True, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}, timeout=900,
    )  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    made = make_layouts(30, 1, ("text", "title", "figure"))
    real = make_layouts(30, 2, ("text", "title", "figure"))
    return write(made, folder / "made.jsonl"), write(real, folder / "real.jsonl")


@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [
        (["train", "DATA", "--out", "OUT"], "torch", "train"),
        (["fit-features", "DATA", "--out", "OUT"], "torch", "train"),
        (["evaluate", "--model", "publaynet", "--data", "DATA", "--out", "OUT"], "matplotlib",
         "train"),
        (["push", "OUT", "me/mine"], None, None),
        (["pull", "me/mine"], "huggingface_hub", None),
        (["convert", "DATA", "OUT.parquet"], "pyarrow", "parquet"),
        (["render", "DATA", "--out", "OUT.pptx"], "pptx", "pptx"),
    ],
)  # fmt: skip
def test_what_is_missing_is_one_sentence(tmp_path, files, command, package, extra):
    words = {"DATA": files[1], "OUT": tmp_path / "out"}
    text = [
        words.get(word, word.replace("OUT", str(tmp_path / "out")) if "OUT." in word else word)
        for word in command
    ]
    done = run(*text)
    assert done.returncode == 1 and done.stdout == ""
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1
    if package is not None:
        assert package in done.stderr and "pip install" in done.stderr
        assert extra is None or extra in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["generate", "-n", "2"], ["models"], ["labels", "rico25"], ["schema"],
        ["stats", "sample", "--json"], ["validate", "DATA"], ["convert", "DATA", "OUT.csv"],
        ["render", "DATA", "--out", "OUT.png"],
    ],
)  # fmt: skip
def test_the_other_commands_need_nothing_more(tmp_path, files, command):
    words = [
        str(files[1]) if w == "DATA" else w.replace("OUT", str(tmp_path / "o")) for w in command
    ]
    done = run(*words)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_score_gives_the_same_figures_without_any_extra(files):
    made, real = files
    words = ["score", made, "--reference", real, "--paired", "--published", "--resamples", 2,
             "--json", "--threads", 1]  # fmt: skip
    bare = run(*words)
    assert bare.returncode == 0, bare.stderr
    whole = subprocess.run(
        [sys.executable, "-m", "layoutdm", *map(str, words)], capture_output=True, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=900,
    )  # fmt: skip
    one, other = json.loads(bare.stdout), json.loads(whole.stdout)
    assert one["fid"]["value"] > 0 and one["max_iou"]["matched"] > 0 and one["docsim"]["value"] > 0
    for name in ("fid", "precision", "max_iou", "docsim", "alignment", "overlap", "violation"):
        assert one[name]["value"] == pytest.approx(other[name]["value"], abs=1e-12), name


def test_matching_without_scipy_picks_the_same_sums():
    rng = np.random.default_rng(0)
    for height, width in [(1, 1), (1, 5), (5, 1), (4, 4), (9, 9), (7, 12), (12, 7), (30, 30)]:
        for kind in range(6):
            scores = rng.random((height, width))
            if kind % 3 == 1:
                scores = np.round(scores, 1)  # many ties
            if kind % 3 == 2:
                scores = np.where(scores < 0.7, 0.0, scores)
            rows, columns = match_by_paths(scores)
            assert rows.tolist() == sorted(rows) and len({*rows}) == len(rows) == min(scores.shape)
            assert len({*columns}) == len(columns)
            best = scores[linear_sum_assignment(scores, maximize=True)].sum()
            assert scores[rows, columns].sum() == pytest.approx(best, abs=1e-12)

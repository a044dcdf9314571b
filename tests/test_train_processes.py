"""Training as real processes: one command, killed at random moments, and shared by two."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from layoutdm.cli.training import TrainOptions, _resumed, run_training
from layoutdm.errors import LayoutdmError
from layoutdm.train.folder import check_folder
from layoutdm.train.recipe import preset
from layoutdm.train.reporter import read_metrics
from training_samples import write_dataset

SMALL = ["--preset", "tiny", "--bins", "uniform", "--threads", "1",
         "--precision", "fp32", "--set", "network.width=32",
         "--set", "budget.checkpoint_minutes=0.0001"]  # fmt: skip


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "layoutdm", *(str(argument) for argument in arguments)]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", **more}


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, env=environment(), check=False
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("data"), train=64, val=16)


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbs."""
    out = tmp_path_factory.mktemp("whole") / "model"
    done = run("train", data, "--out", out, "--steps", "60", *SMALL)
    assert done.returncode == 0, done.stderr
    assert "nats per layout" in done.stdout
    assert "step     60" in done.stderr
    return out


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_with_the_same_weights(
    data: Path, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    arguments = ["train", data, "--out", out]
    first = ["--steps", "60", *SMALL]
    seed = time.time_ns()
    moments = random.Random(seed)
    checkpoints: list[str] = []
    for attempt in range(2):
        process = subprocess.Popen(
            command(*arguments, *(first if attempt == 0 else ["--resume"])),
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment(),
        )  # fmt: skip
        before = set(checkpoints)
        while process.poll() is None and set(checkpoints) <= before:
            time.sleep(0.005)
            checkpoints = [path.name for path in (out / "run").glob("checkpoint-*.json")]
        time.sleep(moments.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = run(*arguments, "--resume")
    assert done.returncode == 0, done.stderr
    assert "going on from step" in done.stderr
    assert (out / "model.onnx").read_bytes() == (whole / "model.onnx").read_bytes(), seed
    last = "run/checkpoint-000000060.safetensors"
    assert (out / last).read_bytes() == (whole / last).read_bytes(), seed


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["tiny", "paper"])
def test_two_processes_have_the_loss_curve_of_one(recipe: str, data: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    out, alone = tmp_path / "model", tmp_path / "alone"
    # What keeps apart is a mean over the layouts of each process that take part in it.
    settings = ["network.width=32", "network.dropout=0", "network.layers=1", "recipe.apart=0"]
    options = ["--preset", recipe, "--bins", "uniform", "--bin-count", "8", "--threads", "1",
               "--steps", "30", "--batch-size", "32", "--precision", "fp32"]  # fmt: skip
    options += [part for setting in settings for part in ("--set", setting)]
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    processes = [
        subprocess.Popen(
            command("train", data, "--out", out, *options), stderr=subprocess.PIPE, text=True,
            env=environment(RANK=str(rank), LOCAL_RANK=str(rank), **shared),
        )
        for rank in range(2)
    ]  # fmt: skip
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors
    run_training(
        TrainOptions(
            data=str(data), out=alone, preset=recipe, base=None, resume=False,
            changes={"steps": 30, "bins": "uniform", "bin_count": 8, "batch_size": 32,
                     "precision": "fp32"},
            settings=settings, portrait=False,
            skip_bad=False, threads=0, tensorboard=False, format=None,
        )
    )  # fmt: skip
    curves = [read_metrics(folder / "run" / "metrics.jsonl") for folder in (out, alone)]
    for ours, theirs in zip(*curves, strict=True):
        assert ours["step"] == theirs["step"]
        name = "loss" if ours["kind"] == "train" else "bound"
        # The published weights of timesteps are running means of what each process has seen.
        close = 1e-3 if recipe == "paper" else 1e-4
        assert ours[name] == pytest.approx(theirs[name], rel=close)


@pytest.mark.slow
def test_the_model_can_be_used(whole: Path) -> None:
    made = run("generate", "--model", whole, "--count", "2")
    assert made.returncode == 0, made.stderr
    labels = {label for line in made.stdout.splitlines() for label in json.loads(line)["labels"]}
    assert len(made.stdout.splitlines()) == 2
    assert labels <= {"text", "title", "picture"}


@pytest.mark.slow
def test_what_cannot_be_done_is_said_in_one_sentence(whole: Path, data: Path) -> None:
    for arguments, words in (
        (["train", data, "--out", whole], "already holds a training run"),
        (["push", data, "anna/posters"], "no config.json there"),
    ):
        done = run(*arguments)
        assert done.returncode == 1
        assert done.stderr.startswith("error: ")
        assert len(done.stderr.strip().splitlines()) == 1
        assert words in done.stderr


def test_a_resumed_run_keeps_its_settings(tmp_path: Path) -> None:
    options = TrainOptions(
        data="sample", out=tmp_path, preset="tiny", base=None, resume=True,
        changes={"seed": 3}, settings=[], portrait=False, skip_bad=False, threads=0,
        tensorboard=False, format=None,
    )  # fmt: skip
    (tmp_path / "run").mkdir()
    settings = json.dumps(preset("tiny", steps=9).to_dict())
    (tmp_path / "run" / "training.json").write_text(settings)
    with pytest.raises(LayoutdmError, match=r"budget\.seed cannot change from 0 to 3"):
        run_training(options)
    wider = replace(options, changes={"seed": 0}, settings=["network.width=32"])
    with pytest.raises(LayoutdmError, match=r"network\.width cannot change from 64 to 32"):
        run_training(wider)
    same = {"seed": 0, "batch_size": 32, "epochs": 2.0}
    again = replace(options, changes=same, settings=["network.width=64"])
    assert _resumed(again, preset("tiny", steps=9)) == preset("tiny", epochs=2.0)


def test_a_model_without_its_run_cannot_be_resumed(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(LayoutdmError, match="holds a model but no training run"):
        check_folder(tmp_path, resume=True)
    check_folder(tmp_path / "new", resume=True)  # killed before it wrote anything

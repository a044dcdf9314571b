"""Kill whole jobs at random moments, go on with each, and compare their ends byte by byte.

    python bench/kills.py --kills 100

Jobs of generate, train, fit-features and evaluate run as processes, are killed (SIGKILL) at moments
spread evenly over the time that the whole job takes, start-up included, and are started again with
the same command until they end. What they leave is compared with what a job leaves that was never
killed. Writes bench/results/kills.json; with --only the row of one command, beside the others.
Everything is made here: a tiny model, a tiny data set.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "kills.json"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
STRIDE = 7  # parts of a job between two kills: early and late moments take turns
TIMED = ("seconds", "ms_per_layout", "minutes", "ms", "time")  # what no two runs share


@dataclass(frozen=True)
class Kind:
    """A command, and what of its folder must be the same in the end."""

    name: str
    command: Callable[[Path], list[str]]
    left: Callable[[Path], dict[str, str]]


def every_file(folder: Path) -> dict[str, str]:
    return {name: _hash(path.read_bytes()) for name, path in _files(folder)}


def some_files(*names: str) -> Callable[[Path], dict[str, str]]:
    return lambda folder: {name: _hash((folder / name).read_bytes()) for name in names}


def without_times(folder: Path) -> dict[str, str]:
    """Files of an evaluation; from its JSON the measured times are taken out."""
    found = {}
    for name, path in _files(folder):
        if name.endswith(".jsonl"):
            found[name] = _hash(path.read_bytes())
        elif name.endswith(".json") and not name.endswith(".time.json"):
            record = _untimed(json.loads(path.read_text()))
            found[name] = _hash(json.dumps(record, sort_keys=True).encode())
    return found


def _untimed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _untimed(one) for key, one in value.items() if key not in TIMED}
    return [_untimed(one) for one in value] if isinstance(value, list) else value


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder)), path


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def kinds(data: Path, model: Path) -> list[Kind]:
    return [
        Kind(
            "generate",
            lambda out: ["generate", "--model", str(model), "--count", "250", "--out", str(out),
                         "--label", "text", "--more", "--steps", "8", "--batch-size", "16",
                         "--to", "jsonl,coco,yolo,csv,svg,sheet", "--resume"],
            every_file,
        ),
        Kind(
            "train",
            lambda out: ["train", str(data), "--out", str(out), "--preset", "tiny", "--steps",
                         "40", "--threads", "1", "--precision", "fp32", "--set",
                         "budget.checkpoint_minutes=0.005", "--resume"],
            some_files("model.onnx", "config.json", "training.json"),
        ),
        Kind(
            "fit-features",
            lambda out: ["fit-features", str(data), "--out", str(out), "--steps", "24",
                         "--evaluate-steps", "4", "--threads", "1", "--resume"],
            some_files("features.onnx"),
        ),
        Kind(
            "evaluate",
            lambda out: ["evaluate", "--model", str(model), "--data", str(data), "--split", "val",
                         "--out", str(out), "--task", "unconditional,c", "--seeds", "0",
                         "--samples", "60", "--threads", "1"],
            without_times,
        ),
    ]  # fmt: skip


def start(kind: Kind, out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "layoutdm", *kind.command(out)], env=ENVIRONMENT,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def killed_after(kind: Kind, out: Path, seconds: float) -> bool:
    """Whether the job was killed; it may have ended before, and then it must have ended well."""
    process = start(kind, out)
    try:
        _, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True
    if process.returncode:
        raise SystemExit(f"{kind.name} ended with {process.returncode}: {errors.decode()[-2000:]}")
    return False


def spread(kind: Kind, kills: int, rng: random.Random, folder: Path) -> dict[str, Any]:
    """Kill jobs of one kind so often, and compare every end with that of an untouched job."""
    began = time.monotonic()
    killed_after(kind, folder / "whole", 3600)
    whole = time.monotonic() - began
    wanted = kind.left(folder / "whole")
    done = jobs = late = 0
    differ: list[str] = []
    out = folder / "killed-0"
    while done < kills:
        # Evenly over the job: a moment of each equal part of it, one after the other.
        moment = whole * ((done * STRIDE) % kills + rng.random()) / kills
        if killed_after(kind, out, moment):
            done += 1
            continue
        late += 1  # it had advanced so far that it ended before the moment
        jobs, out, differ = _compare(kind, out, wanted, differ, jobs, folder)
    killed_after(kind, out, 3600)
    jobs, out, differ = _compare(kind, out, wanted, differ, jobs, folder)
    return {
        "kills": done, "ended_before_the_moment": late, "jobs": jobs, "files": len(wanted),
        "different": differ, "seconds_of_a_whole_job": round(whole, 1),
    }  # fmt: skip


def _compare(
    kind: Kind, out: Path, wanted: dict[str, str], differ: list[str], jobs: int, folder: Path
) -> tuple[int, Path, list[str]]:
    found = kind.left(out)
    names = {*found, *wanted}
    new = [f"{out.name}/{n}" for n in sorted(names) if found.get(n) != wanted.get(n)]
    return jobs + 1, folder / f"killed-{jobs + 1}", [*differ, *new]


def make_data(folder: Path) -> Path:
    """Pages whose parts hang together, as the tests have them."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import_module("training_samples").write_dataset(folder, train=200, val=60)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="in all, shared by the commands")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one command")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    results: dict[str, Any] = {"commands": {}}
    if options.only and options.out.exists():  # the others' rows are kept
        results = json.loads(options.out.read_text())
    with tempfile.TemporaryDirectory() as work:
        data, model = make_data(Path(work) / "data"), Path(work) / "model"
        training = ["train", str(data), "--out", str(model), "--preset", "tiny", "--steps", "4"]
        subprocess.run([sys.executable, "-m", "layoutdm", *training], env=ENVIRONMENT, check=True)
        chosen = [one for one in kinds(data, model) if options.only in (None, one.name)]
        for kind in chosen:
            share = options.kills // len(chosen)
            row = {"seed": options.seed, **spread(kind, share, rng, Path(work) / kind.name)}
            results["commands"][kind.name] = row
            rows = results["commands"].values()
            results["kills"] = sum(row["kills"] for row in rows)
            results["different"] = sum(len(row["different"]) for row in rows)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(results, indent=1) + "\n")
            print(kind.name, row, flush=True)
    raise SystemExit(1 if results["different"] else 0)


if __name__ == "__main__":
    main()

"""The default number of calls: the smallest that costs no more than 5 % of FID on val.

    python bench/choose_steps.py MODEL DATA --out bench/results/steps_rico25.jsonl

Every task with every number of steps and two seeds, all other settings as the model has them.
Prints a table with the choice in bold. Lines that are there already, of the same weights and other
settings, are not made again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

import layoutdm
from keeping_apart import KeepingApart, config_of
from layoutdm import data
from layoutdm.metrics.features import features_for
from layoutdm.model.store import find
from tune_sampling import TASKS, measure

STEPS = (10, 15, 20, 25, 30, 40)
COST = 1.05  # of the best mean FID
Row = dict[str, Any]


def chosen(rows: list[Row]) -> int:
    """The smallest number of steps of one task by the rule.

    >>> chosen([{"steps": 10, "fid": 5.2}, {"steps": 20, "fid": 5.0}, {"steps": 5, "fid": 6.0}])
    10
    """
    means = {n: np.mean([r["fid"] for r in rows if r["steps"] == n]) for n in steps_of(rows)}
    return min(n for n, mean in means.items() if mean <= COST * min(means.values()))


def steps_of(rows: list[Row]) -> list[int]:
    return sorted({int(row["steps"]) for row in rows})


def identity(folder: Path) -> str:
    """Changes with the weights and with what is known of labels that keep apart."""
    files = (folder / name for name in ("model.onnx", "labels.npz"))
    parts = [file.read_bytes() for file in files if file.is_file()]
    apart = json.loads((folder / "config.json").read_text()).get("apart")
    parts.append(json.dumps(apart, sort_keys=True).encode())
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def table(rows: list[Row]) -> str:
    """Markdown: a line for each task and number of steps, means over seeds."""
    lines = ["| task | steps | FID on val | mean | overlap | on top | violation |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for task in TASKS:
        of_task = [row for row in rows if row["task"] == task]
        for n in steps_of(of_task):
            mine = [row for row in of_task if row["steps"] == n]
            mean = {k: float(np.mean([r[k] for r in mine])) for k in ("fid", "overlap", "on_top")}
            violation = "–"
            if task == "relation":
                violation = f"{np.mean([row['violation'] for row in mine]):.3f}"
            shown = f"**{n}**" if n == chosen(of_task) else str(n)
            each = ", ".join(f"{row['fid']:.2f}" for row in mine)
            lines.append(
                f"| {task} | {shown} | {each} | {mean['fid']:.2f} | {mean['overlap']:.3f} "
                f"| {100 * mean['on_top']:.1f} % | {violation} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--seeds", default="0,1")
    given = parser.parse_args()
    model, opened = layoutdm.load(given.model), data.open(given.data)
    real = list(opened["val"])
    keeping = KeepingApart(opened["train"], config_of(model).tokenizer)
    network = features_for(model.labels)
    assert network is not None, "no feature network fits the model's labels"
    weights = identity(find(given.model))
    rows: list[Row] = []
    if given.out.exists():
        rows = [json.loads(line) for line in given.out.read_text().splitlines()]
    used = []
    for task in given.task or TASKS:
        own = {k: v for k, v in config_of(model).sampling_of(task).items() if k != "steps"}
        for n in STEPS:
            for seed in (int(text) for text in given.seeds.split(",")):
                key = {"task": task, "steps": n, "seed": seed, "weights": weights, "own": own}
                key["features"] = network.hash
                found = [row for row in rows if all(row.get(k) == v for k, v in key.items())]
                if not found:
                    made = measure(model, network, real, task, {"steps": n}, seed, keeping)
                    found = [{**made, **key}]
                    rows += found
                    with given.out.open("a") as stream:
                        stream.write(json.dumps(found[0]) + "\n")
                used += found[:1]
    print(table(used))


if __name__ == "__main__":
    main()

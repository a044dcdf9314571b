"""Choose sampling settings on the val split: FID, alignment, overlap, regularity of candidates.

    python bench/tune_sampling.py MODEL DATA --out tuning.jsonl
    python bench/tune_sampling.py MODEL DATA --out tuning.jsonl --task c --set relations=guided

Reference and conditions are the val split; the test split is never read. Each line of the output
is one candidate; lines that are there already are not made again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import layoutdm
from keeping_apart import KeepingApart, config_of
from layoutdm import Layout, Spec, data, metrics
from layoutdm.evaluate.requests import asked_relations
from layoutdm.metrics.features import FeatureNetwork, features_for, load_features
from layoutdm.metrics.regularity import regularity
from layoutdm.metrics.violation import relation_edges

TASKS = ("unconditional", "c", "cwh", "completion", "refinement", "relation")
WISH = ("strength", "within")  # the paper's lambda and m: part of a draft, not of the sampler


def candidates(top_ps: str, steps: str) -> list[dict[str, Any]]:
    """Every top-p with every number of steps; "own" is what the model's config says."""
    return [
        ({} if p == "own" else {"top_p": float(p)}) | ({} if n == "own" else {"steps": int(n)})
        for p, n in product(top_ps.split(","), steps.split(","))
    ]


def conditions(
    task: str, real: Sequence[Layout], count: int, seed: int, **wish: float
) -> list[Spec]:
    if task == "unconditional":
        return [Spec()] * count
    return [
        Spec.from_layout(layout, task=task, seed=seed * 1_000_003 + i, **wish)
        for i, layout in enumerate(real)
    ]


def measure(
    model: layoutdm.Model,
    features: FeatureNetwork,
    real: Sequence[Layout],
    task: str,
    settings: dict[str, Any],
    seed: int,
    keeping: KeepingApart,
) -> dict[str, Any]:
    wish = {name: settings[name] for name in WISH if name in settings}
    specs = conditions(task, real, len(real), seed, **wish)
    sampling = {name: value for name, value in settings.items() if name not in WISH}
    started = time.perf_counter()
    made = [result.layout for result in model.generate_many(specs, seed=seed, **sampling)]
    seconds = time.perf_counter() - started
    packed = metrics.pack(made, model.labels)
    row: dict[str, Any] = {
        "task": task,
        "settings": settings,
        "seed": seed,
        "features": features.hash,
        "fid": metrics.fid(features.extract(made), features.extract(real)),
        "alignment": float(metrics.alignment(packed.bbox, packed.mask)),
        "overlap": float(metrics.overlap(packed.bbox, packed.mask)),
        "on_top": keeping.share(made),
        **{name: round(value, 4) for name, value in regularity(made).shares().items()},
        "elements": float(np.mean([len(layout) for layout in made])),
        "milliseconds": 1000 * seconds / len(made),
    }
    if task == "relation":
        edges = relation_edges([asked_relations(spec) for spec in specs])
        row["violation"] = float(metrics.violation(packed.bbox, packed.mask, edges))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--top-p", default="0.6,0.7,0.8,0.9,0.95")
    parser.add_argument("--steps", default="own")
    parser.add_argument("--set", action="append", default=[], help="NAME=JSON, of all candidates")
    parser.add_argument("--features", default=None)
    parser.add_argument("--count", type=int, default=1000, help="layouts of val to use")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="of the network; all cores by default")
    given = parser.parse_args()
    model = layoutdm.load(given.model, threads=given.threads)
    opened = data.open(given.data)
    real = list(opened["val"])[: given.count]
    keeping = KeepingApart(opened["train"], config_of(model).tokenizer)
    network = load_features(given.features) if given.features else features_for(model.labels)
    assert network is not None, "no feature network fits the model's labels"
    own = {name: json.loads(value) for name, value in (text.split("=", 1) for text in given.set)}
    done = set()
    if given.out.exists():
        for line in given.out.read_text().splitlines():
            row = json.loads(line)
            done.add(json.dumps([row[k] for k in ("task", "settings", "seed", "features")]))
    for task in given.task or TASKS:
        for settings in [found | own for found in candidates(given.top_p, given.steps)]:
            if json.dumps([task, settings, given.seed, network.hash]) in done:
                continue
            row = measure(model, network, real, task, settings, given.seed, keeping)
            with given.out.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
            shown = {k: round(v, 4) for k, v in row.items() if isinstance(v, float)}
            print(task, settings, shown, flush=True)


if __name__ == "__main__":
    main()

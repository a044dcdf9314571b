"""How many layouts have elements on top of each other that keep apart in the data.

    python bench/shared_room.py publaynet DATA/publaynet --out bench/results/shared_room.jsonl

Labels keep apart if of fewer than 2 in 100 pairs in the train split the elements share room: on a
screen text and text, but not text and its card (see layoutdm.train.clear). A layout counts if of
any such pair one element covers more than --more of the smaller one. Conditions come from the val
split, which is measured as well, as it is and rounded to the model's bins. Lines are added.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import layoutdm
from keeping_apart import MORE, KeepingApart, config_of
from layoutdm import Layout, data
from layoutdm.boxes import from_corners, to_corners
from layoutdm.model.store import find, fingerprint
from tune_sampling import TASKS, conditions

CROWDED = 15  # elements


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--count", type=int, default=1000, help="layouts of val to use")
    parser.add_argument("--more", type=float, default=MORE, help="share of the smaller element")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    model, opened = layoutdm.load(given.model), data.open(given.data)
    tokenizer = config_of(model).tokenizer
    keeping = KeepingApart(opened["train"], tokenizer)
    real = list(opened["val"])[: given.count]

    def report(what: str, layouts: Sequence[Layout]) -> None:
        found = np.array([keeping.broken(layout, given.more) for layout in layouts])
        crowded = np.array([len(layout) >= CROWDED for layout in layouts])
        row = {
            "model": fingerprint(find(given.model)), "data": Path(given.data).name, "what": what,
            "more": given.more, "seed": given.seed, "layouts": len(layouts),
            "on_top": float(found.mean()), "crowded": int(crowded.sum()),
            "crowded_on_top": float(found[crowded].mean()) if crowded.any() else None,
        }  # fmt: skip
        with given.out.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        print(f"{what}: {100 * row['on_top']:.1f} % of {len(layouts)} layouts")

    report("real", real)
    bins = tokenizer.bins

    def rounded(layout: Layout) -> Layout:
        corners = to_corners(bins.decode(bins.encode(layout.boxes)))
        return replace(layout, boxes=from_corners(np.clip(corners, 0.0, 1.0)))

    report("rounded", [rounded(layout) for layout in real])
    for task in given.task or TASKS:
        specs = conditions(task, real, len(real), given.seed)
        report(task, [made.layout for made in model.generate_many(specs, seed=given.seed)])


if __name__ == "__main__":
    main()

"""What designers see and FID does not: equal edges and gaps, what stands at the bottom, an AUC.

    python bench/realism.py rico25 DATA/rico25 --out bench/results/realism.jsonl

Layouts are made from nothing and from the labels of the split. The figures of real ones stand
beside them: regularity (docs/metrics.md), elements on top of each other, the share of
`Bottom Navigation` in the lowest fifth, label shares, and with --c2st how well a classifier tells
generated from real (as many of train and the split as there are generated). Lines are added.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import layoutdm
from keeping_apart import KeepingApart, config_of
from layoutdm import Layout, data
from layoutdm.metrics.c2st import c2st
from layoutdm.metrics.regularity import regularity
from layoutdm.model.store import find, fingerprint
from tune_sampling import conditions

BOTTOM, LOWEST = "Bottom Navigation", 0.8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--split", default="val")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--c2st", type=int, default=0, help="layouts of each side; 0: leave it out")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    model, opened = layoutdm.load(given.model), data.open(given.data)
    tokenizer = config_of(model).tokenizer
    train = [one for one in opened["train"] if 0 < len(one) <= tokenizer.max_elements]
    fitting = [one for one in opened[given.split] if 0 < len(one) <= tokenizer.max_elements]
    real, keeping = fitting[: given.count], KeepingApart(train, tokenizer)

    def report(what: str, layouts: Sequence[Layout], **more: Any) -> None:
        row = {
            "model": fingerprint(find(given.model)), "data": Path(given.data).name,
            "split": given.split, "seed": given.seed, "what": what, "layouts": len(layouts),
            **seen(layouts), "on_top": keeping.share(layouts), **more,
        }  # fmt: skip
        with given.out.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        print(json.dumps(row))

    report("real", real)
    specs = conditions("c", real, len(real), given.seed)
    report("labels", [made.layout for made in model.generate_many(specs, seed=given.seed)])
    count = max(given.count, given.c2st)
    made = [one.layout for one in model.generate({}, count=count, seed=given.seed)]
    more = {}
    if given.c2st:
        found = c2st(made, [*fitting, *train], seed=given.seed, most=given.c2st)
        more = {
            "auc": [found.auc.value, found.auc.low, found.auc.high],
            "floor": [found.floor.value, found.floor.low, found.floor.high],
            "each": found.layouts,
        }
    report("nothing", made[: given.count], **more)


def seen(layouts: Sequence[Layout]) -> dict[str, Any]:
    """Shares of these layouts, and of what they hold."""
    bottoms = [
        box[1] >= LOWEST
        for one in layouts
        for label, box in zip(one.labels, one.boxes, strict=True)
        if label == BOTTOM
    ]
    names = sorted({label for one in layouts for label in one.labels})
    return {
        **{name: round(value, 4) for name, value in regularity(layouts).shares().items()},
        "elements": float(np.mean([len(one) for one in layouts])),
        "at_the_bottom": float(np.mean(bottoms)) if bottoms else None,
        "labels": {
            name: round(float(np.mean([name in one.labels for one in layouts])), 4)
            for name in names
        },
    }


if __name__ == "__main__":
    main()

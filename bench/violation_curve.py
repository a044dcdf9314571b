"""FID against violated relations, for growing strengths of the relation guidance.

    python bench/violation_curve.py rico25 DATA/rico25 --out curve.jsonl

The paper's protocol on the val split: labels and a tenth of the relations of each layout are given.
A line of the output is one strength; strength 0 is unguided. With --range from 0 the last levels
are guided too.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import layoutdm
from keeping_apart import KeepingApart, config_of
from layoutdm import data
from layoutdm.metrics.features import features_for, load_features
from tune_sampling import measure

STRENGTHS = (0.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--features", default=None)
    parser.add_argument("--count", type=int, default=1000, help="layouts of val to use")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=float, default=None, help="share of levels left unguided")
    parser.add_argument("--strength", type=float, action="append", help="instead of the usual ones")
    given = parser.parse_args()
    model = layoutdm.load(given.model)
    opened = data.open(given.data)
    real = list(opened["val"])[: given.count]
    keeping = KeepingApart(opened["train"], config_of(model).tokenizer)
    network = load_features(given.features) if given.features else features_for(model.labels)
    assert network is not None, "no feature network fits the model's labels"
    for strength in given.strength or STRENGTHS:
        settings: dict[str, object] = {"relation_strength": strength}
        if given.start is not None:
            settings["relation_range"] = [given.start, 1.0]
        row = measure(model, network, real, "relation", settings, given.seed, keeping)
        with given.out.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        print(f"strength {strength:g}: FID {row['fid']:.2f}, violation {row['violation']:.3f}")


if __name__ == "__main__":
    main()

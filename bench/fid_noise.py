"""How much FID moves with the layouts that happen to be drawn, and with their number.

    python bench/fid_noise.py --data DATA --features rico25

Draws layouts of the train split again and again, scores them against the test split as if a
perfect model had made them, and prints mean and standard deviation for several numbers of layouts.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from layoutdm.data import open as open_data
from layoutdm.metrics import fid, prdc
from layoutdm.metrics.features import load_features

SIZES = (250, 500, 1000, 2000, 4000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", required=True)
    parser.add_argument("--features", required=True)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    network = load_features(options.features, threads=options.threads)
    dataset = open_data(options.data)
    train, test = network.extract(dataset["train"]), network.extract(dataset["test"])
    rng = np.random.default_rng(0)
    rows = []
    for size in SIZES:
        if size > len(train):
            continue
        drawn = [train[rng.permutation(len(train))[:size]] for _ in range(options.draws)]
        values = [fid(features, test) for features in drawn]
        four = [prdc(features, test) for features in drawn[:3]]
        rows.append(
            {
                "layouts": size,
                "fid": float(np.mean(values)),
                "std": float(np.std(values, ddof=1)),
                "density": float(np.mean([x.density for x in four])),
                "coverage": float(np.mean([x.coverage for x in four])),
            }
        )
        row = rows[-1]
        print(
            f"{size:>6} layouts   FID {row['fid']:.2f} ± {row['std']:.2f}   "
            f"density {row['density']:.3f}   coverage {row['coverage']:.3f}",
            flush=True,
        )
        if options.out:
            record = {"features": network.hash, "data": dataset.name, "test": len(test)}
            options.out.write_text(json.dumps(record | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()

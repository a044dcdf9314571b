"""Does FID rise steadily when real layouts are spoilt more and more?

    python bench/features_sanity.py --data DATA --features rico25 --out docs/features_sanity

Spoils the val split in six ways at five growing strengths each, measures FID against the test
split, and writes a JSON file and a plot. Exits with 1 if any curve falls anywhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from layoutdm.data import open as open_data
from layoutdm.evaluate.corruptions import STRENGTHS, corrupt
from layoutdm.evaluate.plots import GRID, INK, QUIET
from layoutdm.metrics import fid
from layoutdm.metrics.features import load_features

TITLES = {
    "box noise": "Box noise (standard deviation)",
    "label swaps": "Label swaps (share of elements)",
    "dropped elements": "Dropped elements (share)",
    "duplicated elements": "Duplicated elements (share)",
    "shuffled boxes": "Boxes shuffled between layouts (share)",
    "mode collapse": "Mode collapse (share of layouts gone)",
}


def measure(data: str, features: str, threads: int) -> dict[str, Any]:
    network, dataset = load_features(features, threads=threads), open_data(data)
    val, test = dataset["val"], dataset["test"]
    reference = network.extract(test)
    floor = fid(network.extract(val), reference)
    curves = {
        kind: [
            {"strength": s, "fid": fid(network.extract(corrupt(val, kind, s)), reference)}
            for s in strengths
        ]
        for kind, strengths in STRENGTHS.items()
    }
    return {
        "features": {"name": network.name, "hash": network.hash},
        "data": dataset.name,
        "val": len(val),
        "test": len(test),
        "floor": floor,
        "curves": curves,
        "rises": {
            kind: all(a["fid"] < b["fid"] for a, b in pairwise([{"fid": floor}, *points]))
            for kind, points in curves.items()
        },
    }


def draw(results: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    figure = Figure(figsize=(11, 6.4), layout="constrained", facecolor="white")
    grid: Any = figure.subplots(2, 3, sharey=True).ravel()
    for axes, kind in zip(grid, STRENGTHS, strict=True):
        for result, colour in zip(results, ("#2563a8", "#c2571a"), strict=False):
            points = [result["floor"], *(p["fid"] for p in result["curves"][kind])]
            axes.plot(
                points, color=colour, marker="o", markersize=4, linewidth=1.6,
                label=result["features"]["name"],
            )  # fmt: skip
        names = ["none", *(f"{strength:g}" for strength in STRENGTHS[kind])]
        axes.set_xticks(range(len(names)), names)
        axes.set_title(TITLES[kind], loc="left", fontsize=10.5, color=INK)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(colors=QUIET, length=0)
        for side in axes.spines.values():
            side.set_visible(False)
    grid[0].set_ylabel("FID", color=INK)
    grid[3].set_ylabel("FID", color=INK)
    grid[0].legend(frameon=False, fontsize=9, labelcolor=INK)
    figure.suptitle(
        "FID of real layouts that are spoilt more and more",
        x=0.01,
        ha="left",
        color=INK,
        fontsize=13,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", nargs="+", required=True, help="data sets with val and test")
    parser.add_argument("--features", nargs="+", required=True, help="one network for each set")
    parser.add_argument("--out", type=Path, required=True, help="path without ending")
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    results = [
        measure(data, features, options.threads)
        for data, features in zip(options.data, options.features, strict=True)
    ]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    draw(results, options.out.with_suffix(".png"))
    for result in results:
        print(f"{result['features']['name']} ({result['features']['hash']})")
        print(f"  floor {result['floor']:.2f}: val {result['val']} against test {result['test']}")
        for kind, points in result["curves"].items():
            values = "  ".join(f"{p['strength']:g}: {p['fid']:.2f}" for p in points)
            print(f"  {kind:<20} {'rises' if result['rises'][kind] else 'FALLS'}  {values}")
    return 0 if all(all(result["rises"].values()) for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())

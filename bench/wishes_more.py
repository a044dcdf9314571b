"""Drafts that are kept, what wishes cost, and what tidy does.

python bench/wishes_more.py drafts DATA --model rico25 --layouts 60
python bench/wishes_more.py times DATA --model rico25 --layouts 40
python bench/wishes_more.py tidy DATA --model rico25 --layouts 300

DATA is a folder with a split `val`. Times are the processor's, of one thread, so that a busy
machine stretches them less; each prints one line of JSON, which --out appends to a file.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

import layoutdm
from layoutdm.data import open as open_data
from layoutdm.evaluate.files import choose_network
from layoutdm.layout import Layout
from layoutdm.metrics.fid import fid
from layoutdm.settle import tidy
from layoutdm.spec import Spec
from wishes import on_top, place

FIELDS = ("x", "y", "width", "height")


def drafts(model: layoutdm.Model, val: list[Layout], args: argparse.Namespace) -> dict[str, Any]:
    """Real layouts with a jitter, refined: distances of elements to the truth."""
    found = {}
    for jitter in (0.005, 0.01, 0.03, 0.1):
        rng = np.random.default_rng(args.seed)
        truth = [layout for layout in val[: args.layouts] if len(layout)]
        noisy = [t.boxes + jitter * rng.standard_normal(t.boxes.shape) for t in truth]
        requests = [
            {"elements": [
                {"label": label, **{f: {"about": v} for f, v in zip(FIELDS, box, strict=True)}}
                for label, box in zip(t.labels, boxes.tolist(), strict=True)
            ]}
            for t, boxes in zip(truth, noisy, strict=True)
        ]  # fmt: skip
        results = [r.layout.boxes for r in model.generate_many(requests, args.seed)]
        before = np.concatenate([n - t.boxes for n, t in zip(noisy, truth, strict=True)])
        after = np.concatenate([r - t.boxes for r, t in zip(results, truth, strict=True)])
        found[str(jitter)] = {"draft": _distances(before), "result": _distances(after)}
        print(jitter, found[str(jitter)], flush=True)
    return {"layouts": len(truth), "median_distance": found}


def _distances(change: np.ndarray[Any, Any]) -> dict[str, float]:
    """Medians over elements, of three ways to say how far two boxes are from each other."""
    size = np.abs(change)
    centre = np.hypot(change[:, 0], change[:, 1])
    told = {"mean of four": size.mean(1), "centre": centre, "largest of four": size.max(1)}
    return {name: round(float(np.median(values)), 5) for name, values in told.items()}


def times(model: layoutdm.Model, val: list[Layout], args: argparse.Namespace) -> dict[str, Any]:
    """One request at a time, with relations and the same without them."""
    with_: list[float] = []
    without: list[float] = []
    model.generate({}, count=1)
    for index, layout in enumerate(val[: args.layouts]):
        request = Spec.from_layout(layout, "relation", index)
        bare = request.model_copy(update={"relations": ()})
        for spec, spent in ((request, with_), (bare, without)):
            start = time.process_time()
            model.generate(spec, count=1, seed=index)
            spent.append(1000 * (time.process_time() - start))
    one, other = np.array(with_), np.array(without)
    print(np.median(one), np.median(other), np.quantile(one - other, 0.95), flush=True)
    many, again = _crowd(1), _crowd(10)
    start = time.process_time()
    met = model.generate(many, count=1)[0].met
    spent_many = time.process_time() - start
    memory = []
    for crowd in (many, again):
        tracemalloc.start()
        model.generate(crowd, count=1)
        memory.append(round(tracemalloc.get_traced_memory()[1] / 2**20, 2))
        tracemalloc.stop()
    return {
        "layouts": len(one),
        "ms_without": round(float(np.median(other)), 2),
        "ms_with": round(float(np.median(one)), 2),
        "ratio_of_medians": round(float(np.median(one) / np.median(other)), 3),
        "median_of_ratios": round(float(np.median(one / other)), 3),
        "more_ms_p95": round(float(np.quantile(one - other, 0.95)), 2),
        "25 elements, 600 relations": {"seconds": round(spent_many, 3), "met": met},
        "peak MB of 600 relations, and of the same 10 times": memory,
    }


def _crowd(times_over: int) -> dict[str, Any]:
    """25 elements and all 600 relations of place between them."""
    rng = np.random.default_rng(5)
    size = rng.uniform(0.02, 0.2, (25, 2))
    boxes = np.concatenate([size / 2 + rng.random((25, 2)) * (1 - size), size], axis=1).tolist()
    relations = [
        {"of": f"e{i}", "is": place(boxes[i], boxes[j]), "to": f"e{j}"}
        for i in range(25)
        for j in range(25)
        if i != j
    ]
    return {"elements": [{"name": f"e{i}"} for i in range(25)], "relations": relations * times_over}


def tidied(model: layoutdm.Model, val: list[Layout], args: argparse.Namespace) -> dict[str, Any]:
    """Unconditional layouts before and after tidy, and as many real ones."""
    from layoutdm.metrics.alignment import alignment
    from layoutdm.metrics.pack import pack
    from layoutdm.metrics.regularity import regularity

    network, _ = choose_network(None, [val], 1)
    assert network is not None
    real = network.extract([layout for layout in val if len(layout)])
    drawn = [r.layout for r in model.generate({}, count=args.layouts, seed=args.seed)]
    start = time.process_time()
    after = [tidy(layout) for layout in drawn]
    spent = time.process_time() - start
    page, found = "text" in model.labels, {}
    for title, some in (("real", val[: args.layouts]), ("drawn", drawn), ("tidy", after)):
        packed = pack(some, model.labels)
        top = [on_top(list(x.labels), x.boxes.tolist(), page, set()) for x in some]
        found[title] = {
            "alignment": round(alignment(packed.bbox, packed.mask), 5),
            **{name: round(share, 4) for name, share in regularity(some).shares().items()},
            "on_top": round(float(np.mean(top)), 4),
            "fid": None if title == "real" else round(float(fid(network.extract(some), real)), 3),
        }
        print(title, found[title], flush=True)
    moved = [np.abs(_edges(a) - _edges(b)).max() for a, b in zip(after, drawn, strict=True)]
    return {"layouts": len(drawn), **found, "ms_each": round(1000 * spent / len(drawn), 2),
            "largest_move": round(float(max(moved)), 5)}  # fmt: skip


def _edges(layout: Layout) -> np.ndarray[Any, Any]:
    return np.asarray(layout.corners())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("drafts", "times", "tidy"))
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", default="rico25")
    parser.add_argument("--layouts", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    model = layoutdm.load(args.model, threads=1)
    val = list(open_data(args.data)["val"])
    run = {"drafts": drafts, "times": times, "tidy": tidied}[args.what]
    record = {"what": args.what, "model": args.model, "seed": args.seed, **run(model, val, args)}
    print(json.dumps(record))
    if args.out:
        with args.out.open("a") as stream:
            stream.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()

"""Every pair of wishes in one request: does mixing cost anything?

    python bench/mixtures.py --data DATA --layouts 200 --out bench/results/mixtures.json

Requests are made from real layouts, so each has a solution. For every kind of wish alone and for
every pair of kinds: the share of layouts with elements on top of each other, the share that meets
every wish, whether labels, fixed values and numbers hold, and whether all boxes lie on the canvas.
DATA holds rico25/val.jsonl.gz and publaynet/val.jsonl.gz; without it the sample set is used.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import layoutdm
from layoutdm.data import open as open_data
from layoutdm.layout import Layout
from layoutdm.model import Result
from layoutdm.relations import detect_all, relation_name

Request = dict[str, Any]
Change = Callable[[Request, Layout, np.random.Generator], None]
# Labels that keep apart on real screens; on pages all do.
LEAVES = {"Text", "Icon", "Text Button", "Input", "Checkbox", "Radio Button", "On/Off Switch"}
SHARE = 0.25  # of the smaller one: so much shared is "on top"
FIELDS = ("x", "y", "width", "height")
HARD = ("fixed", "label", "number")


def labels(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    """Only labels, which every request begins with."""


def label_choices(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    names = sorted(set(layout.labels))
    for i, element in enumerate(request["elements"]):
        if i % 2:
            element["label"] = list(dict.fromkeys([layout.labels[i], names[0], names[-1]]))


def sizes(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    for element, box in zip(request["elements"], layout.boxes, strict=False):
        element["width"], element["height"] = float(box[2]), float(box[3])


def fixed_boxes(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    for i in rng.permutation(len(request["elements"]))[:2]:
        values = dict(zip(FIELDS, map(float, layout.boxes[i]), strict=True))
        request["elements"][i].update(values)


def completion(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    request["elements"] = request["elements"][: max(1, len(layout) // 2)]
    request["more"] = True


def number_bounds(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    request["number_of_elements"] = {"min": len(layout), "max": min(len(layout) + 2, 20)}
    request["more"] = True


def draft(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    noisy = np.asarray(layout.boxes) + rng.normal(0.0, 0.05, layout.boxes.shape)
    for i, element in enumerate(request["elements"]):
        for a, name in enumerate(FIELDS):
            if not isinstance(element.get(name), float):
                element[name] = {"about": float(np.clip(noisy[i, a], 0.01, 0.99))}


def one_about(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    i = int(rng.integers(len(request["elements"])))
    if not isinstance(request["elements"][i].get("y"), float):
        request["elements"][i]["y"] = {"about": float(layout.boxes[i, 1])}


def relations(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    count = len(request["elements"])
    size, place = detect_all(layout.boxes[:count])
    found = []
    for j in range(count):
        for i in range(count + 1):
            for code in (size[j, i], place[j, i]):
                if i != j + 1 and rng.random() < 0.1:
                    to = f"e{i - 1}" if i else "canvas"
                    found.append({"of": f"e{j}", "is": relation_name(int(code), i == 0), "to": to})
    request["relations"] = found[:10]


def area(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    i = int(rng.integers(len(request["elements"])))
    box = layout.boxes[i]
    request["elements"][i]["area"] = float(box[2] * box[3])


def reading_order(request: Request, layout: Layout, rng: np.random.Generator) -> None:
    corners = layout.boxes[:, :2] - layout.boxes[:, 2:] / 2
    order = np.argsort(np.hypot(*corners[: len(request["elements"])].T), kind="stable")
    request["reading_order"] = [f"e{i}" for i in order[:4]]


# In this order, so that a kind that shortens the list comes before those that name elements.
KINDS: dict[str, Change] = {
    "labels": labels, "completion": completion, "label choices": label_choices, "sizes": sizes,
    "fixed boxes": fixed_boxes, "number bounds": number_bounds, "draft": draft,
    "one about": one_about, "relations": relations, "area": area, "reading order": reading_order,
}  # fmt: skip


def request_of(layout: Layout, kinds: Sequence[str], seed: int) -> Request:
    """The request of these kinds of wishes, which the layout itself meets."""
    rng = np.random.default_rng(seed)
    elements = [{"name": f"e{i}", "label": label} for i, label in enumerate(layout.labels)]
    request: Request = {"elements": elements}
    for kind, change in KINDS.items():
        if kind in kinds:
            change(request, layout, rng)
    return request


def on_top(layout: Layout, page: bool, request: Request | None = None) -> bool:
    """Whether two elements that should keep apart share more than a quarter of the smaller."""
    wished = {
        frozenset((r["of"], r["to"]))
        for r in (request or {}).get("relations", ())
        if r["is"] in ("overlapping", "inside")
    }
    listed = (request or {}).get("elements", ())
    boxes, count = np.asarray(layout.boxes), len(layout)
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    for i, j in combinations(range(count), 2):
        if not page and not {layout.labels[i], layout.labels[j]} <= LEAVES:
            continue
        both = [listed[k] for k in (i, j) if k < len(listed)]
        if len(both) == 2 and (
            all(isinstance(one.get(f), float) for one in both for f in FIELDS)
            or frozenset(one.get("name") for one in both) in wished
        ):
            continue  # the request itself puts them there
        shared = np.minimum(high[i], high[j]) - np.maximum(low[i], low[j])
        smaller = min(boxes[i, 2] * boxes[i, 3], boxes[j, 2] * boxes[j, 3])
        if (shared > 0).all() and shared.prod() > SHARE * smaller:
            return True
    return False


def measure(results: Sequence[Result], requests: Sequence[Request], page: bool) -> dict[str, float]:
    """The figures of one cell."""
    hard = [w.met for r in results for w in r.report.wishes if w.kind in HARD]
    inside = []
    for result in results:
        boxes = np.asarray(result.layout.boxes)
        ends = np.concatenate(
            [boxes[:, :2] - boxes[:, 2:] / 2, 1 - boxes[:, :2] - boxes[:, 2:] / 2]
        )
        inside.append(bool((ends > -1e-6).all()))
    piled = [on_top(r.layout, page, q) for r, q in zip(results, requests, strict=True)]
    return {
        "on_top": float(np.mean(piled)),
        "met": float(np.mean([result.met for result in results])),
        "hard": float(np.mean(hard)),
        "on_canvas": float(np.mean(inside)),
    }


def cell(
    model: layoutdm.Model, layouts: Sequence[Layout], kinds: Sequence[str], page: bool
) -> dict[str, float]:
    """One layout for each real one, with these kinds of wishes."""
    requests = [request_of(layout, kinds, seed) for seed, layout in enumerate(layouts)]
    return measure(model.generate_many(requests, seed=1), requests, page)


def layouts_of(name: str, data: Path | None, count: int) -> list[Layout]:
    """Real layouts of 3 to 16 elements, or those of the sample set."""
    if data is not None:
        found = list(open_data(str(data / name))["val"])
    else:
        known = set(layoutdm.load(name).labels)
        every = [one for split in open_data("sample").splits.values() for one in split]
        found = [one for one in every if set(one.labels) <= known]
    return [layout for layout in found if 3 <= len(layout) <= 16][:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="folder with rico25 and publaynet")
    parser.add_argument("--layouts", type=int, default=200, help="of each cell")
    parser.add_argument("--model", action="append", choices=["rico25", "publaynet"])
    parser.add_argument("--kind", action="append", choices=[*KINDS], help="only pairs with these")
    parser.add_argument("--out", type=Path, help="file for the figures")
    given = parser.parse_args()
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for name in given.model or ("rico25", "publaynet"):
        model, page = layoutdm.load(name), name == "publaynet"
        layouts = layouts_of(name, given.data, given.layouts)
        real = float(np.mean([on_top(layout, page) for layout in layouts]))
        print(f"\n{name}: {len(layouts)} layouts a cell; real layouts on top {real:.1%}")
        alone = {kind: cell(model, layouts, [kind], page) for kind in KINDS}
        figures[name] = {"real": {"on_top": real}, **alone}
        for kind, row in alone.items():
            print(f"  {kind:30} on top {row['on_top']:6.1%}  met {row['met']:6.1%}")
        for pair in combinations(KINDS, 2):
            if given.kind and not set(pair) & set(given.kind):
                continue
            row = cell(model, layouts, pair, page)
            more = row["on_top"] - max(alone[kind]["on_top"] for kind in pair)
            figures[name][" + ".join(pair)] = {**row, "more": more}
            flag = "  <-- more than three points" if more > 0.03 + 1e-9 else ""
            print(
                f"  {' + '.join(pair):30} on top {row['on_top']:6.1%}  met {row['met']:6.1%}  "
                f"hard {row['hard']:.3f}  canvas {row['on_canvas']:.3f}  {more:+.1%}{flag}",
                flush=True,
            )
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

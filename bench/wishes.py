"""How often wishes hold: random requests that have a solution, and requests of designers.

python bench/wishes.py --requests 2000 --out bench/results/wishes.json

Every random request is read off a hidden layout, so that some layout meets it. What comes back is
checked by the rules below, which share no code with the package.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import layoutdm

Box = list[float]
PLACES = ("above", "below", "left_of", "right_of", "overlapping")
LEAVES = {"Text", "Icon", "Text Button", "Input", "Checkbox", "Radio Button", "On/Off Switch"}
ALIGNED = {
    "left_aligned": 0, "top_aligned": 1, "right_aligned": 2, "bottom_aligned": 3,
}  # fmt: skip


# The rules, written a second time ------------------------------------------------------------


def corners(box: Box) -> tuple[float, float, float, float]:
    x, y, w, h = box
    return x - w / 2, y - h / 2, x + w / 2, y + h / 2


def place(one: Box, other: Box, rounding: float = 0.0) -> str:
    """Of one to other, the first that holds."""
    a, b = corners(one), corners(other)
    if a[3] <= b[1] + rounding:
        return "above"
    if b[3] <= a[1] + rounding:
        return "below"
    if a[2] <= b[0] + rounding:
        return "left_of"
    return "right_of" if b[2] <= a[0] + rounding else "overlapping"


def holds(kind: str, one: Box, other: Box | None, gap: float | None = None) -> bool:
    """Whether a relation holds; no other: to the canvas."""
    eps = 1e-6
    if other is None and kind in ("top", "middle", "bottom"):
        third = "top" if one[1] < 1 / 3 else "middle" if one[1] < 2 / 3 else "bottom"
        near = {"top": abs(one[1] - 1 / 3), "bottom": abs(one[1] - 2 / 3)}.get(kind, 1.0)
        return third == kind or near < eps
    other = other or [0.5, 0.5, 1.0, 1.0]
    a, b = corners(one), corners(other)
    area, other_area = one[2] * one[3], other[2] * other[3]
    if kind in ("smaller", "larger", "equal_size"):
        equal = 0.9 * other_area < area < 1.1 * other_area
        if kind == "equal_size":
            return equal
        wanted = area > other_area if kind == "larger" else area < other_area
        limit = abs(area - (1.1 if kind == "larger" else 0.9) * other_area) < 1e-9
        return wanted and (not equal or limit)
    if kind in ALIGNED:
        return abs(a[ALIGNED[kind]] - b[ALIGNED[kind]]) < eps
    if kind in ("centered_with", "level_with"):
        return abs(one[kind == "level_with"] - other[kind == "level_with"]) < eps
    if kind in ("same_width", "same_height"):
        return abs(one[2 + (kind == "same_height")] - other[2 + (kind == "same_height")]) < eps
    if kind == "inside":
        inside = all(a[k] >= b[k] - eps for k in (0, 1)) and all(a[k] <= b[k] + eps for k in (2, 3))
        return inside
    if kind == "apart":
        return min(a[2], b[2]) - max(a[0], b[0]) <= eps or min(a[3], b[3]) - max(a[1], b[1]) <= eps
    found = place(one, other)
    if found != kind and place(one, other, eps) != kind:
        return False
    facing = {"above": b[1] - a[3], "below": a[1] - b[3], "left_of": b[0] - a[2],
              "right_of": a[0] - b[2]}  # fmt: skip
    return gap is None or abs(facing[kind] - gap) < eps


def missed(request: dict[str, Any], boxes: list[Box]) -> list[str]:
    """The kinds of wishes that a layout misses; [] when it meets the request."""
    found = []
    index = {e["name"]: i for i, e in enumerate(request["elements"])}
    for element, box in zip(request["elements"], boxes, strict=False):
        for k, field in enumerate(("x", "y", "width", "height")):
            wish = element.get(field)
            if isinstance(wish, float) and wish != box[k]:
                found.append("fixed")
            if isinstance(wish, dict) and abs(box[k] - wish["about"]) > wish["within"] + 1e-9:
                found.append("within")
        for k, field in enumerate(("left", "top", "right", "bottom")):
            if field in element and abs(corners(box)[k] - element[field]) > 1e-9:
                found.append("edge")
        if "area" in element and abs(box[2] * box[3] / element["area"] - 1) > 0.1 + 1e-9:
            found.append("area")
        ratio = element.get("aspect_ratio")
        if ratio and abs(box[3] / box[2] / ratio - 1) > 0.1 + 1e-9:
            found.append("aspect")
    for wish in request.get("relations", ()):
        other = None if wish["to"] == "canvas" else boxes[index[wish["to"]]]
        if not holds(wish["is"], boxes[index[wish["of"]]], other, wish.get("gap")):
            found.append(wish["is"])
    order = [boxes[index[name]] for name in request.get("reading_order", ())]
    distances = [math.hypot(*corners(box)[:2]) for box in order]
    if any(a > b + 1e-6 for a, b in itertools.pairwise(distances)):
        found.append("order")
    for group in request.get("groups", ()):
        line = [corners(boxes[index[name]]) for name in group["column"]]
        gaps = [b[1] - a[3] for a, b in itertools.pairwise(line)]
        lefts = [a[0] for a in line]
        if max(gaps) - min(gaps) > 1e-6 or min(gaps) < -1e-6 or max(lefts) - min(lefts) > 1e-6:
            found.append("column")
    for box in boxes:
        left, top, right, bottom = corners(box)
        if min(left, top) < -1e-6 or max(right, bottom) > 1 + 1e-6:
            found.append("canvas")
    return found


def on_top(labels: list[str], boxes: list[Box], page: bool, wished: set[frozenset[int]]) -> bool:
    """Whether two elements that keep apart share more than a quarter of the smaller one."""
    for i in range(len(boxes)):
        for j in range(i):
            if not page and not {labels[i], labels[j]} <= LEAVES:
                continue
            if frozenset((i, j)) in wished:
                continue
            a, b = corners(boxes[i]), corners(boxes[j])
            w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
            least = min(boxes[i][2] * boxes[i][3], boxes[j][2] * boxes[j][3])
            if w > 0 and h > 0 and w * h > 0.25 * least:
                return True
    return False


# Requests --------------------------------------------------------------------------------------


def witness(rng: np.random.Generator, count: int) -> list[Box]:
    """Boxes anywhere, some of them lined up with one before."""
    boxes: list[Box] = []
    for _ in range(count):
        w, h = (float(v) for v in rng.uniform(0.05, 0.6, 2) * rng.uniform(0.3, 1.0, 2))
        box = [float(rng.uniform(w / 2, 1 - w / 2)), float(rng.uniform(h / 2, 1 - h / 2)), w, h]
        if boxes and rng.random() < 0.5:
            _line_up(rng, box, boxes[rng.integers(len(boxes))])
        boxes.append(box)
    return boxes


def _line_up(rng: np.random.Generator, box: Box, other: Box) -> None:
    kind, axis = int(rng.integers(4)), int(rng.integers(2))
    trial = list(box)
    if kind == 0:
        trial[axis] = other[axis] - other[2 + axis] / 2 + box[2 + axis] / 2
    elif kind == 1:
        trial[axis] = other[axis] + other[2 + axis] / 2 - box[2 + axis] / 2
    elif kind == 2:
        trial[axis] = other[axis]
    else:
        trial[2 + axis] = other[2 + axis]
    low, high = trial[axis] - trial[2 + axis] / 2, trial[axis] + trial[2 + axis] / 2
    if low >= 0 and high <= 1:
        box[:] = trial


def random_request(rng: np.random.Generator, labels: tuple[str, ...], new: bool) -> dict[str, Any]:
    """A request that its hidden layout meets; `new`: with the wishes beyond the paper's."""
    count = int(rng.integers(2, 8))
    boxes = witness(rng, count)
    elements: list[dict[str, Any]] = []
    for i, box in enumerate(boxes):
        element: dict[str, Any] = {"name": f"e{i}", "label": str(rng.choice(labels))}
        for field, value in zip(("x", "y", "width", "height"), box, strict=True):
            chance = rng.random()
            if chance < 0.25:
                element[field] = value
            elif chance < 0.35:
                within = float(rng.uniform(0.02, 0.1))
                about = float(np.clip(value + rng.uniform(-0.9, 0.9) * within, 0, 1))
                element[field] = {"about": about, "within": within}
        if rng.random() < 0.15:
            element["area"] = box[2] * box[3] * float(rng.uniform(0.93, 1.07))
        if rng.random() < 0.15:
            element["aspect_ratio"] = box[3] / box[2] * float(rng.uniform(0.93, 1.07))
        if new and rng.random() < 0.15 and not {"x", "width"} & element.keys():
            element["left"] = corners(box)[0]
        elements.append(element)
    request: dict[str, Any] = {"elements": elements}
    relations: list[dict[str, Any]] = []
    for _ in range(int(rng.integers(1, 6))):
        relations += _relation(rng, boxes, new)
    request["relations"] = [r for k, r in enumerate(relations) if r not in relations[:k]]
    if rng.random() < 0.2:
        order = sorted(range(count), key=lambda i: math.hypot(*corners(boxes[i])[:2]))
        request["reading_order"] = [f"e{i}" for i in order]
    assert not missed(request, boxes), missed(request, boxes)
    return request


def _relation(rng: np.random.Generator, boxes: list[Box], new: bool) -> list[dict[str, Any]]:
    """A relation that holds between two of these boxes, or one of them and the canvas."""
    i, j = (int(k) for k in rng.permutation(len(boxes))[:2])
    of, to = {"of": f"e{i}"}, {"to": f"e{j}"}
    if rng.random() < 0.15:
        third = "top" if boxes[i][1] < 1 / 3 else "middle" if boxes[i][1] < 2 / 3 else "bottom"
        return [{**of, "is": third, "to": "canvas"}]
    if new and rng.random() < 0.5:
        kinds = (*ALIGNED, "centered_with", "level_with", "same_width", "same_height", "inside",
                 "apart")  # fmt: skip
        true = [kind for kind in kinds if holds(kind, boxes[i], boxes[j])]
        if true:
            return [{**of, "is": str(rng.choice(true)), **to}]
    if rng.random() < 0.3:
        for kind in ("equal_size", "larger", "smaller"):
            if holds(kind, boxes[i], boxes[j]):
                return [{**of, "is": kind, **to}]
        return []
    kind = place(boxes[i], boxes[j])
    wish: dict[str, Any] = {**of, "is": kind, **to}
    if new and kind in ("above", "below") and rng.random() < 0.3:
        a, b = corners(boxes[i]), corners(boxes[j])
        wish["gap"] = max(b[1] - a[3] if kind == "above" else a[1] - b[3], 0.0)
    return [wish]


def _named(names: str) -> list[dict[str, Any]]:
    """ "bar=Toolbar, Text" as elements; those without a name are e0, e1, ..."""
    elements = []
    for k, part in enumerate(names.split(", ")):
        name, _, label = part.rpartition("=")
        elements.append({"name": name or f"e{k}", "label": label})
    return elements


def _told(*texts: str) -> list[dict[str, Any]]:
    split = [text.split() for text in texts]
    return [{"of": of, "is": kind, "to": to} for of, kind, to in split]


def _given(elements: list[dict[str, Any]], **values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**element, **values.get(element["name"], {})} for element in elements]


BAR = {"x": 0.5, "y": 0.065, "width": 1.0, "height": 0.07}
DESIGNERS: dict[str, dict[str, Any]] = {
    "toolbar and image": {
        "elements": _given(
            _named("bar=Toolbar, hero=Image, title=Text, text=Text, cta=Text Button, back=Icon"),
            bar=BAR, hero={"width": 0.8, "height": 0.3},
        ),
        "relations": _told(
            "hero below bar", "title below hero", "text below title", "cta below text",
            "back inside bar", "cta larger title", "cta bottom canvas",
        ),
    },
    "settings": {
        "elements": _given(
            _named("bar=Toolbar, t1=Text, s1=On/Off Switch, t2=Text, s2=On/Off Switch, t3=Text, "
                   "s3=On/Off Switch, t4=Text, s4=On/Off Switch"), bar=BAR,
        ),
        "relations": _told(
            "s1 right_of t1", "s2 right_of t2", "s3 right_of t3", "s4 right_of t4",
            "s2 equal_size s1", "s3 equal_size s1", "s4 equal_size s1", "t1 below bar",
            "t2 below t1", "t3 below t2", "t4 below t3",
        ),
    },
    "login": {
        "elements": _given(
            _named("logo=Image, user=Input, password=Input, go=Text Button, forgot=Text"),
            logo={"x": 0.5, "y": 0.2, "width": 0.3, "height": 0.17},
        ),
        "relations": _told(
            "user below logo", "password below user", "go below password", "forgot below go",
            "password same_width user", "go same_width user", "password left_aligned user",
            "go left_aligned user", "user centered_with canvas",
        ),
    },
    "product": {
        "elements": _given(
            _named("bar=Toolbar, photo=Image, name=Text, price=Text, more=Text, buy=Text Button"),
            bar=BAR, buy={"x": 0.5, "y": 0.94, "width": 0.9, "height": 0.07},
        ),
        "relations": _told(
            "photo below bar", "name below photo", "price right_of name", "more below name",
            "buy below more", "photo larger more", "name left_aligned more",
        ),
    },
    "gallery": {
        "elements": _given(
            _named("bar=Toolbar, a=Image, b=Image, c=Image, d=Image, e=Image, f=Image"), bar=BAR
        ),
        "relations": _told(
            "a below bar", "b right_of a", "c below a", "d right_of c", "e below c",
            "f right_of e", "b same_width a", "b same_height a", "c same_width a",
            "c same_height a", "d same_width a", "d same_height a", "e same_width a",
            "e same_height a", "f same_width a", "f same_height a", "c left_aligned a",
            "e left_aligned a", "d left_aligned b", "f left_aligned b", "b top_aligned a",
            "d top_aligned c", "f top_aligned e",
        ),
    },
    "article": {
        "elements": _given(
            _named("head=title, intro=text, plot=figure, left=text, right=text, data=table"),
            plot={"width": 0.8, "height": 0.25},
        ),
        "relations": _told(
            "intro below head", "plot below intro", "left below plot", "right right_of left",
            "right same_width left", "right top_aligned left", "data below left",
            "data below right", "head top canvas",
        ),
    },
}  # fmt: skip


# Measuring -------------------------------------------------------------------------------------


def measure(
    model: layoutdm.Model, requests: list[dict[str, Any]], seed: int, **options: Any
) -> dict[str, Any]:
    """One layout for each request."""
    page = "text" in model.labels
    kinds: Counter[str] = Counter()
    met = top = 0
    start = time.process_time()
    results = model.generate_many(requests, seed, **options)
    spent = time.process_time() - start
    for request, result in zip(requests, results, strict=True):
        boxes = result.layout.boxes.tolist()
        wrong = missed(request, boxes)
        kinds.update(set(wrong))
        met += not wrong
        names = [element["name"] for element in request["elements"]]
        wished = {
            frozenset((names.index(r["of"]), names.index(r["to"])))
            for r in request.get("relations", ())
            if r["is"] in ("overlapping", "inside")
        }
        top += on_top(list(result.layout.labels), boxes, page, wished)
    n = len(requests)
    return {
        "requests": n,
        "met": round(met / n, 5),
        "on_top": round(top / n, 4),
        "missed": dict(kinds),
        "cpu_ms_each": round(1000 * spent / n, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000, help="random ones, both models")
    parser.add_argument("--designs", type=int, default=50, help="draws of each designer's request")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--guided", action="store_true", help="the paper's guidance, as it was")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    options = {"relations": "guided"} if args.guided else {}
    found: dict[str, Any] = {"seed": args.seed, "options": options}
    for number, name in enumerate(("rico25", "publaynet")):
        model = layoutdm.load(name, threads=1)
        for new in (False, True):
            rng = np.random.default_rng([args.seed, number, new])
            some = [random_request(rng, model.labels, new) for _ in range(args.requests // 4)]
            kind = "all wishes" if new else "the paper's wishes"
            found[f"{name}, {kind}"] = measure(model, some, args.seed, **options)
            print(name, kind, found[f"{name}, {kind}"], flush=True)
        for title, request in DESIGNERS.items():
            if (title == "article") == (name == "publaynet"):
                some = [request] * args.designs
                found[title] = measure(model, some, args.seed, **options)
                print(title, found[title], flush=True)
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

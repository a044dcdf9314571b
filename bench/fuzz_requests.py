"""Requests that no one would write: only our own errors, nothing that hangs, little memory.

python bench/fuzz_requests.py --requests 20000 --out bench/results/fuzz_requests.json

Half of them are random, half are good requests with some of their parts replaced; then come those
that cost much once. Each is parsed, checked, and turned into a condition.
"""

from __future__ import annotations

import argparse
import copy
import json
import resource
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.errors import LayoutdmError
from layoutdm.spec import Condition, Spec
from wishes import DESIGNERS, random_request

LABELS = ("Text", "Image", "Icon", "Text Button", "Toolbar", "On/Off Switch", "Input")
WORDS = (
    "elements", "relations", "groups", "reading_order", "canvas", "unit", "margins", "more",
    "number_of_elements", "name", "label", "x", "y", "width", "height", "left", "top", "right",
    "bottom", "area", "aspect_ratio", "about", "within", "strength", "prior", "of", "is", "to",
    "gap", "column", "row", "grid", "align", "same", "min", "max", "a", "b", "Text", "below",
    "inside", "equal", "px", "", "\u200b", "x" * 300, "nan", "\ud800",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 0.5, 1e-9, 5e-324, 1.00015, 1e308, float("inf"), float("nan"), 10**400, True, -0.0,
    0.3333333, 2**63, 1000,
)  # fmt: skip


def anything(rng: np.random.Generator, depth: int = 0) -> Any:
    """Some JSON, or what Python makes of it."""
    kind = int(rng.integers(7 if depth < 4 else 4))
    if kind <= 1:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if kind == 2:
        return WORDS[rng.integers(len(WORDS))]
    if kind == 3:
        return None
    if kind == 4:
        return [anything(rng, depth + 1) for _ in range(rng.integers(4))]
    keys = [WORDS[k] for k in rng.integers(len(WORDS), size=rng.integers(5))]
    return {key: anything(rng, depth + 1) for key in keys}


def mutated(rng: np.random.Generator) -> Any:
    """A good request with some of its parts replaced, doubled or left out."""
    designs = list(DESIGNERS.values())
    if rng.random() < 0.3:
        request = copy.deepcopy(designs[rng.integers(len(designs))])
    else:
        request = random_request(rng, LABELS, bool(rng.integers(2)))
    for _ in range(int(rng.integers(1, 4))):
        at, key = _somewhere(rng, request)
        if at is None:
            break
        change = rng.random()
        if change < 0.6:
            at[key] = anything(rng, 2)
        elif change < 0.8:
            del at[key]
        elif isinstance(at, list):
            at.append(copy.deepcopy(at[key]))
    return request


def _somewhere(rng: np.random.Generator, value: Any) -> tuple[Any, Any]:
    """A random place in a request: its container, and the key there."""
    at, key = None, None
    while isinstance(value, (dict, list)) and len(value):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        at, key = value, keys[rng.integers(len(keys))]
        value = value[key]
        if rng.random() < 0.3:
            break
    return at, key


def costly() -> Iterator[tuple[str, Any]]:
    """What once took seconds or gigabytes."""
    pair = [{"name": "a"}, {"name": "b"}]
    wish = {"of": "a", "is": "above", "to": "b"}
    yield "100,000 copies of one relation", {"elements": pair, "relations": [wish] * 100_000}
    yield "10,000 copies of one relation", {"elements": pair, "relations": [wish] * 10_000}
    fields = ", ".join(f'"k{i}": 1' for i in range(20_000))
    yield "20,000 keys with one duplicate", "{" + fields + ', "k1": 2}'
    many = [{"name": f"e{i}"} for i in range(500)]
    yield (
        "500 elements with an order",
        {"elements": many, "reading_order": [e["name"] for e in many]},
    )
    yield "100,000 unknown fields", {f"k{i}": 1 for i in range(100_000)}
    yield (
        "1,000 elements with 40 unknown fields",
        {"elements": [{f"k{i}": 1 for i in range(40)} for _ in range(1_000)]},
    )
    few = [{"name": f"e{i}", "y": 0.5} for i in range(25)]
    ring = [{"of": f"e{i % 25}", "is": k, "to": f"e{(i * 7 + 3) % 25}"} for i in range(3_000)
            for k in ("above", "left_of", "smaller")]  # fmt: skip
    yield "9,000 contradicting relations", {"elements": few, "relations": ring}
    names = [e["name"] for e in few]
    groups = [{"column": names, "gap": "equal", "align": "left", "same": "size"}] * 50
    yield "50 groups of 25 elements", {"elements": few, "groups": groups}
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    yield "nested 5,000 deep", {"elements": deep}
    yield "text nested 100,000 deep", "[" * 100_000
    yield "a path", "/etc/passwd"
    yield "another", "/dev/zero"
    yield "5,000,000 characters", '{"elements": "' + "x" * 5_000_000 + '"}'
    yield (
        "an element named canvas",
        {
            "elements": [{"name": "canvas"}, {"name": "a"}],
            "relations": [{"of": "a", "is": "below", "to": "canvas"}],
        },
    )


def tried(request: Any) -> tuple[str, float]:
    """What came of a request, and the processor's seconds."""
    start = time.process_time()
    try:
        Condition.from_spec(Spec.parse(request), LABELS, 25)
        what = "fine"
    except LayoutdmError as error:
        what = "refused" if str(error) else "refused without a word"
    except Exception as error:
        what = f"{type(error).__name__}: {str(error)[:100]}"
    return what, time.process_time() - start


def fuzz(count: int, seed: int = 0) -> dict[str, Any]:
    """Counts of outcomes, the longest time, and the first few requests that went wrong."""
    rng = np.random.default_rng(seed)
    outcomes: Counter[str] = Counter()
    longest, wrong = 0.0, []
    for k in range(count):
        request = mutated(rng) if k % 2 else anything(rng)
        text = repr(request)[:2000]
        what, spent = tried(request)
        outcomes[what] += 1
        longest = max(longest, spent)
        if what not in ("fine", "refused"):
            wrong.append((what, text))
    return {"outcomes": dict(outcomes), "longest_s": round(longest, 3), "wrong": wrong[:5]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    found = {"requests": args.requests, "seed": args.seed, **fuzz(args.requests, args.seed)}
    found["costly_s"] = {title: round(tried(request)[1], 3) for title, request in costly()}
    found["costly"] = {title: tried(request)[0] for title, request in costly()}
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(found, indent=1))
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

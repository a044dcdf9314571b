"""Maximum IoU against a direct loop over pairs with scipy's assignment.

    python bench/max_iou_speed.py                              # made-up layouts, needs no files
    python bench/max_iou_speed.py --rico FILE --publaynet FILE # resampled from real layouts

Two cases: 4,218 layouts of 25 classes against as many, and 11,142 pages of 5 classes against as
many, the sizes of the paper's test sets. The direct loop is run in full when that takes less than
the limit; otherwise it is timed on random pairs and scaled up to the number of pairs. Results go to
bench/results/max_iou_speed.json and .md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from layoutdm.formats import read
from layoutdm.metrics import Packed, max_ious, pack

Floats = NDArray[np.float64]
Element = tuple[Floats, NDArray[np.int64]]
Groups = dict[tuple[int, ...], tuple[list[Element], list[Element]]]
RESULTS = Path(__file__).parent / "results"


# The opponent ------------------------------------------------------------------------------------


def corners(boxes: Floats) -> Floats:
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)


def pair_score(first: Element, second: Element) -> float:
    """Mean IoU under the best matching within each label, one label after the other."""
    (boxes_1, labels_1), (boxes_2, labels_2) = first, second
    total = 0.0
    for label in set(labels_1.tolist()):
        a, b = boxes_1[labels_1 == label][:, None], boxes_2[labels_2 == label][None]
        width = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0])
        height = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1])
        shared = np.clip(width, 0, None) * np.clip(height, 0, None)
        area_a = (a[..., 2] - a[..., 0]) * (a[..., 3] - a[..., 1])
        area_b = (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
        iou = shared / (area_a + area_b - shared)
        total += float(iou[linear_sum_assignment(iou, maximize=True)].sum())
    return total / len(labels_1)


def grouped(first: Packed, second: Packed) -> Groups:
    groups: Groups = {}
    for side, packed in enumerate((first, second)):
        for boxes, label, mask in zip(packed.bbox, packed.label, packed.mask, strict=True):
            labels = label[mask]
            sides = groups.setdefault(tuple(sorted(labels.tolist())), ([], []))
            sides[side].append((corners(boxes[mask]), labels))
    return {key: sides for key, sides in groups.items() if sides[0] and sides[1]}


def direct(groups: Groups) -> Floats:
    """All pairs of all groups, then the matching of layouts in each group."""
    scores = [np.zeros(0)]
    for first, second in groups.values():
        matrix = np.array([[pair_score(a, b) for b in second] for a in first])
        scores.append(matrix[linear_sum_assignment(matrix, maximize=True)])
    return np.concatenate(scores)


def random_pairs(groups: Groups, rng: np.random.Generator) -> Iterator[tuple[Element, Element]]:
    """Pairs of layouts, each as likely as any other."""
    sides = list(groups.values())
    sizes = np.array([len(a) * len(b) for a, b in sides], dtype=np.float64)
    while True:
        for index in rng.choice(len(sides), size=1000, p=sizes / sizes.sum()):
            first, second = sides[index]
            yield first[rng.integers(len(first))], second[rng.integers(len(second))]


def time_direct(first: Packed, second: Packed, limit: float, probe: float) -> dict[str, object]:
    start, busy_start = time.perf_counter(), time.process_time()
    groups = grouped(first, second)
    grouping, busy = time.perf_counter() - start, time.process_time() - busy_start
    pairs = sum(len(a) * len(b) for a, b in groups.values())
    largest = max((max(len(a), len(b)) for a, b in groups.values()), default=0)
    # Drawn beforehand, so that only the scoring is timed.
    sample = list(islice(random_pairs(groups, np.random.default_rng(0)), 100_000))
    done, spent, busy_start = 0, 0.0, time.process_time()
    start = time.perf_counter()
    for one, other in sample:
        pair_score(one, other)
        done += 1
        spent = time.perf_counter() - start
        if spent > probe:
            break
    estimate = grouping + spent / done * pairs
    busy += (time.process_time() - busy_start) / done * pairs
    report: dict[str, object] = {
        "pairs": pairs,
        "groups": len(groups),
        "largest_group_side": largest,
        "microseconds_per_pair": round(1e6 * spent / done, 1),
    }
    if estimate > limit:
        # Matching the layouts of each group is left out of the estimate, in the loop's favour.
        scaled = {"seconds": estimate, "processor_seconds": busy, "scaled_up_from_pairs": done}
        return {**report, **scaled}
    start, busy_start = time.perf_counter(), time.process_time()
    scores = direct(grouped(first, second))
    times = {
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - busy_start,
    }
    return {**report, **times, "value": float(scores.mean()), "matched": len(scores)}


def agreement(first: Packed, second: Packed, layouts: int = 400) -> float:
    """Largest difference between both ways, on the first layouts of both sets."""
    a, b = first.take(np.arange(layouts)), second.take(np.arange(layouts))
    slow, fast = direct(grouped(a, b)), max_ious(a, b)
    assert len(slow) == len(fast)
    return abs(float(slow.sum() - fast.sum())) / max(len(slow), 1)


# Layouts -----------------------------------------------------------------------------------------


def made_up(
    rng: np.random.Generator, layouts: int, rates: list[float], kinds: int, longest: int = 25
) -> Packed:
    """Layouts of random boxes; numbers per label are Poisson, drawn for `kinds` kinds of layout."""
    counts = rng.poisson(rates, (kinds, len(rates)))
    counts = counts[(counts.sum(1) > 0) & (counts.sum(1) <= longest)]
    # A few kinds of layout are frequent and most are rare, as in real data.
    weight = 1 / (np.arange(len(counts)) + 20.0)
    chosen = counts[rng.choice(len(counts), layouts, p=weight / weight.sum())]
    label = np.zeros((layouts, longest), dtype=np.int64)
    for row, numbers in enumerate(chosen):
        label[row, : numbers.sum()] = rng.permutation(np.repeat(np.arange(len(rates)), numbers))
    size = rng.uniform(0.02, 0.6, (layouts, longest, 2))
    centre = size / 2 + rng.random(size.shape) * (1 - size)
    mask = np.arange(longest) < chosen.sum(1)[:, None]
    return Packed(np.concatenate([centre, size], axis=-1), label, mask)


def made_up_case(name: str) -> tuple[Packed, Packed]:
    layouts, rates, kinds = {
        "rico": (4218, [3.0, 1.6, 1.2, 0.8] + [0.12] * 21, 6000),
        "publaynet": (11142, [7.5, 1.8, 0.15, 0.25, 0.4], 3000),
    }[name]
    seed = 0
    both = made_up(np.random.default_rng(seed), 2 * layouts, rates, kinds)
    return both.take(np.arange(layouts)), both.take(np.arange(layouts, 2 * layouts))


def resampled(path: Path, layouts: int) -> tuple[Packed, Packed]:
    """Two sets drawn with replacement; boxes get a little noise, so that copies differ."""
    rng = np.random.default_rng(0)
    pool = list(read(path))
    labels = sorted({label for layout in pool for label in layout.labels})
    packed = pack(pool, labels)
    sets = []
    for _ in range(2):
        drawn = packed.take(rng.integers(0, len(packed), layouts))
        bbox = drawn.bbox + rng.normal(0, 0.02, drawn.bbox.shape)
        bbox[..., 2:] = np.clip(bbox[..., 2:], 0.01, 1.0)
        sets.append(Packed(bbox, drawn.label, drawn.mask))
    return sets[0], sets[1]


# Report ------------------------------------------------------------------------------------------


def measure(first: Packed, second: Packed, limit: float, probe: float) -> dict[str, object]:
    result: dict[str, object] = {"layouts": [len(first), len(second)]}
    result["difference_from_direct"] = agreement(first, second)
    for name, workers in (("one_worker", 1), ("all_cores", os.cpu_count())):
        seconds, processor = [], []
        for _ in range(3):
            start, busy = time.perf_counter(), time.process_time()
            scores = max_ious(first, second, workers=workers)
            seconds.append(time.perf_counter() - start)
            processor.append(time.process_time() - busy)
        result[name] = {"seconds": min(seconds), "processor_seconds": min(processor)}
    result |= {"value": float(scores.mean()), "matched": len(scores)}
    result["direct"] = slow = time_direct(first, second, limit, probe)
    for name in ("one_worker", "all_cores"):
        row = result[name]
        assert isinstance(row, dict)
        for key, clock in (
            ("times_faster", "seconds"),
            ("times_faster_by_processor", "processor_seconds"),
        ):
            spent = slow[clock]
            assert isinstance(spent, float)
            row[key] = spent / row[clock]
    return result


def table(report: dict[str, dict[str, dict[str, object]]], settings: dict[str, object]) -> str:
    lines = [
        "# Speed of Maximum IoU",
        "",
        "Against a direct loop over all pairs of layouts with the same labels, one scipy",
        "assignment per label and pair, on one core. Best of three runs; made by",
        "`python bench/max_iou_speed.py`. Processor time is what the work itself takes; elapsed",
        "time also shows what else the machine was doing.",
        "",
        "| case | pairs | direct loop: processor, elapsed | one thread: processor, elapsed "
        "| all cores: elapsed | times faster: one thread by processor time, all cores by elapsed |",
        "|---|---|---|---|---|---|",
    ]
    for name, case in report.items():
        direct_row, one, every = case["direct"], case["one_worker"], case["all_cores"]
        scaled = direct_row.get("scaled_up_from_pairs")
        note = f" (scaled up from {scaled:,} pairs)" if scaled else ""
        lines.append(
            f"| {name} | {direct_row['pairs']:,} "
            f"| {direct_row['processor_seconds']:.2f} s, {direct_row['seconds']:.2f} s{note} "
            f"| {one['processor_seconds']:.3f} s, {one['seconds']:.3f} s "
            f"| {every['seconds']:.3f} s "
            f"| {one['times_faster_by_processor']:.0f}, {every['times_faster']:.0f} |"
        )
    lines += [
        "",
        f"Machine: {settings['cores']} cores, Python {settings['python']}, numpy "
        f"{settings['numpy']}, scipy {settings['scipy']}.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rico", type=Path, help="a file of layouts to resample: first case")
    parser.add_argument("--publaynet", type=Path, help="the same for the second")
    parser.add_argument("--limit", type=float, default=120, help="seconds for the direct loop")
    parser.add_argument("--probe", type=float, default=10, help="seconds to time single pairs for")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    settings: dict[str, object] = {
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    cases = {f"{name}, made up": made_up_case(name) for name in ("rico", "publaynet")}
    for name, path, layouts in (
        ("rico", options.rico, 4218),
        ("publaynet", options.publaynet, 11142),
    ):
        if path is not None:
            cases[f"{name}, resampled"] = resampled(path, layouts)
    report = {}
    for name, (first, second) in cases.items():
        report[name] = measure(first, second, options.limit, options.probe)
        print(name, json.dumps(report[name], indent=2), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"settings": settings, "cases": report}, indent=2)
    (options.out / "max_iou_speed.json").write_text(text + "\n")
    (options.out / "max_iou_speed.md").write_text(table(report, settings))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()

"""Wished shares of labels over a set: which labels each page gets, so that the shares come out.

>>> bags = [("text",) * 4, ("text", "table"), ("text", "text", "figure")]
>>> weights = tilt(bags, {"table": 0.2})
>>> shares(bags, weights)["table"]
0.2

The labels of real pages are kept together: lists of labels that the model makes are drawn more or
less often (an exponential tilt, which changes them as little as the wish allows).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from layoutdm.errors import LayoutdmError

Bag = tuple[str, ...]
ROUNDS = 4000
CLOSE = 0.002


def widened(bags: Sequence[Bag], wished: Sequence[str], seed: int = 0) -> list[Bag]:
    """The bags, and each again with one or two of its labels replaced by a wished one."""
    random = Random(f"{seed}/bags")
    found = list(bags)
    for bag in bags:
        for label in wished:
            changed = list(bag)
            for _ in range(random.randint(1, 2)):
                others = [i for i, name in enumerate(changed) if name not in wished]
                if others:
                    changed[random.choice(others)] = label
            found.append(tuple(changed))
    return [bag for bag in found if bag]


def shares(bags: Sequence[Bag], weights: Sequence[float]) -> dict[str, float]:
    """The share of each label among all elements, rounded to three digits."""
    counts: dict[str, float] = {}
    for bag, weight in zip(bags, weights, strict=True):
        for label in bag:
            counts[label] = counts.get(label, 0.0) + weight
    total = sum(counts.values())
    return {label: round(count / total, 3) for label, count in counts.items()}


def check(wishes: Mapping[str, float]) -> None:
    """Refuse shares that cannot be."""
    if min(wishes.values()) <= 0 or sum(wishes.values()) >= 1:
        raise LayoutdmError("--labels: each share must be above 0, and all of them below 1")


def tilt(bags: Sequence[Bag], wishes: Mapping[str, float]) -> list[float]:
    """Weights of the bags that give every wished label its share of all elements."""
    labels = list(wishes)
    target = np.array([wishes[label] for label in labels])
    check(wishes)
    counts = np.array([[bag.count(label) for label in labels] for bag in bags], dtype=np.float64)
    sizes = np.array([len(bag) for bag in bags], dtype=np.float64)
    power = np.zeros(len(labels))
    for _ in range(ROUNDS):
        logits = (counts - target * sizes[:, None]) @ power
        weights = np.exp(logits - logits.max())
        share = (weights @ counts) / (weights @ sizes)
        if np.abs(share - target).max() < CLOSE / 10:
            break
        power += 0.3 * (np.log(target) - np.log(np.maximum(share, 1e-9)))
        power = np.clip(power, -60, 60)
    weights /= weights.sum()
    far = np.abs(share - target)
    if far.max() > CLOSE or not math.isfinite(float(weights.sum())):
        worst = labels[int(far.argmax())]
        raise LayoutdmError(
            f"--labels: a share of {wishes[worst]:g} of {worst!r} cannot be reached together with "
            f"the others (it would be {share[int(far.argmax())]:.2f}); wish for less"
        )
    return [float(weight) for weight in weights]


def choose(bags: Sequence[Bag], weights: Sequence[float], seed: int, index: int) -> int:
    """Which bag the page of (seed, index) gets."""
    return Random(f"{seed}/{index}/labels").choices(range(len(bags)), weights)[0]

"""Ways to spoil real layouts by a known amount, to see whether a metric notices.

>>> page = Layout.create(["title", "text"], [[0.5, 0.1, 0.8, 0.1], [0.5, 0.6, 0.8, 0.7]])
>>> len(corrupt([page], "duplicated elements", 1.0, seed=0)[0])
4

Strength 0 changes nothing. Every result is a valid layout: boxes are cut at the canvas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from layoutdm.errors import LayoutdmError
from layoutdm.evaluate.reading import mend
from layoutdm.layout import Layout

SMALLEST = 0.002  # side of a box that noise would make vanish
Floats = NDArray[np.float64]

# Growing strengths: a standard deviation, or a share of elements or layouts.
STRENGTHS: Mapping[str, tuple[float, ...]] = {
    "box noise": (0.005, 0.01, 0.02, 0.05, 0.1),
    "label swaps": (0.05, 0.1, 0.2, 0.4, 0.8),
    "dropped elements": (0.1, 0.2, 0.3, 0.5, 0.7),
    "duplicated elements": (0.1, 0.2, 0.4, 0.7, 1.0),
    "shuffled boxes": (0.05, 0.1, 0.2, 0.4, 0.8),
    "mode collapse": (0.8, 0.9, 0.95, 0.98, 0.99),
}


def corrupt(layouts: Sequence[Layout], kind: str, strength: float, seed: int = 0) -> list[Layout]:
    """The layouts, spoilt in one way; the same seed spoils the same elements first.

    box noise            N(0, strength) on all four values of every box
    label swaps          this share of elements gets the label of some other element of the set
    dropped elements     this share of elements is missing; at least one of each layout stays
    duplicated elements  this share of elements is there twice
    shuffled boxes       this share of elements swaps its box with one of another layout
    mode collapse        this share of the different layouts is gone, copies of the rest fill up
    """
    if kind not in _KINDS:
        raise LayoutdmError(f"corruption {kind!r} is unknown; the kinds are {', '.join(_KINDS)}")
    return _KINDS[kind](list(layouts), strength, np.random.default_rng(seed))


def _valid(layout: Layout, labels: Sequence[str], boxes: Floats) -> Layout:
    boxes = boxes.copy()
    boxes[:, 2:] = np.maximum(boxes[:, 2:], SMALLEST)
    boxes[:, :2] = np.clip(boxes[:, :2], SMALLEST, 1 - SMALLEST)
    return Layout.create(
        labels, mend(boxes)[0], width=layout.width, height=layout.height, id=layout.id
    )


def _noise(layouts: list[Layout], strength: float, rng: np.random.Generator) -> list[Layout]:
    return [
        _valid(x, x.labels, x.boxes + strength * rng.standard_normal(x.boxes.shape))
        for x in layouts
    ]


def _labels(layouts: list[Layout], strength: float, rng: np.random.Generator) -> list[Layout]:
    pool = [label for layout in layouts for label in layout.labels]
    found = []
    for layout in layouts:
        drawn = rng.random(len(layout))
        other = rng.integers(0, len(pool), len(layout))
        labels = [
            pool[new] if chance < strength else old
            for old, new, chance in zip(layout.labels, other, drawn, strict=True)
        ]
        found.append(_valid(layout, labels, layout.boxes))
    return found


def _dropped(layouts: list[Layout], strength: float, rng: np.random.Generator) -> list[Layout]:
    found = []
    for layout in layouts:
        drawn = rng.random(len(layout))
        keep = np.flatnonzero(drawn >= strength)
        if len(layout):
            found.append(layout.take(keep if len(keep) else [int(drawn.argmax())]))
    return found


def _doubled(layouts: list[Layout], strength: float, rng: np.random.Generator) -> list[Layout]:
    return [
        x.take(np.concatenate([np.arange(len(x)), np.flatnonzero(rng.random(len(x)) < strength)]))
        for x in layouts
    ]


def _shuffled(layouts: list[Layout], strength: float, rng: np.random.Generator) -> list[Layout]:
    boxes = np.concatenate([layout.boxes for layout in layouts])
    chosen = np.flatnonzero(rng.random(len(boxes)) < strength)
    boxes[chosen] = boxes[rng.permutation(chosen)]
    ends = np.cumsum([len(layout) for layout in layouts])
    parts = np.split(boxes, ends[:-1])
    return [_valid(x, x.labels, part) for x, part in zip(layouts, parts, strict=True)]


def _collapsed(layouts: list[Layout], strength: float, rng: np.random.Generator) -> list[Layout]:
    order = rng.permutation(len(layouts))
    left = max(1, round((1 - strength) * len(layouts)))
    return [layouts[order[i % left]] for i in range(len(layouts))]


_KINDS: Mapping[str, Callable[[list[Layout], float, np.random.Generator], list[Layout]]] = {
    "box noise": _noise,
    "label swaps": _labels,
    "dropped elements": _dropped,
    "duplicated elements": _doubled,
    "shuffled boxes": _shuffled,
    "mode collapse": _collapsed,
}

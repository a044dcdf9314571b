"""The inputs of the paper's six tasks, made from complete layouts.

>>> from layoutdm.layout import Layout
>>> page = Layout.create(["title", "text"], [[0.5, 0.1, 0.8, 0.1], [0.5, 0.6, 0.8, 0.7]])
>>> build(page, "cwh").as_dict()["elements"][0]
{'label': 'title', 'width': 0.8, 'height': 0.1}

Elements keep their order. Options by task:
- completion: `ratio` (0.3) and `at_least` (1). From at_least to int(ratio * (E - 1)) of the E
  elements are kept, as in the published code; the paper says 0 to 20 %: ratio=0.2, at_least=0.
  Kept elements come first in the result, so their places say nothing about E.
- refinement: `noise` (0.1), the standard deviation added to all four values, not clipped;
  `within`, `strength`, `prior`, `form` as in a request's `about`.
- relation: `share` (0.1) of {size, place} x all unordered pairs of elements and canvas.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from layoutdm.errors import LayoutdmError
from layoutdm.layout import FIELDS, Layout
from layoutdm.relations import CANVAS_NAME, detect_all, relation_name
from layoutdm.spec.model import Spec
from layoutdm.spec.problems import suggestion

TASKS = ("unconditional", "c", "cwh", "completion", "refinement", "relation")


def build(layout: Layout, task: str, seed: int = 0, **options: Any) -> Spec:
    """The request of one task for one layout; the seed decides everything that is random."""
    if task not in TASKS:
        raise LayoutdmError(f"task {task!r} is unknown; {suggestion(task, TASKS, 'tasks')}")
    rng = np.random.default_rng(seed)
    try:
        if task == "completion":
            return _completion(layout, rng, **options)
        if task == "refinement":
            return _refinement(layout, rng, **options)
        if task == "relation":
            return _relation(layout, rng, **options)
        return {"unconditional": _nothing, "c": _labels, "cwh": _sizes}[task](layout, **options)
    except TypeError as error:
        raise LayoutdmError(f"task {task}: {str(error).split('() ')[-1]}") from None


def _nothing(layout: Layout) -> Spec:
    return Spec()


def _labels(layout: Layout) -> Spec:
    return Spec(elements=[{"label": label} for label in layout.labels])


def _sizes(layout: Layout) -> Spec:
    return Spec(elements=[{"label": e.label, "width": e.width, "height": e.height} for e in layout])


def _complete(element: Any) -> dict[str, Any]:
    return {"label": element.label, **dict(zip(FIELDS, element.box, strict=True))}


def _completion(
    layout: Layout, rng: np.random.Generator, ratio: float = 0.3, at_least: int = 1
) -> Spec:
    most = int(ratio * (len(layout) - 1) + 1e-9)
    count = at_least if most <= at_least else int(rng.integers(at_least, most + 1))
    kept = np.sort(rng.permutation(len(layout))[: min(count, len(layout))])
    return Spec(elements=[_complete(layout[int(i)]) for i in kept], more=True)


def _refinement(layout: Layout, rng: np.random.Generator, noise: float = 0.1, **about: Any) -> Spec:
    noisy = layout.boxes + noise * rng.standard_normal(layout.boxes.shape)
    return Spec(
        elements=[
            {
                "label": label,
                **{f: {"about": float(v), **about} for f, v in zip(FIELDS, box, strict=True)},
            }
            for label, box in zip(layout.labels, noisy, strict=True)
        ]
    )


def _relation(layout: Layout, rng: np.random.Generator, share: float = 0.1) -> Spec:
    nodes = len(layout) + 1  # node 0 is the canvas, node 1 + i is element i
    to, of = np.triu_indices(nodes, 1)  # relations describe the later of two nodes
    candidates = np.array([(kind, o, t) for kind in (0, 1) for o, t in zip(of, to, strict=True)])
    count = int(share * nodes * (nodes - 1) + 1e-9)
    chosen = np.sort(rng.permutation(len(candidates))[:count])
    detected = detect_all(layout.boxes)
    names = [CANVAS_NAME, *(f"e{i}" for i in range(len(layout)))]
    return Spec(
        elements=[
            {"name": name, "label": label}
            for name, label in zip(names[1:], layout.labels, strict=True)
        ],
        relations=[
            {
                "of": names[o],
                "is": relation_name(int(detected[kind][o - 1, t]), canvas=bool(t == 0)),
                "to": names[t],
            }
            for kind, o, t in candidates[chosen]
        ],
    )

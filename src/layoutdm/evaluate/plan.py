"""What an evaluation consists of: settings, and one cell for each task, step count and seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

import numpy as np

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.spec import Spec
from layoutdm.spec.tasks import TASKS

TITLES = {
    "unconditional": "Unconditional",
    "c": "C→S+P",
    "cwh": "C+S→P",
    "completion": "Completion",
    "refinement": "Refinement",
    "relation": "Relation",
}


@dataclass(frozen=True)
class Plan:
    """Everything that decides the figures of an evaluation; it is written into the results."""

    model: str
    model_hash: str
    data: str
    data_hash: str
    split: str
    layouts: int  # of the split; conditional tasks make one for each
    limited: bool = False  # only the first layouts of the split were taken
    samples: int = 1000  # unconditional
    features: str | None = None
    features_hash: str | None = None
    batch_size: int = 64
    task_options: Mapping[str, Any] = field(default_factory=dict)  # for Spec.from_layout, by task

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Cell:
    """One task with some options of the model and one seed."""

    task: str
    seed: int
    options: tuple[tuple[str, Any], ...] = ()  # what differs from the model's own, by name

    @property
    def steps(self) -> int | None:
        """The number of steps that is asked for; None: the model's own."""
        found: int | None = dict(self.options).get("steps")
        return found

    @property
    def name(self) -> str:
        """What its files are called.

        >>> Cell("c", 0, (("steps", 20), ("published", True))).name
        'c-20-steps-published-True-seed-0'
        """
        steps = "own" if self.steps is None else str(self.steps)
        others = "".join(f"-{name}-{value}" for name, value in self.options if name != "steps")
        return f"{self.task}-{steps}-steps{others}-seed-{self.seed}".replace("/", "_")

    def as_dict(self) -> dict[str, Any]:
        return {"task": self.task, "seed": self.seed, "options": dict(self.options)}


def cells(
    tasks: Sequence[str],
    steps: Sequence[int | None] = (None,),
    seeds: Sequence[int] = (0,),
    options: Mapping[str, Any] | None = None,
    strengths: Sequence[float] = (),
) -> list[Cell]:
    """All combinations, task after task.

    Relations come twice, unless the options say how: wishes that hold, and the paper's guidance,
    which `strengths` are for.

    >>> [cell.name for cell in cells(["relation"])]
    ['relation-own-steps-seed-0', 'relation-own-steps-relations-guided-seed-0']
    """
    for task in tasks:
        if task not in TASKS:
            raise LayoutdmError(
                f"task {task!r} is unknown; choose from {', '.join(TASKS)}, or all of them: all"
            )
    given = dict(options or {})
    found = []
    for task, count, seed in product(tasks, steps, seeds):
        for more in _variants(task, given, strengths):
            changes = {**given, **more, **({} if count is None else {"steps": count})}
            found.append(Cell(task, seed, tuple(sorted(changes.items()))))
    return found


def _variants(
    task: str, given: Mapping[str, Any], strengths: Sequence[float]
) -> list[dict[str, Any]]:
    if task != "relation" or "relations" in given:
        return [{}]
    guided = [{"relations": "guided", "relation_strength": value} for value in strengths]
    return [{}, *(guided or [{"relations": "guided"}])]


def requests(cell: Cell, reference: Sequence[Layout], plan: Plan) -> Iterator[tuple[int, Spec]]:
    """The numbered requests of a cell: from each layout of the split, or none at all."""
    free = cell.task == "unconditional"
    for index in range(request_count(cell, plan)):
        yield index, request(cell, plan, index, None if free else reference[index])


def request(cell: Cell, plan: Plan, index: int, layout: Layout | None) -> Spec:
    """One request of a cell: from this layout of the split, or for nothing in particular."""
    if layout is None:
        return Spec()
    # Each layout's own draw (which elements to keep, which noise) hangs on seed and place.
    seed = int(np.random.SeedSequence((cell.seed, index)).generate_state(1)[0])
    options = dict(plan.task_options.get(cell.task, {}))
    return Spec.from_layout(layout, cell.task, seed, **options)


def request_count(cell: Cell, plan: Plan) -> int:
    return plan.samples if cell.task == "unconditional" else plan.layouts


def layouts_hash(layouts: Sequence[Layout]) -> str:
    """What a set of layouts is known by: 16 digits over labels and boxes, in order."""
    digest = hashlib.sha256()
    for layout in layouts:
        digest.update(json.dumps(layout.labels).encode())
        digest.update(np.ascontiguousarray(layout.boxes).tobytes())
    return digest.hexdigest()[:16]

"""What an evaluation consists of: settings, and one cell for each task, step count and seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, Protocol

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


class MadeLayout(Protocol):
    """One generated layout, as far as an evaluation looks at it."""

    @property
    def layout(self) -> Layout: ...


class Generator(Protocol):
    """What is evaluated: anything that turns numbered requests into layouts, in their order."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def max_elements(self) -> int: ...
    def stream_many(
        self,
        numbered: Any,
        seed: int = 0,
        steps: int | None = None,
        *,
        batch_size: int = 64,
        **settings: Any,
    ) -> Iterator[Any]: ...


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
    sampling: Mapping[str, Any] = field(default_factory=dict)  # changes to the model's settings
    task_options: Mapping[str, Any] = field(default_factory=dict)  # for Spec.from_layout, by task

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Cell:
    """One task at one number of steps with one seed, and for relations one guidance strength."""

    task: str
    steps: int | None
    seed: int
    strength: float | None = None

    @property
    def name(self) -> str:
        """What its files are called.

        >>> Cell("c", 20, 0).name
        'c-20-steps-seed-0'
        """
        steps = "own" if self.steps is None else str(self.steps)
        strength = "" if self.strength is None else f"-strength-{self.strength:g}"
        return f"{self.task}-{steps}-steps{strength}-seed-{self.seed}"


def cells(
    tasks: Sequence[str],
    steps: Sequence[int | None],
    seeds: Sequence[int],
    strengths: Sequence[float] = (),
) -> list[Cell]:
    """All combinations, task after task; strengths concern relations alone."""
    for task in tasks:
        if task not in TASKS:
            raise LayoutdmError(
                f"task {task!r} is unknown; choose from {', '.join(TASKS)}, or all of them: all"
            )
    found = []
    for task, count, seed in product(tasks, steps, seeds):
        if task == "relation" and strengths:
            found += [Cell(task, count, seed, strength) for strength in strengths]
        else:
            found.append(Cell(task, count, seed))
    return found


def requests(cell: Cell, reference: Sequence[Layout], plan: Plan) -> Iterator[tuple[int, Spec]]:
    """The numbered requests of a cell: from each layout of the split, or none at all."""
    if cell.task == "unconditional":
        nothing = Spec()
        for index in range(plan.samples):
            yield index, nothing
        return
    options = dict(plan.task_options.get(cell.task, {}))
    for index, layout in enumerate(reference):
        # Each layout's own draw (which elements to keep, which noise) hangs on seed and place.
        seed = int(np.random.SeedSequence((cell.seed, index)).generate_state(1)[0])
        yield index, Spec.from_layout(layout, cell.task, seed, **options)


def request_count(cell: Cell, plan: Plan) -> int:
    return plan.samples if cell.task == "unconditional" else plan.layouts


def layouts_hash(layouts: Sequence[Layout]) -> str:
    """What a set of layouts is known by: 16 digits over labels and boxes, in order."""
    digest = hashlib.sha256()
    for layout in layouts:
        digest.update(json.dumps(layout.labels).encode())
        digest.update(np.ascontiguousarray(layout.boxes).tobytes())
    return digest.hexdigest()[:16]

"""Who draws the layouts of a cell: this process, or whoever takes a `Draw`'s place.

    for sample in drawn_here(model, cell, plan, reference, range(0, 100)):
        ...

Every layout is a function of the cell's seed and its index, so who draws it changes no figure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from layoutdm.evaluate.plan import Cell, Plan, request
from layoutdm.layout import Layout
from layoutdm.model import Model
from layoutdm.spec import Spec


@dataclass(frozen=True)
class Sample:
    """A layout of a cell, the elements that left the canvas, and what it took of a generator."""

    layout: Layout
    outside: int
    seconds: float


# Model, cell, plan, reference and the indices that are missing, to their samples in order.
Draw = Callable[[Model, Cell, Plan, Sequence[Layout], range], Iterator[Sample]]


def drawn_here(
    model: Model, cell: Cell, plan: Plan, reference: Sequence[Layout], indices: range
) -> Iterator[Sample]:
    """The layouts of these indices, by this process."""
    free = cell.task == "unconditional"
    numbered = (
        (index, request(cell, plan, index, None if free else reference[index])) for index in indices
    )
    return sampled(model, cell, plan, numbered)


def sampled(
    model: Model, cell: Cell, plan: Plan, numbered: Iterator[tuple[int, Spec]]
) -> Iterator[Sample]:
    """Numbered requests to samples, each with the time that passed in the generator."""
    stream = model.stream_many(
        numbered, cell.seed, batch_size=plan.batch_size, **dict(cell.options)
    )
    while True:
        started = time.perf_counter()
        result = next(stream, None)
        if result is None:
            return
        # Without an id: a model may give the same one to layouts of several requests.
        layout = replace(result.layout, id="")
        yield Sample(layout, result.outside, time.perf_counter() - started)

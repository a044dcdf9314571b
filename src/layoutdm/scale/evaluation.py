"""`evaluate` on a cluster: the layouts of a cell are drawn by workers, and scored here.

with cluster("auto") as (runner, workers):
    layoutdm.evaluate(model, data, draw=drawn_by(runner, workers))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from layoutdm.errors import RefusedError
from layoutdm.evaluate.drawing import Draw, Sample, sampled
from layoutdm.evaluate.plan import Cell, Plan, request
from layoutdm.formats.jsonl import from_record
from layoutdm.jobs.making import Made
from layoutdm.layout import Layout
from layoutdm.model import Model
from layoutdm.scale.layouts import CHUNK, Runner, check_weights
from layoutdm.scale.work import Work, chunks
from layoutdm.spec import SpecError


class CellMaker:
    """Lives in a worker: draws layouts of a cell with the model of this name."""

    def __init__(self, model: str, cell: Cell, plan: Plan) -> None:
        self._name, self._cell, self._plan = model, cell, plan

    @cached_property
    def _model(self) -> Model:
        from layoutdm.model import load

        model = load(self._name, threads=1)
        check_weights(self._name, model.generator.fingerprint, self._plan.model_hash)
        return model

    def make(self, indices: range, layouts: Iterable[Layout] | None) -> Iterator[Made]:
        """A request that the model refuses ends the range, and is told as its last record."""
        given: Iterable[Layout | None] = layouts or [None] * len(indices)
        numbered = (
            (index, request(self._cell, self._plan, index, layout))
            for index, layout in zip(indices, given, strict=True)
        )
        try:
            for sample in sampled(self._model, self._cell, self._plan, numbered):
                yield Made(
                    {"layout": sample.layout.as_dict(), "outside": sample.outside,
                     "seconds": sample.seconds}
                )  # fmt: skip
        except (RefusedError, SpecError) as error:
            yield Made({"refused": str(error)})


def drawn_by(runner: Runner, workers: int) -> Draw:
    """Draws by the workers of a cluster; what they get and give back are plain values."""

    def draw(
        model: Model, cell: Cell, plan: Plan, reference: Sequence[Layout], indices: range
    ) -> Iterator[Sample]:
        size = max(1, min(CHUNK, -(-len(indices) // (4 * workers))))
        free = cell.task == "unconditional"
        tasks = (
            (part, None if free else list(reference[part.start : part.stop]))
            for part in chunks(indices, size)
        )
        for made in runner(Work(CellMaker, (model.name, cell, plan)), tasks):
            if "refused" in made.record:
                raise RefusedError(str(made.record["refused"]))
            yield Sample(
                from_record(made.record["layout"]),
                int(made.record["outside"]),
                float(made.record["seconds"]),
            )

    return draw

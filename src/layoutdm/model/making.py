"""`Maker`: checked requests become layouts, drawn together, settled, and drawn again if spoiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from layoutdm.diffusion.streams import stream
from layoutdm.errors import RefusedError
from layoutdm.generator import Frame, Generator, Options, check_drawn
from layoutdm.model.fit import layout_of
from layoutdm.model.how import How
from layoutdm.model.redraw import REDRAWS, Made, reopened
from layoutdm.model.result import Result
from layoutdm.model.task import task_of
from layoutdm.settle import has_wishes, pins
from layoutdm.spec import Condition, Spec
from layoutdm.spec.report import report

CACHED = 10_000  # requests whose conditions are kept while a stream is made

Tried = Sequence[tuple[int, int]]  # (job, attempt)
Parts = Mapping[int, Condition]  # conditions that some jobs are drawn by, instead of their own
NO_PARTS: Parts = {}


@dataclass(frozen=True, eq=False)
class Job:
    """One layout to be made."""

    index: int
    seed: int
    condition: Condition
    options: Options

    def stream(self, attempt: int) -> np.random.Generator:
        return stream(self.seed, self.index, attempt)


class Maker:
    """Makes the layouts of one call of a model."""

    def __init__(
        self,
        generator: Generator,
        options: Mapping[str, Any],
        canvas: tuple[float, float],
        aliases: Mapping[str, str],
    ) -> None:
        self._generator, self._how = generator, How.of(options, generator)
        self._canvas, self._aliases = canvas, aliases
        self._known: dict[int, tuple[Spec, Condition, Options]] = {}

    def make(self, asked: Sequence[tuple[Spec, int, int]]) -> list[Result]:
        """One result for each (request, seed, index); misses are drawn again, some times."""
        how = self._how
        jobs = [Job(index, seed, *self._checked(spec)) for spec, seed, index in asked]
        settled = [how.hold and has_wishes(job.condition) for job in jobs]
        first = [how.draws if some else 1 for some in settled]
        tried = [(i, attempt) for i, count in enumerate(first) for attempt in range(count)]
        best: dict[int, Made] = {}
        for (i, _), made in zip(tried, self._draw(jobs, tried), strict=True):
            best[i] = made if i not in best else min(best[i], made, key=lambda one: one.need)
        # Where a request pins something, what settling moves hangs on that more than on the draw.
        loose = [settled[i] and not pins(job.condition) for i, job in enumerate(jobs)]
        for attempt in range(1, max(how.tries, REDRAWS if any(settled) else 1)):
            again = [
                (i, attempt)
                for i, made in best.items()
                if attempt >= first[i]
                and (
                    (attempt < how.tries and not made.result.met)
                    or (attempt < REDRAWS and settled[i] and made.spoiled)
                    or (attempt == first[i] and loose[i] and made.far)
                )
            ]
            if again:
                chosen = [i for i, _ in again if attempt == first[i]]
                self._again(best, jobs, again, self._parts(best, jobs, chosen))
        return [best[i].result for i in range(len(jobs))]

    def _parts(self, best: Mapping[int, Made], jobs: Sequence[Job], chosen: Sequence[int]) -> Parts:
        """Of these jobs, the conditions of which most is known; see `redraw`."""
        found = {i: reopened(jobs[i].condition, best[i]) for i in chosen}
        return {
            i: part
            for i, part in found.items()
            if part is not None and self._generator.refuses(part) is None
        }

    def _again(
        self, best: dict[int, Made], jobs: Sequence[Job], tried: Tried, parts: Parts
    ) -> None:
        """Draw these once more and keep what is better."""
        for (i, attempt), made in zip(tried, self._draw(jobs, tried, parts), strict=True):
            kept = min(best[i], made, key=lambda one: one.need)
            best[i] = replace(kept, result=replace(kept.result, attempts=attempt + 1))

    def _checked(self, spec: Spec) -> tuple[Condition, Options]:
        """A request that comes again is not checked again."""
        found = self._known.get(id(spec))
        if found is None or found[0] is not spec:
            generator = self._generator
            condition = Condition.from_spec(
                spec, generator.labels, generator.max_elements, self._aliases
            )
            reason = generator.refuses(condition)
            if reason is not None:
                raise RefusedError(reason)
            options = self._how.options_of(generator.usual(task_of(condition)))
            if len(self._known) >= CACHED:
                self._known.clear()
            found = self._known[id(spec)] = (spec, condition, options)
        return found[1], found[2]

    def _draw(self, jobs: Sequence[Job], tried: Tried, parts: Parts = NO_PARTS) -> list[Made]:
        """One layout for each; those with the same options are drawn together."""
        made: dict[int, Made] = {}
        groups: dict[Options, list[int]] = {}
        for k, (i, _) in enumerate(tried):
            groups.setdefault(jobs[i].options, []).append(k)
        for options, group in groups.items():
            together = self._together(jobs, [tried[k] for k in group], options, parts)
            made.update(zip(group, together, strict=True))
        return [made[k] for k in range(len(tried))]

    def _together(
        self, jobs: Sequence[Job], tried: Tried, options: Options, parts: Parts
    ) -> Iterator[Made]:
        generator, how = self._generator, self._how
        conditions = [parts.get(i, jobs[i].condition) for i, _ in tried]
        drawn = generator.draw(conditions, options, [jobs[i].stream(k) for i, k in tried])
        check_drawn(drawn, len(tried), generator)
        frames: Sequence[tuple[Frame, ...]] = [()] * len(tried)
        if how.trace:
            again = [jobs[i].stream(k) for i, k in tried]
            frames = generator.trace(conditions, options, again)  # type: ignore[attr-defined]
        for row, (i, _) in enumerate(tried):
            job = jobs[i]
            found = layout_of(
                drawn, row, job.condition, self._canvas, f"{job.seed}-{job.index}",
                hold=how.hold, tidy=how.tidy, apart=getattr(generator, "apart", None),
            )  # fmt: skip
            told = report(job.condition, found.layout)
            result = Result(
                found.layout, told, job.seed, job.index, outside=found.outside, trace=frames[row]
            )
            yield Made(result, found.settled)

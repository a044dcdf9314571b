"""`Model`: a request in, complete layouts out. It knows requests and layouts, never tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.diffusion.streams import stream
from layoutdm.errors import LayoutdmError, RefusedError
from layoutdm.generator import Frame, Generator, Options, check_drawn
from layoutdm.model.asked import flag, iterable, rows, several, whole
from layoutdm.model.fit import layout_of
from layoutdm.model.pace import FIRST, next_size
from layoutdm.model.result import Result
from layoutdm.model.task import task_of
from layoutdm.settle import Settled, has_wishes, pins
from layoutdm.spec import Condition, Spec, SpecError
from layoutdm.spec.report import report

Request = Spec | Mapping[str, Any] | str | Path | None
Reopen = tuple[Callable[..., "Model"], tuple[Any, ...], dict[str, Any]]

WINDOW = 4  # batches that a generator gets together, so that layouts of like size meet
REQUIRE_TRIES = 20
DRAWS = 1  # of a request with wishes; the one that needs least settling is kept
REDRAWS = 4  # draws at most, where settling leaves a wish unmet or elements on top of each other
# A draw that settling moves by more than FAR in all is far from what the network would draw: SPARE
# more are made together, and the one that needs least is kept.
FAR, SPARE = 0.05, 2
MOST_TRIES = 100_000
RELATIONS = ("hold", "guided", "published")
LARGEST_BATCH = 100_000
CACHED = 10_000  # requests whose conditions are kept while a stream is made


@dataclass(frozen=True, eq=False)
class _Job:
    """One layout to be made."""

    index: int
    seed: int
    condition: Condition
    options: Options


class Model:
    """Generates layouts with any generator; `layoutdm.load` makes one from a name or a folder."""

    def __init__(
        self, generator: Generator, name: str = "", *, reopen: Reopen | None = None
    ) -> None:
        """reopen: how another process gets the same model; models without it are not pickled."""
        self.generator = generator
        self.name = name or generator.name
        self._reopen = reopen

    @classmethod
    def from_pretrained(
        cls, name: str | Path = "rico25", *, revision: str | None = None, threads: int | None = None
    ) -> Model:
        """A model by the name of an embedded one, a folder, or a hub id; as `layoutdm.load`."""
        from layoutdm.model.store import load  # the store makes models, hence not at the top

        return load(name, revision=revision, threads=threads)

    def __repr__(self) -> str:
        return f"<layoutdm model {self.name!r}: {len(self.labels)} labels>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._reopen is None:
            raise LayoutdmError(
                f"model {self.name!r} was not loaded from a folder, so it cannot be pickled; "
                "make it in the other process, too"
            )
        return _opened, (self._reopen, self.name)

    def __copy__(self) -> Model:
        return Model(self.generator, self.name, reopen=self._reopen)

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self.__copy__()  # a generator never changes, so it can be shared

    @property
    def labels(self) -> tuple[str, ...]:
        return self.generator.labels

    @property
    def max_elements(self) -> int:
        return self.generator.max_elements

    @property
    def canvas(self) -> tuple[float, float]:
        """Width and height of the layouts that the model was trained on."""
        width, height = getattr(self.generator, "canvas", (1.0, 1.0))
        return float(width), float(height)

    @property
    def aliases(self) -> Mapping[str, str]:
        """Other words for its labels."""
        found: Mapping[str, str] = getattr(self.generator, "aliases", {})
        return found

    # Public ------------------------------------------------------------------------------------

    def generate(
        self,
        spec: Request = None,
        count: int = 8,
        seed: int = 0,
        steps: int | None = None,
        *,
        require: bool = False,
        tries: int = REQUIRE_TRIES,
        trace: bool = False,
        batch_size: int = 64,
        **options: Any,
    ) -> list[Result]:
        """`count` layouts for one request; further options are those of the generator.

        Wishes hold wherever they can (see `settle`); `relations="guided"` only pulls towards them,
        as the paper does. With `require`, a layout that misses any wish is drawn again, up to
        `tries` times, and the best attempt is kept; results then come best first. `tidy=True` makes
        equal what is nearly equal.
        """
        whole("count", count, 1)
        results = list(
            self.stream(
                spec, range(count), seed, steps, require=require, tries=tries, trace=trace,
                batch_size=batch_size, **options,
            )
        )  # fmt: skip
        if require:
            results.sort(key=lambda result: -result.report.score)
        return results

    def stream(
        self,
        spec: Request = None,
        indices: Iterable[int] = range(8),
        seed: int = 0,
        steps: int | None = None,
        **options: Any,
    ) -> Iterator[Result]:
        """The layouts of one request with these indices, in order, as they are made."""
        one = self._parsed(spec)
        numbered = ((index, one) for index in iterable("indices", indices))
        return self.stream_many(numbered, seed, steps, **options)

    def generate_many(
        self,
        specs: Sequence[Request],
        seed: int = 0,
        steps: int | None = None,
        **options: Any,
    ) -> list[Result]:
        """One layout for each request; the i-th has the random stream (seed, i)."""
        return list(self.stream_many(enumerate(several(specs)), seed, steps, **options))

    def stream_many(
        self,
        numbered: Iterable[tuple[int, Request]],
        seed: int = 0,
        steps: int | None = None,
        *,
        batch_size: int = 64,
        **options: Any,
    ) -> Iterator[Result]:
        """(index, request) pairs to results, in their order and in constant memory."""
        whole("batch_size", batch_size, 1, LARGEST_BATCH)
        whole("seed", seed)
        cache: dict[int, tuple[Spec, Condition, Options]] = {}
        pairs = rows("numbered", numbered, ("index", "request"))
        if steps is not None:
            options["steps"] = steps
        how = self._how(options)
        size = min(FIRST, batch_size)
        while window := list(islice(pairs, size)):
            began = time.monotonic()
            asked = [
                (self._parsed(request), seed, whole("index", index)) for index, request in window
            ]
            results = self._make_required(asked, cache, how)
            size = next_size(size, time.monotonic() - began, WINDOW * batch_size)
            yield from results
            if len(cache) > CACHED:
                cache.clear()

    def draw_many(self, asked: Sequence[tuple[Request, int, int]], **options: Any) -> list[Result]:
        """One layout for each (request, seed, index), drawn together; as each would be alone."""
        specs = [
            (self._parsed(request), whole("seed", seed), whole("index", index))
            for request, seed, index in rows("asked", asked, ("request", "seed", "index"))
        ]
        return self._make_required(specs, {}, self._how(options))

    def condition(self, request: Request) -> Condition:
        """A request as the generator gets it; one that cannot be met raises."""
        spec = self._parsed(request)
        return Condition.from_spec(spec, self.labels, self.max_elements, self.aliases)

    def _parsed(self, request: Request) -> Spec:
        """A request; all that is wrong with it is told at once."""
        try:
            return Spec.parse(request)
        except SpecError as error:
            raise error.with_others(self.labels, self.max_elements, self.aliases) from None

    # Parts -------------------------------------------------------------------------------------

    def _how(self, options: dict[str, Any]) -> _How:
        """What the model does itself, and the generator's own options."""
        changes = dict(options)
        require = flag("require", changes.pop("require", False))
        trace = flag("trace", changes.pop("trace", False))
        tries = whole("tries", changes.pop("tries", REQUIRE_TRIES), 1, MOST_TRIES)
        draws = whole("draws", changes.pop("draws", DRAWS), 1, MOST_TRIES)
        tidy = flag("tidy", changes.pop("tidy", False))
        relations = changes.pop("relations", "hold")
        if relations not in RELATIONS:
            raise LayoutdmError(f"relations must be {' or '.join(RELATIONS)}, got {relations!r}")
        if trace and not hasattr(self.generator, "trace"):
            raise LayoutdmError(f"{self.generator.name} has no steps to trace; leave trace out")
        if hasattr(self.generator.options(), "relations"):  # it may rule out what leads nowhere
            changes["relations"] = relations
        wanted = self.generator.options().replaced(**changes)  # what is wrong is told before all
        check = getattr(self.generator, "check", None)
        if check is not None:
            check(wanted)
        return _How(changes, tries if require else 1, trace, relations == "hold", draws, tidy)

    def _make_required(
        self,
        asked: Sequence[tuple[Spec, int, int]],
        cache: dict[int, tuple[Spec, Condition, Options]],
        how: _How,
    ) -> list[Result]:
        """Results, of which those that miss a wish are drawn again, a bounded number of times."""
        jobs = [
            _Job(index, seed, *self._checked(spec, how.changes, cache))
            for spec, seed, index in asked
        ]
        settled = [how.hold and has_wishes(job.condition) for job in jobs]
        first = [how.draws if some else 1 for some in settled]
        tried = [(i, attempt) for i, count in enumerate(first) for attempt in range(count)]
        best: dict[int, Made] = {}
        for (i, _), made in zip(tried, self._make(jobs, tried, how), strict=True):
            best[i] = made if i not in best else min(best[i], made, key=_need)
        # Where a request pins something, what settling moves hangs on that more than on the draw.
        loose = [settled[i] and not pins(job.condition) for i, job in enumerate(jobs)]
        far = [i for i, made in best.items() if loose[i] and made.far and first[i] == 1]
        spare = [(i, 1 + k) for i in far for k in range(SPARE)]
        self._again(best, jobs, spare, how)
        for i in far:
            first[i] += SPARE
        for attempt in range(1, max(how.tries, REDRAWS if any(settled) else 1)):
            again = [
                (i, attempt)
                for i, made in best.items()
                if attempt >= first[i]
                and (
                    (attempt < how.tries and not made.result.met)
                    or (attempt < REDRAWS and settled[i] and made.spoiled)
                )
            ]
            self._again(best, jobs, again, how)
        return [best[i].result for i in range(len(jobs))]

    def _again(
        self,
        best: dict[int, Made],
        jobs: Sequence[_Job],
        tried: Sequence[tuple[int, int]],
        how: _How,
    ) -> None:
        """Draw these (job, attempt) and keep what is better."""
        for (i, attempt), made in zip(tried, self._make(jobs, tried, how), strict=True):
            kept = min(best[i], made, key=_need)
            best[i] = replace(kept, result=replace(kept.result, attempts=attempt + 1))

    def _checked(
        self,
        spec: Spec,
        changes: Mapping[str, Any],
        cache: dict[int, tuple[Spec, Condition, Options]],
    ) -> tuple[Condition, Options]:
        """A request that comes again is not checked again."""
        found = cache.get(id(spec))
        if found is None or found[0] is not spec:
            condition = Condition.from_spec(spec, self.labels, self.max_elements, self.aliases)
            reason = self.generator.refuses(condition)
            if reason is not None:
                raise RefusedError(reason)
            usual = self.generator.usual(task_of(condition))
            own = getattr(usual, "relations", None) == "published"
            if own and changes.get("relations") == "guided":  # its own way to guide
                changes = {**changes, "relations": "published"}
            options = usual.replaced(**changes)
            found = cache[id(spec)] = (spec, condition, options)
        return found[1], found[2]

    def _make(
        self, jobs: Sequence[_Job], tried: Sequence[tuple[int, int]], how: _How
    ) -> list[Made]:
        """One layout for each (job, attempt); those with the same options are drawn together."""
        made: dict[int, Made] = {}
        for group in _groups([jobs[i] for i, _ in tried]):
            chosen = [jobs[tried[k][0]] for k in group]
            options, conditions = chosen[0].options, [job.condition for job in chosen]
            drawn = self.generator.draw(conditions, options, _streams(jobs, tried, group))
            check_drawn(drawn, len(group), self.generator)
            frames: Sequence[tuple[Frame, ...]] = [()] * len(group)
            if how.trace:
                again = _streams(jobs, tried, group)
                frames = self.generator.trace(conditions, options, again)  # type: ignore[attr-defined]
            for row, (k, job) in enumerate(zip(group, chosen, strict=True)):
                found = layout_of(
                    drawn, row, job.condition, self.canvas, f"{job.seed}-{job.index}",
                    hold=how.hold, tidy=how.tidy, apart=getattr(self.generator, "apart", None),
                )  # fmt: skip
                told = report(job.condition, found.layout)
                result = Result(
                    found.layout, told, job.seed, job.index, outside=found.outside,
                    trace=frames[row],
                )  # fmt: skip
                made[k] = Made(result, found.settled)
        return [made[k] for k in range(len(tried))]


@dataclass(frozen=True, eq=False)
class _How:
    """What a model does with a request, besides what its generator does."""

    changes: Mapping[str, Any]  # options of the generator
    tries: int
    trace: bool
    hold: bool  # make wishes hold
    draws: int
    tidy: bool


@dataclass(frozen=True, eq=False)
class Made:
    """A result, and what it took to make its wishes hold."""

    result: Result
    settled: Settled | None

    @property
    def spoiled(self) -> bool:
        """Whether a wish does not hold, or elements lie on top of each other."""
        return not self.result.report.holds or (self.settled is not None and self.settled.close > 0)

    @property
    def far(self) -> bool:
        """Whether it is spoiled, or settling had to move much."""
        return self.spoiled or (self.settled is not None and self.settled.moved > FAR)


def _need(made: Made) -> tuple[bool, int, float, float]:
    """How far a layout is from what was asked for; the less the better."""
    close, moved = (0, 0.0) if made.settled is None else (made.settled.close, made.settled.moved)
    # Where little moved, the first draw is as good as any: choosing by less would prefer what is
    # simple, and layouts would differ from what the network draws.
    return not made.result.report.holds, close, -made.result.report.score, max(moved, FAR)


def _groups(jobs: Sequence[_Job]) -> Iterator[list[int]]:
    """Indices of jobs with the same options, in order."""
    groups: dict[Options, list[int]] = {}
    for i, job in enumerate(jobs):
        groups.setdefault(job.options, []).append(i)
    yield from groups.values()


def _streams(
    jobs: Sequence[_Job], tried: Sequence[tuple[int, int]], group: Sequence[int]
) -> list[np.random.Generator]:
    chosen = [(jobs[tried[k][0]], tried[k][1]) for k in group]
    return [stream(job.seed, job.index, attempt) for job, attempt in chosen]


def _opened(reopen: Reopen, name: str) -> Model:
    """What unpickling calls: the model of the same folder."""
    opener, arguments, named = reopen
    model = opener(*arguments, **named)
    model.name = name
    return model

"""The pipeline: a request in, complete layouts out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.constraints import report
from layoutdm.diffusion.labels import LabelModel
from layoutdm.diffusion.network import Denoiser, Ints, Query
from layoutdm.diffusion.sampler import Sampler, State, draws_bags
from layoutdm.diffusion.settings import Settings
from layoutdm.diffusion.streams import stream
from layoutdm.errors import LayoutdmError
from layoutdm.model.config import ModelConfig
from layoutdm.model.decode import decode
from layoutdm.model.prepare import Prepared, batch, in_listed_order, listed, prepare
from layoutdm.model.result import Frame, Result
from layoutdm.model.task import task_of
from layoutdm.spec import Condition, Spec

Request = Spec | Mapping[str, Any] | str | Path | None

WINDOW = 4  # batches that are planned together, so that layouts of like size meet
ENOUGH = 8  # layouts in a batch, from where on a new batch costs less than filling up slots
WASTE = 0.15  # filled up slots, as a share of the real ones, that a batch may have
REQUIRE_TRIES = 20


@dataclass(frozen=True)
class _Job:
    """One layout to be made."""

    index: int
    prepared: Prepared
    settings: Settings
    stream: np.random.Generator
    count: int = 0  # elements, once they are drawn


class Model:
    """Generates layouts: a denoiser and everything around it.

    `layoutdm.load` makes one from a name or a folder.
    """

    def __init__(
        self,
        config: ModelConfig,
        denoiser: Denoiser,
        name: str = "",
        label_model: LabelModel | None = None,
    ) -> None:
        self.config = config
        self.denoiser = denoiser
        self.name = name
        self.label_model = label_model

    @classmethod
    def from_pretrained(
        cls, name: str | Path = "rico25", *, revision: str | None = None, threads: int | None = None
    ) -> Model:
        """A model by the name of an embedded one, a folder, or a hub id; as `layoutdm.load`."""
        from layoutdm.model.store import load  # the store makes models, hence not at the top

        return load(name, revision=revision, threads=threads)

    def __repr__(self) -> str:
        return f"<layoutdm model {self.name!r}: {len(self.labels)} labels>"

    @property
    def labels(self) -> tuple[str, ...]:
        return self.config.labels

    @property
    def max_elements(self) -> int:
        return self.config.max_elements

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
        **settings: Any,
    ) -> list[Result]:
        """`count` layouts for one request; further settings are those of `Settings`.

        With `require`, a layout that misses a wish is drawn again, up to `tries` times, and the
        best attempt is kept; results then come best first.
        """
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise LayoutdmError(f"count must be a whole number from 1, got {count!r}")
        results = list(
            self.stream(
                spec, range(count), seed, steps, require=require, tries=tries, trace=trace,
                batch_size=batch_size, **settings,
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
        one = Spec.parse(spec)
        return self.stream_many(((index, one) for index in indices), seed, steps, **options)

    def generate_many(
        self,
        specs: Sequence[Request],
        seed: int = 0,
        steps: int | None = None,
        *,
        batch_size: int = 64,
        **options: Any,
    ) -> list[Result]:
        """One layout for each request; the i-th has the random stream (seed, i)."""
        return list(
            self.stream_many(enumerate(specs), seed, steps, batch_size=batch_size, **options)
        )

    def stream_many(
        self,
        numbered: Iterable[tuple[int, Request]],
        seed: int = 0,
        steps: int | None = None,
        *,
        batch_size: int = 64,
        require: bool = False,
        tries: int = REQUIRE_TRIES,
        trace: bool = False,
        **settings: Any,
    ) -> Iterator[Result]:
        """(index, request) pairs to results, in their order and in constant memory."""
        if batch_size < 1:
            raise LayoutdmError(f"batch_size must be at least 1, got {batch_size}")
        if tries < 1:
            raise LayoutdmError(f"tries must be at least 1, got {tries}")
        changes = {"steps": steps, **settings}
        Settings().replaced(**changes)  # a wrong setting is told before anything is made
        cache: dict[int, tuple[Spec, Prepared, Settings]] = {}
        pairs = iter(numbered)
        while window := list(islice(pairs, WINDOW * batch_size)):
            asked = [(index, self._prepared(request, changes, cache)) for index, request in window]
            results = self._make(asked, seed, 0, batch_size, trace)
            attempt = 1
            while require and attempt < tries:
                again = [i for i, result in enumerate(results) if not result.met]
                if not again:
                    break
                redone = self._make([asked[i] for i in again], seed, attempt, batch_size, trace)
                attempt += 1
                for i, result in zip(again, redone, strict=True):
                    better = result.report.score > results[i].report.score
                    results[i] = replace(result if better else results[i], attempts=attempt)
            yield from results
            if len(cache) > 10_000:
                cache.clear()

    # Parts -------------------------------------------------------------------------------------

    def _prepared(
        self,
        request: Request,
        changes: Mapping[str, Any],
        cache: dict[int, tuple[Spec, Prepared, Settings]],
    ) -> tuple[Prepared, Settings]:
        """Checked and turned into arrays; a request that comes again is not checked again."""
        spec = Spec.parse(request)
        found = cache.get(id(spec))
        if found is None or found[0] is not spec:
            condition = Condition.from_spec(spec, self.labels, self.max_elements)
            own = self.config.sampling_of(task_of(condition))
            settings = Settings.from_dict(own).replaced(**changes)
            if changes.get("keep_apart") == "all":
                self._check_apart(settings)
            prepared = prepare(
                spec, condition, self.config.tokenizer, self.config.traits, settings,
                bags=draws_bags(self.config.schedule, settings),
            )  # fmt: skip
            found = cache[id(spec)] = (spec, prepared, settings)
        return found[1], found[2]

    def _check_apart(self, settings: Settings) -> None:
        """A wish that would have no effect is refused."""
        if self.config.apart is None or not self.config.traits.number_first:
            raise LayoutdmError(
                "keep_apart=all needs an element network whose config.json says which labels keep "
                "apart, and this model has none; leave the setting out, or train it again"
            )
        if not draws_bags(self.config.schedule, settings):
            raise LayoutdmError(
                "keep_apart=all needs order=elements and a schedule that only masks, with the "
                "exact posterior, filter=prediction and no remask: only then are boxes placed one "
                f"after the other; got order={settings.order}, posterior={settings.posterior}, "
                f"filter={settings.filter}, remask={settings.remask:g}"
            )

    def _make(
        self,
        asked: Sequence[tuple[int, tuple[Prepared, Settings]]],
        seed: int,
        attempt: int,
        batch_size: int,
        trace: bool,
    ) -> list[Result]:
        jobs = [
            _Job(index, prepared, settings, stream(seed, index, attempt))
            for index, (prepared, settings) in asked
        ]
        jobs = self._with_counts(jobs, batch_size)
        results: list[Result | None] = [None] * len(jobs)
        for group in _groups(jobs, batch_size):
            members = [jobs[i] for i in group]
            for i, result in zip(group, self._sample(members, seed, trace), strict=True):
                results[i] = result
        return [result for result in results if result is not None]

    def _with_counts(self, jobs: list[_Job], batch_size: int) -> list[_Job]:
        """Draw how many elements each layout has, where the network decides that first."""
        counts = [job.prepared.condition.max_elements for job in jobs]
        if self.config.traits.number_first:
            open_jobs = [
                i
                for i, job in enumerate(jobs)
                if job.prepared.condition.min_elements < job.prepared.condition.max_elements
            ]
            open_jobs.sort(key=lambda i: len(jobs[i].prepared.tokens))
            for start in range(0, len(open_jobs), batch_size):
                chosen = open_jobs[start : start + batch_size]
                drawn = self._draw_counts([jobs[i] for i in chosen])
                for i, count in zip(chosen, drawn, strict=True):
                    counts[i] = int(count)
        return [replace(job, count=count) for job, count in zip(jobs, counts, strict=True)]

    def _draw_counts(self, jobs: Sequence[_Job]) -> Ints:
        """From p(number | the listed elements), within each request's bounds."""
        tokens, valid = listed([job.prepared for job in jobs], self.config.tokenizer)
        level = np.full(len(jobs), self.config.schedule.steps, dtype=np.int64)
        predicted = self.denoiser(Query(tokens, level, valid)).number
        if predicted is None:
            raise LayoutdmError("the model predicts no number of elements; its file is damaged")
        numbers = np.arange(1, predicted.shape[1] + 1)
        conditions = [job.prepared.condition for job in jobs]
        low = np.array([condition.min_elements for condition in conditions])[:, None]
        high = np.array([condition.max_elements for condition in conditions])[:, None]
        log = np.maximum(predicted.astype(np.float64), -70.0)
        log[(numbers < low) | (numbers > high)] = -np.inf
        weights = np.exp(log - log.max(axis=1, keepdims=True))
        through = np.cumsum(weights, axis=1)
        u = np.array([job.stream.random() for job in jobs])
        target = np.minimum(u * through[:, -1], np.nextafter(through[:, -1], 0))
        return 1 + np.asarray((through > target[:, None]).argmax(axis=1), dtype=np.int64)

    def _sample(self, jobs: Sequence[_Job], seed: int, trace: bool) -> list[Result]:
        config = self.config
        counts = [job.count for job in jobs] if config.traits.number_first else None
        known = batch([job.prepared for job in jobs], counts, config.tokenizer, config.apart)
        sampler = Sampler(self.denoiser, config.schedule, jobs[0].settings, self.label_model)
        streams = [job.stream for job in jobs]
        frames: list[list[Frame]] = [[] for _ in jobs]
        for state in sampler.walk(known, streams):
            if trace:
                for row, job in enumerate(jobs):
                    frames[row].append(self._frame(state, row, job.count))
        results = []
        for row, job in enumerate(jobs):
            condition = job.prepared.condition
            tokens = state.tokens[row, : job.count]
            if job.prepared.bag is not None:
                slots = in_listed_order(tokens, job.prepared)
                tokens = tokens[slots]
                frames[row] = [frame.reordered(slots) for frame in frames[row]]
            layout, invalid = decode(tokens, condition, config, f"{seed}-{job.index}")
            results.append(
                Result(
                    layout, report(condition, layout), seed, job.index, invalid,
                    trace=tuple(frames[row]),
                )
            )  # fmt: skip
        return results

    def _frame(self, state: State, row: int, count: int) -> Frame:
        tokenizer = self.config.tokenizer
        tokens = state.tokens[row, :count]
        tokens = tokens[~(tokens == tokenizer.pad).any(axis=1)]
        decided = tokens < tokenizer.pad
        labels = tuple(
            tokenizer.labels[label] if known else None
            for label, known in zip(tokens[:, 0], decided[:, 0], strict=True)
        )
        boxes = tokenizer.bins.decode(np.where(decided, tokens, 0)[:, 1:])
        return Frame(state.level, labels, np.where(decided[:, 1:], boxes, np.nan))


def _groups(jobs: Sequence[_Job], batch_size: int) -> Iterator[list[int]]:
    """Numbers of jobs that are sampled together: same settings, like sizes, like constraints."""

    def kind(i: int) -> tuple[str, bool, bool]:
        prepared = jobs[i].prepared
        return repr(jobs[i].settings), prepared.guided, prepared.priors is not None

    kinds = [kind(i) for i in range(len(jobs))]
    order = sorted(range(len(jobs)), key=lambda i: (kinds[i], jobs[i].count))
    group: list[int] = []
    slots = 0  # that hold elements
    for i in order:
        if group:
            filled = jobs[i].count * (len(group) + 1) - slots - jobs[i].count
            full = len(group) == batch_size
            wasteful = len(group) >= ENOUGH and filled > WASTE * slots
            if full or wasteful or kinds[i] != kinds[group[0]]:
                yield group
                group, slots = [], 0
        group.append(i)
        slots += jobs[i].count
    if group:
        yield group

"""`Model`: a request in, complete layouts out. It knows requests and layouts, never tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.generator import Generator
from layoutdm.model.asked import iterable, rows, several, whole
from layoutdm.model.how import REQUIRE_TRIES
from layoutdm.model.making import Maker
from layoutdm.model.result import Result
from layoutdm.spec import Condition, Spec, SpecError

Request = Spec | Mapping[str, Any] | str | Path | None
Reopen = tuple[Callable[..., "Model"], tuple[Any, ...], dict[str, Any]]

WINDOW = 4  # batches that a generator gets together, so that layouts of like size meet
LARGEST_BATCH = 100_000
FIRST = 8  # layouts that are drawn together at first
SECONDS = 1.0  # that drawing together may take: so much is lost when a job is killed


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

    def __copy__(self, memo: object = None) -> Model:
        return Model(self.generator, self.name, reopen=self._reopen)

    __deepcopy__ = __copy__  # a generator never changes, so it can be shared

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
        return dict(getattr(self.generator, "aliases", {}))

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

        Wishes hold wherever they can (see `settle`); `relations="guided"` only pulls towards them.
        With `require`, a layout that misses a wish is drawn again, up to `tries` times, and the
        best attempt is kept, best first. `tidy=True` makes equal what is nearly equal.
        """
        whole("count", count, 1)
        results = list(
            self.stream(
                spec, range(count), seed, steps, require=require, tries=tries, trace=trace,
                batch_size=batch_size, **options,
            )
        )  # fmt: skip
        return sorted(results, key=lambda result: -result.report.score) if require else results

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
        self, specs: Sequence[Request], seed: int = 0, steps: int | None = None, **options: Any
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
        pairs = rows("numbered", numbered, ("index", "request"))
        if steps is not None:
            options["steps"] = steps
        maker = self._maker(options)
        size = min(FIRST, batch_size)
        while window := list(islice(pairs, size)):
            began = time.monotonic()
            asked = [
                (self._parsed(request), seed, whole("index", index)) for index, request in window
            ]
            results = maker.make(asked)
            size = next_size(size, time.monotonic() - began, WINDOW * batch_size)
            yield from results

    def draw_many(self, asked: Sequence[tuple[Request, int, int]], **options: Any) -> list[Result]:
        """One layout for each (request, seed, index), drawn together; as each would be alone."""
        specs = [
            (self._parsed(request), whole("seed", seed), whole("index", index))
            for request, seed, index in rows("asked", asked, ("request", "seed", "index"))
        ]
        return self._maker(options).make(specs)

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

    def _maker(self, options: Mapping[str, Any]) -> Maker:
        return Maker(self.generator, options, self.canvas, self.aliases)


def _opened(reopen: Reopen, name: str) -> Model:
    """What unpickling calls: the model of the same folder."""
    opener, arguments, named = reopen
    model = opener(*arguments, **named)
    model.name = name
    return model


def next_size(size: int, seconds: float, most: int) -> int:
    """How many to draw next, when `size` took so long: at most twice or half as many.

    More than a second's layouts would be lost when a job is killed, fewer would cost time. A
    layout is the same in any company, so the pace changes nothing else.

    >>> next_size(8, 0.1, 256), next_size(64, 1.6, 256), next_size(1, 30.0, 256)
    (16, 40, 1)
    """
    factor = min(max(SECONDS / max(seconds, 1e-9), 0.5), 2.0)
    return max(1, min(round(size * factor), most))

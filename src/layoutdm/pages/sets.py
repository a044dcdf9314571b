"""A set of pages as a job: where its layouts come from, what it is compared by, how it runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from layoutdm.errors import LayoutdmError
from layoutdm.jobs import Job
from layoutdm.jobs.making import Made, Make
from layoutdm.layout import Layout
from layoutdm.pages import balance
from layoutdm.pages.making import PageMaker
from layoutdm.pages.recipe import Recipe
from layoutdm.scale.processes import made_by_processes, made_here
from layoutdm.scale.work import Task, Work, chunk_size, chunks

LOOKED_AT = 200  # layouts whose labels tell what pages of a model are like, for --labels
Runner = Callable[[Work, Iterator[Task]], Iterator[Made]]


@dataclass(frozen=True)
class Source:
    """Layouts from a file; a model needs none of this."""

    labels: tuple[str, ...]
    count: int
    fingerprint: str
    read: Callable[[], Iterable[Layout]]


def from_file(name: str, format: str | None = None) -> Source:
    """One pass over the file: how many layouts it holds, and with which labels."""
    from layoutdm import formats
    from layoutdm.data.sources import find

    found = find(name, format)

    def read() -> Iterator[Layout]:
        for paths in found.files.values():
            for path in paths:
                yield from formats.read(path, found.format)

    labels: dict[str, None] = {}
    digest, count = hashlib.sha256(), 0
    for layout in read():
        labels.update(dict.fromkeys(layout.labels))
        digest.update(repr(layout.labels).encode() + layout.boxes.tobytes())
        digest.update(repr((layout.width, layout.height)).encode())
        count += 1
    if not count:
        raise LayoutdmError(f"{name}: holds no layout; it should hold at least one")
    return Source(tuple(sorted(labels)), count, digest.hexdigest()[:16], read)


def balanced(recipe: Recipe, wishes: Mapping[str, float], source: Source | None) -> Recipe:
    """The recipe with lists of labels, and how often each is drawn, so that the wishes hold."""
    balance.check(wishes)
    maker = PageMaker(recipe)
    known: Sequence[str] = maker.model.labels if source is None else source.labels
    for label in wishes:
        if label not in known:
            raise LayoutdmError(f"--labels {label}: is unknown; the labels are {', '.join(known)}")
    if source is None:
        some = maker.layouts(range(10**9, 10**9 + LOOKED_AT))
        bags = [layout.labels for layout in some]
        bags = balance.widened(bags, tuple(wishes), recipe.seed)
    else:
        bags = [layout.labels for layout in source.read()]
    weights = balance.tilt(bags, wishes)
    return replace(recipe, bags=tuple(bags), weights=tuple(weights))


def job_of(recipe: Recipe, count: int, formats: Sequence[str], source: Source | None) -> Job:
    """What a folder of pages belongs to."""
    named = {"kind": "pages", "seed": recipe.seed, "formats": tuple(formats)}
    if source is not None:
        options = {**recipe.describe(), "layouts": source.fingerprint}
        return Job(count, labels=source.labels, options=options, **named)  # type: ignore[arg-type]
    model = PageMaker(recipe).model
    return Job.of(
        model, recipe.request, count, recipe.seed, formats=tuple(formats), kind="pages",
        **recipe.describe(),
    )  # fmt: skip


def make(recipe: Recipe, source: Source | None, workers: int,
         runner: Runner | None = None) -> Make:  # fmt: skip
    """The function that a job calls with the indices that are missing."""
    work = Work(PageMaker, (recipe,))

    def make_pages(indices: range) -> Iterator[Made]:
        tasks = _tasks(indices, recipe, source, workers)
        if runner is not None:
            return runner(work, tasks)
        if workers == 1:
            return made_here(work, tasks)
        return made_by_processes(work, tasks, workers)

    return make_pages


def _tasks(indices: range, recipe: Recipe, source: Source | None, workers: int) -> Iterator[Task]:
    parts = chunks(indices, chunk_size(len(indices), workers))
    if source is None:
        return ((part, None) for part in parts)
    layouts = layouts_of(recipe, source)
    return ((part, layouts(part)) for part in parts)


def layouts_of(recipe: Recipe, source: Source) -> Callable[[range], list[Layout]]:
    """The layouts of a range of pages, from a file. Ranges come in rising order."""
    if recipe.bags:  # drawn from all of them, again and again
        every = list(source.read())
        return lambda part: [
            every[balance.choose(recipe.bags, recipe.weights, recipe.seed, i)] for i in part
        ]
    stream = _again(source.read)
    at = 0

    def layouts(part: range) -> list[Layout]:
        nonlocal at
        for _ in islice(stream, part.start - at):  # those of an earlier run
            pass
        at = part.stop
        return list(islice(stream, len(part)))

    return layouts


def _again(read: Callable[[], Iterable[Layout]]) -> Iterator[Layout]:
    """Layouts without end: a count beyond the file's goes round, with other content each time."""
    while True:
        yield from read()

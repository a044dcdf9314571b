"""What `layoutdm generate` does with layouts: show them, write them, count what they miss."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layoutdm.layout import Layout
    from layoutdm.model import Model, Result
    from layoutdm.model.job import Journal
    from layoutdm.spec import Spec

Advance = Callable[[int], None]

TARGETS = {
    "jsonl": "layouts.jsonl",
    "coco": "coco.json",
    "yolo": "yolo",
    "voc": "voc",
    "labelstudio": "labelstudio.json",
    "csv": "layouts.csv",
    "parquet": "layouts.parquet",
    "svg": "svg",
    "png": "png",
    "html": "html",
    "pptx": "layouts.pptx",
    "sheet": "sheet.png",
}
STREAMED = ("coco", "yolo", "parquet")  # written as the layouts come, as JSON lines are
SHEET = 48  # layouts on a contact sheet
BAR_FROM = 32  # layouts, from which on a progress bar is worth its lines


class Tally:
    """Counts layouts and missed wishes, and says it in the end on stderr."""

    def __init__(self, require: bool = False, tries: int = 0) -> None:
        self.count = self.met = 0
        self.missed: Counter[str] = Counter()
        self.where = ""
        self.written = 0
        self.tries = tries if require else 0

    def add(self, result: Result) -> None:
        self.count += 1
        self.met += result.met
        self.missed.update(f"{wish.path} ({wish.wanted})" for wish in result.report.missed)

    def say(self) -> None:
        if self.where:
            print(f"wrote {self.written:,} layouts to {self.where}", file=sys.stderr)
        if self.count > self.met:
            after = f" after {self.tries} tries each" if self.tries else ""
            print(
                f"{self.count - self.met:,} of {self.count:,} layouts miss a wish{after}:",
                file=sys.stderr,
            )
            for name, number in self.missed.most_common(8):
                print(f"  {name}: {number:,}", file=sys.stderr)
            if not self.tries:
                print("  --require draws again until all are met", file=sys.stderr)


def show(results: Iterable[Result], as_json: bool, advance: Advance) -> Tally:
    """Layouts on standard output: JSON lines for programs, a short list for people."""
    from layoutdm.model.job import line

    tally = Tally()
    plain = as_json or not sys.stdout.isatty()
    for result in results:
        tally.add(result)
        if plain:
            sys.stdout.write(line(result) + "\n")
        else:
            _list(result)
        advance(1)
    return tally


def _list(result: Result) -> None:
    layout = result.layout
    names = layout.metadata.get("names") or [None] * len(layout)
    print(f"layout {layout.id}: {len(layout)} elements")
    for element, name in zip(layout, names, strict=True):
        x, y, width, height = (f"{value:.3f}" for value in element.box)
        called = f"  {name}" if name else ""
        print(f"  {element.label:<18} x {x}  y {y}  width {width}  height {height}{called}")


@dataclass(frozen=True)
class Job:
    """A job that writes to a folder."""

    model: Model
    request: dict[str, Any]
    seed: int
    count: int
    options: dict[str, Any]
    out: Path
    wanted: tuple[str, ...]
    as_json: bool

    def run(self, resume: bool, advance: Advance) -> Tally:
        from layoutdm.model.job import Journal, line
        from layoutdm.spec import Spec

        spec = Spec.parse(self.request)
        spec.ensure(self.model.labels, self.model.max_elements)
        tally = Tally(self.options["require"], self.options["tries"])
        tally.where = str(self.out)
        journal = Journal(self.out, self._description(spec), resume=resume)
        if journal.done:
            print(f"resuming after {journal.done:,} layouts", file=sys.stderr)
            advance(journal.done)
        rest = range(journal.done, self.count)
        with journal.writing() as write, self._exports(journal) as export:
            for result in self.model.stream(spec, rest, self.seed, **self.options):
                write(result)
                export(result.layout)
                tally.add(result)
                if self.as_json:
                    sys.stdout.write(line(result) + "\n")
                advance(1)
        if self.options["require"]:
            journal.sort()
        self._export_later(journal)
        journal.finish()
        tally.written = journal.done
        return tally

    def _description(self, spec: Spec) -> dict[str, Any]:
        from layoutdm.model.store import fingerprint

        batch_free = {key: value for key, value in self.options.items() if key != "batch_size"}
        return {
            "model": self.model.name,
            "weights": fingerprint(self.model.name),
            "request": spec.as_dict(),
            "seed": self.seed,
            "options": batch_free,
        }

    @property
    def _streamed(self) -> tuple[str, ...]:
        """Formats that are written while the job runs; with --require the order is known later."""
        if self.options["require"]:
            return ()
        return tuple(name for name in self.wanted if name in STREAMED)

    @contextmanager
    def _exports(self, journal: Journal) -> Iterator[Callable[[Layout], None]]:
        """Gives a function that adds a layout to every streamed format.

        A resumed job first hands over what it had: other than lines of text, these formats cannot
        be continued where they were cut off.
        """
        from layoutdm.formats.streaming import writing

        with ExitStack() as stack:
            adders = []
            for name in self._streamed:
                target = self.out / TARGETS[name]
                for leftover in self.out.glob(f".{target.name}.*.part"):  # of a killed job
                    rmtree(leftover) if leftover.is_dir() else leftover.unlink()
                adders.append(stack.enter_context(writing(target, name, **self._labels(name))))

            def add(layout: Layout) -> None:
                for each in adders:
                    each(layout)

            if adders and journal.done:
                for layout in journal.layouts():
                    add(layout)
            yield add

    def _export_later(self, journal: Journal) -> None:
        """The other formats, from the lines on the disk: memory stays the same at any count."""
        from itertools import islice

        from layoutdm.formats import write

        for name in self.wanted:
            target = self.out / TARGETS[name]
            if name == "jsonl" or name in self._streamed:
                continue
            if name == "sheet":
                write(islice(journal.layouts(), SHEET), target, "png")
                continue
            if name in ("svg", "png", "html"):
                target.mkdir(exist_ok=True)
            write(journal.layouts(), target, name, **self._labels(name))

    def _labels(self, name: str) -> dict[str, Any]:
        return {"labels": self.model.labels} if name in STREAMED else {}


@contextmanager
def bar(count: int, show: bool | None) -> Iterator[Advance]:
    """A progress bar with layouts a second and the time left, where someone looks."""
    wanted = sys.stderr.isatty() and count >= BAR_FROM if show is None else show
    if not wanted:
        yield lambda number: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("generating"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True, force_terminal=True if show else None)
    with Progress(*columns, console=console, speed_estimate_period=60) as screen:
        task = screen.add_task("", total=count, speed="")

        def advance(number: int) -> None:
            screen.update(task, advance=number)
            speed = screen.tasks[0].speed
            if speed:
                screen.update(task, speed=f"{speed:,.1f} layouts/s")

        yield advance

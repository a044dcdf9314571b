"""What `layoutdm generate` shows: layouts on standard output, a bar, and what is missed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layoutdm.jobs import Made, Outcome, Tally
    from layoutdm.model import Model, Result

Advance = Callable[[int], None]  # layouts that are done

SHOWN = 8  # wishes that are named
BAR_FROM = 32  # layouts, from which on a progress bar is worth its lines


def show(results: Iterable[Result], as_json: bool, advance: Advance) -> Tally:
    """Layouts on standard output: JSON lines for programs, a short list for people."""
    from layoutdm.jobs import Tally, made
    from layoutdm.jobs.making import to_line

    tally = Tally()
    plain = as_json or not sys.stdout.isatty()
    for result in results:
        record = made(result).record
        tally.add(record)
        if plain:
            sys.stdout.write(to_line(record) + "\n")
        else:
            _list(result)
        advance(tally.count)
    return tally


def show_made(item: Made) -> None:
    """One layout of a job as a JSON line."""
    from layoutdm.jobs.making import to_line

    sys.stdout.write(to_line(item.record) + "\n")


def _list(result: Result) -> None:
    layout = result.layout
    names = layout.metadata.get("names") or [None] * len(layout)
    print(f"layout {layout.id}: {len(layout)} elements")
    for element, name in zip(layout, names, strict=True):
        x, y, width, height = (f"{value:.3f}" for value in element.box)
        called = f"  {name}" if name else ""
        print(f"  {element.label:<18} x {x}  y {y}  width {width}  height {height}{called}")


def say_outcome(outcome: Outcome) -> None:
    """What a job did, in one line on stderr."""
    count, folder = outcome.tally.count, outcome.folder
    if not outcome.finished:
        print(
            f"stopped after {count:,} of {outcome.job.count:,} layouts; continue with --resume",
            file=sys.stderr,
        )
    elif outcome.made < count:
        before = count - outcome.made
        print(f"{folder}: {count:,} layouts, {before:,} of them from before", file=sys.stderr)
    else:
        print(f"wrote {count:,} layouts to {folder}", file=sys.stderr)


def say_missed(tally: Tally, require: bool, tries: int) -> None:
    """What the layouts miss and how often, on stderr."""
    for text in tally.lines(tries if require else 0):
        print(text, file=sys.stderr)
    if tally.count > tally.met and not require:
        print("  --require draws again until all are met", file=sys.stderr)


def say_obstacles(model: Model, request: Any, seed: int) -> None:
    """Which wishes are in each other's way, on stderr."""
    from layoutdm.settle import obstacles

    (result,) = model.generate(request, 1, seed)
    found = obstacles(model.condition(request), result.layout)
    if len(found) > 1:
        wishes = ", ".join(repr(wish) for wish in found[:SHOWN])
        print(f"  in each other's way: {wishes}", file=sys.stderr)


@contextmanager
def bar(count: int, show: bool | None, noun: str = "layouts") -> Iterator[Advance]:
    """A progress bar with layouts a second and the time left, where someone looks."""
    wanted = sys.stderr.isatty() and count >= BAR_FROM if show is None else show
    if not wanted:
        yield lambda done: None
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

        def advance(done: int) -> None:
            screen.update(task, completed=done)
            speed = screen.tasks[0].speed
            if speed:
                screen.update(task, speed=f"{speed:,.1f} {noun}/s")

        yield advance

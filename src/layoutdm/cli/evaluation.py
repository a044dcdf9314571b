"""The options of `layoutdm evaluate`, and its progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from layoutdm.evaluate.plan import Cell


def whole_numbers(text: str, option: str, least: int) -> tuple[int, ...]:
    """Comma-separated whole numbers, each once.

    >>> whole_numbers("0,1,2", "--seeds", 0)
    (0, 1, 2)
    """
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < least:
        raise typer.BadParameter(
            f"must be whole numbers from {least}, with commas between them, got {text!r}",
            param_hint=option,
        )
    return tuple(dict.fromkeys(found))


def step_numbers(text: str) -> tuple[int | None, ...]:
    """Numbers of steps; `own` is the model's default.

    >>> step_numbers("own,20")
    (None, 20)
    """
    parts = [part.strip() for part in text.split(",")]
    given = ",".join(part for part in parts if part != "own")
    numbers = whole_numbers(given, "--steps", 1) if given or "own" not in parts else ()
    return (None, *numbers) if "own" in parts else numbers


def numbers(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise typer.BadParameter(
            f"must be numbers with commas between them, got {text!r}", param_hint="--strengths"
        ) from None


@contextmanager
def bars() -> Iterator[Callable[[str, Cell, int, int], None]]:
    """A bar for the cell that is at work."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    shown: dict[str, TaskID] = {}
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    ) as progress:

        def show(model: str, cell: Cell, made: int, of: int) -> None:
            name = f"{model}: {cell.name}"
            for other in [key for key in shown if key != name]:
                progress.remove_task(shown.pop(other))
            if name not in shown:
                shown[name] = progress.add_task(name, total=of)
            progress.update(shown[name], completed=made, total=of)

        yield show

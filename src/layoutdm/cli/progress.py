"""The progress bar of commands that read files: on stderr, and only where someone looks.

with reading("pages.json", show=None) as bar:
    for layout in bar.count(formats.read("pages.json", progress=bar.bytes)):
        ...
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from layoutdm.layout import Layout

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """Shows bytes read and layouts done; a bar without a screen does nothing."""

    def __init__(self, screen: Progress | None = None, task: TaskID | None = None) -> None:
        self._screen = screen
        self._task = task
        self.layouts = 0
        self.elements = 0

    def bytes(self, done: int, total: int) -> None:
        if self._screen is not None and self._task is not None:
            self._screen.update(self._task, completed=done, total=total)

    def count(self, layouts: Iterable[Layout]) -> Iterator[Layout]:
        """Pass layouts on and count them."""
        for layout in layouts:
            self.layouts += 1
            self.elements += len(layout)
            if self._screen is not None and self._task is not None and self.layouts % 100 == 0:
                self._screen.update(self._task, layouts=self.layouts)
            yield layout


@contextmanager
def reading(name: str, show: bool | None) -> Iterator[Bar]:
    """A bar for one file; `show` None means: if stderr is a terminal."""
    if show is False or (show is None and not sys.stderr.isatty()):
        yield Bar()
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[layouts]:,} layouts"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True, force_terminal=True if show else None)
    with Progress(*columns, console=console, transient=not show) as screen:
        task = screen.add_task(escape(name), total=None, layouts=0)
        bar = Bar(screen, task)
        yield bar
        screen.update(task, layouts=bar.layouts)

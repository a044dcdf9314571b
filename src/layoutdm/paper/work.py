"""What is to be done for some tables and figures, in what order, and by which of several processes.

A piece of work is all cells of one system on one data set: the system is trained once, then its
cells are made. Each piece has a lock, so that several processes may share the work.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from layoutdm.errors import LayoutdmError
from layoutdm.lock import holder, locked
from layoutdm.paper.cells import Cell
from layoutdm.paper.results import Item
from layoutdm.paper.training import BORROWED

FIRST = ("table2", "table1")  # what most readers look for: made on all data sets before the rest


@dataclass(frozen=True)
class Piece:
    """The cells of one system on one data set."""

    data: str
    system: str
    cells: tuple[Cell, ...]

    def __str__(self) -> str:
        return f"{self.system} on {self.data}"

    @property
    def lock(self) -> str:
        """Who borrows another system's weights must not train them while it is trained."""
        return BORROWED.get(self.system, self.system)


def pieces(items: Sequence[Item], data: Sequence[str]) -> list[Piece]:
    """All work, what matters most first; no cell twice."""
    rounds = [
        [item for item in items if (item.NAME in FIRST) == first] for first in (True, False)
    ]  # fmt: skip
    found: list[Piece] = []
    seen: set[tuple[str, str]] = set()
    for part in rounds:
        for name in data:
            systems: dict[str, list[Cell]] = {}
            for cell in (cell for item in part for cell in item.cells(name)):
                if (name, cell.name) not in seen:
                    seen.add((name, cell.name))
                    systems.setdefault(cell.system, []).append(cell)
            found += [Piece(name, system, tuple(own)) for system, own in systems.items()]
    return found


@contextmanager
def claimed(piece: Piece, runs: Path) -> Iterator[bool]:
    """Hold the lock of a piece; False where another process holds it."""
    folder = runs / "locks" / piece.data / piece.lock
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder, f"paper: {piece}"))
        except LayoutdmError:
            if holder(folder) is None:
                raise
            yield False
            return
        yield True


def work_through(
    work: Sequence[Piece],
    runs: Path,
    do: Callable[[Piece], None],
    notice: Callable[[str], None],
    wait: Callable[[], None],
) -> Mapping[str, str]:
    """Do every piece that no other process is at, and wait for those; returns what failed, why.

    A piece that another process has done is done again by `do`, which finds its files.
    """
    failed: dict[str, str] = {}
    left, told = list(work), ""
    while left:
        later = []
        for piece in left:
            with claimed(piece, runs) as mine:
                if not mine:
                    later.append(piece)
                    continue
                try:
                    do(piece)
                except Exception as error:  # the work of hours on other systems must go on
                    failed[str(piece)] = str(error)
                    known = isinstance(error, LayoutdmError)
                    notice(f"{piece}: failed: {error if known else traceback.format_exc()}")
        if later and len(later) == len(left):
            names = ", ".join(map(str, later))
            if names != told:
                notice(f"waiting for another process that is at: {names}")
            told = names
            wait()
        left = later
    return failed

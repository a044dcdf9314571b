"""Work that can be done anywhere: ranges of indices in, what is to be written out.

>>> chunks(range(5, 12), 3)
[range(5, 8), range(8, 11), range(11, 12)]

Every layout and page is a function of (seed, index), so where and in which chunk it is made does
not change a byte of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from layoutdm.jobs.making import Made
from layoutdm.layout import Layout

LARGEST = 32  # indices that one worker gets at a time
Task = tuple[range, Sequence[Layout] | None]  # indices, and their layouts where they are given


class Maker(Protocol):
    """Lives in a worker; loads what it needs once."""

    def make(self, indices: range, layouts: Iterable[Layout] | None) -> Iterator[Made]: ...


@dataclass(frozen=True)
class Work:
    """How a worker gets its maker: a function of a module with plain arguments, so it travels."""

    build: Callable[..., Maker]
    arguments: tuple[Any, ...]

    def maker(self) -> Maker:
        return self.build(*self.arguments)


def chunks(indices: range, size: int) -> list[range]:
    """The range in pieces, the last of which may be shorter."""
    return [indices[at : at + size] for at in range(0, len(indices), size)]


def chunk_size(count: int, workers: int) -> int:
    """Small enough that every worker has something to do until near the end.

    >>> chunk_size(10_000, 2), chunk_size(20, 2)
    (32, 3)
    """
    return max(1, min(LARGEST, -(-count // (4 * workers))))


def cores() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1

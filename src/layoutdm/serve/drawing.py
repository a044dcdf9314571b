"""From an order to results on their way to a client: waits, streams, and notices who leaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from starlette.requests import Request

from layoutdm.errors import LayoutdmError
from layoutdm.model import Result
from layoutdm.serve.batcher import Order, Part, Ticket, too_late
from layoutdm.serve.failures import ServeError
from layoutdm.serve.guard import GONE
from layoutdm.serve.room import Room

P = ParamSpec("P")
T = TypeVar("T")


class Drawing:
    """One order at work; `close` frees its place, whatever happened."""

    def __init__(self, room: Room, order: Order) -> None:
        self.room, self.order = room, order
        self._loop = asyncio.get_running_loop()
        self._box: asyncio.Queue[Part] = asyncio.Queue()
        self._until = time.monotonic() + room.limits.seconds
        self._ticket = Ticket(order, self._deliver, deadline=self._until)
        room.ensure_open()
        room.batcher.put(self._ticket)

    def _deliver(self, part: Part) -> None:
        """Called by the worker's thread; a loop that has ended needs nothing any more."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._box.put_nowait, part)

    async def parts(self) -> AsyncIterator[list[Result]]:
        """The results in order, as they are drawn."""
        left = self.order.stop - self.order.start
        try:
            while left:
                rest = self._until - time.monotonic()
                try:
                    part = await asyncio.wait_for(self._box.get(), max(rest, 0.001))
                except TimeoutError:
                    raise too_late(self.room.limits.seconds) from None
                if isinstance(part, LayoutdmError):
                    raise part
                left -= len(part)
                yield [result for _, result in part]
        finally:
            self.close()

    def close(self) -> None:
        self.room.batcher.cancel(self._ticket)


async def all_results(room: Room, order: Order, request: Request) -> list[Result]:
    """Every result of an order; a client that leaves frees its place in the queue."""
    drawing = Drawing(room, order)
    collecting = asyncio.ensure_future(_collect(drawing))
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({collecting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not collecting.done():
            raise ServeError(GONE, "the client left")
        results = collecting.result()
    finally:
        collecting.cancel()
        leaving.cancel()
        drawing.close()
    return in_order(results, order.options)


async def slowly(
    room: Room, request: Request, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Slow work in a thread, one at a time; a client that leaves while it waits frees its place."""

    async def turn() -> T:
        async with room.turn():
            leaving.cancel()  # what has begun cannot be broken off
            return await asyncio.to_thread(work, *args, **kwargs)

    leaving = asyncio.ensure_future(_left(request))
    working = asyncio.ensure_future(turn())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done() and not leaving.cancelled() and not working.done():
            raise ServeError(GONE, "the client left")
        return await working
    finally:
        leaving.cancel()
        working.cancel()


async def _collect(drawing: Drawing) -> list[Result]:
    return [result async for part in drawing.parts() for result in part]


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def in_order(results: Sequence[Result], options: Any) -> list[Result]:
    """As `Model.generate` gives them: best first with `require`, else by their indices."""
    if options.get("require"):
        return sorted(results, key=lambda result: -result.report.score)
    return list(results)

"""Micro-batching: layouts that are asked for at the same time are drawn together, by one thread.

    batcher = Batcher(Limits())
    batcher.put(Ticket(order, deliver))     # deliver(results or an error), from the worker's thread

A layout depends on its request, seed and index alone (`Model.draw_many`), so neighbours change
nothing about it. Orders with the same model and options share a batch in equal parts: a large one
does not keep a small one waiting. Nothing waits on purpose, apart from a few milliseconds when the
worker was idle: while one batch is drawn, the next one gathers.
"""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.model import Model, Result
from layoutdm.model.how import REQUIRE_TRIES
from layoutdm.serve.failures import ServeError
from layoutdm.serve.limits import Limits
from layoutdm.spec import Spec

log = logging.getLogger("layoutdm.serve")

BACKGROUND_TURN = 4  # every so many batches a job goes first, however many clients wait
LONGEST_RETRY = 60
USUAL_STEPS = 30  # of the sampler
FIRST_GUESS = 20.0  # layouts a second, until the first batch has been timed

Part = Sequence[tuple[int, Result]] | LayoutdmError  # (index, result) pairs, or why there are none


@dataclass(frozen=True, eq=False)
class Order:
    """What one client asks for: the layouts with the indices start, ..., stop - 1."""

    model: Model
    spec: Spec
    seed: int
    start: int
    stop: int
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> tuple[int, str]:
        """Orders of one kind can be drawn together."""
        return id(self.model), json.dumps(self.options, sort_keys=True)

    @property
    def weight(self) -> float:
        """How much longer than usual one layout may take: many steps, many tries, a trace.

        >>> Order(None, Spec(), 0, 0, 1, {"require": True, "tries": 10}).weight
        10.0
        """
        tries = self.options.get("tries", REQUIRE_TRIES) if self.options.get("require") else 1
        tries = max(tries, self.options.get("draws") or 1)
        steps = max(1.0, (self.options.get("steps") or 0) / USUAL_STEPS)
        return float(tries * steps * (2 if self.options.get("trace") else 1))


class Ticket:
    """An order on its way; `deliver` gets its results in order, in parts, or one error."""

    def __init__(
        self,
        order: Order,
        deliver: Callable[[Part], None],
        *,
        deadline: float | None = None,
        background: bool = False,
    ) -> None:
        self.order = order
        self.kind = order.kind
        self.deliver = deliver
        self.deadline = math.inf if deadline is None else deadline
        self.background = background
        self.next = order.start
        self.over = False  # delivered, cancelled or failed: nothing more is drawn or delivered

    @property
    def left(self) -> int:
        return self.order.stop - self.next


class Batcher:
    """The queue and the thread that empties it."""

    def __init__(
        self,
        limits: Limits,
        linger: float = 0.002,
        watch: Callable[[str, int, float], None] = lambda model, layouts, seconds: None,
    ) -> None:
        self.limits, self.linger, self.watch = limits, linger, watch
        self._changed = threading.Condition()
        self._tickets: list[Ticket] = []
        self._stopping = False
        self._speed = FIRST_GUESS
        self._turn = 0
        self.at_work = 0  # layouts that are being drawn
        self._thread = threading.Thread(target=self._work, name="drawing", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Layouts of clients that wait; those of jobs wait on the disk and do not count."""
        with self._changed:
            return self._waiting()

    def _waiting(self) -> int:
        return sum(ticket.left for ticket in self._tickets if not ticket.background)

    def put(self, ticket: Ticket) -> None:
        """Join the queue, or raise a ServeError: 429 when it is full, 503 when the server stops."""
        with self._changed:
            if self._stopping:
                raise stopping()
            waiting = self._waiting()
            if not ticket.background and waiting + ticket.left > self.limits.waiting:
                raise ServeError(
                    429,
                    f"{waiting:,} layouts wait already and at most {self.limits.waiting:,} may; "
                    "try again later",
                    retry_after=self._retry_after(waiting),
                )
            self._tickets.append(ticket)
            self._changed.notify_all()

    def cancel(self, ticket: Ticket) -> None:
        """Leave the queue; what is being drawn this moment is thrown away."""
        with self._changed:
            ticket.over = True
            self._tickets = [other for other in self._tickets if other is not ticket]

    def close(self, patience: float = 30.0) -> None:
        """Refuse new orders, fail those that wait, and end after the batch at work."""
        with self._changed:
            self._stopping = True
            left, self._tickets = self._tickets, []
            self._changed.notify_all()
        for ticket in left:
            self._end(ticket, stopping())
        self._thread.join(patience)

    # The worker --------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            batch = self._next_batch()
            if batch is None:
                return
            if batch:
                self._draw(batch)

    def _next_batch(self) -> list[tuple[Ticket, range]] | None:
        """What to draw together now: tickets with their indices; None: the server stops."""
        with self._changed:
            if not self._tickets and not self._stopping:
                while not self._tickets and not self._stopping:
                    self._changed.wait()
                # Whoever arrives together with the first one is drawn with it.
                until = time.monotonic() + self.linger
                while (rest := until - time.monotonic()) > 0 and not self._stopping:
                    self._changed.wait(rest)
            if self._stopping:
                return None
            late = [ticket for ticket in self._tickets if ticket.deadline < time.monotonic()]
            self._tickets = [ticket for ticket in self._tickets if ticket not in late]
            chosen = self._choose()
            self._tickets = [ticket for ticket in self._tickets if ticket.left]
        for ticket in late:
            self._end(ticket, too_late(self.limits.seconds))
        return chosen

    def _choose(self) -> list[tuple[Ticket, range]]:
        if not self._tickets:
            return []
        self._turn += 1
        jobs_first = self._turn % BACKGROUND_TURN == 0
        queue = sorted(self._tickets, key=lambda ticket: ticket.background != jobs_first)
        alike = [ticket for ticket in queue if ticket.kind == queue[0].kind]
        # A batch takes about the same time whatever is asked: whoever comes next waits no longer.
        room = max(1, int(self.limits.batch / queue[0].order.weight))
        chosen: dict[Ticket, range] = {}
        share = max(1, room // len(alike))
        for most in (share, room):  # equal parts first, then what is left in order of arrival
            for ticket in alike:
                take = min(most, ticket.left, room)
                if take > 0:
                    start = chosen[ticket].start if ticket in chosen else ticket.next
                    ticket.next += take
                    chosen[ticket] = range(start, ticket.next)
                    room -= take
        served = [ticket for ticket in self._tickets if ticket in chosen]
        self._tickets = [t for t in self._tickets if t not in chosen] + served
        return list(chosen.items())

    def _draw(self, batch: Sequence[tuple[Ticket, range]]) -> None:
        began = time.perf_counter()
        self.at_work = layouts = sum(len(indices) for _, indices in batch)
        parts = drawn_together(batch)
        self.at_work = 0
        seconds = time.perf_counter() - began
        self._speed += 0.2 * (layouts / max(seconds, 1e-3) - self._speed)
        self.watch(batch[0][0].order.model.name, layouts, seconds)
        for (ticket, indices), part in zip(batch, parts, strict=True):
            if isinstance(part, LayoutdmError):
                self._end(ticket, part)
            elif not ticket.over:
                ticket.over = indices.stop == ticket.order.stop
                ticket.deliver(part)

    def _end(self, ticket: Ticket, error: LayoutdmError) -> None:
        with self._changed:
            over, ticket.over = ticket.over, True
            self._tickets = [other for other in self._tickets if other is not ticket]
        if not over:
            ticket.deliver(error)

    def _retry_after(self, waiting: int) -> int:
        return min(LONGEST_RETRY, max(1, math.ceil(waiting / max(self._speed, 1e-3))))


def drawn_together(batch: Sequence[tuple[Ticket, range]]) -> list[Part]:
    """The results of each ticket; one that cannot be drawn does not spoil the others."""
    order = batch[0][0].order
    asked = [
        (ticket.order.spec, ticket.order.seed, index) for ticket, indices in batch
        for index in indices
    ]  # fmt: skip
    try:
        results = iter(order.model.draw_many(asked, **order.options))
        return [[(index, next(results)) for index in indices] for _, indices in batch]
    except LayoutdmError as error:
        if len(batch) == 1:
            return [error]
    except Exception:
        log.exception("drawing failed")
        if len(batch) == 1:
            return [ServeError(500, "the server failed to draw this request; its log says why")]
    return [part for one in batch for part in drawn_together([one])]


def stopping() -> ServeError:
    return ServeError(503, "the server is stopping; try again in a moment", retry_after=5)


def too_late(seconds: int) -> ServeError:
    return ServeError(
        503,
        f"the layouts were not drawn within {seconds} seconds, because others wait too; "
        "ask for fewer at once, or try again later",
        retry_after=5,
    )

"""Micro-batching: who is drawn with whom, and that nobody waits for nothing or gets another's."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass

import pytest

import layoutdm
from layoutdm.errors import LayoutdmError
from layoutdm.serve.batcher import Batcher, Order, Ticket
from layoutdm.serve.failures import ServeError
from layoutdm.serve.limits import Limits
from layoutdm.spec import Spec
from tiny_models import folder

PATIENCE = 900


@dataclass
class Slow:
    """A model whose results are (spec, seed, index), and whose draws wait to be let go."""

    name: str = "slow"

    def __post_init__(self):
        self.batches = []
        self.begun = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def draw_many(self, asked, **options):
        self.batches.append([(seed, index) for _, seed, index in asked])
        self.begun.release()
        assert self.go.acquire(timeout=PATIENCE)
        if any(seed == 666 for _, seed, _ in asked):
            raise LayoutdmError("seed 666 cannot be drawn")
        if any(seed == 667 for _, seed, _ in asked):
            raise RuntimeError("a mistake of ours")
        return [(seed, index) for _, seed, index in asked]


class Client:
    """One ticket and what was delivered to it."""

    def __init__(self, batcher, model, count, seed=0, options=None, **how):
        self.box = queue.SimpleQueue()
        order = Order(model, Spec(), seed, 0, count, options or {})
        self.ticket = Ticket(order, self.box.put, **how)
        batcher.put(self.ticket)

    def part(self):
        return self.box.get(timeout=PATIENCE)

    def results(self):
        found, left = [], self.ticket.order.stop
        while left:
            part = self.part()
            if isinstance(part, LayoutdmError):
                raise part
            found += [result for _, result in part]
            left -= len(part)
        return found


@pytest.fixture
def slow():
    model = Slow()
    yield model
    for _ in range(1000):
        model.go.release()


def make(**limits):
    return Batcher(Limits(**{"count": 8, "waiting": 64, "batch": 8, **limits}), linger=0.0)


def hold(batcher, slow):
    """Keep the worker busy, so that whoever comes next waits together."""
    first = Client(batcher, slow, 1, seed=99)
    assert slow.begun.acquire(timeout=PATIENCE)
    return first


def test_what_waits_together_is_drawn_together_in_equal_parts(slow):
    batcher = make()
    hold(batcher, slow)
    large, small = Client(batcher, slow, 8, seed=1), Client(batcher, slow, 2, seed=2)
    for _ in range(4):
        slow.go.release()
    assert small.results() == [(2, 0), (2, 1)]
    assert large.results() == [(1, index) for index in range(8)]
    second = slow.batches[1]
    assert set(second) == {(2, 0), (2, 1), *((1, index) for index in range(6))}
    assert slow.batches[2] == [(1, 6), (1, 7)]


def test_what_takes_longer_is_drawn_in_smaller_batches(slow):
    batcher = make()
    hold(batcher, slow)
    heavy = Client(batcher, slow, 4, options={"require": True, "tries": 4})
    for _ in range(3):
        slow.go.release()
    assert len(heavy.results()) == 4
    assert [len(batch) for batch in slow.batches[1:]] == [2, 2]


def test_orders_of_another_kind_wait_for_their_turn(slow):
    batcher = make()
    hold(batcher, slow)
    one = Client(batcher, slow, 1, seed=1, options={"steps": 5})
    two = Client(batcher, slow, 1, seed=2)
    three = Client(batcher, slow, 1, seed=3, options={"steps": 5})
    for _ in range(3):
        slow.go.release()
    assert one.results() == [(1, 0)] and two.results() == [(2, 0)] and three.results() == [(3, 0)]
    assert slow.batches[1:] == [[(1, 0), (3, 0)], [(2, 0)]]


def test_one_that_cannot_be_drawn_does_not_spoil_the_others(slow):
    batcher = make()
    hold(batcher, slow)
    bad, good = Client(batcher, slow, 2, seed=666), Client(batcher, slow, 2, seed=1)
    ours = Client(batcher, slow, 2, seed=667)
    for _ in range(6):
        slow.go.release()
    assert good.results() == [(1, 0), (1, 1)]
    with pytest.raises(LayoutdmError, match="666 cannot"):
        bad.results()
    with pytest.raises(ServeError, match="its log says why") as told:
        ours.results()
    assert told.value.status == 500


def test_a_full_queue_says_when_to_come_back(slow):
    batcher = make(waiting=8)
    hold(batcher, slow)
    Client(batcher, slow, 6)
    with pytest.raises(ServeError, match="6 layouts wait") as told:
        Client(batcher, slow, 3)
    assert told.value.status == 429 and 1 <= told.value.retry_after <= 60
    assert batcher.waiting == 6
    Client(batcher, slow, 2)


def test_whoever_leaves_frees_the_place(slow):
    batcher = make(waiting=8)
    hold(batcher, slow)
    gone = Client(batcher, slow, 8)
    batcher.cancel(gone.ticket)
    assert batcher.waiting == 0
    kept = Client(batcher, slow, 8, seed=5)
    for _ in range(2):
        slow.go.release()
    assert len(kept.results()) == 8 and gone.box.empty()
    assert [seed for batch in slow.batches for seed, _ in batch] == [99] + [5] * 8


def test_whoever_waits_too_long_is_told(slow):
    batcher = make()
    hold(batcher, slow)
    late = Client(batcher, slow, 1, deadline=time.monotonic() - 1)
    slow.go.release()
    with pytest.raises(ServeError, match="not drawn within") as told:
        late.results()
    assert told.value.status == 503


def test_jobs_wait_for_clients_but_not_for_ever(slow):
    batcher = make()
    hold(batcher, slow)
    Client(batcher, slow, 8, seed=7, background=True, options={"job": 1})
    for seed in range(5):
        Client(batcher, slow, 8, seed=seed, options={"steps": seed + 1})
    assert batcher.waiting == 40  # the job's layouts are not in anybody's way
    for _ in range(7):
        slow.go.release()
    for _ in range(6):
        assert slow.begun.acquire(timeout=PATIENCE)
    assert [batch[0][0] for batch in slow.batches] == [99, 0, 1, 7, 2, 3, 4]


def test_a_stopping_server_takes_and_keeps_nothing(slow):
    batcher = make()
    working = hold(batcher, slow)
    waiting = Client(batcher, slow, 1)
    closing = threading.Thread(target=batcher.close)
    closing.start()
    with pytest.raises(ServeError, match="stopping"):
        waiting.results()
    with pytest.raises(ServeError, match="stopping"):
        Client(batcher, slow, 1)
    slow.go.release()
    assert working.results() == [(99, 0)]  # what is at work is finished
    closing.join(PATIENCE)
    assert not closing.is_alive()


def test_layouts_are_what_their_seeds_say_in_any_company():
    """Requests of different kinds and sizes, drawn together, equal `Model.generate` alone."""
    model = layoutdm.load(folder())
    specs = [
        {},
        {"elements": [{"label": "Text"}] * 4},
        {"elements": [{"label": "Image", "x": 0.5, "y": {"about": 0.3}}], "more": True},
        {
            "elements": [{"name": "a", "label": "Text"}, {"name": "b", "label": "Icon"}],
            "relations": [{"of": "a", "is": "above", "to": "b"}],
        },
    ]
    batcher = Batcher(Limits(), linger=0.05)
    clients = []
    for seed, spec in enumerate(specs * 3):
        client = Client.__new__(Client)
        client.box = queue.SimpleQueue()
        order = Order(model, Spec.parse(spec), seed, 0, 1 + seed % 5)
        client.ticket = Ticket(order, client.box.put)
        batcher.put(client.ticket)
        clients.append(client)
    for seed, (spec, client) in enumerate(zip(specs * 3, clients, strict=True)):
        alone = model.generate(spec, count=1 + seed % 5, seed=seed)
        together = client.results()
        assert [r.layout for r in together] == [r.layout for r in alone]
        assert [r.as_dict() for r in together] == [r.as_dict() for r in alone]
    batcher.close()

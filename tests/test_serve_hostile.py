"""Bodies made to hurt: each gets a sentence. bench/serve_hostile.py measures time and memory."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from layoutdm.serve import Limits, Settings
from layoutdm.serve.drawing import slowly
from layoutdm.serve.failures import ServeError
from layoutdm.serve.guard import GONE
from layoutdm.serve.room import Room
from serve_helpers import client, folder, running

BENCH = Path(__file__).parents[1] / "bench" / "serve_hostile.py"
HEADERS = {"Content-Type": "application/json"}


def bodies():
    found = importlib.util.spec_from_file_location("serve_hostile", BENCH)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.bodies()


BODIES = bodies()
# What is told about some of them; the others only must not be answered with 200 or 500.
TOLD = {
    "deep lists": (400, "nested too deeply"),
    "deep in a field": (400, "nested too deeply"),
    "NaN": (400, "NaN is not JSON"),
    "infinite": (400, "finite"),
    "a number of a million digits": (400, "too many digits"),
    "keys twice by the ten thousand": (400, "given twice"),
    "different keys, each twice": (400, "'k0' is given twice"),
    "100,000 equal relations": (422, "100,000 entries; this server takes at most 2,000"),
    "huge list of numbers": (422, "2,000,001 entries"),
    "unknown keys by the ten thousand": (400, "50,000 fields; at most 1,000"),
    "half a character": (400, "half a character"),
    "not UTF-8": (400, "UTF-8"),
    "a text": (422, "object in braces"),
    "nothing": (400, "not valid JSON"),
}


@pytest.fixture(scope="module")
def http():
    with client(limits=Limits(body_bytes=16 * 2**20)) as found:  # so that all of them are read
        yield found


@pytest.mark.parametrize("path", ["/v1/generate", "/v1/check", "/v1/tidy", "/v1/convert"])
@pytest.mark.parametrize("name", BODIES)
def test_hostile_bodies_get_a_sentence(http, name, path):
    answer = http.post(path, content=BODIES[name], headers=HEADERS)
    told = answer.json()
    assert "Traceback" not in answer.text and len(answer.content) < 500_000
    if path == "/v1/check" and answer.status_code == 200:
        assert told["problems"] or name == "2,000 equal relations"
        return
    if name == "2,000 equal relations" and path == "/v1/generate":
        assert answer.status_code == 200 and len(told["results"]) == 1
        return
    assert answer.status_code in (400, 422)
    assert told["error"]["message"] and told["request_id"]
    if path == "/v1/generate" and name in TOLD:
        status, words = TOLD[name]
        assert answer.status_code == status and words in answer.text


def test_a_body_beyond_the_limit_is_not_kept(http):
    with client(limits=Limits(body_bytes=1000)) as small:
        answer = small.post("/v1/check", content=b" " * 1001, headers=HEADERS)
        assert answer.status_code == 413 and "1,000 bytes" in answer.json()["error"]["message"]

        def endless():
            for _ in range(1000):
                yield b" " * 100

        answer = small.post("/v1/check", content=endless(), headers=HEADERS)
        assert answer.status_code == 413
        assert small.post("/v1/check", json={}).status_code == 200


def test_layouts_beyond_the_limits_are_refused():
    limits = Limits(convert_layouts=3, elements=2)
    one = {"labels": ["a"] * 3, "boxes": [[0.5, 0.5, 0.1, 0.1]] * 3}
    with client(limits=limits) as http:
        answer = http.post("/v1/convert", json={"layouts": [one] * 4, "to": "svg"})
        assert answer.status_code == 422 and "at most 3" in answer.text
        answer = http.post("/v1/convert", json={"layouts": [one], "to": "svg"})
        assert answer.status_code == 422 and "at most 2" in answer.text
        flat = {"labels": ["a"], "boxes": [[0.5, 0.5, 1, 1]], "width": 1e9, "height": 1e-9}
        answer = http.post("/v1/convert", json={"layouts": [flat], "to": "png"})
        assert answer.status_code == 200 and len(answer.content) < 1_000_000


def test_slow_work_is_bounded_by_its_elements():
    """A hundred boxes took minutes to tidy, and everybody else's exports waited for them."""
    limits = Limits(drawn_elements=5, tidy_elements=2)
    one = {"labels": ["a"] * 3, "boxes": [[0.5, 0.5, 0.1, 0.1]] * 3}
    with client(limits=limits) as http:
        answer = http.post("/v1/tidy", json={"layouts": [one]})
        assert answer.status_code == 422 and "tidies at most 2" in answer.text
        assert answer.json()["error"]["problems"][0]["path"] == "layouts[0].boxes"
        answer = http.post("/v1/convert", json={"layouts": [one] * 2, "to": "svg"})
        assert answer.status_code == 422 and "6 elements in all" in answer.text
        assert http.post("/v1/convert", json={"layouts": [one] * 2, "to": "coco"}).is_success


class Asking:
    """A client of which only that matters when it leaves."""

    def __init__(self, leaves: bool) -> None:
        self.leaves = leaves

    async def receive(self) -> dict[str, str]:
        if not self.leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}


def test_who_waits_for_slow_work_does_not_wait_for_ever_and_may_leave():
    async def scene() -> None:
        room = Room(Settings(models=(str(folder()),), threads=1, limits=Limits(seconds=1)))
        done = threading.Event()
        at_work = asyncio.create_task(slowly(room, Asking(leaves=False), done.wait))
        await asyncio.sleep(0.1)
        with pytest.raises(ServeError) as gone:
            await slowly(room, Asking(leaves=True), int)
        assert gone.value.status == GONE
        with pytest.raises(ServeError) as late:
            await slowly(room, Asking(leaves=False), int)
        assert late.value.status == 503 and late.value.retry_after
        done.set()
        assert await at_work
        assert await slowly(room, Asking(leaves=False), int, "7") == 7
        room.close()

    # In a thread of its own: the browser tests leave a loop running in this one.
    with ThreadPoolExecutor(1) as own:
        own.submit(asyncio.run, scene()).result(timeout=60)


@pytest.mark.parametrize("path", ["/v1/generate", "/v1/jobs"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": 199}, "steps must be from 1 to "),
        ({"sampler": "element", "remask": 0.5}, "belong to sampler=plain"),
        ({"temperature": 1e308}, "(from 1e-6 to 1e6)"),
        ({"top_p": 1e-300}, "(from 1e-9)"),
        ({"self": 1}, "unknown option 'self'"),
    ],
)
def test_options_that_no_draw_can_follow_are_told_before_a_job_is_taken(
    tmp_path, path, options, words
):
    with client(jobs=tmp_path / "jobs") as http:
        answer = http.post(path, json={"count": 1, "options": options})
        assert answer.status_code == 422 and words in answer.json()["error"]["message"]
        assert answer.json()["error"]["problems"][0]["path"].startswith("options")
        assert http.get("/v1/jobs").json()["jobs"] == []


def test_the_largest_seed_is_told_to_the_last_digit(http):
    answer = http.post("/v1/generate", json={"seed": 2**53})
    assert "at most 9007199254740991, got 9007199254740992" in answer.json()["error"]["message"]


HOST = b"Host: localhost\r\n"
POST = b"POST /v1/check HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"


def spoken(found, *parts: bytes) -> bytes:
    """Everything that is answered to these bytes; the next part goes out after the first answer."""
    port = int(found.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=900) as wire:
        got = b""
        for number, part in enumerate(parts):
            if number:
                got += wire.recv(65536)
            wire.sendall(part)
        while more := wire.recv(65536):
            got += more
    return got


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("hostile"), "--limit", "body_bytes=1000") as found:
        yield found


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /v1/jobs/a b HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"Host: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"no colon\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_http_gets_a_sentence_in_json(server, data):
    head, _, body = spoken(server, data).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ") and b"application/json" in head
    told = json.loads(body)
    assert "HTTP/1.1 that can be read" in told["error"]["message"]
    assert told["request_id"].encode() in head


def test_rubbish_after_the_answer_leaves_no_traceback(server):
    """The answer is on its way already, so nothing can be said about the rest of the body."""
    plain = POST.replace(b"application/json", b"text/plain")
    got = spoken(server, plain + b"Transfer-Encoding: chunked\r\n\r\n", b"zz\r\n{}\r\n")
    assert got.startswith(b"HTTP/1.1 415 ") and got.count(b"HTTP/1.1 ") == 1
    assert server.http().get("/v1/health").status_code == 200
    assert "Traceback" not in server.log.read_text()


TOO_MUCH = b"Content-Length: 99999999999999999999\r\n"
ASKED = b"Content-Length: 1001\r\nExpect: 100-continue\r\n"


@pytest.mark.parametrize("more", [TOO_MUCH, ASKED])
def test_a_body_that_says_it_is_too_large_is_not_waited_for(server, more):
    """Nothing of the body is sent: only its headers can be the reason."""
    got = spoken(server, POST + b"Connection: close\r\n" + more + b"\r\n")
    assert got.startswith(b"HTTP/1.1 413 ") and b"1,000 bytes" in got

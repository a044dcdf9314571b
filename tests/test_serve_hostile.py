"""Bodies made to hurt: each gets a sentence. bench/serve_hostile.py measures time and memory."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from layoutdm.serve import Limits
from serve_helpers import client

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

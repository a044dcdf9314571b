"""Whatever comes in, only answers come out: never 500, never a traceback, always JSON errors."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from layoutdm.serve import Limits
from serve_helpers import client
from tiny_models import LABELS

KEYS = st.sampled_from(
    ["spec", "count", "seed", "model", "options", "tidy", "trace", "formats", "layouts", "to",
     "elements", "relations", "reading_order", "more", "number_of_elements", "name", "label", "x",
     "y", "width", "height", "area", "aspect_ratio", "about", "within", "strength", "of", "is",
     "labels", "boxes", "id", "metadata", "names", "steps", "temperature", "top_p", "sampler",
     "require", "tries", "min", "max", "report", "canvas", "unit", "groups"]
) | st.text(max_size=5)  # fmt: skip
WORDS = st.sampled_from([*LABELS, "canvas", "a", "b", "above", "svg", "png", "coco", "element"])
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.integers(0, 3) | st.text(max_size=6) | WORDS
    | st.floats(allow_nan=False, allow_infinity=False) | st.floats(0, 1)
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)
ELEMENT = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "b", "c"]),
        "label": st.sampled_from(LABELS),
        "x": st.floats(0, 1) | VALUES,
        "width": st.floats(0, 1) | st.fixed_dictionaries({"about": st.floats(-1, 2)}),
        "area": st.floats(0, 1),
    },
)
RELATION = st.fixed_dictionaries(
    {
        "of": st.sampled_from(["a", "b"]),
        "is": st.sampled_from(["above", "below", "larger", "top", "equal_size"]),
        "to": st.sampled_from(["a", "b", "canvas"]),
    }
)
SPEC = st.fixed_dictionaries(
    {}, optional={
        "elements": st.lists(ELEMENT, max_size=4),
        "relations": st.lists(RELATION, max_size=3),
        "more": st.booleans(),
        "number_of_elements": st.integers(0, 14) | VALUES,
    },
)  # fmt: skip
BOX = st.lists(st.floats(0, 1) | LEAVES, min_size=3, max_size=5)
LAYOUT = st.fixed_dictionaries(
    {"labels": st.lists(WORDS, max_size=3), "boxes": st.lists(BOX, max_size=3)},
    optional={"id": LEAVES, "width": LEAVES, "height": LEAVES, "metadata": VALUES, "names": VALUES},
)
OPTIONS = st.dictionaries(
    st.sampled_from(["steps", "temperature", "top_p", "sampler", "remask", "require", "published"]),
    LEAVES,
    max_size=3,
)
BODIES = VALUES | st.fixed_dictionaries(
    {"count": st.integers(0, 3), "spec": SPEC}, optional={"options": OPTIONS, "seed": LEAVES}
) | st.fixed_dictionaries(
    {"layouts": st.lists(LAYOUT, max_size=3),
     "to": st.sampled_from(["json", "jsonl", "csv", "svg", "html", "coco", "voc", "yolo", "x"])}
)  # fmt: skip
HEADERS = {"Content-Type": "application/json"}
PATHS = st.sampled_from(["/v1/generate", "/v1/check", "/v1/tidy", "/v1/convert", "/v1/jobs"])


@pytest.fixture(scope="module")
def http():
    with client(limits=Limits(count=3, steps=20)) as found:
        yield found


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(path=PATHS, body=BODIES)
def test_any_json_gets_an_answer(http, path, body):
    look(http.post(path, content=json.dumps(body), headers=HEADERS))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(path=PATHS, body=st.binary(max_size=60))
def test_any_bytes_get_an_answer(http, path, body):
    look(http.post(path, content=body, headers=HEADERS))


def look(answer):
    assert answer.status_code in (200, 400, 422, 501, 503), answer.text
    if answer.status_code != 200:
        record = json.loads(answer.content)
        assert record["error"]["message"] and record["request_id"]
        assert "Traceback" not in answer.text

"""The OpenAPI schema: whoever writes a client from it is answered, whatever they send."""

from __future__ import annotations

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from serve_helpers import client, running


def no_mistake_of_ours(context, response, case):
    """501 and 503 are told on purpose; any other error of the server would be a mistake."""
    assert response.status_code < 500 or response.status_code in (501, 503), response.text


CHECKS = [
    no_mistake_of_ours,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    limits = ["--limit", "count=4", "--limit", "steps=8", "--limit", "job_count=5"]
    with running(tmp_path_factory.mktemp("schema"), *limits) as found:
        yield schemathesis.openapi.from_url(f"{found.url}/openapi.json")


ROUTES = [
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{name}"),
    ("GET", "/v1/schema"),
    ("GET", "/v1/health"),
    ("GET", "/metrics"),
    ("POST", "/v1/generate"),
    ("POST", "/v1/check"),
    ("POST", "/v1/tidy"),
    ("POST", "/v1/convert"),
    ("POST", "/v1/jobs"),
    ("GET", "/v1/jobs"),
    ("GET", "/v1/jobs/{id}"),
    ("DELETE", "/v1/jobs/{id}"),
    ("GET", "/v1/jobs/{id}/events"),
    ("GET", "/v1/jobs/{id}/files/{name}"),
]


RIGHT, WRONG = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
# Only a body can be wrong: the parts of an address are any text.
TRIED = [(RIGHT, *route) for route in ROUTES] + [(WRONG, *r) for r in ROUTES if r[0] == "POST"]


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "method", "path"), TRIED)
def test_every_route_keeps_to_its_schema(schema, mode, method, path):
    checks = list(CHECKS)
    if path != "/v1/check":  # which answers wrong requests, too: with their problems
        checks.append(negative_data_rejection)
    cases = schema[path][method].as_strategy(generation_mode=mode)

    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=cases)
    def send(case):
        case.call_and_validate(checks=checks)

    send()


def test_all_routes_are_tried(schema):
    found = {
        (method, path)
        for path, methods in schema.raw_schema["paths"].items()
        for method in map(str.upper, methods)
    }
    assert found == set(ROUTES)


# A client of a stranger: everything it knows comes from the schema. ------------------------------


@pytest.fixture(scope="module")
def http():
    with client() as found:
        yield found


def test_the_schemas_are_right_and_every_reference_leads_somewhere(http):
    document = http.get("/openapi.json").json()
    parts = document["components"]["schemas"]
    for name, part in parts.items():
        Draft202012Validator.check_schema(part)
        assert part.get("type") or part.get("anyOf"), name
    for reference in references(document):
        assert reference.removeprefix("#/components/schemas/") in parts, reference
    assert "HTTPValidationError" not in json.dumps(document)


def references(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref":
                yield inner
            else:
                yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_every_route_says_what_it_is_for(http):
    for path, methods in http.get("/openapi.json").json()["paths"].items():
        for operation in methods.values():
            assert operation["summary"] and operation["tags"], path
            assert operation["operationId"].isidentifier() and "v1" not in operation["operationId"]
            assert {"403", "401"} <= set(operation["responses"]), path


def test_the_examples_of_the_schema_work(http):
    """A stranger copies the example of each body and gets a good answer."""
    document = http.get("/openapi.json").json()
    parts = document["components"]["schemas"]
    tried = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if "requestBody" not in operation or path in ("/v1/jobs", "/v1/tidy"):
                continue
            reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            for example in parts[reference.rpartition("/")[2]]["examples"]:
                answer = http.request(method, path, json=example)
                assert answer.status_code == 200, (path, answer.text)
                tried += 1
    assert tried >= 3


def test_answers_fit_the_schema_that_describes_them(http):
    document = http.get("/openapi.json").json()
    layout = {"labels": ["Text"], "boxes": [[0.5, 0.5, 0.2, 0.2]]}
    spec = {"elements": [{"name": "a", "label": "Text", "x": 0.5}], "more": True}
    asked = [
        ("get", "/v1/models", None),
        ("get", "/v1/health", None),
        ("post", "/v1/generate", {"spec": spec, "count": 2, "trace": True}),
        ("post", "/v1/check", {"spec": {"elements": [{"label": "x"}]}}),
        ("post", "/v1/convert", {"layouts": [layout], "to": "coco"}),
    ]
    for method, path, body in asked:
        answer = http.request(method, path, json=body)
        content = document["paths"][path][method]["responses"]["200"]["content"]
        part = {**content["application/json"]["schema"], "components": document["components"]}
        Draft202012Validator(part).validate(answer.json())
    error = http.post("/v1/convert", json={"layouts": [layout], "to": "x"})
    part = {"$ref": "#/components/schemas/Error", "components": document["components"]}
    Draft202012Validator(part).validate(error.json())

"""The HTTP API: what it answers, and that it says the same as Python and the command line."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

import layoutdm
from layoutdm.serve import Limits
from layoutdm.spec import Spec, SpecError
from serve_helpers import MODEL, client
from tiny_models import LABELS, folder

SPEC = {
    "elements": [
        {"name": "bar", "label": "Toolbar", "x": 0.5, "y": 0.0512},
        {"name": "hero", "label": ["Image", "Icon"]},
    ],
    "relations": [{"of": "hero", "is": "below", "to": "bar"}],
    "more": True,
}
LAYOUT = {"id": "a", "width": 100, "height": 200, "labels": ["Text"], "boxes": [[0.5, 0.5, 1, 1]]}


@pytest.fixture(scope="module")
def http():
    with client(limits=Limits(count=32, steps=50)) as found:
        yield found


def plain(results):
    return json.loads(json.dumps([result.as_dict() for result in results]))


# Drawing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ({}, {}),
        (SPEC, {}),
        (SPEC, {"steps": 4, "temperature": 0.7}),
        (SPEC, {"require": True, "tries": 3}),
        ({"elements": [{"label": "Text"}] * 3}, {"top_p": 0.9}),
    ],
)
def test_layouts_are_those_of_the_model(http, spec, options):
    body = {"spec": spec, "count": 5, "seed": 7, "options": options}
    answer = http.post("/v1/generate", json=body)
    assert answer.status_code == 200, answer.text
    model = layoutdm.load(folder())
    assert answer.json()["results"] == plain(model.generate(spec, count=5, seed=7, **options))
    assert answer.json()["model"] == MODEL and answer.json()["seconds"] > 0


def test_a_stream_has_the_same_layouts_a_line_each(http):
    body = {"spec": SPEC, "count": 6, "seed": 3}
    whole = http.post("/v1/generate", json=body).json()["results"]
    streamed = http.post("/v1/generate", json=body, headers={"Accept": "application/x-ndjson"})
    assert streamed.headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line) for line in streamed.text.splitlines()] == whole


def test_a_trace_ends_where_the_layout_is(http):
    body = {"spec": {"elements": [{"label": "Text"}] * 2}, "count": 2, "trace": True}
    for result in http.post("/v1/generate", json=body).json()["results"]:
        assert result["trace"][0]["boxes"][0] == [None] * 4
        assert result["trace"][-1]["labels"] == result["labels"]
        assert None not in result["trace"][-1]["boxes"][0]
    body["trace"] = False
    assert "trace" not in http.post("/v1/generate", json=body).json()["results"][0]


def test_an_empty_body_asks_for_eight_layouts_of_anything(http):
    answer = http.post("/v1/generate", json={})
    assert [result["id"] for result in answer.json()["results"]] == [f"0-{i}" for i in range(8)]


# Problems ------------------------------------------------------------------------------------


def problems(answer, status=422):
    assert answer.status_code == status, answer.text
    record = answer.json()
    assert record["request_id"] == answer.headers["x-request-id"]
    assert record["error"]["message"] and "Traceback" not in answer.text
    return {one["path"]: one["message"] for one in record["error"]["problems"]}


def test_all_problems_come_at_once_with_their_places(http):
    body = {
        "spec": {"elements": [{"label": "Toolbr"}, {"x": 0.9, "width": 0.4}]},
        "count": 33,
        "model": "elment",
        "options": {"steps": 51, "topp": 0.9},
    }
    found = problems(http.post("/v1/generate", json=body))
    assert set(found) == {"count", "model"}
    assert "at most 32" in found["count"] and "did you mean 'element'" in found["model"]
    del body["model"]
    found = problems(http.post("/v1/generate", json=body))
    assert set(found) == {
        "count", "elements[0].label", "elements[1].x", "options.steps", "options.topp",
    }  # fmt: skip
    assert "did you mean 'Toolbar'" in found["elements[0].label"]
    assert "50" in found["options.steps"] and "unknown option" in found["options.topp"]


@pytest.mark.parametrize(
    ("body", "path", "words"),
    [
        ({"cuont": 3}, "cuont", "did you mean 'count'"),
        ({"count": 0}, "count", "at least 1"),
        ({"count": "8"}, "count", "whole number"),
        ({"count": 8.5}, "count", "whole number"),
        ({"seed": -1}, "seed", "at least 0"),
        ({"spec": "/dev/zero"}, "spec", "object"),
        ({"spec": "request.json"}, "spec", "object"),
        ({"spec": [1]}, "spec", "object"),
        ({"spec": None}, "spec", "object"),
        ({"model": "../../etc"}, "model", "unknown model"),
        ({"model": str(folder())}, "model", "unknown model"),
        ({"model": 3}, "model", "text"),
        ({"options": {"batch_size": 4}}, "options.batch_size", "unknown option"),
        ({"options": {"trace": True}}, "options.trace", "unknown option"),
        ({"options": {"steps": True}}, "options.steps", "whole number"),
        ({"options": {"tries": 21, "require": True}}, "options.tries", "20"),
        ({"options": {"require": 1}}, "options.require", "true or false"),
        ({"options": {"temperature": "hot"}}, "options.temperature", "more than 0"),
        ({"options": {"temperature": {"a": []}}}, "options.temperature", "more than 0"),
        ({"spec": {"elements": [{}] * 101}}, "elements", "at most 100"),
        ({"spec": {"reading_order": ["a"] * 2001}}, "reading_order", "at most 2,000"),
    ],
)
def test_what_is_wrong_is_told_where_it_is(http, body, path, words):
    assert words in problems(http.post("/v1/generate", json=body))[path]


def test_options_that_do_not_fit_each_other_are_the_clients_problem_too(http):
    answer = http.post("/v1/generate", json={"options": {"sampler": "element", "remask": 0.5}})
    assert "sampler=plain" in problems(answer)["options"]


def test_check_tells_all_problems_and_never_fails(http):
    fine = http.post("/v1/check", json={"spec": SPEC})
    assert fine.status_code == 200 and fine.json() == {"problems": []}
    spec = {"elements": [{"label": "Toolbr"}, {"name": "a", "hight": 1}], "more": 3}
    found = http.post("/v1/check", json={"spec": spec}).json()["problems"]
    with pytest.raises(SpecError) as told:
        Spec.parse(spec)
    assert [one for one in found if one["path"] != "elements[0].label"] == [
        problem.as_dict() for problem in told.value.problems
    ]
    contradicting = {
        "elements": [{"name": "a", "label": "Text"}, {"name": "b", "label": "Text"}],
        "relations": [
            {"of": "a", "is": "above", "to": "b"}, {"of": "a", "is": "below", "to": "b"},
        ],
    }  # fmt: skip
    (one,) = http.post("/v1/check", json={"spec": contradicting}).json()["problems"]
    assert one["path"] == "relations[1]" and "contradicts" in one["message"]
    (model,) = http.post("/v1/check", json={"model": "x"}).json()["problems"]
    assert model["path"] == "model"


def test_other_addresses_and_methods_are_told_in_json(http):
    assert "/openapi.json" in http.get("/v1/nothing").json()["error"]["message"]
    for method, path in (("GET", "/v1/generate"), ("POST", "/v1/models"), ("PUT", "/v1/jobs")):
        answer = http.request(method, path)
        assert answer.status_code == 405 and "allow" in answer.headers
        assert problems(answer, 405) == {}
    assert problems(http.get("/v1/models/nowhere"), 404) == {}
    assert problems(http.get("/nothing/here"), 404) == {}


# What there is -------------------------------------------------------------------------------


def test_models_say_what_they_know(http):
    (model,) = http.get("/v1/models").json()["models"]
    assert model == http.get(f"/v1/models/{MODEL}").json()
    assert [label["name"] for label in model["labels"]] == list(LABELS)
    assert set(model["labels"][0]) == {"name", "count", "aliases"}
    assert model["max_elements"] == 12 and model["canvas"] == [360, 640] and model["default"]
    assert set(model["tasks"]) >= {"unconditional", "c", "cwh", "completion", "relation"}
    assert set(model["tasks"].values()) == {None}


def test_health_states_every_limit(http):
    health = http.get("/v1/health").json()
    assert health["status"] == "ok" and health["version"] == layoutdm.__version__
    assert health["limits"] == Limits(count=32, steps=50).as_dict()


def test_the_schema_is_that_of_the_command_line(http):
    assert http.get("/v1/schema").json() == json.loads(json.dumps(Spec.json_schema()))


def test_metrics_count_what_happened(http):
    http.post("/v1/generate", json={"count": 3})
    http.get("/v1/no/such/thing")
    text = http.get("/metrics").text
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(numbers[f'layoutdm_layouts_total{{model="{MODEL}"}}']) >= 3
    good = 'layoutdm_requests_total{route="/v1/generate",status="200"}'
    assert float(numbers[good]) >= 1
    assert float(numbers['layoutdm_requests_total{route="other",status="404"}']) >= 1
    assert numbers["layoutdm_queue_layouts"] == "0"
    last = 'layoutdm_request_seconds_bucket{route="/v1/generate",le="+Inf"}'
    assert numbers[last] == numbers['layoutdm_request_seconds_count{route="/v1/generate"}']
    assert "no/such" not in text


# Files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("to", "media", "begins"),
    [
        ("json", "application/json", b"{"),
        ("jsonl", "application/x-ndjson", b"{"),
        ("coco", "application/json", b"{"),
        ("labelstudio", "application/json", b"["),
        ("csv", "text/csv", b""),
        ("parquet", "application/vnd.apache.parquet", b"par1"),
        ("svg", "image/svg+xml", b"<svg"),
        ("png", "image/png", b"\x89png"),
        ("html", "text/html", b"<!"),
        ("pptx", "application/vnd.openxml", b"pk"),
        ("yolo", "application/zip", b"pk"),
        ("voc", "application/zip", b"pk"),
    ],
)
@pytest.mark.parametrize("number", [1, 3])
def test_layouts_become_files(http, to, media, begins, number):
    layouts = [{**LAYOUT, "id": f"a{i}"} for i in range(number)]
    answer = http.post("/v1/convert", json={"layouts": layouts, "to": to})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(media)
    if (to, number) == ("json", 3):
        begins = b"["
    assert answer.content.lower().startswith(begins)
    assert "attachment" in answer.headers["content-disposition"]


def test_a_result_goes_straight_into_a_file_and_comes_back(http, tmp_path):
    results = http.post("/v1/generate", json={"spec": SPEC, "count": 2}).json()["results"]
    answer = http.post("/v1/convert", json={"layouts": results, "to": "jsonl"})
    path = tmp_path / "a.jsonl"
    path.write_bytes(answer.content)
    back = [layout.as_dict() for layout in layoutdm.formats.read(path)]
    for result in results:
        result.pop("report")
    assert back == results
    one = http.post("/v1/convert", json={"layouts": results[:1], "to": "json"}).json()
    assert one == results[0]


def test_names_in_a_zip_stay_inside_it(http):
    layouts = [{**LAYOUT, "id": "../../../etc/passwd"}, {**LAYOUT, "id": "/tmp/x"}]
    answer = http.post("/v1/convert", json={"layouts": layouts, "to": "voc"})
    names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
    assert names and not [name for name in names if name.startswith("/") or ".." in name.split("/")]


def test_bad_layouts_are_named_and_no_path_of_ours_is_told(http):
    layouts = [LAYOUT, {"labels": ["a"]}, {"labels": [3], "boxes": [[0.5, 0.5, 1, 1]]}]
    found = problems(http.post("/v1/convert", json={"layouts": layouts, "to": "svg"}))
    assert set(found) == {"layouts[1]", "layouts[2]"}
    found = problems(http.post("/v1/convert", json={"layouts": [LAYOUT], "to": "/etc/passwd"}))
    assert "unknown format" in found["to"]
    twice = {"layouts": [LAYOUT, LAYOUT], "to": "coco"}
    answer = http.post("/v1/convert", json=twice)
    assert answer.status_code in (200, 422) and "/tmp" not in answer.text


def test_tidy_makes_nearly_equal_edges_equal(http):
    near = {"labels": ["Text", "Text"], "boxes": [[0.3, 0.2, 0.4, 0.1], [0.305, 0.5, 0.4, 0.1]]}
    answer = http.post("/v1/tidy", json={"layouts": [near]})
    assert answer.status_code == 200, answer.text
    (first, second) = answer.json()["layouts"][0]["boxes"]
    assert abs(first[0] - second[0]) < 1e-6
    spec = {"elements": [{"label": "Text", "x": 0.31, "width": 0.4}, {"label": "Text"}]}
    made = http.post("/v1/generate", json={"spec": spec, "tidy": True, "count": 2}).json()
    assert [one["boxes"][0][0] for one in made["results"]] == [0.31, 0.31]  # fixed values stay

"""Requests: parsing, all problems at once, the JSON schema, and the arrays of a condition."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from layoutdm.errors import LayoutdmError
from layoutdm.spec import Condition, Spec, SpecError

LABELS = ("Text", "Image", "Icon", "Text Button", "Toolbar")
EXAMPLE: dict[str, Any] = {
    "elements": [
        {"name": "bar", "label": "Toolbar", "x": 0.5, "y": 0.07, "width": 1.0, "height": 0.08},
        {"name": "hero", "label": "Image"},
        {"name": "cta", "label": "Text Button", "width": 0.8, "y": {"about": 0.9, "within": 0.1}},
        {"label": "Text", "area": 0.05, "aspect_ratio": 0.2},
        {"label": ["Icon", "Image"]},
    ],
    "more": True,
    "number_of_elements": {"min": 6, "max": 12},
    "relations": [
        {"of": "hero", "is": "below", "to": "bar"},
        {"of": "hero", "is": "larger", "to": "cta"},
        {"of": "cta", "is": "bottom", "to": "canvas"},
    ],
    "reading_order": ["bar", "hero", "cta"],
}


def problems(source: Any) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        Spec.parse(source)
    return {problem.path: problem.message for problem in caught.value.problems}


def test_parses_dict_text_and_file_alike(tmp_path: Path) -> None:
    spec = Spec.parse(EXAMPLE)
    text = json.dumps(EXAMPLE)
    file = tmp_path / "request.json"
    file.write_text("\ufeff" + text, encoding="utf-8")
    assert Spec.parse(text) == Spec.parse(f"\n {text}") == Spec.parse(file) == spec
    assert Spec.parse(spec) == Spec(**EXAMPLE) == spec
    assert Spec.parse(None) == Spec.parse("{}") == Spec()
    assert Spec.parse(spec.as_dict()) == spec
    assert json.loads(json.dumps(spec.as_dict())) == spec.as_dict()
    assert spec.as_dict()["relations"] == EXAMPLE["relations"]


def test_is_frozen_and_numbers_may_be_whole_or_numpy() -> None:
    spec = Spec.parse({"elements": [{"width": 1, "x": np.float32(0.5), "y": np.int64(1)}]})
    assert (spec.elements[0].width, spec.elements[0].x, spec.elements[0].y) == (1.0, 0.5, 1.0)
    with pytest.raises(ValidationError):
        spec.more = True


def test_who_may_add_elements() -> None:
    assert Spec().may_add
    assert not Spec.parse({"elements": [{}]}).may_add
    assert Spec.parse({"elements": [{}], "more": True}).may_add
    assert Spec().number_range(25) == (1, 25)
    assert Spec.parse({"elements": [{}, {}]}).number_range(25) == (2, 2)
    assert Spec.parse({"number_of_elements": 7}).number_range(25) == (7, 7)
    assert Spec.parse({"number_of_elements": {"max": 70}}).number_range(25) == (1, 25)
    wide = {"elements": [{}], "more": True, "number_of_elements": {"min": 4}}
    assert Spec.parse(wide).number_range(25) == (4, 25)


def test_every_problem_of_form_at_once_with_its_path() -> None:
    got = problems(
        {
            "elements": [
                {
                    "nmae": "x",
                    "label": 5,
                    "x": "0.5",
                    "y": True,
                    "width": {"abot": 0.5, "about": None, "within": 0, "prior": "gauss"},
                    "height": float("nan"),
                    "area": float("inf"),
                },
                {"label": [], "x": [1]},
                7,
            ],
            "more": "yes",
            "number_of_elements": 2.5,
            "relations": [{"of": "a", "is": "abvoe"}, {"of": "", "is": "above", "to": "b"}],
            "reading_order": "abc",
            "foo": 1,
        }
    )
    assert got == {
        "elements[0].nmae": "unknown field; did you mean 'name'?",
        "elements[0].label": "must be a text or a list of texts, got 5",
        "elements[0].x": "must be a number, or {\"about\": number}, got '0.5'",
        "elements[0].y": 'must be a number, or {"about": number}, got true',
        "elements[0].width.abot": "unknown field; did you mean 'about'?",
        "elements[0].width.about": "must be a number, got null",
        "elements[0].width.within": "must be greater than 0, got 0.0",
        "elements[0].width.prior": "unknown value 'gauss'; did you mean 'gaussian'?",
        "elements[0].height": "must be a finite number, got nan",
        "elements[0].area": "must be a finite number, got inf",
        "elements[1].label": "must list at least one",
        "elements[1].x": 'must be a number, or {"about": number}, got [1]',
        "elements[2]": "must be an object in braces, got 7",
        "more": "must be true or false, got 'yes'",
        "number_of_elements": 'must be a whole number, or {"min": ..., "max": ...}, got 2.5',
        "relations[0].is": "unknown relation 'abvoe'; did you mean 'above'?",
        "relations[0].to": "is missing; it must be given",
        "relations[1].of": "must not be empty",
        "reading_order": "must be a list, got 'abc'",
        "foo": "unknown field; the fields are 'elements', 'more', 'number_of_elements', "
        "'relations', 'groups', 'reading_order', 'canvas', 'unit', 'margins'",
    }


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ('{"elements": [}', "not valid JSON at line 1, column 15"),
        ("", "not valid JSON"),
        ("[1]", "must be an object in braces, got [1]"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 50_000, "nested too deeply"),
        ('{"more": true, "more": false}', "'more' is given twice"),
        ('{"number_of_elements": ' + "9" * 5000 + "}", "too many digits"),
        ('{"elements": [{"x": ' + "9" * 400 + "}]}", "must be a finite number"),
        ('{"elements": [{"x": NaN}]}', "must be a finite number"),
        ('{"elements": [{"x": 1e999}]}', "must be a finite number"),
        (Path("no/such/file.json"), "no such file"),
        ("no/such/file.json", "not valid JSON at line 1, column 1"),
        ("/etc/passwd", "a file a Path"),
        (Path("x" * 5000), "cannot be read"),
        (Path("/dev/zero"), "no such file"),
        (Path(), "is a folder"),
        (5, "must be an object in braces, got 5"),
        ({1: 2}, "field names must be text, got 1"),
        ({"elements": None}, "elements: must be a list, got null"),
        ({"number_of_elements": 0}, "must be at least 1"),
        ({"number_of_elements": {"min": -1}}, "number_of_elements.min: must be at least 1"),
        ({"number_of_elements": True}, "must be a whole number"),
        ({"elements": [{"name": "n" * 300}]}, "at most 200 characters"),
        ({"elements": [{"y": {"within": 0.1}}]}, "elements[0].y.about: is missing"),
        ({"elements": [{}] * 1_001}, "1,001 entries; at most 1,000"),
    ],
)
def test_malformed_requests_get_one_sentence(source: Any, says: str) -> None:
    with pytest.raises(LayoutdmError) as caught:
        Spec.parse(source)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


def test_binary_file_is_not_text(tmp_path: Path) -> None:
    file = tmp_path / "picture.json"
    file.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(LayoutdmError, match="UTF-8"):
        Spec.parse(file)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["elements", "name", "label", "x", "width", "about", "within", "relations", "of",
                 "is", "to", "more", "number_of_elements", "min", "reading_order", "area", "q"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["elements", "relations", "more", "reading_order"]), JSON))
@settings(max_examples=40, deadline=None)
def test_whatever_comes_in_only_our_error_comes_out(data: dict[str, Any]) -> None:
    try:
        spec = Spec.parse(data)
        Condition.from_spec(spec, LABELS, 25)
    except LayoutdmError as error:
        assert str(error)


def test_a_very_large_bad_request_is_answered_at_once_and_briefly() -> None:
    start = time.process_time()
    spec = Spec.parse(
        {
            "elements": [{"name": f"n{i}", "label": f"q{i}"} for i in range(1_000)],
            "relations": [
                {"of": f"n{i % 1000}", "is": "above", "to": f"n{(i + 1) % 1000}"}
                for i in range(10_000)
            ],
            "reading_order": [f"m{i}" for i in range(1_000)],
        }
    )
    with pytest.raises(SpecError) as caught:
        Condition.from_spec(spec, LABELS, 25)
    assert time.process_time() - start < 3
    lines = str(caught.value).splitlines()
    assert "1,000 elements are listed, but the model has at most 25" in lines[1]
    assert lines[0] == "the request has 2001 problems"
    assert lines[-1] == "  and 1981 more"
    assert len(lines) == 22


def test_json_schema_describes_the_example_and_the_command_prints_it() -> None:
    schema = Spec.json_schema()
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) > set(EXAMPLE)
    gap = schema["$defs"]["GroupSpec"]["properties"]["gap"]["anyOf"][0]["oneOf"][0]
    assert gap == {
        "minimum": 0,
        "maximum": 1e9,
        "type": "number",
    }  # bounds have their names of the standard
    assert not {'"ge":', '"gt":', '"le":', '"lt":'} & set(json.dumps(schema).split())
    assert {"of", "is", "to", "gap", "strength"} == set(
        schema["$defs"]["RelationSpec"]["properties"]
    )
    code = (
        "import sys, typer; from layoutdm.cli.schema import schema;"
        "app = typer.Typer(); app.command()(schema); app(sys.argv[1:])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == schema


def test_condition_of_the_example() -> None:
    condition = Condition.from_spec(Spec.parse(EXAMPLE), LABELS, 25)
    nan = np.nan
    assert condition.names == ("bar", "hero", "cta", None, None)
    assert condition.label_choices.sum(1).tolist() == [1, 1, 1, 1, 2]
    assert np.flatnonzero(condition.label_choices[4]).tolist() == [1, 2]
    np.testing.assert_array_equal(
        condition.fixed,
        [[0.5, 0.07, 1.0, 0.08], [nan] * 4, [nan, nan, 0.8, nan], [nan] * 4, [nan] * 4],
    )
    assert np.argwhere(np.isfinite(condition.about)).tolist() == [[2, 1]]
    assert (condition.about[2, 1], condition.within[2, 1], condition.strength[2, 1]) == (
        0.9,
        0.1,
        3.0,
    )
    assert condition.relations.tolist() == [[1, 8, 0], [1, 3, 2], [2, 8, -1]]
    assert (condition.min_elements, condition.max_elements, condition.more) == (6, 12, True)
    assert condition.reading_order.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(condition.area, [nan, nan, nan, 0.05, nan])
    np.testing.assert_array_equal(condition.aspect_ratio, [nan, nan, nan, 0.2, nan])
    assert condition.guided
    with pytest.raises(ValueError, match="read-only"):
        condition.fixed[0, 0] = 1


def test_empty_condition() -> None:
    condition = Condition.from_spec(Spec(), LABELS, 25)
    assert len(condition) == 0
    assert condition.fixed.shape == (0, 4)
    assert condition.relations.shape == (0, 3)
    assert not condition.guided
    assert condition.more


RICO = (*LABELS, "List Item")
PAPERS = ("text", "title", "list", "table", "figure")


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent.parent / "examples" / "specs").glob("*.json"))
)
def test_the_examples_are_good_requests(path: Path) -> None:
    labels = PAPERS if path.stem == "paper_page" else RICO
    spec = Spec.parse(path)
    assert spec.check(labels, 25) == []
    assert Spec.parse(spec.as_dict()) == spec

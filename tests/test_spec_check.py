"""Contradictions: found when there are any, and never where some layout satisfies the request."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.layout import FIELDS, Layout
from layoutdm.relations import detect_all, relation_name
from layoutdm.spec import Condition, Spec
from layoutdm.spec.problems import SpecError
from layoutdm.spec.report import report

LABELS = ("Text", "Image", "Text Button")


def found(request: dict[str, Any], max_elements: int = 25) -> dict[str, str]:
    return {p.path: p.message for p in Spec.parse(request).check(LABELS, max_elements)}


def relations(*sentences: str) -> list[dict[str, str]]:
    return [dict(zip(("of", "is", "to"), s.split(), strict=True)) for s in sentences]


def named(names: str, **fields: Any) -> list[dict[str, Any]]:
    return [{"name": name, **fields} for name in names]


def test_an_empty_request_is_what_one_is_that_says_the_usual() -> None:
    empty, usual = (
        Condition.from_spec(Spec.parse(request), LABELS, 25) for request in (None, {"more": True})
    )
    for item in fields(Condition):
        one, other = getattr(empty, item.name), getattr(usual, item.name)
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype, item.name


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({"margins": 1e308}, "margins: must be at most 1e+09"),
        ({"unit": "px", "canvas": {"width": 1e-323, "height": 1}}, "width: must be at least 0.001"),
        ({"elements": [{"x": {"about": -1e300}}]}, "x.about: must be at least -1e+09"),
    ],
)
def test_numbers_that_would_become_infinite_in_shares_are_refused(request_, says) -> None:
    with pytest.raises(SpecError, match=re.escape(says)):
        Spec.parse(request_)


def test_the_largest_numbers_in_pixels_of_the_smallest_canvas_are_told_of_and_no_more() -> None:
    spec = Spec.parse(
        {"unit": "px", "canvas": {"width": 1e-3, "height": 1e-3}, "margins": 1e9,
         "elements": [{"left": -1e9, "right": 1e9, "area": 1e9, "aspect_ratio": 1e9}]}
    )  # fmt: skip
    assert any("margins" in str(problem) for problem in spec.check(LABELS, 25))


@pytest.mark.parametrize(
    ("element", "path", "says"),
    [
        ({"label": "Imag"}, "label", "unknown label 'Imag'; did you mean 'Image'?"),
        ({"label": "text_buton"}, "label", "did you mean 'Text Button' or"),
        ({"label": ["Text", "Zebra"]}, "label[1]", "the labels are 'Text', 'Image', 'Text Button'"),
        ({"x": 90}, "x", "90 leaves no room on the canvas"),
        ({"y": 0}, "y", "0 leaves no room"),
        ({"width": 0}, "width", "more than 0 and at most 1"),
        ({"height": 1.5}, "height", "more than 0 and at most 1"),
        ({"x": 0.9, "width": 0.4}, "x", "spans 0.7 to 1.1, which leaves the canvas"),
        ({"y": 0.1, "height": 0.4}, "y", "spans -0.1 to 0.3"),
        ({"x": {"about": 1.2}}, "x.about", "1.2 lies outside the canvas"),
        ({"area": 2}, "area", "at most 1"),
        ({"area": 0}, "area", "more than 0"),
        ({"aspect_ratio": -1}, "aspect_ratio", "more than 0"),
        ({"width": 0.1, "area": 0.5}, "area", "no box on the canvas has area 0.5 with width 0.1"),
        ({"width": 0.5, "height": 0.5, "area": 0.1}, "area", "with width 0.5 and height 0.5"),
        ({"width": 0.5, "height": 0.5, "aspect_ratio": 3}, "aspect_ratio", "(height / width) 3"),
        ({"area": 0.9, "aspect_ratio": 10}, "aspect_ratio", "with area 0.9"),
        ({"x": 0.05, "area": 0.5}, "area", "with x 0.05"),
        ({"name": "canvas"}, "name", "choose another name"),
    ],
)
def test_one_element(element: dict[str, Any], path: str, says: str) -> None:
    got = found({"elements": [{"label": "Text"}, element]})
    assert list(got) == [f"elements[1].{path}"]
    assert says in got[f"elements[1].{path}"]


@pytest.mark.parametrize(
    ("element", "path", "says"),
    [
        ({"x": 500}, "x", "500 px leaves no room on the canvas; it must be a centre between 0 and "
         "400 px"),
        ({"height": 900}, "height", "900 px leaves no room on the canvas; it must be more than 0 "
         "and at most 800 px"),
        ({"right": 410, "width": 20}, "right", "410 px lies outside the canvas; it must be within "
         "0 to 400 px"),
        ({"y": 790, "height": 40}, "y", "y 790 px with height 40 px spans 770 px to 810 px, which "
         "leaves the canvas; 0 to 800 px would be right"),
        ({"left": 20, "right": 100, "width": 90}, "width", "left 20 px and right 100 px and width "
         "90 px contradict each other"),
        ({"y": {"about": 900}}, "y.about", "900 px lies outside the canvas"),
        ({"area": 400_000}, "area", "at most 320000 square px, the whole canvas"),
        ({"width": 40, "height": 40, "aspect_ratio": 3}, "aspect_ratio", "(height / width) 3 with "
         "width 40 px and height 40 px"),
    ],
)  # fmt: skip
def test_requests_in_pixels_are_answered_in_pixels(
    element: dict[str, Any], path: str, says: str
) -> None:
    canvas = {"width": 400, "height": 800}
    got = found({"unit": "px", "canvas": canvas, "elements": [element]})
    assert says in got[f"elements[0].{path}"]


def test_gaps_in_pixels_are_told_in_pixels() -> None:
    got = found(
        {
            "unit": "px",
            "canvas": {"width": 400, "height": 800},
            "elements": [
                {"name": "a", "y": 700, "height": 60},
                {"name": "b", "height": 60},
                {"name": "c", "width": 300},
                {"name": "d", "width": 90},
            ],
            "relations": [{"of": "b", "is": "below", "to": "a", "gap": 24}],
            "groups": [{"row": ["c", "d"], "gap": 16}],
        }
    )
    assert "'b below a by 24 px'" in got["relations[0]"]
    assert "'d right_of c by 16 px'" in got["groups[0]"]


@pytest.mark.parametrize(
    "element",
    [
        {"x": 0.5, "width": 1.0, "y": 0.04, "height": 0.08},
        {"width": 0.33, "height": 0.15, "area": 0.05},
        {"width": 1.0, "height": 1.0, "area": 1.0, "aspect_ratio": 1.0},
        {"area": 0.05, "aspect_ratio": 0.2, "x": 0.3},
        {"x": {"about": 1.3}, "y": {"about": -0.2}, "width": {"about": -0.1},
         "height": {"about": 0.3}},  # a noisy draft
        {"label": ["Text", "Text", "Image"]},
    ],
)  # fmt: skip
def test_one_good_element(element: dict[str, Any]) -> None:
    assert found({"elements": [element]}) == {}


@pytest.mark.parametrize(
    ("request_", "path", "says"),
    [
        ({"number_of_elements": {"min": 9, "max": 3}}, "min", "9 is more than max, 3"),
        ({"number_of_elements": 26}, "", "26 elements are more than the model's 25"),
        ({"elements": [{}] * 3, "number_of_elements": 2, "more": True}, "", "less than the 3"),
        ({"elements": [{}] * 3, "number_of_elements": 5}, "", 'set "more" to true'),
        ({"elements": [{}] * 3, "number_of_elements": {"max": 2}}, "max", "less than the 3"),
    ],
)
def test_numbers(request_: dict[str, Any], path: str, says: str) -> None:
    got = found(request_)
    assert says in got[f"number_of_elements.{path}".rstrip(".")]


def test_too_many_and_none() -> None:
    assert found({"elements": [{}] * 26}) == {
        "elements": "26 elements are listed, but the model has at most 25"
    }
    assert "nothing could be generated" in found({"more": False})["more"]


def test_names_of_relations_and_reading_order() -> None:
    got = found(
        {
            "elements": [*named("aab"), {"name": "hero"}],
            "relations": relations(
                "a above a", "heros above b", "canvas above b", "b above canvas", "b top a",
                "b above zzz",
            ),
            "reading_order": ["a", "b", "a", "q", "canvas"],
        }
    )  # fmt: skip
    assert set(got) == {
        "elements[1].name", "relations[0]", "relations[1].of", "relations[2].of",
        "relations[3].is", "relations[4].is", "relations[5].to", "reading_order[2]",
        "reading_order[3]", "reading_order[4]",
    }  # fmt: skip
    assert "did you mean 'hero'?" in got["relations[1].of"]
    assert "top, middle, bottom" in got["relations[3].is"]
    assert "related to itself" in got["relations[0]"]
    unnamed = found({"elements": [{}], "reading_order": ["a"]})
    assert "no element has a name" in unnamed["reading_order[0]"]


@pytest.mark.parametrize(
    ("sentences", "path", "says"),
    [
        (["a above b", "b above c", "c above a"], 2, "closes a cycle with relations[0] ('a above"),
        (["a left_of b", "b left_of c", "a right_of c"], 2, "closes a cycle"),
        (["a below b", "c below a", "b below c"], 2, "closes a cycle"),
        (["a larger b", "b equal_size c", "c larger a"], 2, "closes a cycle"),
        (["a smaller b", "a larger b"], 1, "closes a cycle with relations[0]"),
        (["a above b", "a below b"], 1, "contradicts relations[0], 'a above b'"),
        (["a above b", "b above a"], 1, "contradicts"),
        (["a left_of b", "b above a"], 1, "contradicts"),
        (["a overlapping b", "a above c", "c above b"], 2, "closes a cycle"),
        (["a larger canvas"], 0, "cannot hold on the canvas"),
        (["a bottom canvas", "b top canvas", "a equal_size canvas", "a above b"], 3, "together"),
        (["a equal_size canvas", "b larger a", "c larger b"], 2, "cannot hold together with"),
        (["a top canvas", "a bottom canvas"], 1, "contradicts relations[0], 'a top canvas'"),
        (["a bottom canvas", "b middle canvas", "a above b"], 2, "cannot hold together with"),
    ],
)
def test_contradicting_relations(sentences: list[str], path: int, says: str) -> None:
    got = found({"elements": named("abc"), "relations": relations(*sentences)})
    assert list(got) == [f"relations[{path}]"]
    assert says in got[f"relations[{path}]"]


def test_relations_against_fixed_values() -> None:
    elements = [
        {"name": "a", "y": 0.2, "height": 0.1},
        {"name": "b", "y": 0.5, "height": 0.1, "width": 0.5},
        {"name": "c", "width": 0.1, "height": 0.1},
        {"name": "d", "y": 0.6},
    ]
    got = found(
        {
            "elements": elements,
            "relations": relations(
                "a below b",
                "a bottom canvas",
                "c larger b",
                "a above b",
                "d bottom canvas",
                "d above b",
            ),
        }
    )
    assert set(got) == {f"relations[{k}]" for k in range(6)}
    assert "already violated by the given y of 'd'" in got["relations[4]"]
    assert "given y and height of 'a'" in got["relations[1]"]
    assert "already violated by the given width and height of 'b'" in got["relations[2]"]
    stack = found(
        {"elements": named("abc", height=0.4), "relations": relations("a above b", "b above c")}
    )
    assert (
        "height of 'a', the given height of 'b' and the given height of 'c'"
        in (stack["relations[1]"])
    )


def test_several_contradictions_at_once() -> None:
    got = found(
        {
            "elements": named("abcdef"),
            "relations": relations(
                "a above b", "b above c", "c above a", "d larger e", "e larger d",
                "e left_of f", "d left_of e", "f left_of d",
            ),
        }
    )  # fmt: skip
    assert set(got) == {"relations[2]", "relations[4]", "relations[7]"}


def test_reading_order_against_the_rest() -> None:
    column = named("abc", x=0.5, width=0.4)
    below = relations("b below a", "c below b")
    good = {"elements": column, "relations": below, "reading_order": ["a", "b", "c"]}
    assert found(good) == {}
    got = found({**good, "reading_order": ["a", "c", "b"]})
    assert got == {
        "reading_order[1]": "'c' is to be read before 'b', but fixed values and relations place it "
        "further from the top left corner"
    }
    fixed = [
        {"name": "a", "x": 0.8, "y": 0.8, "width": 0.2, "height": 0.2},
        {"name": "b", "x": 0.2, "y": 0.2, "width": 0.2, "height": 0.2},
    ]
    assert found({"elements": fixed, "reading_order": ["b", "a"]}) == {}
    assert "reading_order[0]" in found({"elements": fixed, "reading_order": ["a", "b"]})
    # Above, but further right, may well be read later.
    free = {"elements": named("ab"), "relations": relations("a above b")}
    assert found({**free, "reading_order": ["b", "a"]}) == {}


@st.composite
def true_wishes(draw: st.DrawFn) -> tuple[Layout, dict[str, Any]]:
    """A layout and a request that it satisfies."""
    seed = draw(st.integers(0, 10**9))
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    size = rng.choice([rng.beta(1, 2, (n, 2)), np.round(rng.random((n, 2)), 1)])
    size = np.clip(size, 0.002, 1)
    centre = size / 2 + rng.random((n, 2)) * (1 - size)
    if rng.random() < 0.5:  # rounded numbers meet exactly, as people's do
        centre = np.clip(np.round(centre, 1), size / 2, 1 - size / 2)
    layout = Layout.create(rng.choice(LABELS, n).tolist(), np.concatenate([centre, size], 1))
    elements = []
    for i, element in enumerate(layout):
        wish: dict[str, Any] = {"name": f"e{i}", "label": element.label}
        for field, value in zip(FIELDS, element.box, strict=True):
            kind = rng.random()
            if kind < 0.4:
                wish[field] = value
            elif kind < 0.5:
                wish[field] = {"about": float(np.clip(value + rng.normal() * 0.02, 0, 1))}
        if rng.random() < 0.3:
            wish["area"] = element.area * float(rng.uniform(0.95, 1.05))
        if rng.random() < 0.3:
            wish["aspect_ratio"] = element.height / element.width * float(rng.uniform(0.95, 1.05))
        elements.append(wish)
    kinds = detect_all(layout.boxes)
    wishes = []
    for _ in range(int(rng.integers(0, 30))):
        kind, of, to = int(rng.integers(2)), int(rng.integers(n)), int(rng.integers(n + 1))
        if to != of + 1:
            name = relation_name(int(kinds[kind][of, to]), canvas=to == 0)
            wishes.append({"of": f"e{of}", "is": name, "to": f"e{to - 1}" if to else "canvas"})
    corners = np.hypot(*layout.corners()[:, :2].T)
    order = [f"e{i}" for i in np.argsort(corners)[: int(rng.integers(0, n + 1))]]
    return layout, {"elements": elements, "relations": wishes, "reading_order": order}


@given(true_wishes())
@settings(max_examples=100, deadline=None)
def test_what_a_layout_satisfies_is_never_refused(case: tuple[Layout, dict[str, Any]]) -> None:
    layout, request = case
    spec = Spec.parse(request)
    assert spec.check(LABELS, 25) == []
    result = report(Condition.from_spec(spec, LABELS, 25), layout)
    assert result.missed == ()


@given(st.integers(2, 12), st.sampled_from(["above", "below", "left_of", "larger", "smaller"]))
@settings(max_examples=60, deadline=None)
def test_every_cycle_is_found(length: int, kind: str) -> None:
    names = [f"n{i}" for i in range(length)]
    ring = [{"of": names[i], "is": kind, "to": names[(i + 1) % length]} for i in range(length)]
    got = found({"elements": [{"name": name} for name in names], "relations": ring})
    assert list(got) == [f"relations[{length - 1}]"]
    assert found({"elements": [{"name": n} for n in names], "relations": ring[:-1]}) == {}

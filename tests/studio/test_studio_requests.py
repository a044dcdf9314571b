"""Requests that are opened: every part of them is kept, whatever the panels show."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hands import Studio

from layoutdm.spec import Spec

SHARES: dict[str, Any] = {
    "elements": [
        {"name": "bar", "label": "Toolbar", "left": 0, "right": 1, "top": 0.03, "height": 0.08},
        {"name": "hero", "label": ["Image", "Video"], "area": 0.15, "aspect_ratio": 0.25},
        {
            "name": "title", "label": "Text", "x": 0.5,
            "y": {"about": 0.6, "within": 0.1},
            "width": {"about": 0.6, "within": 0.2, "strength": 2, "prior": "gaussian",
                      "form": "code"},
        },
        {"name": "cta", "label": "Text Button", "bottom": 0.95, "height": 0.07},
        {"name": "a", "label": "Icon"}, {"name": "b", "label": "Icon"},
        {"name": "c", "label": "Icon", "width": {"about": 1 / 9}},
        {"label": "Icon", "right": 0.95},
        {},
    ],
    "more": True,
    "number_of_elements": {"min": 9, "max": 12},
    "relations": [
        {"of": "hero", "is": "below", "to": "bar", "gap": 0.02},
        {"of": "title", "is": "below", "to": "hero"},
        {"of": "cta", "is": "centered_with", "to": "canvas"},
        {"of": "hero", "is": "larger", "to": "title", "strength": 2},
    ],
    "groups": [{"grid": [["a", "b"], ["c", None]], "gap": 0.02, "same": "size"}],
    "reading_order": ["bar", "hero", "title", "cta"],
    "canvas": {"width": 400, "height": 600},
    "margins": {"left": 0.02, "top": 0.01, "right": 0.03, "bottom": 0.02},
}  # fmt: skip
PIXELS: dict[str, Any] = {
    "elements": [
        {"name": "one", "label": "Text", "left": 16, "width": 300, "height": {"about": 48}},
        {"name": "two", "label": "Text", "x": {"about": 166, "within": 7}, "area": 13000},
        {"name": "three", "label": "Text", "aspect_ratio": 0.2},
    ],
    "more": False,
    "relations": [{"of": "two", "is": "below", "to": "one", "gap": 24}],
    "groups": [{"column": ["one", "two", "three"], "align": "left"},
               {"row": ["one", "two"], "gap": "equal"}],
    "canvas": {"width": 390, "height": 844},
    "unit": "px",
    "margins": 16,
}  # fmt: skip
COUNTED: dict[str, Any] = {"number_of_elements": 7, "canvas": {"width": 400, "height": 600}}
DRAWN = {key: value for key, value in PIXELS.items() if key != "groups"} | {
    "groups": PIXELS["groups"][:1]
}


def said(requests: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Which fields of every part of a request are used."""
    found: dict[str, set[str]] = {}

    def look(kind: str, value: Any) -> None:
        if isinstance(value, dict):
            found.setdefault(kind, set()).update(value)

    for spec in requests:
        look("Spec", spec)
        for element in spec.get("elements", []):
            look("ElementSpec", element)
            for value in element.values():
                look("About", value)
        for kind, name in (("RelationSpec", "relations"), ("GroupSpec", "groups")):
            for wish in spec.get(name, []):
                look(kind, wish)
        names = (
            ("NumberRange", "number_of_elements"),
            ("CanvasSpec", "canvas"),
            ("Sides", "margins"),
        )
        for kind, name in names:
            look(kind, spec.get(name))
    return found


def test_the_requests_below_say_everything_that_can_be_said() -> None:
    schema = Spec.json_schema()
    known = {name: set(part["properties"]) for name, part in schema["$defs"].items()}
    known["Spec"] = set(schema["properties"])
    assert said([SHARES, PIXELS, COUNTED]) == known


@pytest.mark.parametrize("spec", [SHARES, PIXELS, COUNTED], ids=["shares", "pixels", "counted"])
def test_nothing_of_a_request_is_lost(studio: Studio, spec: dict[str, Any]) -> None:
    """Opened, saved, in a link, after a reload: the request is what it was."""
    studio.open_file("request.json", json.dumps(spec).encode())
    studio.settle()
    assert studio.request() == spec
    studio.page.reload()
    studio.ready()
    assert studio.request() == spec, "the address holds it"
    project = {"studio": 1, "seed": 0, "doc": studio.saved()["doc"]}
    studio.menu("File", "New")
    studio.settle()
    studio.open_file("a.studio.json", json.dumps(project).encode())
    studio.settle()
    assert studio.request() == spec, "a project holds it"


@pytest.mark.slow
@pytest.mark.parametrize("spec", [SHARES, DRAWN], ids=["shares", "pixels"])
def test_nothing_is_lost_by_a_regeneration(studio: Studio, spec: dict[str, Any]) -> None:
    studio.open_file("request.json", json.dumps(spec).encode())
    studio.settle()
    with studio.page.expect_request("**/v1/generate") as asked:
        studio.generate()
    assert asked.value.post_data_json["spec"] == spec, "what is asked is what was opened"
    assert studio.request() == spec
    studio.page.locator('[data-variant="3"]').click()
    studio.settle()
    assert studio.request() == spec


def test_a_hand_says_anew_what_it_touches(studio: Studio) -> None:
    studio.open_file("request.json", json.dumps(SHARES).encode())
    studio.settle()
    studio.page.locator("[data-element]").nth(3).click()
    studio.keys("ArrowRight")
    studio.settle()
    cta = studio.request()["elements"][3]
    assert cta["bottom"] == 0.95, "the other axis is as it was"
    assert cta["x"]["within"] == 0.1, "as far as the request's first draft"
    studio.page.locator("[data-element]").nth(2).click()
    studio.sees(lambda: "gaussian" in studio.page.locator("#right .hint").first.inner_text())


def test_wishes_for_nobody_are_told(studio: Studio) -> None:
    spec = {"elements": [{"name": "a", "label": "Icon"}],
            "relations": [{"of": "a", "is": "below", "to": "ghost"}]}  # fmt: skip
    studio.open_file("request.json", json.dumps(spec).encode())
    studio.sees(lambda: "ghost" in studio.page.locator("#note.bad").inner_text())


def test_a_field_that_no_request_has_is_told_and_kept(studio: Studio) -> None:
    spec = {"elements": [{"name": "a", "label": "Icon", "hight": 0.1}], "more": True}
    studio.open_file("request.json", json.dumps(spec).encode())
    studio.settle()
    studio.page.locator("[data-element]").first.click()
    problems = studio.page.locator("#right .problems")
    studio.sees(lambda: "did you mean 'height'" in problems.inner_text())
    studio.sees(lambda: studio.request()["elements"][0], spec["elements"][0])
    studio.page.get_by_role("button", name="Leave it out").click()
    problems.wait_for(state="detached")
    studio.sees(lambda: studio.request()["elements"][0], {"name": "a", "label": "Icon"})


def test_area_shape_and_other_labels_have_a_place(studio: Studio) -> None:
    studio.open_layout([("Image", 100, 100, 120, 80)], ["hero"])
    studio.click(150, 140)
    studio.page.fill("#field-area", "12")
    studio.keys("Enter")
    studio.page.fill("#field-aspect", "2")
    studio.keys("Enter")
    studio.page.get_by_role("button", name="Or another label…").click()
    studio.choose("Video")
    studio.settle()
    hero = studio.request()["elements"][0]
    assert (hero["area"], hero["label"]) == (0.12, ["Image", "Video"])
    assert hero["aspect_ratio"] == pytest.approx(400 / 600 / 2)
    studio.page.get_by_role("button", name="Not Video").click()
    studio.page.fill("#field-area", "")
    studio.keys("Enter")
    studio.settle()
    hero = studio.request()["elements"][0]
    assert "area" not in hero and hero["label"] == "Image"


def test_reading_order_has_a_place(studio: Studio) -> None:
    studio.open_layout([("Text", 40, 40 + 90 * i, 120, 40) for i in range(3)], ["a", "b", "c"])
    studio.keys("Control+a")
    studio.page.get_by_role("button", name="Reading order").click()
    studio.settle()
    assert studio.request()["reading_order"] == ["a", "b", "c"]
    studio.page.get_by_role("button", name="Read c earlier").click()
    studio.settle()
    assert studio.request()["reading_order"] == ["a", "c", "b"]
    studio.keys("Escape")
    studio.generate()
    studio.sees(lambda: studio.wishes()[-1].startswith("read in order: a, c, b\nm"))
    studio.page.get_by_role("button", name="Remove the wish: read in order").click()
    studio.settle()
    assert "reading_order" not in studio.request()


def test_pixels_are_a_choice(studio: Studio) -> None:
    studio.open_layout([("Image", 100, 100, 120, 80)])
    studio.page.select_option("[aria-label='Numbers of the request']", "px")
    studio.settle()
    found = studio.request()
    assert found["unit"] == "px"
    assert found["elements"][0]["width"] == {"about": 120, "within": 20}

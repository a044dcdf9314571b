"""Reports: what is met, by how much the rest is missed, and which result is best."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from layoutdm.layout import Layout
from layoutdm.spec import Condition, Spec
from layoutdm.spec.report import report

LABELS = ("text", "image", "button")


def condition(**request: Any) -> Condition:
    return Condition.from_spec(Spec.parse(request), LABELS, 25)


def missed(wishes: Condition, labels: list[str], boxes: Any) -> dict[str, float]:
    return {w.path: w.miss for w in report(wishes, Layout.create(labels, boxes)).missed}


WISHES = {
    "elements": [
        {"name": "bar", "label": "text", "x": 0.5, "y": 0.05, "width": 1.0, "height": 0.1},
        {"name": "hero", "label": ["image", "button"], "area": 0.2, "aspect_ratio": 0.8},
        {"name": "cta", "y": {"about": 0.9, "within": 0.05}},
    ],
    "more": True,
    "number_of_elements": {"max": 4},
    "relations": [
        {"of": "hero", "is": "below", "to": "bar"},
        {"of": "hero", "is": "larger", "to": "cta"},
        {"of": "cta", "is": "bottom", "to": "canvas"},
    ],
    "reading_order": ["bar", "hero", "cta"],
}
GOOD = [[0.5, 0.05, 1.0, 0.1], [0.5, 0.4, 0.5, 0.4], [0.5, 0.9, 0.4, 0.1]]


def test_all_met() -> None:
    result = report(condition(**WISHES), Layout.create(["text", "image", "text"], GOOD))
    assert result.met
    assert result.score == 1.0
    assert result.as_dict() == {"met": True, "score": 1.0, "wishes": 14, "missed": []}
    assert {wish.kind for wish in result.wishes} == {
        "number", "label", "fixed", "about", "area", "aspect_ratio", "relation", "reading_order",
    }  # fmt: skip


def test_each_miss_has_its_size() -> None:
    boxes = np.array(GOOD)
    boxes[0] = [0.5, 0.4, 1.0, 0.1]
    boxes[1] = [0.5, 0.2, 0.5, 0.1]
    boxes[2] = [0.5, 0.6, 0.4, 0.2]
    got = missed(condition(**WISHES), ["image", "text", "text"], boxes)
    assert got == pytest.approx(
        {
            "elements[0].label": 1.0,
            "elements[1].label": 1.0,
            "elements[0].y": 0.35,
            "elements[2].y": 0.25,
            "elements[1].area": 0.75 - 0.1,
            "elements[1].aspect_ratio": 0.75 - 0.1,
            "relations[0]": 0.45 - 0.15,
            "relations[1]": 1.1 * 0.08 - 0.05,
            "relations[2]": 2 / 3 - 0.6,
            "reading_order": 0.35 - np.hypot(0.25, 0.15),
        }
    )


def test_missing_and_surplus_elements() -> None:
    got = missed(condition(**WISHES), ["text", "image"], GOOD[:2])
    assert got["number_of_elements"] == 1
    assert got["elements[2].y"] == 1.0
    assert {"relations[1]", "relations[2]", "reading_order"} <= set(got)
    assert "relations[0]" not in got
    five = missed(condition(**WISHES), ["text", "image", "text", "text", "text"], GOOD + GOOD[1:])
    assert five == {"number_of_elements": 1}


def test_an_empty_request_is_met_by_anything() -> None:
    assert report(condition(), Layout.create(["text"], [GOOD[0]])).met


def test_rounded_edges_still_touch_but_overlapping_must_overlap() -> None:
    pair = [{"name": "a"}, {"name": "b"}]
    upper, lower = [0.5, 0.15, 1.0, 0.1], [0.5, 0.2 + 0.05 - 1e-9, 1.0, 0.1]

    def met(relation: str) -> bool:
        wishes = condition(elements=pair, relations=[{"of": "a", "is": relation, "to": "b"}])
        return report(wishes, Layout.create(["text", "text"], [upper, lower])).met

    assert met("above")
    assert met("equal_size")
    lower[1] = 0.25
    assert met("above")
    assert not met("overlapping")


def test_score_puts_more_wishes_first_then_smaller_misses() -> None:
    wishes = condition(**WISHES)

    def score(cta_y: float, bar_y: float = 0.05) -> float:
        boxes = np.array(GOOD)
        boxes[2, 1], boxes[0, 1] = cta_y, bar_y
        return report(wishes, Layout.create(["text", "image", "text"], boxes)).score

    assert 1.0 > score(0.84) > score(0.80) > score(0.4) > 0
    assert score(0.8) > score(0.8, bar_y=0.06)


def test_reports_are_json() -> None:
    boxes = np.array(GOOD)
    boxes[2, 1] = 0.5
    result = report(condition(**WISHES), Layout.create(["text", "image", "text"], boxes))
    data = json.loads(json.dumps(result.as_dict()))
    assert data["missed"][0] == {
        "path": "elements[2].y",
        "kind": "about",
        "wanted": "0.9 within 0.05",
        "met": False,
        "miss": 0.35,
    }

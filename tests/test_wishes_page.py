"""The page "Say what you want": its pictures are made here, and show what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from test_wishes_hold import MODEL

DOCS = Path(__file__).parent.parent / "docs"
NAMES = ("a", "b", "c", "d")


def request_of(count: int, **more: Any) -> dict[str, Any]:
    labels = ("Text", "Image", "Input", "Text Button")
    elements = [{"name": name, "label": label} for name, label in zip(NAMES, labels, strict=True)][
        :count
    ]
    return {"canvas": {"width": 240, "height": 320}, "elements": elements, **more}


def pair(kind: str, to: str = "b", **more: Any) -> dict[str, Any]:
    return request_of(2, relations=[{"of": "a", "is": kind, "to": to, **more}])


def first(**fields: Any) -> dict[str, Any]:
    request = request_of(2)
    request["elements"][0] |= fields
    return request


PICTURES = {
    "below": pair("below"),
    "right_of": pair("right_of"),
    "gap": pair("below", gap=0.1),
    "overlapping": pair("overlapping"),
    "inside": pair("inside"),
    "apart": pair("apart"),
    "bottom": pair("bottom", "canvas"),
    "left_aligned": pair("left_aligned"),
    "centered_with": pair("centered_with"),
    "level_with": pair("level_with"),
    "same_width": pair("same_width"),
    "equal_size": pair("equal_size"),
    "area": first(area=0.1, aspect_ratio=0.5),
    "column": request_of(3, groups=[{"column": NAMES[:3], "gap": "equal", "align": "left"}]),
    "row": request_of(3, groups=[{"row": NAMES[:3], "gap": 0.05, "align": "middle"}]),
    "grid": request_of(4, groups=[{"grid": [["a", "b"], ["c", "d"]], "gap": 0.04, "same": "size"}]),
    "edges": first(left=0.1, top=0.05, right=0.9, height=0.2),
    "within": first(y={"about": 0.2, "within": 0.05}),
    "margins": request_of(3, margins=0.1),
    "order": request_of(3, reading_order=NAMES[:3]),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture_of_a_wish(name: str, tmp_path: Path) -> None:
    result = MODEL.generate(PICTURES[name], count=1, seed=3)[0]
    assert result.met, result.report.missed
    made = tmp_path / "wish.svg"
    result.layout.save(made)
    kept = DOCS / "pictures" / f"wish_{name}.svg"
    if not kept.exists():  # delete a picture to have it made anew
        kept.write_text(made.read_text())
    assert kept.read_text().count("<rect") == made.read_text().count("<rect")


def test_every_picture_of_the_page_is_made_here() -> None:
    shown = re.findall(r"pictures/wish_(\w+)\.svg", (DOCS / "wishes.md").read_text())
    assert sorted(shown) == sorted(PICTURES)


def test_the_request_of_the_page_is_right() -> None:
    text = (DOCS / "wishes.md").read_text()
    code = re.findall(r"```python\n(.*?)```", text, flags=re.S)[0]
    request = eval(code.split("request = ")[1].split("\nfor result")[0])
    request["elements"][1]["label"], request["elements"][2]["label"] = "Image", "Text Button"
    for result in MODEL.generate(request, count=2):
        assert result.met

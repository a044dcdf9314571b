"""The value types: frozen, checked, comparable, convertible, sortable, readable and writable."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layoutdm import Element, Layout, LayoutdmError
from layoutdm.formats import READ, WRITE

BOX = [0.5, 0.5, 0.2, 0.2]


def page(**fields: Any) -> Layout:
    given: dict[str, Any] = {"width": 600, "height": 800, "id": "7"} | fields
    return Layout.create(
        ["text", "title", "figure"],
        [[0.5, 0.6, 0.5, 0.25], [0.5, 0.125, 0.5, 0.125], [0.25, 0.6, 0.25, 0.25]],
        **given,
    )


@pytest.mark.parametrize(
    ("labels", "boxes", "fields", "words"),
    [
        (["text"], [[float("nan"), 0.5, 0.2, 0.2]], {}, ["element 0 (text)", "x must be"]),
        (["a", "b"], [BOX, [0.5, 0.5, 0.2, 0]], {}, ["element 1 (b)", "height must be"]),
        (["a", "b"], [BOX, [0.5, 0.95, 0.2, 0.2]], {}, ["element 1 (b)", "y spans"]),
        (["a", ""], [BOX, BOX], {}, ["element 1", "label must be"]),
        (["a", 3], [BOX, BOX], {}, ["element 1", "label must be", "3"]),
        (["a"], [BOX, BOX], {}, ["1 labels but 2 boxes"]),
        (["a"], [[0.5, 0.5, 0.2]], {}, ["shape", "(1, 3)"]),
        (["a"], [[0.5, 0.5], [0.2, 0.2]], {}, ["shape", "(2, 2)"]),
        (["a"], "x", {}, ["boxes must be rows of four numbers"]),
        (["a", "b"], [BOX, [0.5]], {}, ["boxes must be rows of four numbers"]),
        ("text", [BOX], {}, ["labels must be a list", "'text'"]),
        (None, [BOX], {}, ["labels must be a list"]),
        (["a"], [BOX], {"width": 0}, ["canvas width must be positive"]),
        (["a"], [BOX], {"height": float("inf")}, ["canvas height must be positive"]),
        (["a"], [BOX], {"height": "9"}, ["canvas height must be a number", "'9'"]),
        (["a"], [BOX], {"width": True}, ["canvas width must be a number"]),
        (["a"], [BOX], {"id": 3}, ["id must be a text", "3"]),
        (["a"], [BOX], {"metadata": 3}, ["metadata must be a dictionary"]),
        (["a"], [[2, 2, 2, 2]], {"id": "p9"}, ["layout 'p9'", "element 0 (a)"]),
    ],
)
def test_a_mistake_gets_a_sentence_with_element_and_field(
    labels: Any, boxes: Any, fields: dict[str, Any], words: list[str]
) -> None:
    for build in (Layout.create, Layout):  # both ways of construction look at the same things
        with pytest.raises(LayoutdmError) as caught:
            build(labels, boxes, **fields)
        assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("values", "word"),
    [
        (("", 0.5, 0.5, 0.1, 0.1), "label"),
        (("text", float("nan"), 0.5, 0.1, 0.1), "x must be a finite number"),
        (("text", 0.5, "0.5", 0.1, 0.1), "y must be a number"),
        (("text", 0.5, 0.5, 0.1, 0), "height must be greater than 0"),
        (("text", 0.99, 0.5, 0.1, 0.1), "leaves the canvas"),
    ],
)
def test_an_element_is_checked_too(values: Any, word: str) -> None:
    with pytest.raises(LayoutdmError, match=word):
        Element(*values)


def test_a_layout_never_changes() -> None:
    given = np.array([BOX])
    layout = Layout.create(["a"], given, metadata={"k": 1})
    given[0, 0] = 0.1
    assert layout.boxes[0, 0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        layout.boxes[0, 0] = 0.1
    with pytest.raises(FrozenInstanceError):
        layout.width = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        layout.metadata["k"] = 2  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        layout[0].x = 0.1  # type: ignore[misc]


def test_equality_and_approximate_equality() -> None:
    layout = page()
    assert layout == page() and hash(layout) == hash(page())
    assert layout != page(id="8") and layout.approx_equal(page(id="8"))
    moved = Layout(layout.labels, layout.boxes + 5e-7, layout.width, layout.height, layout.id)
    assert layout != moved and layout.approx_equal(moved)
    assert not layout.approx_equal(moved, tolerance=1e-7)
    assert not layout.approx_equal(page(width=500)) and not layout.approx_equal(layout.take([0]))
    assert layout != "a layout"
    zero, minus = (Layout.create(["a"], [[z, 0.5, 1e-5, 0.1]]) for z in (0.0, -0.0))
    assert zero == minus and hash(zero) == hash(minus)


def test_copies_and_pickles_are_equal_and_as_frozen() -> None:
    layout = page(metadata={"k": [1]})
    for again in (pickle.loads(pickle.dumps(layout)), copy.deepcopy(layout), copy.copy(layout)):
        assert again == layout and dict(again.metadata) == {"k": [1]}
        assert not again.boxes.flags.writeable


def test_conventions_and_units() -> None:
    layout = page()
    assert layout.corners()[1].tolist() == [0.25, 0.0625, 0.75, 0.1875]
    assert layout.corners(pixels=True)[1].tolist() == [150, 50, 450, 150]
    assert layout.left_top()[1].tolist() == [0.25, 0.0625, 0.5, 0.125]
    assert layout.left_top(pixels=True)[1].tolist() == [150, 50, 300, 100]
    assert layout.centres(pixels=True)[1].tolist() == [300, 100, 300, 100]
    assert layout.areas.tolist() == [0.125, 0.0625, 0.0625]


def test_iteration_gives_elements() -> None:
    layout = page()
    assert [element.label for element in layout] == list(layout.labels)
    assert layout[-1] == Element("figure", 0.25, 0.6, 0.25, 0.25)
    assert layout[1].corners == (0.25, 0.0625, 0.75, 0.1875) and layout[1].area == 0.0625


def test_orders() -> None:
    layout = page()
    assert layout.sorted_top_left().labels == ("title", "figure", "text")
    assert layout.sorted_by_label().labels == ("figure", "text", "title")
    assert layout.shuffled(3) == layout.shuffled(3)
    assert sorted(layout.shuffled(3).labels) == sorted(layout.labels)
    assert len({layout.shuffled(seed).labels for seed in range(20)}) > 1
    empty = Layout.create([], [])
    assert empty.sorted_top_left() == empty.sorted_by_label() == empty.shuffled(0) == empty


BOTH = sorted(set(READ) & set(WRITE))


def test_every_format_has_its_one_liners() -> None:
    assert all(hasattr(Layout, f"from_{name}") for name in READ)
    assert all(hasattr(Layout, f"as_{name}") for name in WRITE)


@pytest.mark.parametrize("name", BOTH)
def test_a_format_in_one_line_there_and_back(name: str, tmp_path: Path) -> None:
    path = getattr(page(), f"as_{name}")(tmp_path / "layout")
    back = getattr(Layout, f"from_{name}")(path)
    assert back.approx_equal(page(), 1e-9) and back.id == "7"
    assert getattr(Layout, f"from_{name}")(path, id="7") == back
    with pytest.raises(LayoutdmError, match="no layout with the id 'other'"):
        getattr(Layout, f"from_{name}")(path, id="other")


def test_the_originals_in_one_line(tmp_path: Path) -> None:
    child = '{"bounds": [0, 0, 50, 100], "componentLabel": "Text"}'
    (tmp_path / "9.json").write_text(f'{{"bounds": [0, 0, 100, 200], "children": [{child}]}}')
    assert Layout.from_rico(tmp_path).id == "9"
    coco = page().take([0]).as_coco(tmp_path / "val.json")
    assert Layout.from_publaynet(coco, id="7").labels == ("text",)


def test_pictures_in_one_line(tmp_path: Path) -> None:
    layout = page()
    assert layout.as_svg().startswith("<svg") and "<html" in layout.as_html("grid")
    assert layout.as_image(300).height >= 300
    for name in ("png", "pptx"):
        assert getattr(layout, f"as_{name}")(tmp_path / f"a.{name}").stat().st_size > 1000


def test_records() -> None:
    record = page().as_dict()
    assert set(record) == {"id", "width", "height", "labels", "boxes"}
    assert Layout.from_dict(record) == page()

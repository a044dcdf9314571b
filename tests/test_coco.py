"""COCO: any order of its parts, files that do not fit a buffer, polygons, foreign keys."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import pytest

from layoutdm import Layout, LayoutdmError
from layoutdm.formats import Problems, json_stream, limits, read, write
from layoutdm.formats.coco import pages
from layoutdm.formats.files import Source
from layoutdm.formats.json_stream import JsonStream, lists_named

IMAGES = [
    {"id": 30, "width": 100, "height": 200, "file_name": "c.jpg"},
    {"id": 4, "width": 50, "height": 50, "file_name": "a.jpg", "licence": {"x": [1, [2]]}},
    {"id": 7, "width": 50, "height": 50},
]
ANNOTATIONS = [
    {"id": 1, "image_id": 4, "category_id": 2, "bbox": [0, 0, 25, 50], "segmentation": [[1, 2]]},
    {"id": 2, "image_id": 30, "category_id": 1, "bbox": [10, 20, 30, 40.5], "segmentation": []},
    {"id": 3, "image_id": 4, "category_id": 1, "bbox": [25, 0, 25, 50], "segmentation": [[], []]},
    {
        "id": 4,
        "image_id": 30,
        "category_id": 2,
        "bbox": [0, 0, 100, 200],
        "segmentation": {"counts": "a]b[", "size": [3, 4]},
        "caption": 'says "segmentation": [[1, 2]] here',
    },
]
CATEGORIES = [{"id": 1, "name": "text"}, {"id": 2, "name": "list", "supercategory": ""}]
PARTS = {"images": IMAGES, "annotations": ANNOTATIONS, "categories": CATEGORIES}


def check(layouts: list[Layout]) -> None:
    assert [layout.id for layout in layouts] == ["30", "4", "7"]
    assert [layout.labels for layout in layouts] == [("text", "list"), ("list", "text"), ()]
    first = layouts[0].left_top(pixels=True)
    assert first.round(9).tolist() == [[10, 20, 30, 40.5], [0, 0, 100, 200]]
    assert layouts[1].left_top(pixels=True).round(9).tolist() == [[0, 0, 25, 50], [25, 0, 25, 50]]
    assert [layout.metadata.get("file_name") for layout in layouts] == ["c.jpg", "a.jpg", None]


@pytest.mark.parametrize("order", list(itertools.permutations(PARTS)))
@pytest.mark.parametrize("indent", [None, 2])
def test_parts_come_in_any_order(
    order: tuple[str, ...], indent: int | None, tmp_path: Path
) -> None:
    data = {"info": {"year": 1}, **{key: PARTS[key] for key in order}, "extra": [[1], {"a": 2}]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(data, indent=indent))
    check(list(read(path)))


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
def test_any_buffer_size_gives_the_same(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "CHUNK", chunk)
    path = tmp_path / "a.json.gz"
    text = json.dumps({"é": "ü" * 9, "n": -12.5e3, "t": True, **PARTS}, ensure_ascii=False)
    path.write_bytes(gzip.compress(text.encode()))
    check(list(read(path)))


def test_forgetting_keeps_places_right(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    good = json.dumps(PARTS, indent=2)
    bad = good.replace('"id": 4,\n      "image_id"', '"id": oops,\n      "image_id"')
    path.write_text(bad)
    line = bad[: bad.index("oops")].count("\n") + 1
    with pytest.raises(LayoutdmError, match=f"line {line}, column 13: not valid JSON"):
        list(read(path))


def test_only_whole_lists_under_a_key_are_forgotten() -> None:
    pattern = lists_named("segmentation")
    assert pattern.search('"segmentation": [[1, 2], [3]]')
    for text in ('"segmentation": [[1, 2], [3', '\\"segmentation\\": [[1]]', '"segmentation": [1]'):
        assert not pattern.search(text)


def test_an_item_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RECORD", 1000)
    monkeypatch.setattr(json_stream, "CHUNK", 100)
    path = tmp_path / "a.json"
    path.write_text('{"images": ["' + "x" * 100_000)
    reads = 0
    with Source(path) as source, pytest.raises(LayoutdmError, match="longer than 1000 bytes"):
        for _ in JsonStream(source).items():
            reads += 1
        assert reads == 0


def test_raw_pages_keep_boxes_as_they_are(tmp_path: Path) -> None:
    annotation = {"id": 1, "image_id": 4, "category_id": 2, "bbox": [-5, 0, 0, 500]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**PARTS, "annotations": [annotation]}))
    page = list(pages(path, Problems()))[1]
    assert page.left_top.tolist() == [[-5, 0, 0, 500]]
    assert (page.labels, page.image.width, page.id) == (("list",), 50.0, "4")
    assert page.place(0) == f"{path}, annotation 1"


def test_written_files_have_what_coco_tools_need(tmp_path: Path) -> None:
    layouts = [
        Layout.create(["b", "a"], [[0.5, 0.5, 1, 1]] * 2, width=10, height=20, id="12"),
        Layout.create(["a"], [[0.5, 0.5, 0.2, 0.4]], width=10, height=20, id="cover"),
        Layout.create([], [], width=10, height=20, id="1"),
    ]
    data = json.loads(write(layouts, tmp_path / "a.json", labels=["a", "b"]).read_text())
    assert data["categories"] == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    assert [image["id"] for image in data["images"]] == [12, 1, 2]
    assert [image.get("layout_id") for image in data["images"]] == [None, "cover", "1"]
    assert [a["id"] for a in data["annotations"]] == [1, 2, 3]
    third = data["annotations"][2]
    assert third["bbox"] == [4.0, 6.0, 2.0, 8.0]
    assert (third["area"], third["image_id"], third["category_id"]) == (16.0, 1, 1)

"""Bad input: one sentence with file, place, what is wrong; skipping drops and counts it."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from layoutdm import Layout, LayoutdmError
from layoutdm.formats import Problems, read, write

GOOD = {"id": "ok", "width": 100, "height": 200, "labels": ["a"], "boxes": [[0.5, 0.5, 0.5, 0.5]]}


def message(path: Path, format: str | None = None) -> str:
    with pytest.raises(LayoutdmError) as caught:
        list(read(path, format=format))
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400
    return text


def skipped(path: Path, format: str | None = None) -> tuple[list[Layout], Problems]:
    problems = Problems(skip=True)
    return list(read(path, format, problems)), problems


# Native records ----------------------------------------------------------------------------------

BAD_RECORDS: list[tuple[str, str]] = [
    ('{"labels": ["a"], "boxes"', "not valid JSON at column 26"),
    ("[1, 2]", "a layout is a JSON object"),
    ("null", "a layout is a JSON object"),
    ('{"boxes": []}', "lacks the key 'labels'"),
    ('{"labels": []}', "lacks the key 'boxes'"),
    ('{"labels": ["a"], "boxes": []}', "1 labels but 0 boxes"),
    ('{"labels": "a", "boxes": []}', "labels must be a list of names"),
    ('{"labels": [3], "boxes": [[0.5,0.5,1,1]]}', "label must be a non-empty text, got 3"),
    ('{"labels": [""], "boxes": [[0.5,0.5,1,1]]}', "label must be a non-empty text"),
    ('{"labels": ["\\ud800"], "boxes": [[0.5,0.5,1,1]]}', "half a character"),
    ('{"labels": ["a"], "boxes": [[NaN,0.5,1,1]]}', "x must be a finite number, got nan"),
    ('{"labels": ["a"], "boxes": [[0.5,1e999,1,1]]}', "y must be a finite number, got inf"),
    ('{"labels": ["a"], "boxes": [[0.5,0.5,0,1]]}', "width must be greater than 0, got 0"),
    ('{"labels": ["a"], "boxes": [[0.5,0.5,1,-1]]}', "height must be greater than 0, got -1"),
    ('{"labels": ["a"], "boxes": [[-0.5,0.5,1,1]]}', "leaves the canvas"),
    ('{"labels": ["a"], "boxes": [[0.9,0.5,0.5,1]]}', "x spans 0.65 to 1.15"),
    ('{"labels": ["a"], "boxes": [[300,200,50,10]]}', "look like pixels"),
    ('{"labels": ["a"], "boxes": [[0.5,0.5,1]]}', "box must be four numbers"),
    ('{"labels": ["a"], "boxes": [0.5,0.5,1,1]}', "box must be four numbers"),
    ('{"labels": ["a"], "boxes": [["0.5",0.5,1,1]]}', "must be a number, got '0.5'"),
    ('{"labels": ["a"], "boxes": [[true,0.5,1,1]]}', "must be a number, got True"),
    ('{"labels": ["a"], "boxes": {"a": 1}}', "boxes must be a list"),
    ('{"labels": ["a"], "boxes": [[1%s,0.5,1,1]]}' % ("0" * 400), "below 1e308"),
    ('{"labels": ["a"], "boxes": [[1%s,0.5,1,1]]}' % ("0" * 5000), "a number is too long"),
    ('{"labels": [], "boxes": [], "width": 0}', "canvas width must be above 0"),
    ('{"labels": [], "boxes": [], "height": "9"}', "canvas height must be a number, got '9'"),
    ('{"labels": [], "boxes": [], "width": 1e12}', "at most 1e9"),
    ('{"labels": [], "boxes": [], "id": [1]}', "id must be a text or a whole number"),
    ('{"labels": [], "boxes": [], "metadata": 3}', "metadata must be a JSON object"),
    ('{"id": "ok", "labels": [], "boxes": []}', "id 'ok' was used in line 1 already"),
    ("[" * 100_000, "nesting too deep"),
    ("\x80\x81\x82", "not UTF-8"),
]


@pytest.mark.parametrize(("line", "expected"), BAD_RECORDS)
def test_a_bad_line(line: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    last = json.dumps(GOOD | {"id": "last"})
    path.write_bytes(json.dumps(GOOD).encode() + b"\n" + line.encode("latin-1") + b"\n")
    text = message(path)
    assert text.startswith(f"{path}, line 2: ")
    assert expected in text
    path.write_bytes(path.read_bytes() + last.encode())
    kept, problems = skipped(path)
    assert [layout.id for layout in kept] == ["ok", "last"]
    assert problems.count == 1
    assert expected in problems.listed[0].message


def test_truncated_gzip_keeps_what_came_before_when_skipping(tmp_path: Path) -> None:
    lines = "".join(json.dumps(GOOD | {"id": str(i)}) + "\n" for i in range(5000))
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(lines.encode())
    path.write_bytes(whole[: len(whole) // 2])
    assert "the gzip data is cut off or damaged" in message(path)
    kept, problems = skipped(path)
    assert 0 < len(kept) < 5000
    assert problems.count == 1
    path.write_bytes(b"\x1f\x8b" + b"junk" * 9)
    assert "gzip" in message(path)


# COCO --------------------------------------------------------------------------------------------


def coco(**change: Any) -> dict[str, Any]:
    good = {
        "images": [{"id": 1, "width": 100, "height": 200}, {"id": 2, "width": 10, "height": 20}],
        "annotations": [
            {"id": 10, "image_id": 1, "category_id": 1, "bbox": [10, 20, 30, 40]},
            {"id": 11, "image_id": 2, "category_id": 2, "bbox": [0, 0, 10, 20]},
        ],
        "categories": [{"id": 1, "name": "text"}, {"id": 2, "name": "list"}],
    }
    return good | change


def with_annotation(**change: Any) -> dict[str, Any]:
    new = {"id": 12, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]} | change
    data = coco()
    data["annotations"].append({k: v for k, v in new.items() if v is not ...})
    return data


BAD_ANNOTATIONS: list[tuple[dict[str, Any], str]] = [
    ({"category_id": 9}, "annotation 12: category_id 9 is not among the file's categories"),
    ({"category_id": "1"}, "category_id '1' is not among"),
    ({"category_id": None}, "category_id must be a whole number, got None"),
    ({"image_id": 99}, "image_id 99 is not among the file's images; it should be one of 1, 2"),
    ({"image_id": 10**30}, "image_id must fit in 64 bits"),
    ({"bbox": [1, 2, 3]}, "bbox must be four numbers"),
    ({"bbox": "1 2 3 4"}, "bbox must be four numbers"),
    ({"bbox": [1, 2, 3, None]}, "bbox value must be a number, got None"),
    ({"bbox": [1, 2, 3, float("nan")]}, "must be a finite number, got nan"),
    ({"bbox": [1, 2, 10**400, 4]}, "below 1e308"),
    ({"bbox": [1, 2, 1e308, 1e308]}, "leaves the canvas"),
    ({"bbox": [-5, 2, 3, 4]}, "annotation 12: text: x spans -0.05"),
    ({"bbox": [90, 2, 30, 4]}, "leaves the canvas"),
    ({"bbox": [1, 2, 0, 4]}, "width must be greater than 0"),
    ({"bbox": ...}, "annotation 12: it lacks the key 'bbox'"),
    ({"image_id": ...}, "it lacks the key 'image_id'"),
    ({"id": 10}, "annotation 10: an annotation with this id came before"),
    ({"id": ..., "bbox": [1, 2, 0, 4]}, "annotation number 3"),
]


@pytest.mark.parametrize(("change", "expected"), BAD_ANNOTATIONS)
def test_a_bad_annotation(change: dict[str, Any], expected: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(with_annotation(**change)))
    assert expected in message(path)
    kept, problems = skipped(path)
    assert [(x.id, x.labels) for x in kept] == [("1", ("text",)), ("2", ("list",))]
    assert problems.count == 1


BAD_COCO: list[tuple[Any, str]] = [
    (coco(images=[{"id": 1, "width": 100}]), "image 1: it lacks the key 'height'"),
    (coco(images=[{"id": 1, "width": 1, "height": 0}]), "image 1: height must be above 0"),
    (coco(images=[{"width": 1, "height": 1}]), "image number 1: it lacks the key 'id'"),
    (coco(images=[7]), "image number 1: it must be a JSON object, got 7"),
    (coco(images=coco()["images"] * 2), "an image with this id came before"),
    (coco(categories=coco()["categories"] * 2), "a category with this id came before"),
    (coco(categories=[{"id": 1}]), "category 1: it lacks the key 'name'"),
    (coco(categories=[]), "it should be declared there, but none are"),
    (coco(images={}), "'images' is not a list; a COCO file has the lists"),
    ({"images": [], "annotations": []}, "'categories' is missing"),
]


@pytest.mark.parametrize(("data", "expected"), BAD_COCO)
def test_a_bad_coco_file(data: Any, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(data))
    assert expected in message(path)


def test_a_left_out_image_takes_its_annotations_along(tmp_path: Path) -> None:
    images = [{"id": 1, "width": 0, "height": 5}, {"id": 2, "width": 10, "height": 20}]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(coco(images=images)))
    kept, problems = skipped(path)
    assert [layout.id for layout in kept] == ["2"]
    assert problems.count == 1


def test_wrong_json_names_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    good = json.dumps(coco(), indent=1)
    path.write_text(good.replace('"width": 10,', '"width": 1O,'))
    assert f"{path}, line 10, column 14: not valid JSON" in message(path)
    path.write_text(good[: len(good) // 2])
    assert "not valid JSON" in message(path)
    assert "check that the file is complete" in message(path)
    path.write_text(good + "x")
    assert "there is more text after the end" in message(path)


# The others --------------------------------------------------------------------------------------


def edited(path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


LAYOUT = Layout.create(
    ["text", "list"], [[0.5, 0.5, 0.5, 0.25], [0.25, 0.25, 0.5, 0.5]], width=100, height=200, id="p"
)

Edit = tuple[str, str, str, str, int]  # file, old, new, expected, elements left when skipping
EDITS: dict[str, list[Edit]] = {
    "yolo": [
        ("labels/p.txt", "1 0.25", "7 0.25", "line 2: class 7 has no name", 1),
        ("labels/p.txt", "1 0.25", "x 0.25", "class must be a whole number, got 'x'", 1),
        ("labels/p.txt", "1 0.25", "1 nan", "x must be a finite number", 1),
        ("labels/p.txt", "1 0.25", "1 9.25", "leaves the canvas", 1),
        ("labels/p.txt", "1 0.25", "1 -0.25", "leaves the canvas", 1),
        ("labels/p.txt", "1 0.25 0.25 0.5 0.5", "1 0.25 0.25 0 0.5", "greater than 0", 1),
        ("labels/p.txt", "1 0.25", "1", "got 4 values", 1),
        ("labels/p.txt", "1 0.25", "1 0.1 0.1 0.1", "polygon", 1),
        ("canvas.csv", "100,200", "100,-200", "canvas.csv, line 2: size must be above 0", 2),
        ("canvas.csv", "100,200", "100", "should have 4 values, got 3", 2),
        ("canvas.csv", "p,p", "q,q", "there is no label file q.txt", 2),
    ],
    "voc": [
        ("Annotations/p.xml", "<name>list", "<nom>list", "not valid XML", -1),
        ("Annotations/p.xml", "<name>list</name>", "", "object 2: lacks <name>", 1),
        ("Annotations/p.xml", "<xmin>25", "<xmin>x", "object 1: xmin must be a number", 1),
        ("Annotations/p.xml", "<xmin>25", "<xmin>nan", "must be a finite number", 1),
        ("Annotations/p.xml", "<xmin>25", "<xmin>-25", "leaves the canvas", 1),
        ("Annotations/p.xml", "<xmin>25", "<xmin>75", "width must be greater than 0", 1),
        ("Annotations/p.xml", "<width>100", "<width>0", "canvas width must be above 0", -1),
        ("Annotations/p.xml", "<width>100</width>", "", "lacks <size><width>", -1),
    ],
    "labelstudio": [
        ("", '"x": 25.0', '"x": "25"', "task 1, result 1: x must be a number", 1),
        ("", '"x": 25.0', '"x": NaN', "must be a finite number", 1),
        ("", '"x": 25.0', '"x": 75.5', "leaves the canvas", 1),
        ("", '"width": 50.0', '"width": 0', "width must be greater than 0", 1),
        ("", '"rotation": 0', '"rotation": 30', "is rotated by 30 degrees", 1),
        ("", '["list"]', '["list", "x"]', "should have one label", 1),
        ("", '["list"]', "[]", "should have one label", 1),
        ("", '"rectanglelabels", "from', '"brush", "from', "only rectangles can be read", 1),
        ("", '"result": [', '"result": 3, "r": [', "result must be a list", -1),
        ("", '"annotations": [', '"notes": [', "neither annotations nor predictions", -1),
        ("", '"value": {', '"values": {', "lacks the key 'value'", 1),
    ],
    "csv": [
        ("", "list,0.25", "list,x", "line 3: x must be a number, got 'x'", 1),
        ("", "list,0.25", "list,nan", "must be a finite number", 1),
        ("", "list,0.25", "list,0.9", "leaves the canvas", 1),
        ("", "list,0.25,0.25,0.5,0.5", "list,0.25,0.25,0,0.5", "greater than 0", 1),
        ("", "list,0.25", ",0.25", "label must be a non-empty text", 1),
        ("", "list,0.25,", "list,", "has 8 values; the header has 9", 1),
        ("", "1,p,100,200,list", "1,p,100,300,list", "differ from those above", 1),
        ("", "1,p,100,200,list", "1,p,0,200,list", "width must be above 0", 1),
    ],
}


@pytest.mark.parametrize(
    ("format", "edit"), [(format, edit) for format, edits in EDITS.items() for edit in edits]
)
def test_a_bad_element(format: str, edit: Edit, tmp_path: Path) -> None:
    file, old, new, expected, left = edit
    names = {"labelstudio": "a.json", "csv": "a.csv"}
    path = write([LAYOUT], tmp_path / names.get(format, "folder"), format=format)
    edited(path / file if file else path, old, new)
    text = message(path, format)
    assert text.startswith(str(path))
    assert expected in text
    kept, problems = skipped(path, format)
    assert [len(layout) for layout in kept] == ([left] if left >= 0 else [])
    assert problems.count == 1


def test_csv_rows_of_a_layout_must_stand_together(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    row = "{},10,10,text,1,2,3,4\n"
    path.write_text(
        "filename,width,height,class,xmin,ymin,xmax,ymax\n"
        + "".join(row.format(name) for name in ("a.jpg", "b.jpg", "a.jpg"))
    )
    assert "line 4: the rows of layout 'a.jpg' ended before" in message(path)
    kept, _ = skipped(path)
    assert [layout.id for layout in kept] == ["a.jpg", "b.jpg"]
    assert kept[0].left_top(pixels=True).round(9).tolist() == [[1, 2, 2, 2]]


def test_csv_ids_must_not_repeat_even_when_layouts_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = ["1,p,1,1,a,0.5,0.5,0.2,0.2", "2,,1,1,a,0.5,0.5,0.2,0.2", "3,,1,1,a,0.5,0.5,0.2,0.2"]
    rows += ["4,p,1,1,a,0.5,0.5,0.2,0.2", "5,q,1,1,a,0.5,0.5,0.2,0.2"]
    path.write_text("\n".join(["layout,id,width,height,label,x,y,w,h", *rows]))
    assert f"{path}, line 5: id 'p' is that of an earlier layout" in message(path)
    layouts, problems = skipped(path)
    assert [layout.id for layout in layouts] == ["p", "", "", "q"]
    assert problems.count == 1


def test_an_absurdly_large_box_is_one_sentence_without_warnings(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    data = coco()
    data["images"][0]["width"] = 0.5
    data["annotations"][0]["bbox"] = [1e308, 0, 1e308, 1]
    path.write_text(json.dumps(data))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "x must be a finite number" in message(path)


def test_parquet_rows(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    def file(**columns: Any) -> Path:
        path = tmp_path / "a.parquet"
        rows = {"id": ["p", "q"], "bbox": [[[0.5, 0.5, 1, 1]]] * 2, "label": [["a"], ["b"]]}
        parquet.write_table(pyarrow.table(rows | columns), path)
        return path

    assert [layout.labels for layout in read(file())] == [("a",), ("b",)]
    assert "label holds numbers" in message(file(label=[[0], [1]]))
    assert "row 2: id 'p' came before" in message(file(id=["p", "p"]))
    assert "same length" in message(file(mask=[[True], [True, False]]))
    bad = file(bbox=[[[0.5, 0.5, 1, 1]], [[2.0, 2.0, 1.0, 1.0]]])
    assert "row 2: layout 'q': element 0 (b): x spans 1.5 to 2.5" in message(bad)
    kept, problems = skipped(bad)
    assert ([layout.id for layout in kept], problems.count) == (["p"], 1)
    padded = file(mask=[[True], [False]])
    assert [layout.labels for layout in read(padded)] == [("a",), ()]
    parquet.write_table(pyarrow.table({"x": [1]}), tmp_path / "b.parquet")
    assert "lacks the column 'bbox'" in message(tmp_path / "b.parquet")

"""Files as other tools write them: YOLO, VOC, Label Studio and Hugging Face conventions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from layoutdm import Layout, LayoutdmError
from layoutdm.formats import read, write
from layoutdm.formats.yolo_names import parse_yaml


@pytest.mark.parametrize(
    "text",
    [
        "names: [text, 'it''s', \"a, b\"]",
        "train: x\nnc: 3\nnames:\n- text\n- it's\n- 'a, b'\nother: 1",
        'names:\n  0: text  # first\n\n  1: it\'s\n  2: "a, b"\nval: y\n',
        "names: {0: text, 1: it's, 2: 'a, b'}",
        "names: [\n  'text',\n  \"it's\",\n  'a, b'\n]\nnc: 3",
    ],
)
def test_class_names_in_every_yaml_style(text: str) -> None:
    assert parse_yaml(text) == {0: "text", 1: "it's", 2: "a, b"}


def yolo(folder: Path, sub: str = "labels/train") -> Path:
    (folder / sub).mkdir(parents=True)
    (folder / sub / "a.txt").write_text("1 0.5 0.5 0.5 0.5\n0 0.5 0.5 1 1 0.87\n")
    (folder / sub / "b.txt").write_text("")
    (folder / "classes.txt").write_text("text\nlist item\n")
    return folder


def test_yolo_without_our_canvas_file(tmp_path: Path) -> None:
    a, b = read(yolo(tmp_path / "set"))
    assert (a.id, a.labels) == ("train/a", ("list item", "text"))
    assert (a.width, a.height) == (1.0, 1.0)
    assert (b.id, len(b)) == ("train/b", 0)


def test_yolo_takes_canvas_sizes_from_pictures(tmp_path: Path) -> None:
    folder = yolo(tmp_path / "set")
    (folder / "images" / "train").mkdir(parents=True)
    Image.new("L", (30, 40)).save(folder / "images" / "train" / "a.png")
    a, b = read(folder)
    assert [(x.width, x.height) for x in (a, b)] == [(30.0, 40.0), (1.0, 1.0)]
    (folder / "images" / "train" / "b.jpg").write_bytes(b"not a picture")
    with pytest.raises(LayoutdmError, match=r"b\.txt: the size of its picture b\.jpg"):
        list(read(folder))


def test_yolo_flat_folder_with_pictures_beside(tmp_path: Path) -> None:
    folder = yolo(tmp_path / "set", sub=".")
    Image.new("L", (30, 40)).save(folder / "b.jpg")
    assert [(x.id, x.width) for x in read(folder)] == [("a", 1.0), ("b", 30.0)]


def test_what_plain_yolo_tools_see(tmp_path: Path) -> None:
    layout = Layout.create(["b", "a"], [[0.5, 0.25, 0.5, 0.5], [0.5, 0.5, 1, 1]], id="p")
    folder = write([layout], tmp_path / "set", format="yolo", labels=["a", "b"])
    assert (folder / "labels" / "p.txt").read_text() == "1 0.5 0.25 0.5 0.5\n0 0.5 0.5 1 1\n"
    assert (folder / "classes.txt").read_text() == "a\nb\n"
    names = (folder / "data.yaml").read_text().split("nc: 2\n")[1]
    assert names == 'names:\n  0: "a"\n  1: "b"\n'


def test_voc_as_annotation_tools_write_it(tmp_path: Path) -> None:
    file = tmp_path / "flat" / "img_1.xml"
    file.parent.mkdir()
    file.write_text(
        """<?xml version="1.0"?>
        <annotation verified="yes"><folder>x</folder><filename>img_1.jpg</filename>
        <size><width>200</width><height>100</height><depth>3</depth></size>
        <object><name>
            dog
        </name><bndbox><xmin>20</xmin><xmax>60.5</xmax><ymin>10</ymin><ymax>30</ymax></bndbox>
        </object></annotation>"""
    )
    for path in (file, file.parent):
        (layout,) = read(path)
        assert (layout.id, layout.labels) == ("img_1", ("dog",))
        assert layout.corners(pixels=True).round(9).tolist() == [[20, 10, 60.5, 30]]
        assert layout.metadata["file_name"] == "img_1.jpg"


def test_voc_says_what_xml_cannot_hold(tmp_path: Path) -> None:
    layout = Layout.create(["a\x01b"], [[0.5, 0.5, 1, 1]])
    with pytest.raises(LayoutdmError, match="a character that XML cannot"):
        write([layout], tmp_path / "set", format="voc")


def region(x: float, label: str, **more: object) -> dict[str, object]:
    value = {"x": x, "y": 0, "width": 10, "height": 50, "rectanglelabels": [label]}
    size = {"original_width": 200, "original_height": 100}
    return {"type": "rectanglelabels", "value": value, **size, **more}


def test_label_studio_prefers_annotations_and_reads_predictions(tmp_path: Path) -> None:
    tasks = [
        {
            "id": 1,
            "data": {"image": "/data/1.png"},
            "annotations": [
                {"was_cancelled": True, "result": [region(0, "no")]},
                {"result": [region(0, "text"), region(50, "list")]},
                {"result": [region(20, "second opinion")]},
            ],
            "predictions": [{"result": [region(0, "guess")]}],
        },
        {"id": 2, "data": {}, "annotations": [], "predictions": [{"result": [region(5, "guess")]}]},
        {"id": 3, "data": {"width": 7, "height": 9}, "annotations": [{"result": []}]},
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    layouts = list(read(path))
    assert [x.id for x in layouts] == ["1", "1#2", "2", "3"]
    assert [x.labels for x in layouts] == [("text", "list"), ("second opinion",), ("guess",), ()]
    assert layouts[0].left_top(pixels=True).tolist()[1] == [100, 0, 20, 50]
    assert (layouts[3].width, layouts[3].height) == (7.0, 9.0)
    assert layouts[0].metadata["file_name"] == "/data/1.png"
    path.write_text(json.dumps(tasks[1]))
    assert [x.id for x in read(path)] == ["2"]


def test_label_studio_with_label_and_box_apart(tmp_path: Path) -> None:
    box = {"x": 0, "y": 0, "width": 10, "height": 50}
    results = [
        {"id": "r", "type": "rectangle", "value": box},
        {"id": "r", "type": "labels", "value": {**box, "labels": ["Total"]}},
        {"id": "r", "type": "textarea", "value": {**box, "text": ["12.50"]}},
        {"type": "relation", "from_id": "r", "to_id": "r"},
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps([{"id": 1, "annotations": [{"result": results}]}]))
    (layout,) = read(path)
    assert layout.labels == ("Total",)


def test_label_studio_kinds(tmp_path: Path) -> None:
    layout = Layout.create(["a"], [[0.5, 0.5, 0.5, 0.5]], width=20, height=40, id="p")
    for kind in ("annotations", "predictions"):
        path = write([layout], tmp_path / "a.json", format="labelstudio", kind=kind)
        (task,) = json.loads(path.read_text())
        value = task[kind][0]["result"][0]["value"]
        assert [value[key] for key in ("x", "y", "width", "height")] == [25, 25, 50, 50]
        assert list(read(path)) == [layout]
    with pytest.raises(LayoutdmError, match="kind must be annotations or predictions"):
        write([layout], path, format="labelstudio", kind="guesses")


def test_parquet_has_hugging_face_features_and_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyarrow import parquet

    layouts = [
        Layout.create(["b", "a"], [[0.5, 0.5, 1, 1]] * 2, id=str(i), width=3, height=4)
        for i in range(2500)
    ]
    monkeypatch.setattr("layoutdm.formats.parquet.ROWS", 2000)
    path = write(iter(layouts), tmp_path / "a.parquet")
    file = parquet.ParquetFile(path)
    assert file.num_row_groups == 2
    features = json.loads(file.schema_arrow.metadata[b"huggingface"])["info"]["features"]
    assert features["label"]["feature"] == {"names": ["b", "a"], "_type": "ClassLabel"}
    first = file.read_row_group(0).slice(0, 1).to_pylist()[0]
    assert (first["label"], first["mask"]) == ([0, 1], [True, True])
    assert sum(1 for _ in read(path)) == 2500


def test_a_folder_of_parquet_files_is_one_set(tmp_path: Path) -> None:
    for index in range(3):
        layout = Layout.create(["a"], [[0.5, 0.5, 1, 1]], id=str(index))
        write([layout], tmp_path / f"part-{index}.parquet")
    assert [layout.id for layout in read(tmp_path)] == ["0", "1", "2"]

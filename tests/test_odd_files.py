"""Odd texts and odd files: names without letters, formulas, thousands of digits, deep trees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from layoutdm import Element, Layout, LayoutdmError
from layoutdm.formats import FORMATS, PICTURES, Problems, read, write
from layoutdm.formats.cells import from_cell, to_cell
from layoutdm.formats.yolo_names import parse_yaml
from layoutdm.pictures.output import file_name

BOX = [0.5, 0.5, 0.5, 0.5]


def one(label: str = "text", **more: Any) -> Layout:
    return Layout.create([label], [BOX], width=60, height=80, **more)


# Names -----------------------------------------------------------------------------------------


INVISIBLE = ["\u200b", "\u200b\u200d\u2060", "\u3164", "\u00ad", "\u0301", "\u2800\u2800", "\ufeff"]


@pytest.mark.parametrize("label", INVISIBLE)
@pytest.mark.parametrize("format", PICTURES)
def test_labels_without_width_can_be_drawn(format: str, label: str, tmp_path: Path) -> None:
    path = write([one(label)] * 2, tmp_path / f"a.{format}", format)
    assert path.stat().st_size
    if format in ("svg", "html"):
        assert f"\\u{ord(label[0]):04x}" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("letter", ["漢", "é", "😀", "a", "한"])
@pytest.mark.parametrize("format", ["svg", "yolo", "voc"])
def test_ids_of_a_hundred_letters_of_any_script_name_files(
    format: str, letter: str, tmp_path: Path
) -> None:
    ids = [letter * 100, letter * 101, letter * 300]
    write([one(id=id) for id in ids], tmp_path / "out", format)
    files = [p for p in (tmp_path / "out").rglob("*") if p.suffix in (".svg", ".txt", ".xml")]
    assert len(files) >= 3
    assert len(file_name(ids[0], 0).encode()) <= 100
    if format != "svg":
        assert [layout.id for layout in read(tmp_path / "out")] == ids


# Formulas --------------------------------------------------------------------------------------


FORMULAS = ['=HYPERLINK("http://x")', "+1", "-1", "@SUM(A1)", "\t=1", "'=1", "''+1", "＝1", "it's"]


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("end", ["csv", "tsv"])
def test_a_spreadsheet_runs_nothing_and_the_text_comes_back(
    end: str, text: str, tmp_path: Path
) -> None:
    layout = one(text, id=text)
    path = write([layout], tmp_path / f"a.{end}")
    import csv

    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t" if end == "tsv" else ","))
    assert not any(cell.startswith(tuple("=+-@\t\r＝＋－＠")) for cell in rows[1])
    assert list(read(path)) == [layout]
    assert from_cell(to_cell(text)) == text


@pytest.mark.parametrize("text", FORMULAS)
def test_the_table_of_a_yolo_folder_holds_no_formula_either(text: str, tmp_path: Path) -> None:
    write([one(id=text)], tmp_path / "set", "yolo")
    assert [layout.id for layout in read(tmp_path / "set")] == [text]
    line = (tmp_path / "set" / "canvas.csv").read_text(encoding="utf-8").splitlines()[1]
    assert not line.split(",")[1].strip('"').startswith(tuple("=+-@\t＝"))


# Numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "yaml",
    [
        "names:\n  {n}: text\n",
        "names: {{{n}: text}}",
        "names:\n  0: text\n  {n}: title\n",
    ],
)
def test_a_class_number_of_thousands_of_digits_is_said(yaml: str, tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "a.txt").write_text("0 .5 .5 .5 .5\n")
    (tmp_path / "data.yaml").write_text(yaml.format(n="9" * 5000))
    with pytest.raises(LayoutdmError, match=r"class number '999.*should be at most") as caught:
        list(read(tmp_path))
    assert len(str(caught.value)) < 400


def test_class_numbers_of_thousands_of_digits_on_a_line_are_said(tmp_path: Path) -> None:
    write([one(id="a")], tmp_path / "set", "yolo")
    (tmp_path / "set" / "labels" / "a.txt").write_text("9" * 5000 + " .5 .5 .5 .5\n")
    with pytest.raises(LayoutdmError, match="class must be a whole number"):
        list(read(tmp_path / "set"))


def test_a_long_list_of_names_is_read_in_one_pass() -> None:
    """When each name copied the rest of the text, this list took many minutes."""
    text = "names: [" + ", ".join(f"'n{i}'" for i in range(200_000)) + "]"
    assert len(parse_yaml(text)) == 200_000


# Trees -----------------------------------------------------------------------------------------


def deep(levels: int = 100_000) -> list[Any]:
    tree: list[Any] = []
    for _ in range(levels):
        tree = [tree]
    return tree


@pytest.mark.parametrize("field", ["id", "labels", "boxes", "width", "height", "metadata"])
def test_deep_objects_are_refused_with_a_sentence(field: str) -> None:
    record = {"id": "a", "labels": ["t"], "boxes": [BOX], "width": 1, "height": 1, "metadata": {}}
    for value in (deep(), [deep()], {"a": deep()}):
        try:
            layout = Layout.from_dict(record | {field: value})
        except LayoutdmError:
            continue
        assert field == "metadata"
        assert layout.metadata


def test_deep_objects_in_python_are_refused_with_a_sentence() -> None:
    for make in (
        lambda: Layout.create(deep(), [BOX]),
        lambda: Layout.create(["a"], deep()),
        lambda: Layout.create(["a"], [BOX], width=deep()),  # type: ignore[arg-type]
        lambda: Layout.create(["a"], [BOX], id=deep()),  # type: ignore[arg-type]
        lambda: Layout.create(["a"], [BOX], metadata=deep()),  # type: ignore[arg-type]
        lambda: Element("a", deep(), 0.5, 0.5, 0.5),  # type: ignore[arg-type]
        lambda: Element(deep(), 0.5, 0.5, 0.5, 0.5),  # type: ignore[arg-type]
    ):
        with pytest.raises(LayoutdmError):
            make()


@pytest.mark.parametrize("format", [f.name for f in FORMATS if f.writes])
def test_deep_metadata_is_written_or_refused_with_a_sentence(format: str, tmp_path: Path) -> None:
    layout = one(id="a", metadata={"deep": deep()})
    try:
        write([layout], tmp_path / "out", format)
    except LayoutdmError as error:
        assert format in ("jsonl", "parquet")
        assert "metadata" in str(error)


# JSON over several lines -----------------------------------------------------------------------


DRAFT = {"labels": ["text", "title"], "boxes": [BOX, [0.5, 0.1, 0.8, 0.1]], "id": "draft"}


@pytest.mark.parametrize("name", ["draft.json", "draft.jsonl", "draft", "draft.txt"])
@pytest.mark.parametrize("indent", [None, 1, 2, "\t"])
def test_a_draft_over_several_lines_is_recognised(
    indent: int | str | None, name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(DRAFT, indent=indent))
    layout = Layout.from_file(path)
    assert layout.id == "draft"
    assert layout.labels == ("text", "title")


def test_several_drafts_over_several_lines_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "drafts.jsonl"
    path.write_text("\n".join(json.dumps(DRAFT | {"id": f"d{n}"}, indent=2) for n in range(3)))
    assert [layout.id for layout in read(path)] == ["d0", "d1", "d2"]


def test_a_bad_draft_over_several_lines_is_named(tmp_path: Path) -> None:
    path = tmp_path / "draft.json"
    path.write_text(json.dumps(DRAFT | {"boxes": [BOX]}, indent=2))
    with pytest.raises(LayoutdmError, match="layout 1: layout 'draft': 2 labels but 1 boxes"):
        list(read(path))


def test_a_first_line_that_breaks_off_costs_this_line_only(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = json.dumps(DRAFT)
    path.write_text(f"{line[:40]}\n{line}\n")
    problems = Problems(skip=True)
    assert len(list(read(path, problems=problems))) == 1
    assert problems.listed[0].where == f"{path}, line 1"


def test_pixels_in_the_native_format_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    record = {"labels": ["a"], "boxes": [[300, 400, 480, 80]], "width": 600, "height": 800}
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(LayoutdmError, match=r"look like pixels.*divide.*COCO"):
        list(read(path))


# Names of pictures in COCO and VOC -------------------------------------------------------------


def test_every_picture_that_coco_names_has_an_ending(tmp_path: Path) -> None:
    layouts = [one(id="p1"), one(id="7"), one(), one(id="a", metadata={"file_name": "scan.tif"})]
    path = write(layouts, tmp_path / "a.json")
    names = [image["file_name"] for image in json.loads(path.read_text())["images"]]
    assert names == ["p1.png", "7.png", "2.png", "scan.tif"]
    back = list(read(path))
    assert back == layouts
    assert [dict(layout.metadata) for layout in back] == [{}, {}, {}, {"file_name": "scan.tif"}]


def test_every_picture_that_voc_names_has_an_ending(tmp_path: Path) -> None:
    write([one(id="p1")], tmp_path / "set", "voc")
    text = (tmp_path / "set" / "Annotations" / "p1.xml").read_text()
    assert "<filename>p1.png</filename>" in text
    assert not next(iter(read(tmp_path / "set"))).metadata

"""PubLayNet's original COCO files, against a plain second reading of the paper's rules."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import layoutdm.data
from layoutdm import LayoutdmError
from layoutdm.formats import Problems, read
from layoutdm.formats.publaynet import LABELS, recognise
from layoutdm.formats.publaynet import read as read_publaynet


def coco(pages, categories=LABELS):
    """pages: {image id: (width, height, [(label, left, top, width, height), ...])}."""
    images, annotations = [], []
    for id, (width, height, elements) in pages.items():
        name = f"PMC{id}_00001.jpg"
        images.append({"id": id, "width": width, "height": height, "file_name": name})
        for label, *box in elements:
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": id,
                    "category_id": categories.index(label) + 1,
                    "bbox": box,
                    "segmentation": [[box[0], box[1], box[0] + box[2], box[1]]],
                    "area": box[2] * box[3],
                    "iscrowd": 0,
                }
            )
    names = [{"id": i + 1, "name": name, "supercategory": ""} for i, name in enumerate(categories)]
    return {"images": images, "annotations": annotations, "categories": names}


def write_coco(path: Path, pages, **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(coco(pages, **options)))
    return path


TEXT = ("text", 50.5, 60.25, 200, 40)


def test_pages_come_by_id_with_elements_in_annotation_order(tmp_path):
    page = (600, 800, [TEXT, ("title", 10, 10, 100, 20), ("figure", 0, 0, 600, 800)])
    path = write_coco(tmp_path / "val.json", {30: page, 4: page, 100: page})
    layouts = list(read(path, format="publaynet"))
    assert [layout.id for layout in layouts] == ["4", "30", "100"]
    assert layouts[0].labels == ("text", "title", "figure")
    assert layouts[0].metadata["file_name"] == "PMC4_00001.jpg"
    assert layouts[0].boxes[0] == pytest.approx([150.5 / 600, 80.25 / 800, 1 / 3, 0.05], abs=1e-12)


def test_each_rule_removes_and_counts(tmp_path):
    pages = {
        1: (800, 600, [TEXT, ("text", -1, 0, 5, 5)]),
        2: (600, 600, [TEXT]),
        3: (600, 800, []),
        4: (600, 800, [TEXT] * 25),
        5: (600, 800, [TEXT] * 26),
        6: (600, 800, [TEXT] * 25 + [("text", 5, 5, 0, 9)]),
        7: (
            600,
            800,
            [
                ("text", 0, 0, 600, 800),
                ("text", -0.5, 0, 10, 10),
                ("text", 0, -0.5, 10, 10),
                ("text", 590.5, 0, 10, 10),
                ("text", 0, 790.5, 10, 10),
                ("text", 5, 5, 10, -1),
            ],
        ),
    }
    problems = Problems()
    path = write_coco(tmp_path / "train.json", pages)
    kept = {layout.id: len(layout) for layout in read_publaynet(path, problems)}
    assert kept == {"2": 1, "4": 25, "6": 25, "7": 1}
    assert problems.removed == {
        "landscape": 1,
        "no elements": 1,
        "too many elements": 1,
        "elements outside the canvas": 4,
        "elements without size": 2,
    }


def test_other_labels_are_dropped_and_counted(tmp_path):
    page = (600, 800, [TEXT, ("footer", 1, 1, 5, 5)])
    path = write_coco(tmp_path / "a.json", {1: page}, categories=(*LABELS, "footer"))
    problems = Problems()
    assert [layout.labels for layout in read_publaynet(path, problems)] == [("text",)]
    assert problems.removed == {"elements with another label": 1}


def test_the_folder_gets_the_papers_split(tmp_path):
    train = {n: (600, 800, [("text", 0, 0, n + 1, 10)]) for n in range(1, 101)}
    shuffled = dict(random.Random(1).sample(list(train.items()), 100))
    val = {n: (600, 800, [TEXT]) for n in (900, 30, 500)}
    write_coco(tmp_path / "pub" / "train.json", shuffled)
    write_coco(tmp_path / "pub" / "val.json", val)
    dataset = layoutdm.data.open(tmp_path / "pub")
    order = torch.randperm(100, generator=torch.Generator().manual_seed(0)).tolist()
    names = [str(sorted(train)[i]) for i in order]
    assert [layout.id for layout in dataset["train"]] == names[:95]
    assert [layout.id for layout in dataset["val"]] == names[95:]
    assert [layout.id for layout in dataset["test"]] == ["30", "500", "900"]
    assert dataset.labels == LABELS
    assert dataset.split_note == (
        "official train, shuffled with seed 0, as 95 % train and 5 % val; official val as test"
    )


def test_val_alone_becomes_test_and_the_note_says_so(tmp_path):
    write_coco(tmp_path / "pub" / "val.json", {1: (600, 800, [TEXT])})
    dataset = layoutdm.data.open(tmp_path / "pub")
    assert len(dataset["test"]) == 1
    assert dataset.split_note == "official val as test"
    with pytest.raises(LayoutdmError, match="no layouts in split 'train'; it has test"):
        dataset["train"]


def test_recognised_by_page_names_or_categories_only(tmp_path):
    original = write_coco(tmp_path / "a" / "train.json", {1: (600, 800, [TEXT])})
    assert recognise(original.parent)
    other = coco({1: (600, 800, [("text", 1, 1, 9, 9)])}, categories=("text", "photo"))
    other["images"][0]["file_name"] = "a.jpg"
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "train.json").write_text(json.dumps(other))
    assert not recognise(tmp_path / "b")
    other["categories"] = coco({})["categories"]
    (tmp_path / "b" / "train.json").write_text(json.dumps(other))
    assert recognise(tmp_path / "b")
    (tmp_path / "b" / "test.json").write_text("{}")
    assert not recognise(tmp_path / "b")


def test_an_id_in_both_official_files_is_named_or_skipped(tmp_path):
    page = (600, 800, [TEXT])
    write_coco(tmp_path / "train.json", {1: page, 2: page})
    second = write_coco(tmp_path / "val.json", {2: page, 3: page})
    with pytest.raises(LayoutdmError, match=f"{second}, image 2: an image of train.json has"):
        list(read(tmp_path, "publaynet"))
    problems = Problems(skip=True)
    assert [x.id for x in read(tmp_path, "publaynet", problems)] == ["1", "2", "3"]
    assert problems.count == 1
    assert len(layoutdm.data.open(tmp_path)) == 4  # as splits the two never meet


def test_a_folder_without_the_files_is_one_sentence(tmp_path):
    with pytest.raises(LayoutdmError, match=r"neither train\.json nor val\.json"):
        list(read(tmp_path, format="publaynet"))


numbers = st.integers(-2, 14) | st.sampled_from([0.5, 2.25, 9.75])
elements = st.tuples(st.sampled_from(LABELS), numbers, numbers, numbers, numbers)
pages = st.tuples(st.integers(9, 12), st.integers(9, 12), st.lists(elements, max_size=10))


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.integers(0, 10**6), pages, min_size=1, max_size=8))
def test_equals_a_plain_reading_of_the_rules(tmp_path_factory, pages):
    path = write_coco(tmp_path_factory.mktemp("pub") / "val.json", pages)
    wanted = []
    for id in sorted(pages):
        width, height, elements = pages[id]
        rows = [
            (label, (x + w / 2) / width, (y + h / 2) / height, w / width, h / height)
            for label, x, y, w, h in elements
            if x >= 0 and y >= 0 and x + w <= width and y + h <= height and w > 0 and h > 0
        ]
        if height >= width and 1 <= len(rows) <= 25:
            wanted.append((str(id), rows))
    layouts = list(read_publaynet(path, Problems()))
    assert [layout.id for layout in layouts] == [id for id, _ in wanted]
    for layout, (_, rows) in zip(layouts, wanted, strict=True):
        assert list(layout.labels) == [row[0] for row in rows]
        assert np.abs(layout.boxes - [row[1:] for row in rows]).max() < 1e-12

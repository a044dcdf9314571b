"""Rico's original trees, against a plain second reading of the paper's rules."""

import json
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

import layoutdm.data
from layoutdm import LayoutdmError
from layoutdm.formats import Problems, read
from layoutdm.formats.filters import NONE
from layoutdm.formats.rico import LABELS
from layoutdm.formats.rico import read as read_rico


def node(label=None, bounds=(0, 0, 10, 10), children=()):
    result = {"bounds": list(bounds), "class": "android.view.View", "clickable": False}
    if label is not None:
        result["componentLabel"] = label
    if children:
        result["children"] = list(children)
    return result


def root(*children, bounds=(0, 0, 1440, 2560)):
    return {"bounds": list(bounds), "class": "DecorView", "children": list(children)}


def write_folder(folder: Path, screens) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, tree in screens.items():
        (folder / f"{name}.json").write_text(json.dumps(tree))
    return folder


def write_zip(path: Path, screens) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("semantic_annotations/", "")
        for name, tree in screens.items():
            archive.writestr(f"semantic_annotations/{name}.json", json.dumps(tree))
            archive.writestr(f"semantic_annotations/{name}.png", b"\x89PNG")
    return path


def test_elements_in_preorder_with_parents(tmp_path):
    tree = root(
        node(
            "Toolbar",
            (0, 84, 1440, 280),
            [node("Icon", (0, 84, 196, 280)), node("Text", (196, 144, 1272, 220))],
        ),
        node(None, (0, 0, 1440, 2560), [node("Image", (0, 280, 1440, 1280))]),
    )
    [layout] = read(write_folder(tmp_path / "rico", {"7": tree}), format="rico")
    assert layout.labels == ("Toolbar", "Icon", "Text", "Image")
    assert (layout.id, layout.width, layout.height) == ("7", 1440, 2560)
    assert layout.corners(pixels=True).round(6).tolist()[2] == [196, 144, 1272, 220]
    assert layout.boxes[3].tolist() == [0.5, 780 / 2560, 1.0, 1000 / 2560]


def test_files_come_sorted_as_text_from_folder_and_zip_alike(tmp_path):
    screens = {str(n): root(node("Text", (0, 0, 100, n + 1))) for n in (0, 1, 2, 9, 10, 100, 11)}
    folder = list(read(write_folder(tmp_path / "rico", screens)))
    assert [layout.id for layout in folder] == ["0", "1", "10", "100", "11", "2", "9"]
    assert list(read(write_zip(tmp_path / "rico.zip", screens))) == folder


def test_unpacked_archive_with_its_inner_folder(tmp_path):
    write_folder(tmp_path / "semantic_annotations", {"3": root(node("Text"))})
    assert [layout.id for layout in read(tmp_path)] == ["3"]


def test_each_rule_removes_and_counts(tmp_path):
    text = node("Text")
    screens = {
        "shifted": root(text, bounds=(0, 84, 1440, 2392)),
        "landscape": root(text, bounds=(0, 0, 2560, 1440)),
        "square": root(text, bounds=(0, 0, 1440, 1440)),
        "empty": root(node("Unheard Of"), node(None)),
        "exactly25": root(*[text] * 25),
        "has26": root(*[text] * 26),
        "rescued26": root(*[text] * 25, node("Text", (5, 5, 5, 9))),
        "edges": root(
            node("Text", (0, 0, 1440, 2560)),
            node("Text", (-1, 0, 10, 10)),
            node("Text", (0, -1, 10, 10)),
            node("Text", (0, 0, 1441, 10)),
            node("Text", (0, 0, 10, 2561)),
            node("Text", (10, 0, 10, 10)),
            node("Text", (0, 10, 10, 9)),
        ),
    }
    problems = Problems()
    path = write_folder(tmp_path / "rico", screens)
    kept = {layout.id: len(layout) for layout in read_rico(path, problems)}
    assert kept == {"square": 1, "exactly25": 25, "rescued26": 25, "edges": 1}
    assert problems.removed == {
        "canvas not at (0, 0)": 1,
        "landscape": 1,
        "no elements": 1,
        "too many elements": 1,
        "elements with another label": 2,
        "elements outside the canvas": 4,
        "elements without size": 3,
    }
    assert problems.count == 0


def test_a_label_that_is_no_text_is_another_label(tmp_path):
    odd = [{"componentLabel": label, "bounds": [0, 0, 9, 9]} for label in ([], {}, 3, True)]
    write_folder(tmp_path, {"0": root(node("Text"), *odd)})
    problems = Problems()
    assert [layout.labels for layout in read(tmp_path, "rico", problems)] == [("Text",)]
    assert problems.removed["elements with another label"] == 4


def test_without_filters_only_what_a_layout_cannot_hold_is_left_out(tmp_path):
    text = node("Text")
    screens = {"a": root(*[text] * 40), "b": root(text, bounds=(0, 0, 20, 10)), "c": root()}
    path = write_folder(tmp_path / "rico", screens)
    assert [len(layout) for layout in read_rico(path, Problems(), filters=NONE)] == [40, 1, 0]


def expected(trees):
    """The rules once more, written as plainly as they read."""

    def below(tree):
        for child in tree.get("children", []):
            yield child
            yield from below(child)

    for name in sorted(trees):
        tree = trees[name]
        x, y, width, height = tree["bounds"]
        if (x, y) != (0, 0) or height < width:
            continue
        rows = []
        for child in below(tree):
            x1, y1, x2, y2 = child["bounds"]
            inside = x1 >= 0 and y1 >= 0 and x2 <= width and y2 <= height
            if child.get("componentLabel") in LABELS and inside and x2 > x1 and y2 > y1:
                box = ((x1 + x2) / 2 / width, (y1 + y2) / 2 / height)
                rows.append((child["componentLabel"], *box, (x2 - x1) / width, (y2 - y1) / height))
        if 1 <= len(rows) <= 25:
            yield name, rows


def random_node(random, depth):
    bounds = [random.randint(-1 if random.random() < 0.1 else 0, 12) for _ in range(4)]
    if random.random() < 0.8:  # mostly corners in the right order
        bounds = [min(bounds[0::2]), min(bounds[1::2]), max(bounds[0::2]), max(bounds[1::2])]
    children = [random_node(random, depth - 1) for _ in range(random.randint(0, depth))]
    return node(random.choice([*LABELS, "Other", None]), bounds, children)


def random_tree(random):
    canvas = random.choice([(0, 0, 10, 12)] * 3 + [(0, 0, 12, 10), (0, 0, 11, 11), (0, 1, 9, 9)])
    children = [random_node(random, 3) for _ in range(random.randint(0, 6))]
    return root(*children, bounds=canvas)


@pytest.mark.parametrize("seed", range(3))
def test_equals_a_plain_reading_of_the_rules(tmp_path, seed):
    random = Random(seed)
    screens = {str(random.randint(0, 99999)): random_tree(random) for _ in range(300)}
    wanted = list(expected(screens))
    assert len(wanted) > 100
    path = write_zip(tmp_path / "rico.zip", screens)
    layouts = list(read_rico(path, Problems()))
    assert [layout.id for layout in layouts] == [name for name, _ in wanted]
    for layout, (_, rows) in zip(layouts, wanted, strict=True):
        assert list(layout.labels) == [row[0] for row in rows]
        assert np.abs(layout.boxes - [row[1:] for row in rows]).max() < 1e-12


def test_data_set_has_the_papers_labels_and_split(tmp_path):
    screens = {str(n): root(node("Text", (0, 0, n + 1, 5))) for n in range(60)}
    dataset = layoutdm.data.open(write_zip(tmp_path / "rico.zip", screens))
    order = torch.randperm(60, generator=torch.Generator().manual_seed(0)).tolist()
    names = [sorted(screens)[i] for i in order]
    assert [layout.id for layout in dataset["train"]] == names[:51]
    assert [layout.id for layout in dataset["val"]] == names[51:54]
    assert [layout.id for layout in dataset["test"]] == names[54:]
    assert dataset.labels == LABELS
    assert "seed 0" in dataset.split_note


def test_a_tree_deeper_than_the_stack(tmp_path):
    tree = node("Text")
    for _ in range(400):
        tree = node(None, children=[tree])
    assert len(next(read_rico(write_folder(tmp_path / "r", {"1": root(tree)}), Problems()))) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"2\.json: not valid JSON at line 1"),
        ("[1, 2]", "JSON object"),
        ("[" * 100_000, "nesting too deep"),
        ('{"children": []}', "root has bounds None"),
        ('{"bounds": [0, 0, NaN, 5], "children": []}', "finite number"),
        ('{"bounds": [0, 0, 0, 0], "children": []}', "not beyond"),
        ('{"bounds": [0, 0, 9, 9], "children": {"a": 1}}', "list of JSON objects"),
        (
            '{"bounds": [0, 0, 9, 9], "children": [{"componentLabel": "Icon", "bounds": [1]}]}',
            r"element \(Icon\) has bounds \[1\]",
        ),
    ],
)
def test_a_damaged_file_is_named_or_skipped(tmp_path, content, message):
    path = write_folder(tmp_path / "rico", {"1": root(node("Text"))})
    (path / "2.json").write_text(content)
    with pytest.raises(LayoutdmError, match=message):
        list(read(path, format="rico"))
    problems = Problems(skip=True)
    assert [layout.id for layout in read(path, format="rico", problems=problems)] == ["1"]
    assert problems.count == 1


def test_a_damaged_zip_is_one_sentence(tmp_path):
    path = write_zip(tmp_path / "rico.zip", {"1": root(node("Text"))})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(LayoutdmError, match="no readable zip"):
        list(read(path, format="rico"))

"""Opening data sets: where splits come from, labels, filters, orders and what can go wrong."""

import gzip
import json

import pytest

import layoutdm.data
from layoutdm import Layout, LayoutdmError
from layoutdm.data import PUBLAYNET, RICO25, ordered_labels
from layoutdm.formats import Problems, write


def layout(id="", labels=("text",), width=600, height=800):
    boxes = [[0.5, 0.5, 0.5, 0.01 * (i + 1)] for i in range(len(labels))]
    return Layout.create(labels, boxes, width=width, height=height, id=str(id))


def save(path, layouts):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(item.as_dict()) for item in layouts]
    data = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def ids(layouts):
    return [item.id for item in layouts]


@pytest.mark.parametrize("names", [("train", "val", "test"), ("train", "validation", "test")])
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_files_named_after_splits(tmp_path, names, ending):
    for name in names:
        save(tmp_path / "pages" / f"{name}{ending}", [layout(name)])
    dataset = layoutdm.data.open(tmp_path / "pages")
    assert {split: ids(part) for split, part in dataset.splits.items()} == {
        "train": ["train"],
        "val": [names[1]],
        "test": ["test"],
    }
    assert dataset.name == "pages"
    assert dataset.split_note.startswith("as the files say: train")
    assert dict(dataset.removed) == {}


def test_folders_named_after_splits(tmp_path):
    for split in ("train", "val"):
        write([layout(split)], tmp_path / "set" / split, format="voc")
    dataset = layoutdm.data.open(tmp_path / "set")
    assert (ids(dataset["train"]), ids(dataset["val"])) == (["train"], ["val"])
    assert "no test" in dataset.split_note
    assert dataset.splits["test"] == ()


def test_shards_are_read_in_order(tmp_path):
    for shard in (1, 0):
        save(tmp_path / f"train-0000{shard}-of-00002.jsonl", [layout(shard)])
    save(tmp_path / "test.jsonl", [layout("t")])
    assert ids(layoutdm.data.open(tmp_path)["train"]) == ["0", "1"]


def test_one_file_is_cut_with_a_stated_seed(tmp_path):
    path = save(tmp_path / "pages.jsonl", [layout(i) for i in range(100)])
    dataset = layoutdm.data.open(path)
    assert [len(part) for part in dataset.splits.values()] == [85, 5, 10]
    assert dataset.split_note.endswith("shuffled with seed 0 and cut 85 / 5 / 10 %: 85 / 5 / 10")
    assert sorted(ids(dataset.layouts()), key=int) == [str(i) for i in range(100)]
    assert ids(layoutdm.data.open(path).layouts()) == ids(dataset.layouts())
    other = layoutdm.data.open(path, seed=1)
    assert ids(other.layouts()) != ids(dataset.layouts())
    assert "seed 1" in other.split_note


def test_a_train_file_alone_is_cut_too(tmp_path):
    save(tmp_path / "train.jsonl", [layout(i) for i in range(40)])
    dataset = layoutdm.data.open(tmp_path)
    assert [len(part) for part in dataset.splits.values()] == [34, 2, 4]
    assert dataset.split_note.startswith("a train set alone, shuffled")


def test_any_readable_format(tmp_path):
    pages = [layout(i, ("text", "title")) for i in range(20)]
    wanted = sorted(str(i) for i in range(20))
    for name, format in [("a.json", "coco"), ("a.csv", "csv"), ("yolo", "yolo")]:
        write(pages, tmp_path / name, format=format)
        dataset = layoutdm.data.open(tmp_path / name)
        assert sorted(ids(dataset.layouts())) == wanted
        assert dataset.labels == ("text", "title")


def test_save_and_open_again(tmp_path):
    path = save(tmp_path / "pages.jsonl", [layout(i) for i in range(30)])
    dataset = layoutdm.data.open(path)
    again = layoutdm.data.open(dataset.save(tmp_path / "out"))
    assert again.splits == dataset.splits


# Labels and length ------------------------------------------------------------------------------


def test_label_order_is_the_papers_or_by_name():
    assert len(RICO25) == 25
    assert RICO25[0] == "Text"
    assert RICO25[24] == "Bottom Navigation"
    assert ordered_labels(reversed(RICO25)) == RICO25
    assert ordered_labels({"figure", "text", "title"}) == ("text", "title", "figure")
    assert ordered_labels(reversed(PUBLAYNET)) == PUBLAYNET
    assert ordered_labels(["zebra", "text", "apple"]) == ("apple", "text", "zebra")


def test_max_elements_is_the_limit_or_the_longest(tmp_path):
    path = save(tmp_path / "a.jsonl", [layout(i, ("text",) * (i + 1)) for i in range(30)])
    assert layoutdm.data.open(path).max_elements == 25
    assert layoutdm.data.open(path, max_elements=10).max_elements == 10
    assert layoutdm.data.open(path, max_elements=None).max_elements == 30
    assert layoutdm.data.open(path, filters=False).max_elements == 30


# Filters ----------------------------------------------------------------------------------------


@pytest.fixture
def mixed(tmp_path):
    return save(
        tmp_path / "mixed.jsonl",
        [
            layout("wide", width=800, height=600),
            layout("square", width=600, height=600),
            layout("empty", ()),
            layout("full", ("text",) * 25),
            layout("over", ("text",) * 26),
            layout("one"),
        ],
    )


@pytest.mark.parametrize(
    ("options", "kept", "removed"),
    [
        (
            {},
            {"square", "full", "one"},
            {"landscape": 1, "no elements": 1, "too many elements": 1},
        ),
        (
            {"portrait": False},
            {"wide", "square", "full", "one"},
            {"no elements": 1, "too many elements": 1},
        ),
        (
            {"max_elements": None},
            {"square", "full", "over", "one"},
            {"landscape": 1, "no elements": 1},
        ),
        (
            {"max_elements": 1},
            {"square", "one"},
            {"landscape": 1, "no elements": 1, "too many elements": 2},
        ),
        ({"filters": False}, {"wide", "square", "empty", "full", "over", "one"}, {}),
    ],
)
def test_filters_count_what_they_remove(mixed, options, kept, removed):
    dataset = layoutdm.data.open(mixed, **options)
    assert set(ids(dataset.layouts())) == kept
    assert dict(dataset.removed) == removed


def test_skipped_records_are_counted(tmp_path):
    path = save(tmp_path / "a.jsonl", [layout(i) for i in range(20)])
    path.write_text(path.read_text() + "{broken\n")
    with pytest.raises(LayoutdmError, match="line 21"):
        layoutdm.data.open(path)
    problems = Problems(skip=True)
    dataset = layoutdm.data.open(path, problems=problems)
    assert len(dataset) == 20
    assert dict(dataset.removed) == {"unreadable records": 1}
    assert "line 21" in str(problems.listed[0])


# Mistakes ---------------------------------------------------------------------------------------


def check_error(message, source, **options):
    with pytest.raises(LayoutdmError, match=message) as caught:
        layoutdm.data.open(source, **options)
    assert "\n" not in str(caught.value)


def test_missing(tmp_path):
    check_error("no such file or folder.*built in: sample", tmp_path / "nothing")


def test_empty_folder(tmp_path):
    check_error("folder is empty", tmp_path)


def test_empty_file(tmp_path):
    (tmp_path / "a.jsonl").write_text("")
    check_error("a.jsonl", tmp_path / "a.jsonl")


def test_folder_without_splits_or_layouts(tmp_path):
    (tmp_path / "notes.md").write_text("hello")
    check_error("format cannot be told", tmp_path)


def test_one_split_filtered_away(tmp_path):
    save(tmp_path / "train.jsonl", [layout("a")])
    save(tmp_path / "val.jsonl", [layout("wide", width=900)])
    check_error("split 'val' ends up empty after leaving out landscape 1", tmp_path)


def test_all_filtered_away(tmp_path):
    path = save(tmp_path / "a.jsonl", [layout("wide", width=900)])
    check_error("no layout is left after leaving out landscape 1; loosen", path)


def test_the_same_split_twice(tmp_path):
    for name in ("train.jsonl", "train.jsonl.gz", "test.jsonl"):
        save(tmp_path / name, [layout("a")])
    check_error("train.jsonl and train.jsonl.gz both name the split 'train'", tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "bottom-up"}, "order 'bottom-up' is unknown.*dataset, random, top-left"),
        ({"max_elements": 0}, "max_elements must be at least 1"),
        ({"format": "docx"}, "format 'docx'"),
    ],
)
def test_wrong_options(tmp_path, options, message):
    check_error(message, save(tmp_path / "a.jsonl", [layout("a")]), **options)


def test_a_split_that_is_not_there(tmp_path):
    dataset = layoutdm.data.open(save(tmp_path / "a.jsonl", [layout(i) for i in range(3)]))
    with pytest.raises(LayoutdmError, match="no layouts in split 'val'; it has train, test"):
        dataset["val"]


def test_a_link_that_leads_to_itself_is_no_data_set(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(LayoutdmError, match="no such file or folder"):
        layoutdm.data.open(tmp_path / "loop")


def test_a_folder_with_one_annotation_file_of_any_name(tmp_path):
    write([layout(i) for i in range(20)], tmp_path / "annotations" / "pages.json")
    dataset = layoutdm.data.open(tmp_path / "annotations")
    assert dataset.name == "annotations"
    assert [len(part) for part in dataset.splits.values()] == [17, 1, 2]
    write([layout(i) for i in range(20)], tmp_path / "annotations" / "more.json")
    with pytest.raises(LayoutdmError, match="is a folder of layout files; name one of them"):
        layoutdm.data.open(tmp_path / "annotations")


def test_a_cut_within_a_length_is_the_cut_without_the_longer_layouts(tmp_path):
    path = save(
        tmp_path / "pages.jsonl", [layout(i, ["text"] * (3 if i % 4 else 6)) for i in range(80)]
    )
    without = layoutdm.data.open(path, max_elements=5)
    all_of_them = layoutdm.data.open(path, max_elements=None, cut_within=5)
    assert len(all_of_them["train"]) == len(without["train"]) + 20
    for split, part in all_of_them.splits.items():
        assert ids(item for item in part if len(item) <= 5) == ids(without[split])

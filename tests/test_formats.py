"""Round trips through every format that can be both read and written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from layoutdm import Layout, LayoutdmError
from layoutdm.formats import Problems, detect, detect_target, read, write

NAMES = {
    "jsonl": "a.jsonl",
    "coco": "a.json",
    "yolo": "yolo_folder",
    "voc": "voc_folder",
    "labelstudio": "tasks.json",
    "csv": "a.csv",
    "parquet": "a.parquet",
}
BOTH = tuple(NAMES)
few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def boxes(draw: st.DrawFn, size: int) -> np.ndarray:
    unit = st.floats(0, 1, allow_subnormal=False)
    rows = []
    for _ in range(size):
        w, h = draw(st.floats(1e-6, 1)), draw(st.floats(1e-6, 1))
        x, y = w / 2 + draw(unit) * (1 - w), h / 2 + draw(unit) * (1 - h)
        rows.append([x, y, w, h])
    return np.array(rows).reshape(-1, 4)


# What XML can hold, without the line breaks at the ends that indenting programs add.
words = st.text(
    st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc", "Cn")), min_size=1, max_size=8
).filter(lambda text: text.strip() == text)
sides = st.one_of(st.integers(1, 5000).map(float), st.floats(0.5, 5000))


@st.composite
def layouts(draw: st.DrawFn) -> list[Layout]:
    ids = draw(st.lists(words | st.integers(0, 10**6).map(str), max_size=4, unique=True))
    result = []
    for id in ids:
        size = draw(st.integers(0, 4))
        labels = draw(st.lists(words, min_size=size, max_size=size))
        result.append(
            Layout.create(labels, draw(boxes(size)), width=draw(sides), height=draw(sides), id=id)
        )
    return result


def same(a: list[Layout], b: list[Layout], tolerance: float = 1e-9) -> None:
    assert [x.id for x in a] == [x.id for x in b]
    for x, y in zip(a, b, strict=True):
        assert x.labels == y.labels
        assert (x.width, x.height) == (y.width, y.height)
        np.testing.assert_allclose(x.boxes, y.boxes, rtol=0, atol=tolerance)


@pytest.mark.parametrize("format", BOTH)
@few
@given(layouts())
def test_round_trip_keeps_everything(format: str, given: list[Layout]) -> None:
    if not given and format != "coco":
        given = [Layout.create([], [], id="only")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAMES[format]
        assert write(given, path, format=format) == path
        same(given, list(read(path, format=format)))
        assert detect(path) == format
        assert [entry.name for entry in Path(folder).iterdir()] == [path.name]


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
@few
@given(layouts())
def test_these_formats_are_exact(format: str, given: list[Layout]) -> None:
    given = [*given, Layout.create(["one"], [[0.1, 0.2, 0.1, 1 / 3]], id="one more")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAMES[format]
        assert list(read(write(given, path, format=format))) == given


@pytest.mark.parametrize("format", BOTH)
def test_layouts_without_id_or_with_odd_ids(format: str, tmp_path: Path) -> None:
    box = [[0.5, 0.5, 1.0, 1.0]]
    ids = ["", "", "../up", "a b", "CON", "p1", "P1", "7", "007", "-1", "x" * 300, "é"]
    given = [Layout.create(["text"], box, id=id, width=30, height=40) for id in ids]
    path = write(given, tmp_path / NAMES[format], format=format)
    same(given, list(read(path)))
    assert {entry.name for entry in tmp_path.iterdir()} == {NAMES[format]}


@pytest.mark.parametrize("format", ["jsonl", "coco", "labelstudio", "parquet", "voc"])
def test_the_picture_name_survives(format: str, tmp_path: Path) -> None:
    layout = Layout.create(["a"], [[0.5, 0.5, 1, 1]], id="p", metadata={"file_name": "p.jpg"})
    (back,) = read(write([layout], tmp_path / NAMES[format], format=format))
    assert back.metadata["file_name"] == "p.jpg"


def test_gzip_is_recognised_by_content_and_written_the_same_twice(tmp_path: Path) -> None:
    layout = Layout.create(["a"], [[0.5, 0.5, 1, 1]], id="p")
    first = write([layout], tmp_path / "a.jsonl.gz").read_bytes()
    assert first[:2] == b"\x1f\x8b"
    assert write([layout], tmp_path / "b.jsonl.gz").read_bytes() == first
    renamed = tmp_path / "no_suffix"
    renamed.write_bytes(first)
    assert list(read(renamed)) == [layout]


@pytest.mark.parametrize("format", ["coco", "labelstudio", "csv"])
def test_other_texts_can_be_packed_too(format: str, tmp_path: Path) -> None:
    layout = Layout.create(["a"], [[0.5, 0.5, 1, 1]], id="p", width=3, height=4)
    path = write([layout], tmp_path / "a.tsv.gz", format=format)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert detect(path) == format
    (back,) = read(path)
    assert back == layout
    assert not back.metadata


def test_native_records_keep_further_keys_as_metadata(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('\ufeff{"labels":[],"boxes":[],"seed":4,"metadata":{"a":[1]}}\n\n')
    (layout,) = read(path)
    assert dict(layout.metadata) == {"seed": 4, "a": [1]}
    assert (layout.id, layout.width, layout.height) == ("", 1.0, 1.0)
    (again,) = read(write([layout], tmp_path / "b.jsonl"))
    assert dict(again.metadata) == {"seed": 4, "a": [1]}


def test_reading_is_lazy(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = '{"id":"%d","labels":[],"boxes":[]}\n'
    path.write_text(good % 1 + good % 2 + "broken\n")
    stream = read(path)
    assert [next(stream).id, next(stream).id] == ["1", "2"]
    with pytest.raises(LayoutdmError, match="line 3"):
        next(stream)


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    layouts = [Layout.create(["a"], [[0.5, 0.5, 1, 1]], id=str(i)) for i in range(1200)]
    for name in ("a.jsonl", "a.json", "a.csv"):
        path = write(layouts, tmp_path / name)
        seen: list[tuple[int, int]] = []

        def note(done: int, total: int, seen: list[tuple[int, int]] = seen) -> None:
            seen.append((done, total))

        assert sum(1 for _ in read(path, progress=note)) == 1200
        assert seen[-1] == (path.stat().st_size, path.stat().st_size)
        assert seen == sorted(seen)


# Writing never leaves half a file ----------------------------------------------------------------


def broken_off() -> object:
    yield Layout.create(["a"], [[0.5, 0.5, 1, 1]], id="new")
    raise LayoutdmError("the source is bad")


@pytest.mark.parametrize("format", BOTH)
def test_a_failed_write_changes_nothing(format: str, tmp_path: Path) -> None:
    old = [Layout.create(["a"], [[0.5, 0.5, 1, 1]], id="old")]
    path = tmp_path / NAMES[format]
    with pytest.raises(LayoutdmError, match="the source is bad"):
        write(broken_off(), path, format=format)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
    write(old, path, format=format)
    with pytest.raises(LayoutdmError, match="the source is bad"):
        write(broken_off(), path, format=format)  # type: ignore[arg-type]
    assert [layout.id for layout in read(path)] == ["old"]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    new = [Layout.create(["a"], [[0.5, 0.5, 1, 1]], id="new")]
    write(new, path, format=format)
    assert [layout.id for layout in read(path)] == ["new"]


@pytest.mark.parametrize("format", ["yolo", "voc"])
def test_a_folder_with_other_things_is_not_replaced(format: str, tmp_path: Path) -> None:
    path = tmp_path / "set"
    (path / "images").mkdir(parents=True)
    (path / "images" / "holiday.jpg").write_bytes(b"precious")
    with pytest.raises(LayoutdmError, match=r"images/holiday\.jpg, which .* would be lost"):
        write([], path, format=format)
    assert (path / "images" / "holiday.jpg").read_bytes() == b"precious"


def test_a_file_may_be_converted_onto_itself(tmp_path: Path) -> None:
    layouts = [Layout.create(["a"], [[0.5, 0.5, 1, 1]], id=str(i)) for i in range(50)]
    path = write(layouts, tmp_path / "a.jsonl")
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    write(read(link), link)
    assert link.is_symlink()
    assert list(read(path)) == layouts


def test_writing_where_it_cannot_work(tmp_path: Path) -> None:
    layout = Layout.create(["a"], [[0.5, 0.5, 1, 1]])
    file = write([layout], tmp_path / "a.jsonl")
    folder = tmp_path / "folder.jsonl"
    folder.mkdir()
    with pytest.raises(LayoutdmError, match="is a folder"):
        write([layout], folder)
    with pytest.raises(LayoutdmError, match="is a file"):
        write([layout], file, format="yolo")
    with pytest.raises(LayoutdmError, match=r"a\.jsonl"):
        write([layout], file / "below.jsonl")
    with pytest.raises(LayoutdmError, match="has no option 'colour'"):
        write([layout], file, colour="red")
    with pytest.raises(LayoutdmError, match="half a character"):
        write([Layout.create(["\ud800"], [[0.5, 0.5, 1, 1]])], tmp_path / "a.csv")
    with pytest.raises(LayoutdmError, match="cannot be read; it should be one of jsonl, coco"):
        list(read(file, format="svg"))
    with pytest.raises(LayoutdmError, match="metadata cannot be written"):
        write([Layout.create([], [], metadata={"a": object()})], tmp_path / "b.jsonl")


# Recognising -------------------------------------------------------------------------------------


def test_targets_are_recognised_by_name() -> None:
    names = {"a.jsonl": "jsonl", "A.JSONL.GZ": "jsonl", "a.ndjson": "jsonl", "a.json": "coco"}
    names |= {"a.csv": "csv", "a.tsv": "csv", "a.parquet": "parquet", "a.svg": "svg"}
    names |= {"a.png": "png", "a.html": "html", "a.pptx": "pptx"}
    assert {name: detect_target(name) for name in names} == names
    with pytest.raises(LayoutdmError, match="a folder could be yolo or voc"):
        detect_target("folder")


@pytest.mark.parametrize("format", ["jsonl", "coco", "labelstudio", "csv", "parquet"])
def test_content_wins_over_the_name(format: str, tmp_path: Path) -> None:
    layout = Layout.create(["label"], [[0.5, 0.5, 1, 1]], id="p", width=2, height=3)
    good = write([layout], tmp_path / NAMES[format], format=format).read_bytes()
    for name in ("data.txt", "data", "data.json"):
        path = tmp_path / name
        path.write_bytes(good)
        assert detect(path) == format
        same([layout], list(read(path)))


def test_pretty_printed_json_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{\n  "info": {},\n  "images": [\n  ],\n "annotations": [], "categories": []}')
    assert detect(path) == "coco"
    path.write_text('[\n  {\n    "id": 1,\n    "annotations": [],\n    "data": {}\n  }\n]')
    assert detect(path) == "labelstudio"


def test_problems_are_capped_but_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from layoutdm.formats import problems as module

    monkeypatch.setattr(module, "KEPT", 3)
    problems = Problems(skip=True)
    for index in range(5):
        problems.report(str(index), "bad")
    assert (problems.count, len(problems.listed)) == (5, 3)

"""Files damaged at random: nothing but LayoutdmError may come out, whatever the format."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from layoutdm import Layout, LayoutdmError
from layoutdm.formats import Problems, read, write

LAYOUTS = [
    Layout.create(
        ["text", "list item"],
        [[0.5, 0.5, 0.5, 0.25], [0.25, 0.25, 0.5, 0.5]],
        width=100,
        height=200,
        id=id,
        metadata={"file_name": f"{id}.jpg"},
    )
    for id in ("p", "7", "ünder")
]
SOURCES = {
    "jsonl": ("a.jsonl", "a.jsonl"),
    "jsonl.gz": ("a.jsonl.gz", "a.jsonl.gz"),
    "coco": ("a.json", "a.json"),
    "labelstudio": ("a.json", "a.json"),
    "csv": ("a.csv", "a.csv"),
    "parquet": ("a.parquet", "a.parquet"),
    "yolo labels": ("f", "f/labels/p.txt"),
    "yolo names": ("f", "f/data.yaml"),
    "yolo canvas": ("f", "f/canvas.csv"),
    "voc": ("f", "f/Annotations/p.xml"),
    "voc order": ("f", "f/ImageSets/Main/default.txt"),
}

damage = st.one_of(
    st.tuples(st.just("cut"), st.floats(0, 1), st.binary(max_size=0)),
    st.tuples(st.just("put"), st.floats(0, 1), st.binary(min_size=1, max_size=4)),
    st.tuples(st.just("insert"), st.floats(0, 1), st.binary(min_size=1, max_size=4)),
    # Changes that keep the syntax mostly whole and so reach further into the readers.
    st.tuples(
        st.just("put"),
        st.floats(0, 1),
        st.sampled_from([b"-", b"9", b"e", b"]", b"}", b'"', b"null", b"1e9", b",", b"NaN", b"<"]),
    ),
    st.tuples(st.just("drop"), st.floats(0, 1), st.binary(min_size=1, max_size=9)),
)


def damaged(data: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    for kind, share, piece in changes:
        at = int(share * len(data))
        if kind == "cut":
            data = data[:at]
        elif kind == "put":
            data = data[:at] + piece + data[at + len(piece) :]
        elif kind == "insert":
            data = data[:at] + piece + data[at:]
        else:
            data = data[:at] + data[at + len(piece) :]
    return data


@pytest.fixture(scope="module")
def originals() -> dict[str, Path]:
    root = Path(tempfile.mkdtemp())
    for name, (source, _) in SOURCES.items():
        (root / name).mkdir()
        write(LAYOUTS, root / name / source, format=name.split(" ")[0].removesuffix(".gz"))
    return {name: root / name for name in SOURCES}


@pytest.mark.parametrize("name", SOURCES)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(damage, min_size=1, max_size=3), named=st.booleans())
def test_only_our_error_comes_out(
    name: str,
    changes: list[tuple[str, float, bytes]],
    named: bool,
    originals: dict[str, Path],
) -> None:
    source, victim = SOURCES[name]
    format = name.split(" ")[0].removesuffix(".gz") if named else None
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(originals[name], copy)
        file = copy / victim
        file.write_bytes(damaged(file.read_bytes(), changes))
        try:
            strict = list(read(copy / source, format))
        except LayoutdmError as error:
            strict = None
            assert "\n" not in str(error)
        problems = Problems(skip=True)
        try:
            kept = list(read(copy / source, format, problems))
        except LayoutdmError:
            assert strict is None
            return
        # Skipping and stopping agree: either nothing was wrong, or something was listed.
        assert (strict is None) == (problems.count > 0)
        if strict is not None:
            assert strict == kept

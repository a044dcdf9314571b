"""Writers that are fed one layout at a time give the same files as writers of a whole list."""

from __future__ import annotations

from pathlib import Path

import pytest

from layoutdm.errors import LayoutdmError
from layoutdm.formats import write
from layoutdm.formats.streaming import WAITING, writing
from layoutdm.layout import Layout

LABELS = ("text", "title")


def some(count: int) -> list[Layout]:
    return [
        Layout.create([LABELS[i % 2]], [[0.5, 0.25, 0.5, 0.5 / (i + 1)]], width=100, height=200,
                      id=str(i))
        for i in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("format", ["coco", "yolo", "parquet", "csv"])
def test_the_same_bytes_as_from_a_list(format: str, tmp_path: Path) -> None:
    layouts = some(3 * WAITING)
    options = {} if format == "csv" else {"labels": LABELS}
    write(layouts, tmp_path / "whole", format, **options)
    with writing(tmp_path / "fed", format, **options) as add:
        for layout in layouts:
            add(layout)
    whole, fed = tmp_path / "whole", tmp_path / "fed"
    files = [whole] if whole.is_file() else sorted(p for p in whole.rglob("*") if p.is_file())
    assert files
    for file in files:
        assert file.read_bytes() == (fed / file.relative_to(whole)).read_bytes()


def test_nothing_appears_when_the_layouts_end_with_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="broken"), writing(tmp_path / "a.json", "coco") as add:
        add(some(1)[0])
        raise ValueError("broken")
    assert list(tmp_path.iterdir()) == []


def test_a_writer_that_fails_says_so_to_the_one_who_feeds_it(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.doc").write_text("keep")
    with (
        pytest.raises(LayoutdmError, match=r"mine\.doc, which .* would be lost"),
        writing(tmp_path / "out", "yolo") as add,
    ):
        for layout in some(4 * WAITING):
            add(layout)
    assert (tmp_path / "out" / "mine.doc").read_text() == "keep"

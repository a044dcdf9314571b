"""A command touches only what it wrote itself; one's own folders just work. As real processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from layoutdm import Layout
from layoutdm.formats import write

LAYOUTS = [Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]], id=f"p{n}") for n in range(3)]


def layoutdm(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "layoutdm", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(LAYOUTS, tmp_path / "layouts.jsonl")


@pytest.mark.parametrize("kind", ["svg", "png", "jpg", "pdf", "html", "yolo", "voc"])
def test_foreign_files_of_the_same_suffix_stay(kind: str, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    inner = {"yolo": "labels/mine.txt", "voc": "Annotations/mine.xml"}.get(kind, f"mine.{kind}")
    (out / inner).parent.mkdir(parents=True)
    (out / inner).write_text("precious")
    if kind in ("yolo", "voc"):
        run = layoutdm("convert", source, out, "--to", kind)
    else:
        run = layoutdm("render", source, "--to", kind, "--out", out)
    assert run.returncode == 1
    assert f"holds {inner}, which layoutdm did not write" in run.stderr
    assert "Traceback" not in run.stderr
    assert (out / inner).read_text() == "precious"
    assert [p for p in out.rglob("*") if p.is_file()] == [out / inner]


def test_a_folder_of_pictures_is_made_anew_and_what_was_added_stays(
    source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    render = ("render", source, "--to", "svg", "--out", out)
    assert layoutdm(*render).returncode == 0
    assert layoutdm(*render, "-n", 1).returncode == 0
    assert sorted(p.name for p in out.glob("*.svg")) == ["p0.svg"]
    (out / "p0.svg").write_text("<svg>corrected</svg>")
    run = layoutdm(*render)
    assert run.returncode == 1
    assert "p0.svg, which was changed after layoutdm wrote it" in run.stderr
    assert (out / "p0.svg").read_text() == "<svg>corrected</svg>"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A folder as a job leaves it, with other formats beside its layouts."""
    folder = tmp_path / "job"
    write(LAYOUTS, folder / "layouts.jsonl")
    write(LAYOUTS, folder / "coco.json")
    write(LAYOUTS, folder / "layouts.csv")
    write(LAYOUTS, folder / "layouts.parquet")
    write(LAYOUTS, folder / "yolo", "yolo")
    write(LAYOUTS, folder / "png", "png")
    (folder / "job.json").write_text('{"job": {}, "finished": 3}')
    return folder


def test_render_and_stats_take_the_folder_of_a_job(job: Path, tmp_path: Path) -> None:
    run = layoutdm("render", job, "--out", tmp_path / "sheet.png")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.endswith("sheet.png: 3 layouts\n")
    run = layoutdm("stats", job)
    assert (run.returncode, run.stderr) == (0, "")
    assert "3 layouts, 3 elements, 1 label" in run.stdout


def test_convert_and_validate_take_the_folder_of_a_job(job: Path, tmp_path: Path) -> None:
    run = layoutdm("convert", job, tmp_path / "a.csv")
    assert run.returncode == 0
    assert "(jsonl)" in run.stderr
    assert "no problems; 3 good layouts" in layoutdm("validate", job).stdout


def test_the_folder_of_an_unfinished_job_says_so(job: Path, tmp_path: Path) -> None:
    (job / "layouts.jsonl").rename(job / "layouts.jsonl.part")
    for command in (("stats", job), ("render", job, "--out", tmp_path / "a.png")):
        run = layoutdm(*command)
        assert run.returncode == 1
        assert "is the folder of a job that has not finished" in run.stderr


def test_render_writes_names_and_says_what_overlaps(tmp_path: Path) -> None:
    layout = Layout.create(
        ["a", "b"],
        [[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.2, 0.2]],
        metadata={"names": ["hero", "cta"]},
    )
    path = write([layout], tmp_path / "a.jsonl")
    run = layoutdm("render", path, "--mode", "grid", "--names", "--out", tmp_path / "a.html")
    assert run.returncode == 0
    assert "shares cells and lies on top of each other: hero and cta" in run.stderr
    page = (tmp_path / "a.html").read_text()
    assert ">hero</span>" in page and 'id="cta"' in page

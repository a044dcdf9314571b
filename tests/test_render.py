"""`layoutdm render` as a real process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from layoutdm.cli.render import choose
from layoutdm.data import sample
from layoutdm.formats import write


def render(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "layoutdm", "render", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )


def test_sample_set_to_a_contact_sheet(tmp_path: Path) -> None:
    run = render("sample", "--out", "sheet.png", "--count", 6, "--seed", 1, cwd=tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "sheet.png: 6 layouts\n", "")
    with Image.open(tmp_path / "sheet.png") as image:
        assert image.width > 500
    again = render("sample", "-o", "again.png", "-n", 6, "--seed", 1, cwd=tmp_path)
    assert again.returncode == 0
    assert (tmp_path / "sheet.png").read_bytes() == (tmp_path / "again.png").read_bytes()


def test_one_layout_as_a_grid_page_and_a_folder_of_svg(tmp_path: Path) -> None:
    write(sample.generate("page", 3), tmp_path / "pages.jsonl")
    run = render("pages.jsonl", "-o", "a.html", "-n", 1, "--mode", "grid", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (0, "a.html: 1 layout\n")
    assert "grid-template-columns" in (tmp_path / "a.html").read_text()
    assert render("pages.jsonl", "-o", "all", "--to", "svg", cwd=tmp_path).returncode == 0
    assert len(list((tmp_path / "all").glob("page-*.svg"))) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["sample", "-o", "sheet.bmp"],
            1,
            "end the name with .png, .jpg, .svg, .pdf, .html",
        ),
        (["nowhere.jsonl", "-o", "a.png"], 1, "nowhere.jsonl: no such file"),
        (["sample", "-o", "a.png", "--mode", "grid"], 2, "is for html only"),
        (["sample", "-o", "a.png", "--count", "0"], 2, "--count"),
        (["sample", "-o", "a.png", "--from", "docx"], 2, "--from"),
        (["sample"], 2, "--out"),
    ],
)
def test_mistakes_are_said_in_one_sentence(
    arguments: list[str], code: int, words: str, tmp_path: Path
) -> None:
    run = render(*arguments, cwd=tmp_path)
    assert run.returncode == code
    assert words in " ".join(run.stderr.split())
    assert "Traceback" not in run.stderr
    assert not list(tmp_path.iterdir())


def test_bad_records_stop_or_are_listed(tmp_path: Path) -> None:
    good = {"labels": ["text"], "boxes": [[0.5, 0.5, 0.5, 0.5]]}
    bad = {"labels": ["text"], "boxes": [[0.9, 0.5, 0.5, 0.5]]}
    lines = "".join(json.dumps(record) + "\n" for record in (good, bad, good))
    (tmp_path / "a.jsonl").write_text(lines)
    run = render("a.jsonl", "-o", "a.png", cwd=tmp_path)
    assert run.returncode == 1 and "a.jsonl, line 2" in run.stderr
    run = render("a.jsonl", "-o", "a.png", "--on-error", "skip", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (0, "a.png: 2 layouts\n")
    assert "left out 1 bad record" in run.stderr and "line 2" in run.stderr


def test_choosing_is_even_repeatable_and_in_order() -> None:
    layouts = sample.shipped()
    assert choose(iter(layouts), 5, None) == layouts[:5]
    drawn = choose(iter(layouts), 50, 3)
    assert drawn == choose(iter(layouts), 50, 3) != choose(iter(layouts), 50, 4)
    places = [layouts.index(layout) for layout in drawn]
    assert places == sorted(set(places)) and len(places) == 50
    hits = [0, 0]
    for seed in range(200):
        for layout in choose(iter(layouts), 10, seed):
            hits[layouts.index(layout) >= 100] += 1
    assert abs(hits[0] - hits[1]) < 150  # 2000 draws; five standard deviations are about 110

"""`layoutdm generate`, `models` and `labels` as real processes, and their short forms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from killing import killed_after
from layoutdm.cli.wishes import Wishes, element, number, relation
from layoutdm.errors import LayoutdmError
from layoutdm.formats import read
from tiny_models import LABELS, folder

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}


def command(*arguments):
    return [sys.executable, "-m", "layoutdm", *map(str, arguments)]


def run(*arguments, stdin=None):
    return subprocess.run(
        command(*arguments), input=stdin, capture_output=True, text=True, env=ENVIRONMENT
    )


def generate(*arguments, stdin=None):
    return run("generate", "--model", folder(), *arguments, stdin=stdin)


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


# Standard output -----------------------------------------------------------------------------


def test_layouts_come_as_json_lines_and_depend_on_the_seed():
    first = generate("--count", 3, "--seed", 5)
    assert first.returncode == 0, first.stderr
    records = lines(first.stdout)
    assert [record["id"] for record in records] == ["5-0", "5-1", "5-2"]
    assert all(set(record["labels"]) <= set(LABELS) for record in records)
    assert all("metadata" not in record for record in records)
    assert generate("--count", 3, "--seed", 5, "--batch-size", 1).stdout == first.stdout
    assert lines(generate("--count", 3, "--seed", 6).stdout)[0]["boxes"] != records[0]["boxes"]


def test_a_request_from_standard_input_with_short_forms_on_top():
    request = {"elements": [{"name": "bar", "label": "Toolbar", "x": 0.5, "y": 0.051234}]}
    done = generate(
        "--spec", "-", "--label", "Image|Icon", "--label", "go=Text Button",
        "--relation", "go below bar", "--elements", "3-4", "--more", "-n", 2,
        stdin=json.dumps(request),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for record in lines(done.stdout):
        assert record["labels"][0] == "Toolbar" and record["labels"][2] == "Text Button"
        assert record["labels"][1] in ("Image", "Icon")
        assert record["boxes"][0][:2] == [0.5, 0.051234]
        assert record["metadata"]["names"][:3] == ["bar", None, "go"]
        assert 3 <= len(record["labels"]) <= 4
        assert record["metadata"]["report"]["wishes"] > 5


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--model", "nowhere"], 1, "embedded models"),
        (["--spec", "missing.json"], 1, "no such file"),
        (["--spec", "-"], 1, "not valid JSON"),
        (["--label", "Toolbr"], 1, "Toolbar"),
        (["--steps", "500"], 1, "from 1 to 100"),
        (["--set", "top_p=7"], 1, "top_p"),
        (["--format", "jsonl,tiff"], 2, "tiff"),
        (["--resume"], 2, "--out"),
        (["--count", "0"], 2, "count"),
    ],
)
def test_mistakes_get_one_sentence(arguments, code, message):
    done = generate(*arguments, stdin="{oops")
    assert done.returncode == code
    assert message in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


# Folders -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_format_and_the_animation(tmp_path):
    out = tmp_path / "out"
    done = generate(
        "--count", 3, "--label", "Toolbar", "--label", "Text", "--out", out, "--json",
        "--format", "jsonl,coco,yolo,voc,labelstudio,csv,parquet,svg,png,html,pptx,sheet",
        "--animate", tmp_path / "way.gif",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = {path.name for path in out.iterdir()}
    assert made == {
        "job.json", "files.txt", "layouts.jsonl", "coco.json", "yolo", "voc", "labelstudio.json",
        "layouts.csv", "layouts.parquet", "svg", "png", "html", "layouts.pptx", "sheet.png",
    }  # fmt: skip
    native = list(read(out / "layouts.jsonl"))
    assert len(lines(done.stdout)) == len(native) == 3
    for other in ("coco.json", "yolo", "layouts.parquet"):
        found = list(read(out / other))
        assert [layout.labels for layout in found] == [layout.labels for layout in native]
    assert sorted(path.name for path in (out / "svg").iterdir()) == [
        "0-0.svg", "0-1.svg", "0-2.svg",
    ]  # fmt: skip
    with Image.open(tmp_path / "way.gif") as picture:
        assert picture.n_frames >= 4


def test_require_puts_the_best_first_in_a_folder(tmp_path):
    request = {"elements": [{"x": {"about": 0.2, "within": 0.12, "strength": 0}}]}
    done = generate(
        "--spec", "-", "--require", "--tries", 2, "-n", 12, "--out", tmp_path,
        stdin=json.dumps(request),
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    records = lines((tmp_path / "layouts.jsonl").read_text())
    scores = [record["metadata"]["report"]["score"] for record in records]
    assert len(scores) == 12 and scores == sorted(scores, reverse=True)
    assert "after 2 tries each" in done.stderr


def contents(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.mark.slow
def test_a_killed_job_is_resumed_without_losing_or_repeating_a_layout(tmp_path):
    options = ["--seed", 3, "--batch-size", 2, "--steps", 20, "--format", "jsonl,coco,yolo,parquet"]
    whole = generate("--count", 120, "--out", tmp_path / "whole", *options)
    assert whole.returncode == 0, whole.stderr
    out = tmp_path / "cut"
    part = out / "layouts.jsonl.part"
    words = ["generate", "--model", folder(), "--count", 120, "--out", out, "--resume", *options]
    for lines in (10, 40):
        killed_after(lines, words, ENVIRONMENT)
    assert part.read_bytes().count(b"\n") == 50 and not (out / "layouts.jsonl").exists()
    with part.open("ab") as file:
        file.write(b'{"id":"3-')  # as a machine that stops may leave it
    refused = generate("--count", 120, "--out", out, *options)
    assert refused.returncode == 1 and "--resume" in refused.stderr
    other = generate("--count", 120, "--out", out, "--resume", *options, "--steps", 9)
    assert other.returncode == 1 and "another options" in other.stderr, other.stderr
    done = generate("--count", 120, "--out", out, "--resume", *options)
    assert done.returncode == 0 and "from before" in done.stderr
    for name in contents(tmp_path / "whole"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert contents(out) == contents(tmp_path / "whole")  # nothing half-written is left
    assert len(contents(out)) == 2 + 3 + 3 + 1 + 120  # job.json and files.txt, three files, YOLO's
    again = generate("--count", 125, "--out", out, "--resume", *options)
    assert again.returncode == 0
    assert len((out / "layouts.jsonl").read_text().splitlines()) == 125


# Other commands ------------------------------------------------------------------------------


def test_labels_and_models():
    assert run("labels", folder()).stdout.splitlines() == list(LABELS)
    rows = json.loads(run("labels", folder(), "--json").stdout)
    assert rows == [{"label": label, "seen": None, "aliases": []} for label in LABELS]
    listed = run("models", "--json")
    assert listed.returncode == 0 and isinstance(json.loads(listed.stdout), list)


# Short forms ---------------------------------------------------------------------------------


def test_labels_may_have_names_and_choices():
    assert element("Text Button") == {"label": "Text Button"}
    assert element("hero=Image") == {"name": "hero", "label": "Image"}
    assert element("Icon | Image") == {"label": ["Icon", "Image"]}
    for wrong in ("", "=Image", "hero=", "Icon|"):
        with pytest.raises(LayoutdmError, match="--label"):
            element(wrong)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("hero below bar", ("hero", "below", "bar")),
        ("Text Button is left of On/Off Switch", ("Text Button", "left_of", "On/Off Switch")),
        ("a equal_size b", ("a", "equal_size", "b")),
        ("cta bottom", ("cta", "bottom", "canvas")),
        ("cta top of the canvas", ("cta", "top", "canvas")),
        ("cta larger canvas", ("cta", "larger", "canvas")),
    ],
)
def test_relations_read_like_sentences(text, wanted):
    assert tuple(relation(text).values()) == wanted


@pytest.mark.parametrize("text", ["hero on bar", "below bar", "hero below", ""])
def test_other_sentences_are_refused(text):
    with pytest.raises(LayoutdmError, match="--relation"):
        relation(text)


def test_numbers_and_bounds():
    assert [number(text) for text in ("8", "6-12", "6-", "-12")] == [
        8, {"min": 6, "max": 12}, {"min": 6}, {"max": 12},
    ]  # fmt: skip
    for wrong in ("", "-", "a", "3-4-5"):
        with pytest.raises(LayoutdmError, match="--elements"):
            number(wrong)


def test_an_element_may_be_called_by_its_label():
    request = Wishes(labels=["Toolbar", "Image"], relations=["Image below Toolbar"]).request()
    assert [e["name"] for e in request["elements"]] == ["Toolbar", "Image"]
    assert "name" not in Wishes(labels=["Toolbar"]).request()["elements"][0]
    with pytest.raises(LayoutdmError, match="any of 2"):
        Wishes(labels=["Icon", "Icon"], relations=["Icon top"]).request()


def test_complete_and_refine_read_layouts(tmp_path):
    path = tmp_path / "half.json"
    record = {"labels": ["Text"], "boxes": [[0.5, 0.25, 0.4, 0.125]]}
    path.write_text(json.dumps(record, indent=2))
    completed = Wishes(complete=path).request()
    assert completed == {
        "elements": [{"label": "Text", "x": 0.5, "y": 0.25, "width": 0.4, "height": 0.125}],
        "more": True,
    }
    refined = Wishes(refine=path, within=0.05).request()
    assert refined["elements"][0]["height"] == {"about": 0.125, "within": 0.05}
    assert "more" not in refined


@pytest.mark.slow
def test_the_memory_of_a_job_does_not_grow_with_its_count(tmp_path):
    # The benchmark is a small process: a child's peak counts that of the process it came from.
    bench = Path(__file__).parents[1] / "bench" / "job_memory.py"
    arguments = ["--model", folder(), "--counts", "12000,24000", "--out", tmp_path / "peaks.jsonl"]
    done = subprocess.run(
        [sys.executable, bench, *arguments], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    # A row group of Parquet and the network's own buffers fill up in the first thousands.
    first, second = (row["peak_mib"] for row in lines((tmp_path / "peaks.jsonl").read_text()))
    assert 60 < first < 400
    assert second - first < 12

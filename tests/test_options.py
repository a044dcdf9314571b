"""One vocabulary: an option that several commands share is the same in all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import typer
import typer.main

from layoutdm.cli import app as program
from layoutdm.cli.options import INPUT, OUTPUT, choices, settings
from layoutdm.cli.request_file import pixels_hint, read_request
from layoutdm.errors import LayoutdmError
from layoutdm.formats import READ, write
from tiny_models import folder
from training_samples import make_layouts

READERS = {"convert", "render", "stats", "validate", "train", "fit-features", "score", "evaluate",
           "tidy"}  # fmt: skip


def run(*arguments, stdin=None):
    return subprocess.run(
        [sys.executable, "-m", "layoutdm", *map(str, arguments)], input=stdin,
        capture_output=True, text=True, timeout=900,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "300"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def commands():
    if not program.app.registered_commands:
        program._register()
    group = typer.main.get_command(program.app)
    return {name: command.params for name, command in group.commands.items()}


def test_shared_options_have_one_name_and_one_meaning(commands):
    found = defaultdict(dict)
    for name, params in commands.items():
        for param in params:
            for option in getattr(param, "opts", ()):
                found[option][name] = param
    assert set(found["--from"]) == READERS
    assert len({param.help for param in found["--from"].values()}) == 1
    assert set(found["--on-error"]) == READERS - {"validate"}  # which lists all problems anyway
    assert len({param.help for param in found["--on-error"].values()}) == 1
    for param in found["--json"].values():
        assert param.is_flag
    for option in ("--threads", "--set"):
        assert len({param.help for param in found[option].values()}) == 1
    assert {param.default for param in found["--threads"].values()} == {None}
    assert all(param.multiple for param in found["--set"].values())
    assert "--skip-bad" not in found and "--format" in found
    assert all("--to" in param.opts for param in found["--format"].values())


def test_the_formats_of_the_help_are_those_that_there_are():
    assert set(READ) <= set(INPUT)
    assert len(set(OUTPUT)) == len(OUTPUT)


def test_a_model_is_no_format(tmp_path):
    done = run("train", "sample", "--out", tmp_path / "m", "--from", "rico25")
    assert done.returncode == 2 and "--base" in done.stderr and not (tmp_path / "m").exists()


def test_words_of_options():
    found = settings(["a=1", "b = x", "c=true", "d=1,2"])
    assert found == {"a": 1, "b": "x", "c": True, "d": [1, 2]}
    for wrong in ("a", "=3", ""):
        with pytest.raises(typer.BadParameter):
            settings([wrong])
    with pytest.raises(typer.BadParameter, match="tiff"):
        choices("png,tiff", ("png",), "--to")


@pytest.mark.parametrize(
    ("pair", "code", "message"),
    [
        ("seed=5", 2, "--seed"), ("steps=5", 2, "--steps"), ("batch_size=5", 2, "--batch-size"),
        ("relation_range=5", 1, "unknown option"), ("top_p=high", 1, "top_p must be"),
        ("top_p=1,2", 1, "top_p must be"), ("top_p", 2, "NAME=VALUE"), ("sampler=7", 1, "sampler"),
    ],
)  # fmt: skip
def test_settings_that_are_none(pair, code, message):
    done = run("generate", "--model", folder(), "-n", 1, "--set", pair)
    assert done.returncode == code and message in done.stderr and "Traceback" not in done.stderr


# Requests ------------------------------------------------------------------------------------


def test_yaml_says_the_same_as_json(tmp_path):
    (tmp_path / "a.yaml").write_text(
        "elements:\n  - {name: bar, label: Toolbar, y: 0.05}\n  - label: [Icon, Image]\n"
        "    y: {about: 0.5}\nrelations:\n  - {of: bar, is: top, to: canvas}\nmore: true\n"
    )
    request = read_request(str(tmp_path / "a.yaml"))
    assert request == {
        "elements": [
            {"name": "bar", "label": "Toolbar", "y": 0.05},
            {"label": ["Icon", "Image"], "y": {"about": 0.5}},
        ],
        "relations": [{"of": "bar", "is": "top", "to": "canvas"}],
        "more": True,
    }
    (tmp_path / "a.json").write_text(json.dumps(request))
    assert read_request(str(tmp_path / "a.json")) == request
    (tmp_path / "empty.yml").write_text("")
    assert read_request(str(tmp_path / "empty.yml")) == {}


BOMB = "a: &a [x, x]\n" + "\n".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]" for i in range(9)
)


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("a.yaml", BOMB, "aliases"),
        ("a.yaml", "elements: [", "not valid YAML at line 1"),
        ("a.yaml", "a: 1\na: 2\n", "given twice"),
        ("a.yaml", "[" * 100_000, "YAML"),
        ("a.yaml", "!!python/object/apply:os.system [id]", "not valid YAML"),
        ("a.yaml", "- 1", "a request is an object"),
        ("a.yaml", "elements: 3", "elements must be a list"),
        ("a.yaml", "x: \x00", "YAML"),
        ("a.json", '{"a": 1, "a": 2}', "given twice"),
        ("a.json", "{oops", "not valid JSON"),
        ("a.json", '{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.json", b"\xff\xfe", "not UTF-8"),
        ("a.json", " " * 9_000_000, "larger than 8 MB"),
    ],
)
def test_requests_that_cannot_be_read(tmp_path, name, text, match):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(LayoutdmError, match=match) as caught:
        read_request(str(tmp_path / name))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
def test_files_without_an_end_are_refused(tmp_path):
    with pytest.raises(LayoutdmError, match="larger than 8 MB"):
        read_request("/dev/zero")
    for wrong in (str(tmp_path), "x" * 5000, str(tmp_path / "none.json")):
        with pytest.raises(LayoutdmError):
            read_request(wrong)


def test_pixels_get_a_hint():
    for request in ({"elements": [{"x": 120}]}, {"elements": [{"width": {"about": 300.0}}]}):
        assert "divide by its width or height" in (pixels_hint(request) or "")
        assert '"unit": "px"' in (pixels_hint(request) or "")
        assert pixels_hint({**request, "unit": "px"}) is None  # it says so already
    for request in ({}, {"elements": [{"x": 0.5}]}, {"elements": 3}, {"elements": [3, {"x": "a"}]}):
        assert pixels_hint(request) is None
    done = run(
        "generate", "--model", folder(), "--spec", "-",
        stdin='{"elements": [{"label": "Toolbar", "x": 120, "y": 30}]}',
    )  # fmt: skip
    assert done.returncode == 1 and "elements[0].y" in done.stderr
    assert '"unit": "px"' in done.stderr and "divide" in done.stderr


# Folders of jobs -----------------------------------------------------------------------------


def test_the_folder_of_a_job_is_read_as_its_layouts(tmp_path):
    made = run("generate", "--model", folder(), "-n", 3, "--out", tmp_path / "my", "--to", "sheet")
    assert made.returncode == 0, made.stderr
    shown = run("stats", tmp_path / "my", "--json")
    assert shown.returncode == 0 and json.loads(shown.stdout)["layouts"] == 3, shown.stderr
    for words in (
        ["render", tmp_path / "my", "--out", tmp_path / "a.png"],
        ["validate", tmp_path / "my"],
        ["convert", tmp_path / "my", tmp_path / "a.csv"],
        ["score", tmp_path / "my", "--reference", tmp_path / "my", "--json"],
    ):
        done = run(*words)
        assert done.returncode == 0, done.stderr


def test_bad_records_of_a_score(tmp_path):
    good = write(make_layouts(6), tmp_path / "good.jsonl")
    bad = tmp_path / "bad.jsonl"
    bad.write_text(good.read_text() + '{"labels": ["text"]}\n')
    words = ["score", bad, "--reference", good, "--json"]
    assert json.loads(run(*words).stdout)["counts"]["generated"]["invalid_layouts"] == 1
    strict = run(*words, "--on-error", "raise")
    assert strict.returncode == 1 and "line 7" in strict.stderr
    out = run(*words, "--out", tmp_path / "deep" / "sheet.json")
    assert json.loads((tmp_path / "deep" / "sheet.json").read_text()) == json.loads(out.stdout)

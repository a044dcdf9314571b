"""A model folder is not trusted: whatever it holds, one sentence, quickly, in little memory."""

from __future__ import annotations

import copy
import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import layoutdm
from layoutdm.errors import LayoutdmError
from layoutdm.model.store import WEIGHTS, embedded, label_counts
from tiny_models import folder

BASE = json.loads((folder() / "config.json").read_text())


@pytest.fixture
def model(tmp_path):
    return shutil.copytree(folder(), tmp_path / "model")


def refused(model, match):
    with pytest.raises(LayoutdmError, match=match) as caught:
        layoutdm.load(model).generate({}, 1)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 700


def changed(*path, to):
    record = copy.deepcopy(BASE)
    at = record
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = to
    return record


@pytest.mark.parametrize(
    ("record", "match"),
    [
        (changed("sampling", to=3), "sampling"),
        (changed("sampling", to=[1]), "sampling"),
        (changed("sampling", to={"default": 3}), "sampling"),
        (changed("sampling", to={"default": None}), "sampling"),
        (changed("sampling", to={"c": {"top_p": "high"}}), "sampling of c: top_p"),
        (changed("sampling", to={"c": {"magic": 1}}), "sampling of c: unknown option"),
        (changed("schedule", "steps", to=10**9), "steps must be"),
        (changed("schedule", "steps", to=1e9), "steps must be"),
        (changed("schedule", "steps", to="a" * 10_000), "steps must be"),
        (changed("schedule", "keep_first", to=float("nan")), "finite"),
        (changed("schedule", "mask_last", to=None), "finite"),
        (changed("schedule", to=[]), "schedule"),
        (changed("max_elements", to=0), "max_elements"),
        (changed("max_elements", to=1e30), "max_elements"),
        (changed("max_elements", to=10**30), "max_elements"),
        (changed("max_elements", to=True), "max_elements"),
        (changed("labels", to="Toolbar"), "labels must be a list"),
        (changed("labels", to=["Toolbar", 3]), "labels must be a list"),
        (changed("canvas", to=[0, 1]), "canvas"),
        (changed("canvas", to=[float("nan"), 1]), "canvas"),
        (changed("bins", to=7), "bins"),
        (changed("bins", "centres", "x", to=["a"]), "bins"),
        (changed("network", to=[]), "network"),
        (changed("network", "sizes", to=[1, 2]), "network"),
        (changed("label_network", to="perhaps"), "label_network"),
        (changed("number_histogram", to=["a"]), "number_histogram"),
        (changed("about_noise", to={"a": 1}), "about_noise"),
        ({**BASE, "apart": []}, "apart"),
        ({**BASE, "apart": {"free": 0.1, "labels": {"Toolbar": [["Icon"]]}}}, "apart"),
        ({**BASE, "generator": ["layoutdm"]}, "unknown"),
        ({**BASE, "format": "a" * 5000}, "unknown"),
        (3, "JSON object"),
    ],
)  # fmt: skip
def test_wrong_values_in_the_config(model, record, match):
    (model / "config.json").write_text(json.dumps(record))
    refused(model, match)


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe", b"", b"{", b'{"format":' + b"9" * 5000]
)
def test_a_config_that_is_not_json(model, text):
    (model / "config.json").write_bytes(text)
    refused(model, "is not valid JSON")


def test_a_config_larger_than_any(model):
    with (model / "config.json").open("wb") as file:
        file.truncate(10**9)
    refused(model, "too large")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"not a network", "is not an ONNX file"),
        (b"", "is not an ONNX file"),
        ((folder() / "model.onnx").read_bytes()[:5000], "cut off"),
        ((WEIGHTS / "features" / "rico25" / "features.onnx").read_bytes(), "not a layout model"),
        ((folder("paper") / "model.onnx").read_bytes(), "model.onnx"),
    ],
)
def test_a_network_that_is_none(model, content, match):
    (model / "model.onnx").write_bytes(content)
    refused(model, match)


@pytest.mark.skipif(not embedded(), reason="the package was built without models")
def test_the_network_of_another_model(model):
    shutil.copy(WEIGHTS / "rico25" / "model.onnx", model / "model.onnx")
    refused(model, "does not fit its config.json")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(("size", "match"), [(10**9, "is not an ONNX"), (3 * 10**9, "2 GB")])
def test_a_file_of_zeros_is_refused_in_little_memory(model, size, match):
    with (model / "model.onnx").open("wb") as file:
        file.truncate(size)
    code = (
        "import layoutdm\n"
        f"try: layoutdm.load({str(model)!r})\n"
        "except layoutdm.LayoutdmError as error: print(error)\n"
        "print(*[line for line in open('/proc/self/status') if line.startswith('VmHWM')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=900)
    message, peak, *_ = done.stdout.splitlines()
    assert match in message and int(peak.split()[1]) < 200_000  # kB


def bomb() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for i in range(2):
            with packed.open(f"weight{i}.npy", "w", force_zip64=True) as file:
                for _ in range(100):
                    file.write(bytes(2**20))
    return stream.getvalue()


def arrays(**named) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **named)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"PK\x03\x04", b"not a file of arrays", bomb(),
        arrays(weight0=np.zeros(3), bias0=np.zeros(3)),
        arrays(weight0=np.array(["a"]), bias0=np.array(["b"])),
        arrays(**{f"a{i}": np.zeros(1) for i in range(100)}),
        arrays(weight0=np.full((2, 2), np.nan), bias0=np.zeros(2)),
        arrays(weight0=np.zeros((1, 1)), bias0=np.float64(1)),
    ],
    ids=["empty", "magic", "text", "bomb", "shapes", "words", "many", "nan", "scalar"],
)  # fmt: skip
def test_a_label_network_that_is_none(model, content):
    (model / "labels.npz").write_bytes(content)
    (model / "config.json").write_text(json.dumps({**BASE, "label_network": None}))
    refused(model, "is not a label network")


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ({"a": 3, "b": 0}, {"a": 3, "b": 0}),
        ([3, 4], {"a": 3, "b": 4}),
        ({"a": 3}, {"a": 3, "b": 0}),
        (None, None), ([1], None), ({"a": -1}, None), ({"a": "many"}, None), (7, None),
    ],
)  # fmt: skip
def test_label_counts_are_read_where_they_make_sense(counts, found):
    assert label_counts({"labels": ["a", "b"], "label_counts": counts}) == found


def test_the_command_shows_how_often_each_label_was_seen(model):
    counts = {label: 10 * i for i, label in enumerate(BASE["labels"])}
    (model / "config.json").write_text(json.dumps({**BASE, "label_counts": counts}))
    command = [sys.executable, "-m", "layoutdm", "labels", str(model)]
    shown = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    assert [line.rsplit(maxsplit=1)[1] for line in shown] == ["0", "10", "20", "30", "40"]
    listed = subprocess.run([*command, "--json"], capture_output=True, text=True).stdout
    assert {row["label"]: row["seen"] for row in json.loads(listed)} == counts

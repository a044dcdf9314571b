"""The examples of docs/api.md, run as they stand against a real server with the embedded model."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from layoutdm.serve.limits import Limits
from serve_helpers import ENVIRONMENT, running

TEXT = (Path(__file__).parents[1] / "docs" / "api.md").read_text()
USUAL = "http://127.0.0.1:8377"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.M | re.S)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("docs"), model="rico25") as found:
        yield found


CURLS = [block for block in blocks("sh") if "curl" in block]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("block", CURLS, ids=range(len(CURLS)))
def test_curl_examples_work(server, block, tmp_path):
    script = "set -e\n" + block.replace(USUAL, server.url).replace("curl -s", "curl -f -s")
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    if "x-ndjson" in block:
        assert len([json.loads(line) for line in done.stdout.splitlines()]) == 16
    elif "page.svg" in block:
        assert (tmp_path / "page.svg").read_text().startswith("<svg")
    elif "/v1/check" in block:
        assert "did you mean 'Image'" in done.stdout
    else:
        assert len(json.loads(done.stdout)["results"]) == 4


def test_python_examples_work(server, tmp_path):
    script = "\n".join(blocks("python")).replace(USUAL, server.url)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True,
        env=ENVIRONMENT, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "finished 40 of 40" in done.stdout and "coco.json" in done.stdout
    assert done.stdout.count("Toolbar") >= 4


def test_the_problems_shown_are_those_that_come(server):
    shown = json.loads(blocks("json")[0])
    spec = {"elements": [{"label": "Imag"}, {"x": 0.9, "width": 0.4}]}
    with server.http() as http:
        found = http.post("/v1/check", json={"spec": spec}).json()
    for one, wanted in zip(found["problems"], shown["problems"], strict=True):
        assert one["path"] == wanted["path"]
        assert one["message"].startswith(wanted["message"].rstrip("?"))  # more may be near


def test_every_limit_is_on_the_page():
    for name, value in Limits().as_dict().items():
        assert f"`{name}`" in TEXT
        assert f"{value:,}" in TEXT or name == "body_bytes"


def test_every_route_is_on_the_page(server):
    with server.http() as http:
        paths = http.get("/openapi.json").json()["paths"]
    for path in paths:
        written = path.replace("{id}", "ID").replace("{name}", "NAME")
        assert written.replace("/models/NAME", "/models") in TEXT, path

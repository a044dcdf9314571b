"""What somebody who has only read the README comes across."""

from __future__ import annotations

import inspect
import io
import json
import pydoc
import sys
from types import SimpleNamespace

import pytest

import layoutdm
import layoutdm.data
from layoutdm import Layout, LayoutdmError
from layoutdm.cli.request_file import read_request
from layoutdm.formats import write

YAML = "# a bar above\nelements:\n  - {name: bar, label: Toolbar}\nmore: true\n"


def on_standard_input(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    return read_request("-")


@pytest.mark.parametrize(
    "text", [YAML, json.dumps({"elements": [{"name": "bar", "label": "Toolbar"}], "more": True})]
)
def test_standard_input_is_json_or_yaml(monkeypatch, text):
    wanted = {"elements": [{"name": "bar", "label": "Toolbar"}], "more": True}
    assert on_standard_input(monkeypatch, text) == wanted


def test_broken_json_on_standard_input_is_still_told_as_json(monkeypatch):
    with pytest.raises(LayoutdmError, match="standard input: is not valid JSON"):
        on_standard_input(monkeypatch, '{"elements": [}')


def test_an_empty_request_is_told_so(tmp_path, monkeypatch):
    (tmp_path / "empty.json").write_text("\n")
    with pytest.raises(LayoutdmError, match=r"is empty; a request without any wish is \{\}"):
        read_request(str(tmp_path / "empty.json"))
    with pytest.raises(LayoutdmError, match="standard input: is empty"):
        on_standard_input(monkeypatch, "")


@pytest.mark.parametrize("name", ["long.json", "long.yaml"])
def test_a_number_of_5000_digits_in_a_file(tmp_path, name):
    (tmp_path / name).write_text('{"elements": [{"x": ' + "9" * 5000 + "}]}")
    with pytest.raises(LayoutdmError, match="a number has 5,000 digits") as error:
        read_request(str(tmp_path / name))
    assert "sys." not in str(error.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [("train", ["minutes", "base", "resume"]), ("evaluate", ["tasks", "features", "portrait"])],
)
def test_help_of_a_package_that_is_called_shows_how(name, words):
    package = getattr(layoutdm, name)
    text = pydoc.plain(pydoc.render_doc(package))
    assert f"layoutdm.{name}(" in text
    assert all(word in text for word in words)
    assert "out" in inspect.signature(package).parameters


class SeenError(Exception):
    """Stands for the training, which would only take time here."""


def test_train_keeps_what_evaluate_will_ask(tmp_path, monkeypatch):
    """Both cut the same file in three; long layouts must not make two different cuts of it."""
    pytest.importorskip("torch")
    import layoutdm.train.run
    from layoutdm.train.measure import limited

    path, kept = tmp_path / "pages.jsonl", []
    write([_layout(i, 30 if i % 5 == 0 else 3) for i in range(100)], path)

    def instead(dataset, *arguments, **options):
        kept.append(dataset)
        raise SeenError

    monkeypatch.setattr(layoutdm.train.run, "train", instead)
    with pytest.raises(SeenError):
        layoutdm.train(path, tmp_path / "model", steps=1)
    trained, _ = limited(kept[0], 25)
    asked = layoutdm.data.open(path, max_elements=25, portrait=False)
    assert trained.splits == asked.splits


def _layout(number, elements):
    boxes = [[0.5, 0.5, 0.5, 0.01 * (i + 1)] for i in range(elements)]
    return Layout.create(["text"] * elements, boxes, width=600, height=800, id=str(number))

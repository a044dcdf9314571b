"""In and out: open, trace, save, export, the request as text, reload, link, examples."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hands import Studio

TWO = [("Toolbar", 0, 20, 400, 50), ("Image", 50, 120, 300, 200)]


def two(studio: Studio) -> Studio:
    return studio.open_layout(TWO, ["bar", "hero"])


def download(studio: Studio, menu: str, item: str) -> tuple[str, bytes]:
    with studio.page.expect_download() as found:
        studio.menu(menu, item)
    path = found.value.path()
    return found.value.suggested_filename, Path(path).read_bytes()


def coco() -> dict[str, Any]:
    return {
        "images": [
            {"id": 1, "file_name": "a.png", "width": 200, "height": 100},
            {"id": 2, "file_name": "b.png", "width": 300, "height": 500},
        ],
        "categories": [{"id": 7, "name": "Icon"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 7, "bbox": [10, 20, 30, 40]},
            {"id": 2, "image_id": 2, "category_id": 7, "bbox": [100, 200, 50, 60]},
        ],
    }


def test_coco_with_several_images_asks_which(studio: Studio) -> None:
    studio.open_file("instances.json", json.dumps(coco()).encode())
    studio.page.get_by_role("dialog").get_by_role("button", name="b.png").click()
    studio.settle()
    studio.sees(studio.canvas, (300, 500))
    studio.sees(studio.rects, [(100, 200, 50, 60)])


def test_json_lines(studio: Studio) -> None:
    record = {"id": "x", "width": 100, "height": 100, "labels": ["Icon"], "boxes": [[0.5] * 4]}
    studio.open_file("one.jsonl", json.dumps(record).encode() + b"\n")
    studio.settle()
    studio.sees(studio.rects, [(25, 25, 50, 50)])


@pytest.mark.parametrize("kind", ["jsonl", "coco", "labelstudio", "csv", "voc"])
def test_what_the_library_writes_is_opened(studio: Studio, tmp_path: Path, kind: str) -> None:
    from layoutdm import Layout
    from layoutdm.formats import write

    boxes = [[0.5, 0.1, 1.0, 0.1], [0.25, 0.5, 0.3, 0.2]]
    layout = Layout.create(["Toolbar", "On/Off Switch"], boxes, id="p, 1", width=400, height=600)
    endings = {"jsonl": "a.jsonl", "csv": "a.csv", "voc": "a"}
    path = write([layout], tmp_path / endings.get(kind, "a.json"), format=kind)
    file = next(path.rglob("*.xml")) if path.is_dir() else path
    studio.open_file(file.name, file.read_bytes(), "")
    studio.page.locator("[data-element]").nth(1).wait_for()
    studio.settle()
    studio.sees(studio.canvas, (400, 600))
    studio.sees(
        lambda: [(b.label, b.x, b.y, b.w, b.h) for b in studio.boxes()],
        [
            ("Toolbar", 0, 30, 400, 60),
            ("On/Off Switch", 40, 240, 120, 120),
        ],
    )


def test_a_request_is_opened_with_its_wishes(studio: Studio) -> None:
    spec = {
        "elements": [
            {"name": "bar", "label": "Toolbar", "x": 0.5, "y": 0.07, "width": 1, "height": 0.08},
            {"name": "hero", "label": "Image", "y": {"about": 0.4, "within": 0.05}},
        ],
        "more": True,
        "relations": [{"of": "hero", "is": "below", "to": "bar"}],
    }
    studio.open_file("request.json", json.dumps(spec).encode())
    studio.settle()
    asked = studio.request()
    asked.pop("canvas", None)
    assert asked == spec


def test_a_file_that_is_nothing_of_ours_is_told(studio: Studio) -> None:
    studio.open_file("poem.txt", b"roses are red", "text/plain")
    note = studio.page.locator("#note.bad")
    note.wait_for()
    studio.sees(lambda: note.inner_text().startswith("poem.txt: neither JSON nor a picture"))
    studio.open_file("other.json", b'{"a": 1}')
    studio.settle()
    studio.sees(lambda: note.inner_text().startswith("other.json: no layout was found"))


def test_an_image_is_traced_over(studio: Studio) -> None:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (40, 80), (200, 30, 30)).save(buffer, "PNG")
    studio.open_file("screen.png", buffer.getvalue(), "image/png")
    picture = studio.page.locator("#stage > image")
    picture.wait_for()
    studio.sees(lambda: picture.get_attribute("opacity"), "0.5")
    studio.settle()
    studio.page.reload()
    picture.wait_for()
    studio.page.get_by_role("button", name="Remove the image").click()
    picture.wait_for(state="detached")


def test_a_project_is_saved_and_loaded(studio: Studio) -> None:
    two(studio)
    studio.click(150, 40)
    studio.keys("Control+Shift+L", "Escape")
    studio.page.fill("#seed", "41")
    studio.settle()
    name, content = download(studio, "File", "Save project")
    assert name == "layout.studio.json"
    studio.menu("File", "New")
    studio.settle()
    studio.sees(studio.boxes, [])
    studio.open_file(name, content)
    studio.settle()
    studio.sees(
        lambda: [(b.title, b.locked) for b in studio.boxes()], [("bar", True), ("hero", False)]
    )
    studio.sees(lambda: studio.page.input_value("#seed"), "41")


@pytest.mark.parametrize(
    ("item", "name", "starts"),
    [
        ("SVG drawing", "layout.svg", b"<svg"), ("PNG picture", "layout.png", b"\x89PNG"),
        ("HTML page", "layout.html", b"<!"), ("PowerPoint slide", "layout.pptx", b"PK"),
        ("JSON layout", "layout.json", b"{"), ("COCO annotations", "layout.coco.json", b"{"),
    ],
)  # fmt: skip
def test_export(studio: Studio, item: str, name: str, starts: bytes) -> None:
    two(studio)
    found, content = download(studio, "Export", item)
    assert found == name
    assert content.lower().startswith(starts.lower())
    if name in ("layout.svg", "layout.html"):
        assert b'id="hero"' in content, "names are ids"
    if name == "layout.pptx":
        slide = zipfile.ZipFile(io.BytesIO(content)).read("ppt/slides/slide1.xml")
        assert b'name="hero"' in slide, "names are shape names"
    if name == "layout.json":
        record = json.loads(content)
        assert record["labels"] == ["Toolbar", "Image"]
        assert record["metadata"] == {"names": ["bar", "hero"]}
        assert (record["width"], record["height"]) == (400, 600)


def test_the_python_snippet_runs(studio: Studio, tmp_path: Path) -> None:
    two(studio)
    studio.menu("Export", "Python")
    text = studio.page.input_value("dialog textarea")
    studio.page.get_by_role("dialog").get_by_role("button", name="Copy").click()
    studio.sees(lambda: studio.page.evaluate("navigator.clipboard.readText()"), text)
    code = text.replace("count=8", "count=2")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("Toolbar") >= 2


def test_the_command_runs(studio: Studio, tmp_path: Path) -> None:
    two(studio)
    studio.menu("Export", "Command")
    text = studio.page.input_value("dialog textarea")
    assert text.startswith("layoutdm generate --model rico25 --count 8 --seed 0 --out layouts")
    command = text.replace("layoutdm generate", f"{sys.executable} -m layoutdm generate", 1)
    run = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert list(tmp_path.iterdir())


def test_the_state_survives_a_reload(studio: Studio) -> None:
    two(studio)
    studio.keys("Control+a", "l")
    studio.choose("above hero")
    studio.page.fill("#seed", "5")
    studio.keys("Tab")
    studio.settle()
    before = studio.request()
    studio.page.reload()
    studio.ready()
    studio.settle()
    studio.sees(studio.request, before)
    studio.sees(lambda: studio.page.input_value("#seed"), "5")


def test_a_link_holds_the_request(studio: Studio, open_studio: Callable[..., Studio]) -> None:
    two(studio)
    studio.page.fill("#seed", "9")
    studio.keys("Tab")
    studio.settle()
    studio.page.get_by_role("button", name="Copy a link to this request").click()
    studio.sees(lambda: "#r=" in studio.page.evaluate("navigator.clipboard.readText()"))
    link = studio.page.evaluate("navigator.clipboard.readText()")
    asked = studio.request()
    other = open_studio(url=link).ready()
    other.settle()
    studio.sees(other.request, asked)
    studio.sees(lambda: other.page.input_value("#seed"), "9")
    studio.generate()
    other.generate()
    studio.sees(studio.rects, other.rects(), "the same link, the same layouts")


def test_a_damaged_link_is_told(open_studio: Callable[..., Studio]) -> None:
    studio = open_studio(at="#r=abcdef").ready()
    studio.sees(lambda: "damaged" in studio.page.locator("#note").inner_text())


@pytest.mark.parametrize(
    "title", ["Login", "List", "Product page", "Settings", "Article page", "Slide"]
)
def test_examples_can_be_met(studio: Studio, title: str) -> None:
    """Every example is a request without problems that the model draws."""
    with studio.page.expect_response("**/v1/check") as check:
        studio.example(title)
    assert check.value.json() == {"problems": []}
    count = len(studio.boxes())
    studio.generate()
    studio.sees(lambda: len(studio.boxes()) >= count)
    studio.sees(lambda: studio.page.locator(".box.wrong").count(), 0)


def test_colours_are_those_of_the_pictures(studio: Studio) -> None:
    import layoutdm

    home = "pictures" if find_spec("layoutdm.pictures") else "formats"
    palette = import_module(f"layoutdm.{home}.palette")
    names = [*layoutdm.load("rico25").labels, *layoutdm.load("publaynet").labels]
    names += ["Some other thing", "überschrift", "a_b"]
    found = studio.page.evaluate(
        "async names => { const m = await import('/js/palette.js'); return names.map(m.colour) }",
        names,
    )
    assert found == [palette.colour(name) for name in names]


BOX: dict[str, Any] = {
    "id": "e1", "name": "", "label": "Text", "x": 10, "y": 10, "w": 100, "h": 50, "wish": {},
    "locked": False, "made": False,
}  # fmt: skip
SAVED: dict[str, Any] = {
    "model": "rico25", "canvas": {"width": 390, "height": 844},
    "boxes": [BOX], "relations": [], "groups": [],
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"relations": [None, {"id": "r1", "of": "e1", "is": 5, "to": "canvas"}]},
        {"groups": [{"id": "g1", "of": [None, "e1"], "kind": "heap"}], "order": [1, None, "e1"]},
        {"boxes": [{**BOX, "name": 5, "choices": "abc", "kept": 7, "said": 7, "wish": [1]}]},
        {"kept": "x", "within": "x", "least": "x", "margin": [], "picture": "x", "unit": 3},
    ],
)
def test_a_link_that_was_tampered_with_leaves_the_page_whole(
    open_studio: Callable[..., Studio], change: dict[str, Any]
) -> None:
    """What the page relies on is checked, or it would stay blank, even after a reload."""
    packer = zlib.compressobj(wbits=-15)
    text = json.dumps({"v": 1, "seed": -3, "doc": {**SAVED, **change}}).encode()
    code = base64.urlsafe_b64encode(packer.compress(text) + packer.flush()).decode().rstrip("=")
    studio = open_studio(at=f"#r={code}").ready()
    assert [box.label for box in studio.boxes()] == ["Text"]
    studio.page.locator("[data-element]").click()
    studio.settle()
    studio.keys("Escape")
    studio.generate()
    studio.page.reload()
    studio.ready()
    assert studio.page.input_value("#seed") == "0"


@pytest.mark.parametrize(
    "content",
    [
        {"labels": [1], "boxes": [[0.5, 0.5, 0.1, 0.1]]},
        {**coco(), "images": [{"id": 1, "file_name": "a.png"}]},
    ],
)
def test_a_layout_with_a_wrong_value_is_told(
    open_studio: Callable[..., Studio], content: dict[str, Any]
) -> None:
    studio = two(open_studio(expect_errors=True).ready())
    studio.open_file("wrong.json", json.dumps(content).encode())
    note = studio.page.locator("#note.bad")
    note.wait_for()
    assert "wrong.json" in note.inner_text()
    assert [box.title for box in studio.boxes()] == ["bar", "hero"]


DRAWING = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="60"></svg>'


def test_a_picture_without_a_ground_lies_on_white(studio: Studio) -> None:
    """A drawing can be traced over, too; where it is clear, it is white and not black."""
    studio.open_file("clear.svg", DRAWING, "image/svg+xml")
    studio.settle()
    colour = studio.page.evaluate("""async () => {
      const image = new Image();
      image.src = document.querySelector('#stage image').getAttribute('href');
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.getContext('2d').drawImage(image, 0, 0);
      return [image.naturalWidth, ...canvas.getContext('2d').getImageData(5, 5, 1, 1).data];
    }""")
    assert colour == [40, 255, 255, 255, 255]


def test_a_picture_that_cannot_be_read_is_told(studio: Studio) -> None:
    studio.open_file("broken.png", b"nothing", "image/png")
    note = studio.page.locator("#note.bad")
    note.wait_for()
    assert note.inner_text() == "broken.png: this picture cannot be read."

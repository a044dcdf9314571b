"""`layoutdm pages` as a user runs it: sets that other tools open, resume, balance, own content."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from killing import killed_after
from layoutdm import Layout
from layoutdm.errors import LayoutdmError
from layoutdm.formats import read, write
from layoutdm.pages import Look, pool, render
from layoutdm.pages.pool import Pool
from layoutdm.pages.recipe import Recipe
from page_cases import article

SMALL = ("--height", "300", "--no-progress")


def run(*arguments: str, code: int = 0) -> str:
    """The program as a process of its own; what it says on stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "layoutdm", "pages", *arguments],
        capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stderr


def digest(folder: Path) -> dict[str, str]:
    """Every file of a set but those about the job itself."""
    skipped = {"job.json", "files.txt", ".layoutdm.lock"}
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in skipped
    }


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("layouts") / "layouts.jsonl"
    some = [article(str(i)) for i in range(20)]
    return write(some, path)


@pytest.fixture(scope="module")
def made(layouts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set in every format."""
    out = tmp_path_factory.mktemp("made") / "set"
    formats = "coco,yolo,labelstudio,parquet,voc,hocr,alto"
    run(str(layouts), "--out", str(out), "--format", formats, "--pdf", "--workers", "1", *SMALL)
    return out


def test_coco_is_read_by_pycocotools(made: Path) -> None:
    coco = pytest.importorskip("pycocotools.coco")
    total = 0
    for split in ("train", "val", "test"):
        opened = coco.COCO(str(made / f"annotations/{split}.json"))
        for image in opened.loadImgs(opened.getImgIds()):
            with Image.open(made / image["file_name"]) as picture:
                assert picture.size == (image["width"], image["height"])
            found = opened.loadAnns(opened.getAnnIds(imgIds=image["id"]))
            assert len(found) == len(article())
            total += 1
    assert total == 20


def test_yolo_folder_is_what_trainers_expect(made: Path) -> None:
    lines = (made / "data.yaml").read_text().splitlines()
    assert "train: images/train" in lines and "val: images/val" in lines
    assert not any(line.startswith("path:") for line in lines)
    for split in ("train", "val", "test"):
        pictures = {p.stem for p in (made / "images" / split).iterdir()}
        labels = {p.stem for p in (made / "labels" / split).iterdir()}
        assert pictures == labels and pictures
        for path in (made / "labels" / split).iterdir():
            rows = np.loadtxt(path, ndmin=2)
            assert rows.shape[1] == 5
            assert rows[:, 1:].min() > 0 and rows[:, 1:].max() <= 1


def test_yolo_folder_is_read_by_a_loader_of_others(made: Path) -> None:
    """`supervision` opens data.yaml, finds pictures and labels, and has our boxes in pixels."""
    supervision = pytest.importorskip("supervision")
    ours = {layout.id: layout for layout in read(made / "layouts.jsonl")}
    total = 0
    for split in ("train", "val", "test"):
        loaded = supervision.DetectionDataset.from_yolo(
            images_directory_path=str(made / "images" / split),
            annotations_directory_path=str(made / "labels" / split),
            data_yaml_path=str(made / "data.yaml"),
        )
        for path, picture, found in loaded:
            layout = ours[Path(path).stem]
            assert picture.shape[:2] == (layout.height, layout.width)
            assert [loaded.classes[i] for i in found.class_id] == list(layout.labels)
            scale = [layout.width, layout.height, layout.width, layout.height]
            assert np.allclose(found.xyxy, layout.corners() * scale, atol=0.1)
            total += 1
    assert total == 20


def test_the_set_is_read_back_by_layoutdm(made: Path) -> None:
    assert len(list(read(made / "annotations/train.json"))) == 16
    assert len(list(read(made / "labelstudio.json"))) == 20
    assert len(list(read(made / "parquet/train.parquet"))) == 16
    assert len(list(read(made / "layouts.jsonl"))) == 20
    # Elements stand in reading order.
    labels = next(iter(read(made / "layouts.jsonl"))).labels
    assert labels[:3] == ("Page-header", "Title", "Text") and labels[-1] == "Page-footer"


def test_parquet_holds_images_and_words(made: Path) -> None:
    from pyarrow import parquet

    table = parquet.read_table(made / "parquet/val.parquet").to_pylist()
    for row in table:
        assert row["image"]["bytes"] == (made / row["image"]["path"]).read_bytes()
        assert len(row["words"]) == len(row["word_boxes"]) > 100


def test_words_in_hocr_and_alto_are_those_of_the_truth(made: Path) -> None:
    truth = sorted((made / "truth/train").iterdir())[0]
    words = [w["text"] for b in json.loads(truth.read_bytes())["blocks"] for w in b["words"]]
    page = ET.parse(made / f"hocr/train/{truth.stem}.hocr")
    seen = [e.text for e in page.iter() if e.get("class") == "ocrx_word"]
    assert seen == words
    page = ET.parse(made / f"alto/train/{truth.stem}.xml")
    seen = [e.get("CONTENT") for e in page.iter() if e.tag.endswith("String")]
    assert seen == words


def test_pdf_text_can_be_selected(made: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    truth = sorted((made / "truth/train").iterdir())[0]
    words = [w["text"] for b in json.loads(truth.read_bytes())["blocks"] for w in b["words"]]
    page = pypdf.PdfReader(made / f"pdf/train/{truth.stem}.pdf").pages[0]
    text = page.extract_text()
    found = sum(word in text for word in words)
    assert found >= 0.97 * len(words)


@pytest.mark.slow
def test_two_processes_make_the_same_bytes(made: Path, layouts: Path, tmp_path: Path) -> None:
    formats = "coco,yolo,labelstudio,parquet,voc,hocr,alto"
    out = tmp_path / "two"
    run(str(layouts), "--out", str(out), "--format", formats, "--pdf", "--workers", "2", *SMALL)
    assert digest(out) == digest(made)


@pytest.mark.slow
def test_a_killed_set_is_continued(layouts: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    arguments = (str(layouts), "--count", "60", *SMALL)
    run(*arguments, "--out", str(whole))
    killed_after(5, ["pages", *arguments, "--out", str(cut)])
    assert "add --resume" in run(*arguments, "--out", str(cut), code=1)
    said = run(*arguments, "--out", str(cut), "--resume")
    assert "60 pages" in said
    assert digest(cut) == digest(whole)
    said = run(*arguments, "--style", "clean", "--out", str(cut), "--resume", code=1)
    assert "another options" in said


@pytest.mark.slow
def test_from_a_model_with_wished_shares(tmp_path: Path) -> None:
    arguments = ("--count", "60", "--labels", "table:0.3,figure:0.2", "--no-words", *SMALL)
    run(*arguments, "--out", str(tmp_path / "set"), "--format", "jsonl", "--workers", "1")
    labels = [label for layout in read(tmp_path / "set/layouts.jsonl") for label in layout.labels]
    assert abs(labels.count("table") / len(labels) - 0.3) < 0.07
    assert abs(labels.count("figure") / len(labels) - 0.2) < 0.07


@pytest.mark.slow
def test_sizes_landscape_and_number_of_elements(tmp_path: Path) -> None:
    run("--count", "40", "--size", "a4,letter", "--landscape", "0.5", "--elements", "4-6",
        "--no-words", "--out", str(tmp_path / "set"), "--workers", "1", *SMALL)  # fmt: skip
    found = list(read(tmp_path / "set/layouts.jsonl"))
    shapes = {(layout.width, layout.height) for layout in found}
    assert shapes == {(212, 300), (232, 300), (300, 212), (300, 232)}
    assert all(len(layout) <= 6 for layout in found)
    assert 10 <= sum(layout.width > layout.height for layout in found) <= 30


def test_pool_crops_keep_their_shape(layouts: Path, tmp_path: Path) -> None:
    for name, size, colour in (("wide", (300, 60), "red"), ("tall", (60, 300), "blue")):
        crop = Image.new("RGB", size, colour)
        ImageDraw.Draw(crop).ellipse((10, 10, 50, 50), fill="white")
        (tmp_path / "pool/Picture").mkdir(parents=True, exist_ok=True)
        crop.save(tmp_path / f"pool/Picture/{name}.png")
    run(str(layouts), "--count", "2", "--pool", str(tmp_path / "pool"), "--out",
        str(tmp_path / "set"), "--image", "png", "--workers", "1", "--height", "600")  # fmt: skip
    layout = next(iter(read(tmp_path / "set/layouts.jsonl")))
    index = layout.labels.index("Picture")
    _, _, width, height = layout.left_top(pixels=True)[index]
    assert width / height == pytest.approx(5, rel=0.05) or height / width == pytest.approx(
        5, rel=0.05
    )


def test_odd_pictures_in_a_pool(layouts: Path, tmp_path: Path) -> None:
    """Tiny, large, clear, of four inks, of sixteen bits, turned: each becomes part of a page."""
    some = tmp_path / "pool/picture"  # the label is Picture: capitals do not matter
    some.mkdir(parents=True)
    Image.new("RGB", (1, 1), "red").save(some / "tiny.png")
    Image.new("L", (6000, 5000), 90).save(some / "huge.png")
    Image.new("RGBA", (80, 60), (0, 0, 0, 0)).save(some / "clear.png")
    Image.new("CMYK", (80, 60), (0, 200, 200, 0)).save(some / "inks.jpg")
    Image.fromarray(np.full((60, 80), 20_000, np.uint16)).save(some / "deep.png")
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("RGB", (90, 30), "blue").save(some / "turned.jpg", exif=turned)
    found = pool.load(tmp_path / "pool")
    shapes = {Path(path).stem: shape for path, shape in found.crops["picture"]}
    assert shapes["turned"] == pytest.approx(1 / 3)
    for path, _ in found.crops["picture"]:
        page = render(article(), 1, look=Look(height=300, pool=Pool({"picture": ((path, 1.0),)})))
        block = next(block for block in page.truth.blocks if block.label == "Picture")
        assert block.box[2] > block.box[0] and block.box[3] > block.box[1]
    colours = {Path(path).stem: pool.opened(path).getpixel((0, 0)) for path, _ in
               found.crops["picture"]}  # fmt: skip
    assert colours["deep"][0] == pytest.approx(20_000 / 257, abs=2)
    assert colours["clear"] == (255, 255, 255)
    assert max(pool.opened(str(some / "huge.png")).size) <= pool.LONGEST


def test_a_broken_picture_in_a_pool_is_told_before_anything_is_made(
    layouts: Path, tmp_path: Path
) -> None:
    some = tmp_path / "pool/Picture"
    some.mkdir(parents=True)
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (90, 90, 3), np.uint8)).save(some / "half.png")
    whole = (some / "half.png").read_bytes()
    (some / "half.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LayoutdmError, match=r"half\.png: cannot be opened as a picture"):
        Recipe(pool=str(tmp_path / "pool")).describe()


def test_own_text_in_another_script(layouts: Path, tmp_path: Path) -> None:
    (tmp_path / "ru.txt").write_text("Быстрая лиса прыгает через ленивую собаку. " * 30)
    run(str(layouts), "--count", "1", "--text", str(tmp_path / "ru.txt"), "--out",
        str(tmp_path / "set"), "--workers", "1", *SMALL)  # fmt: skip
    truth = next((tmp_path / "set/truth").rglob("*.json")).read_text()
    assert "прыгает" in truth and "лиса" in truth


def test_letters_that_no_font_has_are_told(layouts: Path, tmp_path: Path) -> None:
    (tmp_path / "zh.txt").write_text("量子計算機可以解決某些問題。" * 20)
    said = run(str(layouts), "--text", str(tmp_path / "zh.txt"), "--out", str(tmp_path / "a"),
               code=1)  # fmt: skip
    assert "no font has its letters" in said and "--fonts" in said
    (tmp_path / "few.txt").write_text("plain words are fine here " * 40 + "量子")
    said = run(str(layouts), "--count", "1", "--text", str(tmp_path / "few.txt"), "--out",
               str(tmp_path / "b"), "--workers", "1", *SMALL)  # fmt: skip
    assert "warning" in said and "1 words are left out" in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--style", "blue"), "choose from clean, varied, scanned"),
        (("--format", "tiff"), "unknown"),
        (("--size", "folio"), "is unknown"),
        (("--labels", "table:2"), "below 1"),
        (("--labels", "stamp:0.2"), "is unknown"),
        (("--split", "1,1,1"), "add up to 1"),
        (("--as", "text=poem"), "LABEL=ROLE"),
        (("--fonts", "/nowhere"), "no such file"),
        (("--pool", "/nowhere"), "should be a folder"),
        (("--language", "xx"), "unknown"),
        (("--text", "/nowhere.txt"), "No such file"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    from typer.testing import CliRunner

    from layoutdm.cli.app import _register, app

    if not app.registered_commands:
        _register()
    result = CliRunner().invoke(
        app, ["pages", "--count", "2", "--out", str(tmp_path / "x"), *arguments]
    )
    assert result.exit_code != 0
    said = result.output + str(result.exception)
    assert isinstance(result.exception, (SystemExit, LayoutdmError, OSError))
    assert sentence in " ".join(said.replace("│", " ").split())


def test_a_label_of_ones_own_gets_a_role(tmp_path: Path) -> None:
    path = write([Layout.create(["stempel"], [[0.5, 0.5, 0.5, 0.3]])], tmp_path / "a.jsonl")
    run(
        str(path), "--as", "stempel=table", "--out", str(tmp_path / "set"), "--workers", "1", *SMALL
    )
    truth = json.loads(next((tmp_path / "set/truth").rglob("*.json")).read_bytes())
    assert truth["blocks"][0]["role"] == "table" and truth["blocks"][0]["cells"]

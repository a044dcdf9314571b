"""Which format a path holds (from its content and name), or should be written in (from its name).

>>> detect_target("pages.jsonl.gz"), detect_target("pages.json"), detect_target("page.svg")
('jsonl', 'coco', 'svg')

Content decides where it can: a COCO file named `data.txt` is still COCO. Where the content is
damaged or says nothing the name decides, so that the reader of that format can say what is wrong.
A COCO file with PubLayNet's five categories is plain COCO; `publaynet` is used only when asked
for, since it also applies the paper's filters.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from layoutdm.errors import LayoutdmError
from layoutdm.formats.files import head

SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "coco",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xml": "voc",
}
PICTURES = {".svg": "svg", ".png": "png", ".html": "html", ".htm": "html", ".pptx": "pptx"}

# Files that cannot hold layouts, by their first bytes.
_FOREIGN = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"\x93NUMPY": "a numpy array",
    b"\x80\x04": "a Python pickle",
    b"\x80\x02": "a Python pickle",
}
_KEYS = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:')
_READABLE = "jsonl, coco, yolo, voc, labelstudio, csv, parquet, rico or publaynet"


def suffix(path: Path) -> str:
    """The last suffix that is not .gz, in small letters."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def detect(path: str | Path) -> str:
    """The format of an existing file or folder; one sentence when it cannot be told."""
    source = Path(path)
    if not source.exists():
        raise LayoutdmError(f"{path}: no such file or folder; check the path")
    found = _folder(source) if source.is_dir() else _file(source)
    if found:
        return found
    raise LayoutdmError(
        f"{path}: the format cannot be told from its name or content; "
        f"name it with --from {_READABLE}"
    )


def detect_target(path: str | Path) -> str:
    """The format to write, from the name alone. A .json becomes COCO."""
    target = Path(path)
    end = suffix(target)
    if end in SUFFIXES and end != ".xml":
        return SUFFIXES[end]
    if end in PICTURES:
        return PICTURES[end]
    kind = f"the suffix {end!r} is no format's" if end else "a folder could be yolo or voc"
    raise LayoutdmError(
        f"{path}: the format to write cannot be told, {kind}; name it with --to, or use a name "
        "that ends in .jsonl, .jsonl.gz, .json, .csv, .parquet, .svg, .png, .html or .pptx"
    )


# Folders ---------------------------------------------------------------------------------------


def _folder(path: Path) -> str | None:
    names = {entry.name for entry in path.iterdir()}
    ends = {Path(name).suffix.lower() for name in names if not name.startswith(".")}
    if not names:
        raise LayoutdmError(f"{path}: the folder is empty; it should hold annotation files")
    if "Annotations" in names or ".xml" in ends:
        return "voc"
    if names & {"classes.txt", "data.yaml", "obj.names"} or (path / "labels").is_dir():
        return "yolo"
    if ".parquet" in ends:
        return "parquet"
    if ".json" in ends or "semantic_annotations" in names:
        from layoutdm.formats import rico

        if rico.recognise(path):
            return "rico"
    single = [n for n in names if Path(n).suffix.lower() in {".jsonl", ".gz", ".json", ".csv"}]
    if single:
        raise LayoutdmError(
            f"{path}: is a folder of layout files; name one of them, such as {path / min(single)}"
        )
    return "yolo" if ".txt" in ends else None


# Files -----------------------------------------------------------------------------------------


def _file(path: Path) -> str | None:
    if not path.is_file():  # looking into it would use it up
        raise LayoutdmError(
            f"{path}: is a pipe or a device; name its format with --from {_READABLE}"
        )
    try:
        start = head(path)
    except OSError as error:
        raise LayoutdmError(f"{path}: cannot be read: {error.strerror or error}") from None
    named = SUFFIXES.get(suffix(path))
    if not start:
        if path.stat().st_size:
            return named  # damaged gzip: the reader says so
        raise LayoutdmError(f"{path}: is empty; it should hold layouts")
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"PK\x03\x04"):
        return _zip(path)
    for magic, what in _FOREIGN.items():
        if start.startswith(magic):
            raise LayoutdmError(f"{path}: is {what}, which holds no layouts; give {_READABLE}")
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return _object(text, path) or named
    if text.startswith(b"["):
        return _list(text, path) or named
    if text.startswith(b"<"):
        return _markup(text, path)
    if path.name in {"data.yaml", "classes.txt"}:
        raise LayoutdmError(f"{path}: is part of a YOLO data set; give its folder {path.parent}")
    return "csv" if _is_csv(text) else named


def _zip(path: Path) -> str | None:
    from layoutdm.formats import rico

    if rico.recognise(path):
        return "rico"
    raise LayoutdmError(
        f"{path}: is a zip archive without Rico's screens in it; unpack it and give what it holds"
    )


def _object(text: bytes, path: Path) -> str | None:
    """Native JSONL, COCO or one Label Studio task, by the keys near the start."""
    first = text.split(b"\n", 1)[0]
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict) and len(record) < 100:
        keys = set(record)
        if keys & {"labels", "boxes"} and "images" not in keys:
            return "jsonl"
    else:
        keys = {key.decode("utf-8", "replace") for key in _KEYS.findall(text)}
    if keys & {"images", "categories"} or {"annotations", "info"} <= keys:
        return "coco"
    if "data" in keys and keys & {"annotations", "predictions"}:
        return "labelstudio"
    if {"bounds", "children"} <= keys:
        raise LayoutdmError(
            f"{path}: is a single screen of Rico; give the folder or zip that holds it"
        )
    if {"labels", "boxes"} <= keys and suffix(path) != ".json":
        return "jsonl"
    return None


def _list(text: bytes, path: Path) -> str | None:
    keys = {key.decode("utf-8", "replace") for key in _KEYS.findall(text)}
    if keys & {"annotations", "predictions", "data"}:
        return "labelstudio"
    if {"labels", "boxes"} <= keys:
        raise LayoutdmError(
            f"{path}: is a JSON list of layouts; the native format has one object a line, "
            "with no list around them"
        )
    if {"bbox", "category_id"} <= keys:
        raise LayoutdmError(
            f"{path}: is a list of COCO results without images and categories; "
            "give the full COCO file"
        )
    return "labelstudio" if not keys and text[1:].lstrip().startswith(b"]") else None


def _markup(text: bytes, path: Path) -> str | None:
    start = text[:4096].lower()
    if b"<annotation" in start:
        return "voc"
    for sign, what in ((b"<svg", "an SVG picture"), (b"<html", "a web page")):
        if sign in start:
            raise LayoutdmError(
                f"{path}: is {what}, which can be written but not read; give {_READABLE}"
            )
    return SUFFIXES.get(suffix(path))


def _is_csv(text: bytes) -> bool:
    line = text.split(b"\n", 1)[0].lower()
    cells = {cell.strip(b' "\r') for cell in re.split(rb"[,;\t]", line)}
    return {b"width", b"height"} <= cells and bool(cells & {b"label", b"class"})

"""Which format a path holds (from its content and name), or should be written in (from its name).

>>> detect_target("pages.jsonl.gz"), detect_target("pages.json"), detect_target("page.svg")
('jsonl', 'coco', 'svg')

Content decides where it can: a COCO file named `data.txt` is still COCO. Where the content is
damaged or says nothing the name decides, so that the reader of that format can say what is wrong.
A COCO file with PubLayNet's five categories is plain COCO; `publaynet` is used only when asked
for, since it also applies the paper's filters.
"""

from __future__ import annotations

from pathlib import Path

from layoutdm.errors import LayoutdmError
from layoutdm.formats.signs import SINGLE, Look, is_unfinished_job, look
from layoutdm.formats.table import FORMATS, READ, WRITE, by_suffix, listed

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
_MARKUP = ((b"<svg", "an SVG picture"), (b"<html", "a web page"))


def suffix(path: Path) -> str:
    """The last suffix that is not .gz, in small letters."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def detect(path: str | Path) -> str:
    """The format of an existing file or folder; one sentence when it cannot be told."""
    source = Path(path)
    if not source.exists():
        raise LayoutdmError(f"{path}: no such file or folder; check the path")
    if not source.is_dir() and not source.is_file():  # looking into it would use it up
        raise LayoutdmError(
            f"{path}: is a pipe or a device; name its format with --from {listed(READ)}"
        )
    try:
        found = look(source)
    except OSError as error:
        raise LayoutdmError(f"{path}: cannot be read: {error.strerror or error}") from None
    if found.names is not None and is_unfinished_job(found):
        raise LayoutdmError(
            f"{path}: is the folder of a job that has not finished; continue it with "
            "`layoutdm generate ... --resume`"
        )
    for format in FORMATS:
        if format.sign is not None and format.sign(found):
            return format.name
    named = by_suffix(suffix(source)) if found.names is None else None
    why = _why_not(found)
    if why:
        raise LayoutdmError(f"{path}: {why}")
    if named is not None and named.reads:
        return named.name
    raise LayoutdmError(
        f"{path}: the format cannot be told from its name or content; "
        f"name it with --from {listed(READ)}"
    )


def detect_target(path: str | Path) -> str:
    """The format to write, from the name alone. A .json becomes COCO."""
    target = Path(path)
    end = suffix(target)
    named = by_suffix(end)
    if named is not None and named.writes and named.name != "voc":  # VOC is written as a folder
        return named.name
    kind = f"the suffix {end!r} is no format's" if end else "a folder could be yolo or voc"
    raise LayoutdmError(
        f"{path}: the format to write cannot be told, {kind}; name it with --to "
        f"{listed(WRITE)}, or use a name that ends in one of the suffixes of docs/formats.md"
    )


def _why_not(found: Look) -> str:
    """What is there instead of layouts, and what would be right; "" when nobody knows."""
    if found.names is not None:
        return _folder(found)
    if not found.start:  # damaged gzip: the reader of the format that its name tells says so
        return "" if found.path.stat().st_size else "is empty; it should hold layouts"
    if found.start.startswith(b"PK\x03\x04"):
        from layoutdm.formats import rico

        other = "is a zip archive without Rico's screens in it; unpack it and give what it holds"
        return rico.flaw(found.path) or other
    for magic, what in _FOREIGN.items():
        if found.start.startswith(magic):
            return f"is {what}, which holds no layouts; give {listed(READ)}"
    if found.path.name in {"data.yaml", "classes.txt"}:
        return f"is part of a YOLO data set; give its folder {found.path.parent}"
    for sign, what in _MARKUP:
        if found.text.startswith(b"<") and sign in found.text[:4096].lower():
            return f"is {what}, which can be written but not read; give {listed(READ)}"
    if found.is_object and {"bounds", "children"} <= found.keys:
        return "is a single screen of Rico; give the folder or zip that holds it"
    if found.is_list and {"labels", "boxes"} <= found.keys:
        return (
            "is a JSON list of layouts; the native format has one object a line, "
            "with no list around them"
        )
    if found.is_list and {"bbox", "category_id"} <= found.keys:
        return "is a list of COCO results without images and categories; give the full COCO file"
    return ""


def _folder(found: Look) -> str:
    names = found.names or ()
    if not names:
        return "the folder is empty; it should hold annotation files"
    single = [name for name in names if Path(name).suffix.lower() in SINGLE]
    if single:
        first = found.path / min(single)
        return f"is a folder of layout files; name one of them, such as {first}"
    return ""

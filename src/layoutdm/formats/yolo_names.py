"""The class names of a YOLO data set, from data.yaml or a plain list of names.

>>> parse_yaml("nc: 2\\nnames: ['text', \\"title\\"]  # two")
{0: 'text', 1: 'title'}
>>> parse_yaml("names:\\n  0: text\\n  7: list item\\n")
{0: 'text', 7: 'list item'}

Only the `names` entry is read, in the four ways that tools write it, so that no YAML package is
needed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from layoutdm.errors import LayoutdmError

# In the order of trust: data.yaml can hold any name, a line-by-line list cannot.
FILES = ("data.yaml", "data.yml", "dataset.yaml", "classes.txt", "obj.names", "classes.names")

_NAMES = re.compile(r"^names[ \t]*:[ \t]*(.*)$", re.MULTILINE)
_SCALAR = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,\[\]{}\n]+""")
_ENTRY = re.compile(r"^[ \t]*(?:-[ \t]+|(\d+)[ \t]*:[ \t]*)(.*)$")


def find(folder: Path) -> Path | None:
    """The file with the class names, in the folder or the one above it."""
    for place in (folder, folder.parent):
        for name in FILES:
            if (place / name).is_file():
                return place / name
    return None


def load(path: Path) -> dict[int, str]:
    """Class index to name."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise LayoutdmError(f"{path}: is not UTF-8 text; it should list the class names") from None
    if path.suffix in {".yaml", ".yml"}:
        return parse_yaml(text)
    return {index: line for index, line in enumerate(text.splitlines()) if line.strip()}


def parse_yaml(text: str) -> dict[int, str]:
    """The `names` entry of a data.yaml: a list or a mapping, inline or one line each."""
    match = _NAMES.search(text)
    if match is None:
        return {}
    inline = _uncommented(match[1]).strip()
    if inline[:1] in {"[", "{"}:
        body = text[match.start(1) :]
        return _inline(body, "]" if inline[0] == "[" else "}")
    found: dict[int, str] = {}
    for line in text[match.end() + 1 :].splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        entry = _ENTRY.match(line)
        if entry is None:
            break
        key = int(entry[1]) if entry[1] else len(found)
        found[key] = _scalar(entry[2])
    return found


def _inline(body: str, end: str) -> dict[int, str]:
    found: dict[int, str] = {}
    at = body.index("[" if end == "]" else "{") + 1
    while at < len(body):
        rest = body[at:].lstrip(" \t\n\r,")
        at = len(body) - len(rest)
        if not rest or rest[0] == end:
            break
        key = len(found)
        index = re.match(r"(\d+)\s*:\s*", rest) if end == "}" else None
        if index:
            key = int(index[1])
            at += index.end()
        match = _SCALAR.match(body, at)
        if match is None:
            break
        found[key] = _scalar(match[0])
        at = match.end()
    return found


def _scalar(text: str) -> str:
    """A YAML scalar as text: double-quoted, single-quoted or plain."""
    text = _uncommented(text).strip()
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            return text.strip('"')
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


def _uncommented(text: str) -> str:
    quoted = re.match(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')""", text)
    return quoted[1] if quoted else re.split(r"\s#", text, maxsplit=1)[0]

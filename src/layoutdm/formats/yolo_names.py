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
from functools import cached_property
from pathlib import Path

from layoutdm.errors import LayoutdmError, shown

# In the order of trust: data.yaml can hold any name, a line-by-line list cannot.
FILES = ("data.yaml", "data.yml", "dataset.yaml", "classes.txt", "obj.names", "classes.names")

_NAMES = re.compile(r"^names[ \t]*:[ \t]*(.*)$", re.MULTILINE)
_SCALAR = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,\[\]{}\n]+""")
_ENTRY = re.compile(r"^[ \t]*(?:-[ \t]+|(\d+)[ \t]*:[ \t]*)(.*)$")
_BETWEEN = re.compile(r"[ \t\n\r,]*")
_INDEX = re.compile(r"(\d+)\s*:\s*")
_LARGEST = 10**9  # beyond any class number; int() refuses more than some thousand digits


class Names(dict[int, str]):
    """Class index to name, with the lowest and the highest index for messages."""

    @cached_property
    def lowest(self) -> int:
        return min(self)

    @cached_property
    def highest(self) -> int:
        return max(self)


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
        try:
            return parse_yaml(text)
        except LayoutdmError as error:
            raise LayoutdmError(f"{path}: {error}") from None
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
        key = _index(entry[1]) if entry[1] else len(found)
        found[key] = _scalar(entry[2])
    return found


def _inline(body: str, end: str) -> dict[int, str]:
    found: dict[int, str] = {}
    at = body.index("[" if end == "]" else "{") + 1
    while at < len(body):
        at = _end(_BETWEEN, body, at)
        if body[at : at + 1] in ("", end):
            break
        key = len(found)
        index = _INDEX.match(body, at) if end == "}" else None
        if index:
            key, at = _index(index[1]), index.end()
        match = _SCALAR.match(body, at)
        if match is None:
            break
        found[key] = _scalar(match[0])
        at = match.end()
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _index(digits: str) -> int:
    if len(digits) > len(str(_LARGEST)) or int(digits) > _LARGEST:
        raise LayoutdmError(
            f"names has the class number {shown(digits)}; it should be at most {_LARGEST:,}"
        )
    return int(digits)


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

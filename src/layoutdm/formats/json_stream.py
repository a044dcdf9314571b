"""Reads a JSON file of any size item by item: the members of its top-level lists, one at a time.

>>> import tempfile
>>> from pathlib import Path
>>> path = Path(tempfile.mkdtemp()) / "a.json"
>>> _ = path.write_text('{"info": {"year": 2019}, "images": [{"id": 1}, {"id": 2}]}')
>>> with Source(path) as source:
...     print(list(JsonStream(source).items()))
[('images', 0, {'id': 1}), ('images', 1, {'id': 2})]

The standard library's decoder, which is written in C, does the work on a buffer that is refilled
as it empties. Given `forget`, a pattern of what nobody will look at, that is blanked out before it
is decoded: with polygons forgotten this is faster than an event parser, and needs no package.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.formats import limits
from layoutdm.formats.files import Source

CHUNK = 2**20
MOST_KEYS = 10_000  # at the top of a file

_SPACE = re.compile(r"[ \t\n\r]*")


def lists_named(key: str) -> re.Pattern[str]:
    """A pattern for `"key": [[...], ...]`, to be forgotten. A quote inside a text is escaped in
    JSON, so that what matches can only be a key."""
    row = r"\[[^\]]*+\]"
    return re.compile(rf'("{key}"\s*+:\s*+)\[\s*+{row}(?>\s*+,\s*+{row})*+\s*+\]')


def _blank(match: re.Match[str]) -> str:
    """An empty list of the same length, with the same line breaks, so that places stay right."""
    inner = match[0][len(match[1]) + 1 : -1]
    blank = re.sub(r"[^\n]", " ", inner) if "\n" in inner else " " * len(inner)
    return f"{match[1]}[{blank}]"


class JsonStream:
    """One pass over a JSON file; `keys` and `scalars` tell afterwards what stood at its top."""

    def __init__(self, source: Source, forget: re.Pattern[str] | None = None) -> None:
        self._source = source
        self._forget = forget
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._scan = json.JSONDecoder().raw_decode
        self._buffer = ""
        self._at = 0
        self._ended = False
        self._largest = limits.record_size()
        self._lines = 1  # line number at the buffer's start
        self._column = 1
        self.keys: list[str] = []
        self.scalars: set[str] = set()

    def items(self) -> Iterator[tuple[str, int, Any]]:
        """(key, index, item) for each item of each top-level list; key "" if the file is a list.

        The keys of top-level values other than lists are put into `scalars`.
        """
        first = self._peek()
        if first == "":
            raise LayoutdmError(f"{self._source.path}: is empty; it should hold JSON")
        if first == "[":
            self.keys.append("")
            yield from self._list("")
        elif first == "{":
            yield from self._object()
        else:
            raise self._error("it should start with { or [")
        if self._peek():
            raise self._error("there is more text after the end")

    def _object(self) -> Iterator[tuple[str, int, Any]]:
        self._at += 1
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            if self._peek() != '"':
                raise self._error("a key in double quotes should stand here")
            key = str(self._value())
            self._expect(":")
            self.keys.append(key)
            if len(self.keys) > MOST_KEYS:
                raise self._error(f"there are more than {MOST_KEYS:,} keys at the top")
            if self._peek() == "[":
                yield from self._list(key)
            else:
                self._value()
                self.scalars.add(key)
            if self._expect(",", "}") == "}":
                return

    def _list(self, key: str) -> Iterator[tuple[str, int, Any]]:
        self._at += 1
        if self._peek() == "]":
            self._at += 1
            return
        index = 0
        while True:
            self._peek()
            yield key, index, self._value()
            index += 1
            if self._expect(",", "]") == "]":
                return

    # The buffer ------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Drop what has been read and append more; sets `_ended` when there is no more."""
        rest = len(self._buffer) - self._at
        data = self._source.read(max(CHUNK, rest))  # doubling keeps retries of a long item cheap
        self._source.tick()
        try:
            more = self._decode.decode(data, final=not data)
        except UnicodeDecodeError:
            raise self._error("the text is not UTF-8", at=len(self._buffer)) from None
        self._move(self._at)
        self._buffer = self._buffer[self._at :] + more
        if self._forget:
            self._buffer = self._forget.sub(_blank, self._buffer)
        self._at = 0
        self._ended = not data

    def _move(self, end: int) -> None:
        breaks = self._buffer.count("\n", 0, end)
        self._lines += breaks
        if breaks:
            self._column = end - self._buffer.rfind("\n", 0, end)
        else:
            self._column += end

    def _peek(self) -> str:
        """Step over white space; the next character, or "" at the end of the file."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if self._ended:
                return ""
            self._fill()

    def _expect(self, *choices: str) -> str:
        found = self._peek()
        if not found or found not in choices:
            raise self._error(f"{' or '.join(choices)} should stand here")
        self._at += 1
        return found

    def _value(self) -> Any:
        while True:
            try:
                value, end = self._scan(self._buffer, self._at)
            except json.JSONDecodeError as error:
                if self._ended:
                    raise self._error(error.msg, at=error.pos) from None
                if len(self._buffer) - self._at > self._largest:
                    self._move(self._at)
                    raise limits.too_long(
                        f"{self._source.path}, line {self._lines}, column {self._column}",
                        "no such record is that of a layout",
                    ) from None
            except (ValueError, RecursionError):
                raise self._error("a number is too long or the nesting too deep") from None
            else:
                # A number that touches the buffer's end may go on in the next piece.
                if end < len(self._buffer) or self._ended:
                    self._at = end
                    return value
            self._fill()

    def _error(self, message: str, at: int | None = None) -> LayoutdmError:
        self._move(self._at if at is None else at)
        end = self._ended and not self._buffer[self._at if at is None else at :].strip()
        place = "it ends too early" if end else f"{message[:1].lower()}{message[1:]}"
        return LayoutdmError(
            f"{self._source.path}, line {self._lines}, column {self._column}: not valid JSON, "
            f"{place}; check that the file is complete"
        )

"""Opening files: gzip by content, bytes counted; text files to write, packed by their name.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "a.txt.gz"
>>> with text_sink(path, path) as file:
...     _ = file.write("whole")
>>> head(path)
b'whole'
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from layoutdm.errors import LayoutdmError
from layoutdm.formats import limits

GZIP_MAGIC = b"\x1f\x8b"

# Called with (bytes read so far, bytes in all) of the file as it lies on the disk.
Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """The progress that shows nothing."""


def head(path: Path, size: int = 65536) -> bytes:
    """The first bytes of a file, unpacked when it is gzip; what can be unpacked if damaged."""
    with path.open("rb") as file:
        start = file.read(size)
    if not start.startswith(GZIP_MAGIC):
        return start
    try:
        return zlib.decompressobj(wbits=31).decompress(start, size)
    except zlib.error:
        return b""


class _Counter:
    """Counts the bytes that are read of a file, which a pipe could not tell."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.count = file, 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.count += len(data)
        return data


class Source:
    """A file opened for reading bytes, unpacked when it is gzip, that knows how far it has got."""

    def __init__(self, path: Path, progress: Progress = silent) -> None:
        self.path = path
        self._raw = path.open("rb")
        self._total = os.fstat(self._raw.fileno()).st_size
        self._progress = progress
        packed = self._raw.peek(2)[:2] == GZIP_MAGIC
        self._counter = _Counter(self._raw) if packed else None
        self._file: BinaryIO = self._raw
        if self._counter is not None:
            self._file = cast(BinaryIO, gzip.GzipFile(fileobj=cast(BinaryIO, self._counter)))
        self._unpacked = 0
        self._allowed = limits.allowed(0)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()
        self._raw.close()

    def read(self, size: int) -> bytes:
        with self._unpacking():
            return self._counted(self._file.read(size))

    def readline(self, limit: int) -> bytes:
        with self._unpacking():
            return self._counted(self._file.readline(limit))

    def tick(self) -> None:
        """Tell the progress how far reading has got; of a pipe nobody knows."""
        if self._raw.seekable():
            self._progress(self._raw.tell(), self._total)

    def _counted(self, data: bytes) -> bytes:
        """The data itself, unless the file unpacks to more than it may."""
        if self._counter is not None:
            self._unpacked += len(data)
            if self._unpacked > self._allowed:
                self._allowed = limits.allowed(self._counter.count)
                if self._unpacked > self._allowed:
                    raise limits.too_much(self.path, self._counter.count)
        return data

    @contextmanager
    def _unpacking(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise LayoutdmError(
                f"{self.path}: the gzip data is cut off or damaged ({error}); "
                "copy or pack the file again"
            ) from None


@contextmanager
def text_sink(part: Path, name: Path) -> Iterator[TextIO]:
    """A text file to write at `part`, packed when the name it will get ends in .gz."""
    with part.open("wb") as raw:
        if name.suffix.lower() != ".gz":
            with io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
                yield file
            return
        # No name and no time inside: the same layouts give the same file, byte for byte.
        with (
            gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
            io.TextIOWrapper(cast(BinaryIO, packed), encoding="utf-8", newline="") as file,
        ):
            yield file

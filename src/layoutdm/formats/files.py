"""Opening and replacing files: gzip by content, bytes counted, output never half written.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "a.txt"
>>> with replacing(path) as part:
...     _ = part.write_text("whole")
>>> path.read_text()
'whole'
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from layoutdm.errors import LayoutdmError

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


class Source:
    """A file opened for reading bytes, unpacked when it is gzip, that knows how far it has got."""

    def __init__(self, path: Path, progress: Progress = silent) -> None:
        self.path = path
        self._raw = path.open("rb")
        self._total = os.fstat(self._raw.fileno()).st_size
        self._progress = progress
        packed = self._raw.peek(2)[:2] == GZIP_MAGIC
        self._file = cast(BinaryIO, gzip.GzipFile(fileobj=self._raw)) if packed else self._raw

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()
        self._raw.close()

    def read(self, size: int) -> bytes:
        with self._unpacking():
            return self._file.read(size)

    def readline(self, limit: int) -> bytes:
        with self._unpacking():
            return self._file.readline(limit)

    def tick(self) -> None:
        """Tell the progress how far reading has got; of a pipe nobody knows."""
        if self._raw.seekable():
            self._progress(self._raw.tell(), self._total)

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


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name[:100]}.{os.getpid()}.part")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; it takes the place of `path` only when the block ends well."""
    target = path.resolve()  # a link stays a link; what it points to is replaced
    if target.is_dir():
        raise LayoutdmError(f"{path}: is a folder; give the name of a file to write")
    if target.exists() and not target.is_file():  # a pipe or a device cannot be renamed over
        with tempfile.TemporaryDirectory() as folder:
            part = Path(folder) / (path.name + ".part")
            yield part
            with part.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = _beside(target)
    try:
        yield part
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, ours: Callable[[Path], bool]) -> Iterator[Path]:
    """Give a new folder to fill; it takes the place of `path` only when the block ends well.

    `ours(file)` says whether a file that is already there came from an earlier conversion. A
    folder with anything else in it is refused, since replacing it would lose that.
    """
    target = path.resolve()
    if target.exists() and not target.is_dir():
        raise LayoutdmError(f"{path}: is a file; this format needs the name of a folder")
    if target.is_dir():
        for old in sorted(target.rglob("*")):
            if not old.is_dir() and not ours(old.relative_to(target)):
                raise LayoutdmError(
                    f"{path}: already holds {old.relative_to(target)}, which would be lost; "
                    "give a new or empty folder"
                )
    target.parent.mkdir(parents=True, exist_ok=True)
    part, aside = _beside(target), _beside(target).with_suffix(".old")
    part.mkdir()
    try:
        yield part
        if target.exists():
            target.rename(aside)
        part.rename(target)
    except BaseException:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)

"""Files and folders that appear whole or not at all, whoever dies while writing them.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "a.txt"
>>> with replacing(path) as part:
...     _ = part.write_text("whole")
>>> path.read_text()
'whole'

Writing goes to a hidden part beside the target, which takes the target's place in one rename. Every
part has a name of its own, and its writer holds a lock on it: writers in other threads, processes
or containers never meet, and the part of a writer that died is known by its free lock and removed
by the next writer of the same target.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from layoutdm.errors import LayoutdmError

try:
    import fcntl
except ImportError:  # Windows: parts of dead writers stay, nothing else differs
    fcntl = None  # type: ignore[assignment]

PART, OLD = ".part", ".old"
_NAME = re.compile(r"\..+\.[0-9a-f]{16}\.(?:part|old)", re.DOTALL)
_ENDING = 16 + len(PART)


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """Give a path to write to; it takes the place of `path` only when the block ends well.

    With `durable` the bytes are on the disk before the rename, as a checkpoint needs it.
    """
    path = Path(path)
    target = path.resolve()  # a link stays a link; what it points to is replaced
    if target.is_dir():
        raise LayoutdmError(f"{path}: is a folder; give the name of a file to write")
    if target.exists() and not target.is_file():  # a pipe or a device cannot be renamed over
        with tempfile.TemporaryDirectory() as folder:
            part = Path(folder) / (path.name + PART)
            yield part
            with part.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    clean_up(target)
    with _own_part(target, folder=False) as part, _named_after(path, part):
        yield part
        if target.exists():
            shutil.copymode(target, part)
        if durable:
            _flush(part)
        part.replace(target)
        if durable:
            _flush(target.parent)


def write_text(path: Path, text: str) -> None:
    """A text file in UTF-8, in one rename, flushed to the disk."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """A file of these bytes, in one rename, flushed to the disk."""
    with replacing(path, durable=True) as part:
        part.write_bytes(data)


@contextmanager
def swapping(path: Path) -> Iterator[Path]:
    """Give a new folder to fill; it takes the place of the folder `path` when the block ends well.

    What the old folder holds is lost then: `layoutdm.folders` asks first whether it may be.
    """
    target = path.resolve()
    if target.exists() and not target.is_dir():
        raise LayoutdmError(f"{path}: is a file; this format needs the name of a folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    clean_up(target)
    with _own_part(target, folder=True) as part, _named_after(path, part):
        yield part
        old = part.with_suffix(OLD)
        with _locked_folder(target) as there:
            try:
                if there:
                    shutil.copymode(target, part)
                    target.rename(old)
                part.rename(target)
            except BaseException:
                if old.exists() and not target.exists():
                    old.rename(target)
                raise
            shutil.rmtree(old, ignore_errors=True)


def clean_up(target: Path) -> None:
    """Remove what dead writers of this target left behind; put back a folder they moved away."""
    start = _start(target)
    for left in _parts(target.parent):
        if left.name.startswith(start) and len(left.name) <= len(start) + _ENDING:
            _remove(left, target)


def clean_folder(folder: Path) -> None:
    """Remove the parts that dead writers of any target left in this folder."""
    for left in _parts(folder):
        if left.suffix == PART:
            _remove(left, left)


def _remove(left: Path, target: Path) -> None:
    with _lock(left) as dead:
        if not dead:
            return
        if left.suffix == OLD and not target.exists():
            left.rename(target)
        elif left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _parts(folder: Path) -> list[Path]:
    with suppress(OSError), os.scandir(folder) as entries:
        names = [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
        return [folder / name for name in sorted(names)]
    return []


def _start(target: Path) -> str:
    """How the names of this target's parts begin; short enough for any file system."""
    name = target.name.encode()[:100].decode(errors="ignore")
    return f".{name}."


@contextmanager
def _own_part(target: Path, *, folder: bool) -> Iterator[Path]:
    """A new part that no other writer has; removed in the end if it is still there."""
    while True:
        part = target.with_name(f"{_start(target)}{secrets.token_hex(8)}{PART}")
        if folder:
            part.mkdir()
        else:
            part.touch(exist_ok=False)
        with _lock(part) as ours:
            # Someone who cleaned up may have come between the two lines above.
            if ours is False or not part.exists():
                continue
            try:
                yield part
            finally:
                if folder:
                    shutil.rmtree(part, ignore_errors=True)
                else:
                    part.unlink(missing_ok=True)
            return


@contextmanager
def _lock(path: Path, *, wait: bool = False) -> Iterator[bool | None]:
    """True when the lock of this file or folder is ours until the block ends, False when another
    holds it or there is nothing to lock, None where the file system knows no locks."""
    try:
        handle = os.open(path, os.O_RDONLY) if fcntl else None
    except OSError:
        yield False
        return
    if handle is None:
        yield None
        return
    try:
        yield _take(handle, wait)
    finally:
        os.close(handle)


def _take(handle: int, wait: bool) -> bool | None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextmanager
def _named_after(path: Path, part: Path) -> Iterator[None]:
    """What the system refuses is said of the file that the user named, not of its part."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and str(error.filename).startswith(str(part)):
            error.filename = str(path)
        raise


@contextmanager
def _locked_folder(target: Path) -> Iterator[bool]:
    """Wait until no other writer is just replacing this folder; whether there is one now."""
    while target.exists():
        before = target.stat().st_ino
        with _lock(target, wait=True):
            if target.exists() and target.stat().st_ino == before:
                yield True
                return
    yield False


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

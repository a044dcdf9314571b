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

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
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
    target = _led_to(path)
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
def swapping(path: Path, may_go: Callable[[Path], None] = lambda _: None) -> Iterator[Path]:
    """Give a new folder to fill; it takes the place of the folder `path` when the block ends well.

    What the old folder holds is lost then: `may_go` looks at it before the block and after it,
    while no other writer replaces it, and raises if it must stay. Of several writers the last wins.
    """
    target = _led_to(path)
    with suppress(FileNotFoundError, NotADirectoryError):
        if not stat.S_ISDIR(target.stat().st_mode):  # one look: others may replace it meanwhile
            raise LayoutdmError(f"{path}: is a file; this format needs the name of a folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    clean_up(target)
    with _held(target) as there:
        if there:
            may_go(path)
    with _own_part(target, folder=True) as part, _named_after(path, part):
        yield part
        while not _took_place(part, target, lambda: may_go(path)):
            pass  # another writer came first


def _took_place(part: Path, target: Path, may_go: Callable[[], None]) -> bool:
    """Whether the part is the target now; False when another writer put a folder there just now.

    The lock of the folder that is moved away tells who cleans up that its owner lives.
    """
    old = target.with_name(f"{_start(target)}{secrets.token_hex(8)}{OLD}")
    with _held(target) as there:
        if there:
            may_go()
            shutil.copymode(target, part)
        try:
            if there:
                target.rename(old)
            part.rename(target)
        except BaseException as error:
            _put_back(old, target)
            if isinstance(error, OSError) and error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return False
            raise
        finally:
            if target.is_dir():
                shutil.rmtree(old, ignore_errors=True)
    return True


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
        if left.suffix == OLD:
            _put_back(left, target)
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


@contextmanager
def _held(target: Path) -> Iterator[bool]:
    """Whether there is a folder; if so, no other writer replaces it until the block ends."""
    while True:
        with _lock(target, wait=True) as ours:
            there = target.exists()
            if there and ours is False:  # another writer's folder came while we waited
                continue
            yield there
            return


def _put_back(old: Path, target: Path) -> None:
    """Move a folder back that was moved away, unless a newer one is there by now."""
    if not target.exists():
        with suppress(OSError):
            old.rename(target)


def _parts(folder: Path) -> list[Path]:
    with suppress(OSError), os.scandir(folder) as entries:
        names = [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
        return [folder / name for name in sorted(names)]
    return []


def _led_to(path: Path) -> Path:
    """Where a path leads: a link stays a link, and what it points to is replaced."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise LayoutdmError(f"{path}: is a link that leads back to itself; give another name")
    return target


def _start(target: Path) -> str:
    """How the names of this target's parts begin; short enough for any file system."""
    name = target.name.encode()[:100].decode(errors="ignore")
    return f".{name}."


@contextmanager
def _own_part(target: Path, *, folder: bool) -> Iterator[Path]:
    """A new part that no other writer has; removed in the end if it is still there."""
    while True:
        part = target.with_name(f"{_start(target)}{secrets.token_hex(8)}{PART}")
        with _named_after(target, part):
            if folder:
                part.mkdir()
            else:
                part.touch(exist_ok=False)
        with _lock(part) as ours:
            if ours is False:  # someone who cleaned up came between the two lines above
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
    holds it or it is gone, None where it cannot be locked."""
    handle = None
    try:
        handle = os.open(path, os.O_RDONLY) if fcntl else None
    except FileNotFoundError:
        yield False
        return
    except OSError:
        pass
    if handle is None:
        yield None
        return
    try:
        ours = _take(handle, wait)
        yield ours and _is_at(handle, path)
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


def _is_at(handle: int, path: Path) -> bool:
    """Whether the path still leads to what is open; another may have moved or removed it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


@contextmanager
def _named_after(path: Path, part: Path) -> Iterator[None]:
    """What the system refuses is said of the file that the user named, not of its part."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and str(error.filename).startswith(str(part)):
            error.filename = str(path)
        raise


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

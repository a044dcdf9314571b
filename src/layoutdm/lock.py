"""A lock on a folder: one process at a time writes there, and a dead one blocks nobody.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> with locked(folder, "generate"):
...     holder(folder).what
'generate'
>>> holder(folder) is None
True

The operating system holds the lock and lets go of it when the process ends, however it ends; so a
lock file that was left behind is no lock, whatever process id it names. On a file system without
such locks the file says who holds it: a process id with the time at which that process started,
since ids come again (in a container each first process is 1).
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from layoutdm.errors import LayoutdmError

FILE = ".layoutdm.lock"
ATTEMPTS = 5  # a look at the lock holds it for a moment, too
PAUSE = 0.02  # seconds between attempts


@dataclass(frozen=True)
class Holder:
    """Who holds a lock: a process, told apart from later ones with its id by its start."""

    what: str
    pid: int
    started: str
    host: str
    since: str

    def __str__(self) -> str:
        return f"`{self.what}` since {self.since} (process {self.pid} on {self.host})"


@contextmanager
def locked(folder: Path, what: str) -> Iterator[None]:
    """Hold the lock of a folder, which is made if missing; another's lock is an error.

    `what` is the name of the command, for whoever finds the folder locked.
    """
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = _acquire(path, what)
    except OSError as error:
        raise LayoutdmError(
            f"{folder}: cannot be written to ({error.strerror or error}); choose another folder"
        ) from None
    owner = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == owner:  # a forked child leaves its parent's lock alone
            path.unlink(missing_ok=True)
        os.close(file)


def holder(folder: Path) -> Holder | None:
    """Who holds the lock of a folder; None if nobody does."""
    try:
        file = os.open(folder / FILE, os.O_RDWR)
    except OSError:
        return None
    try:
        found = _read(file)
        free = _take(file)
        if free is None:
            free = found is None or not _alive(found)
        return None if free else (found or Holder("?", 0, "", "?", "?"))
    finally:
        os.close(file)


# Parts ------------------------------------------------------------------------------------------


def _acquire(path: Path, what: str) -> int:
    """The open lock file, with this process written into it."""
    found: Holder | None = None
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        found = _read(file)
        free = _take(file)
        if free is None:
            free = found is None or not _alive(found)
        if free and _still_there(file, path):
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            me = Holder(what, os.getpid(), _start(os.getpid()), socket.gethostname(), since)
            os.ftruncate(file, 0)
            os.pwrite(file, json.dumps(asdict(me)).encode(), 0)
            return file
        os.close(file)
    who = str(found) if found is not None else "another process"
    raise LayoutdmError(
        f"{path.parent}: is in use by {who}; wait until it ends or choose another folder"
    )


def _take(file: int) -> bool | None:
    """Take the system's lock: True it is ours, False another holds it, None there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # such as a network's file system
        return None
    return True


def _still_there(file: int, path: Path) -> bool:
    """Whether the open file is the one at the path: its last holder may just have removed it."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _read(file: int) -> Holder | None:
    try:
        record = json.loads(os.pread(file, 10_000, 0))
        return Holder(
            str(record["what"]), int(record["pid"]), str(record["started"]),
            str(record["host"]), str(record["since"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _alive(found: Holder) -> bool:
    """Whether the process that wrote a lock file still runs, as far as this system can tell."""
    return _start(found.pid) == found.started


def _start(pid: int) -> str:
    """When a process began: the machine's boot and the ticks since then; "" if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        return f"{boot}-{stat.rpartition(b')')[2].split()[19].decode()}"
    except (OSError, IndexError):
        return ""

"""Processes that die at a moment that is known exactly, however slow or busy the machine is."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

# The process ends itself, and all that it started, when so many lines of its journal are written.
DIES = """
import os, signal, sys
from layoutdm.cli import main
from layoutdm.jobs import journal

left, to_line = int(sys.argv.pop(1)), journal.to_line

def last_line(record):
    global left
    if left == 0:
        os.killpg(0, signal.SIGKILL)
    left -= 1
    return to_line(record)

journal.to_line = last_line
sys.argv[0] = "layoutdm"
main()
"""


def killed_after(
    lines: int, words: Sequence[object], environment: Mapping[str, str] | None = None
) -> None:
    """Run `layoutdm` with these words and kill it when it has added this many layouts."""
    command = [sys.executable, "-c", DIES, str(lines), *map(str, words)]
    with tempfile.TemporaryFile("w+") as said:  # a pipe would wait for all that the process started
        run = subprocess.run(
            command, stdout=said, stderr=said, env=environment, start_new_session=True, check=False
        )
        said.seek(0)
        assert run.returncode == -signal.SIGKILL, said.read()

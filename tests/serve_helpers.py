"""What the tests of the server share: a small model behind a test client or a real process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from starlette.testclient import TestClient

from layoutdm.serve import Settings, create_app
from tiny_models import folder

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
ENVIRONMENT.pop("LAYOUTDM_TOKEN", None)
MODEL = "element"  # the name of the small model's folder


@contextmanager
def client(**settings) -> Iterator[TestClient]:
    """The application in this process, called as 127.0.0.1."""
    app = create_app(Settings(models=(str(folder()),), threads=1, **settings))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as found:
        yield found


@dataclass(frozen=True)
class Running:
    """A server process and how to reach it."""

    process: subprocess.Popen
    address: str  # as printed
    url: str
    log: Path

    def http(self, **options) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, timeout=900, **options)

    def stop(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(900)


@contextmanager
def running(
    where: Path, *arguments, command: str = "serve", model: str | None = None
) -> Iterator[Running]:
    """`layoutdm serve` on a free port, stopped in the end if it still runs."""
    log = where / "log"
    model = model or str(folder())
    line = [sys.executable, "-m", "layoutdm", command, "--port", "0", "--model", model]
    with log.open("a") as errors:
        process = subprocess.Popen(
            [*line, "--jobs", str(where / "jobs"), *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=errors, text=True, env=ENVIRONMENT,
        )  # fmt: skip
    try:
        said = process.stdout.readline()
        assert said, log.read_text()
        address = said.split()[2]
        yield Running(process, address, address.partition("?")[0].rstrip("/"), log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()

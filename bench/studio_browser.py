"""The studio in a real Chromium, for what is measured or pictured in it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@dataclass(frozen=True)
class Running:
    """A `layoutdm studio` that answers."""

    url: str
    pid: int

    def cpu_ms(self) -> float:
        """Processor time that the server has used so far; other programs do not disturb it."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running_studio(threads: int | None = None) -> Iterator[Running]:
    """Start the studio, and stop it in the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "layoutdm", "studio", "--port", str(port), "--no-open"]
    if threads:
        command += ["--threads", str(threads)]
    url = f"http://127.0.0.1:{port}/"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            if process.poll() is not None:
                sys.exit("layoutdm studio did not start")
            try:
                urllib.request.urlopen(f"{url}v1/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield Running(url, process.pid)
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def browser() -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        sys.exit("no Chromium was found; on Debian: apt-get install chromium")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


def open_page(opened: Browser, url: str, width: int, height: int, scheme: str = "light") -> Page:
    """The studio in a new window, with its labels there."""
    dark = scheme == "dark"
    context = opened.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    page.goto(url)
    page.locator(".labels li button").nth(1).wait_for()
    return page


def open_text(page: Page, name: str, text: str) -> None:
    """Open a file in the studio."""
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="File", exact=True).click()
        page.get_by_role("menuitem", name="Open…").click()
    chooser.value.set_files({"name": name, "mimeType": "application/json", "buffer": text.encode()})
    page.locator("[data-element]").first.wait_for()

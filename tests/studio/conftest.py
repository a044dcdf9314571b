"""A real Chromium on the real studio. Without one these tests are left out, but never in CI."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from hands import FLAGS, PATIENCE, Studio

from studio_server import Server

HERE = Path(__file__).parent
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def browser_path() -> str | None:
    """CHROMIUM, or the first of the usual names that is installed."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def missing() -> str:
    """Why these tests cannot run, or ""."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed"
    return "" if browser_path() else "no Chromium was found (Debian: apt-get install chromium)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = missing()
    for item in items:
        if HERE not in item.path.parents:
            continue
        item.add_marker(pytest.mark.browser)
        if reason and not os.environ.get("CI"):
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reason = missing()
    if reason and not os.environ.get("CI"):
        terminalreporter.write_line(f"The studio's browser tests were left out: {reason}.")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    running = Server().start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    reason = missing()
    if reason:
        pytest.fail(f"CI must not leave out the browser tests, but {reason}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser_path(), args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def open_studio(browser: Any, server: Server) -> Iterator[Callable[..., Studio]]:
    """Opens the studio; a page that logs an error fails its test."""
    opened: list[Studio] = []

    def start(*, at: str = "", url: str = "", expect_errors: bool = False, **how: Any) -> Studio:
        size = how.pop("viewport", {"width": 1400, "height": 1000})
        how.setdefault("reduced_motion", "reduce")  # tests need not wait for what glides
        context = browser.new_context(viewport=size, accept_downloads=True, **how)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.set_default_timeout(1000 * PATIENCE)  # CI may be busy
        studio = Studio(context.new_page(), expect_errors)
        opened.append(studio)
        studio.page.goto((url or server.url) + at)
        studio.page.wait_for_selector("#generate")
        return studio

    yield start
    errors = [e for studio in opened for e in studio.errors if not studio.expect_errors]
    for studio in opened:
        studio.page.context.close()
    assert not errors, errors


@pytest.fixture
def studio(open_studio: Callable[..., Studio]) -> Studio:
    found = open_studio()
    found.ready()
    return found

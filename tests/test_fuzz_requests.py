"""A short fuzz of requests; bench/fuzz_requests.py is the long one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "bench"))
from fuzz_requests import costly, fuzz, tried


def test_only_our_own_errors() -> None:
    assert fuzz(300, seed=1)["wrong"] == []


@pytest.mark.parametrize("title", [title for title, _ in costly()])
def test_what_once_cost_much_is_answered(title: str) -> None:
    what, _ = tried(dict(costly())[title])
    assert what in ("fine", "refused")

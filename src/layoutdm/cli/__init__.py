"""The command line: one file per command, each imported only when its command runs."""

from __future__ import annotations

from layoutdm.cli.app import main

__all__ = ["main"]

"""Starting up is quick and brings in nothing heavy."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

HEAVY = ("torch", "onnxruntime", "scipy", "sklearn", "matplotlib", "pyarrow", "pandas")


def run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def processor_seconds(*arguments: str) -> float:
    """The least of three runs: a busy machine slows the clock, and sometimes the processor."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


@pytest.mark.parametrize(
    "code", ["import layoutdm", "from layoutdm import Layout, formats, data; import layoutdm.cli"]
)
def test_importing_brings_in_nothing_heavy(code: str) -> None:
    found = run("-c", f"import sys; {code}; print([m for m in {HEAVY} if m in sys.modules])")
    assert found.strip() == "[]"


def test_importing_costs_less_than_importing_numpy() -> None:
    """0.3 s on a laptop; in parts of what numpy takes, since machines differ."""
    numpy = processor_seconds("-c", "import numpy")
    assert processor_seconds("-c", "import layoutdm") < numpy


def test_help_is_quick_and_names_every_command() -> None:
    from layoutdm.cli.app import COMMANDS

    shown = run("-m", "layoutdm", "--help")
    assert all(command in shown for command in COMMANDS)
    numpy = processor_seconds("-c", "import numpy")
    assert processor_seconds("-m", "layoutdm", "--help") < 5 * numpy

"""Conversions that are killed at any moment, and started again: the ends are byte-identical.

    python bench/kills_convert.py --kills 100 --out bench/results/kills_convert.json

For every format a conversion runs once undisturbed. Then conversions into the same target are
killed (SIGKILL) at moments spread over the whole time that one takes, half of them over an older
result. After each kill the target must be the older result, the new one, or not there, and nothing
between; the next conversion must give the bytes of the undisturbed one and leave nothing beside it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from layoutdm import Layout
from layoutdm.atomic import write_text
from layoutdm.formats import FORMATS, write

TARGETS = {format.name: format.target for format in FORMATS if format.writes and format.reads}
TARGETS |= {"jsonl": "layouts.jsonl.gz", "svg": "svg"}


def layouts(count: int, seed: int) -> list[Layout]:
    rng = random.Random(seed)
    found = []
    for number in range(count):
        boxes = []
        for _ in range(rng.randint(1, 9)):
            width, height = rng.uniform(0.05, 0.5), rng.uniform(0.02, 0.2)
            boxes.append([rng.uniform(width, 1 - width), rng.uniform(height, 1 - height)])
            boxes[-1] += [width, height]
        labels = [rng.choice(("text", "title", "list", "table")) for _ in boxes]
        found.append(Layout.create(labels, boxes, width=600, height=800, id=f"p{number}"))
    return found


def content(path: Path) -> str:
    """A checksum over the names and bytes of a file or folder; "" when it is not there."""
    if not path.exists():
        return ""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    total = hashlib.sha256()
    for file in files:
        total.update(str(file.relative_to(path.parent)).encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def convert(source: Path, target: Path, format: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "layoutdm", "convert", str(source), str(target)]
    return subprocess.Popen([*command, "--to", format], stderr=subprocess.PIPE)


def finished(source: Path, target: Path, format: str) -> float:
    """Convert to the end; the seconds that it took."""
    start = time.perf_counter()
    process = convert(source, target, format)
    _, said = process.communicate()
    if process.returncode:
        raise SystemExit(f"{format}: the conversion failed: {said.decode()}")
    return time.perf_counter() - start


class Trial:
    """One format: what its conversions should give, and what the kills left."""

    def __init__(self, format: str, folder: Path, source: Path, older: Path) -> None:
        self.format, self.source, self.older = format, source, older
        self.room = folder / format
        self.target = self.room / TARGETS[format]
        finished(older, self.target, format)
        self.before = content(self.target)
        self.seconds = finished(source, self.target, format)
        self.right = content(self.target)
        self.left: Counter[str] = Counter()

    def kill(self, share: float, over_older: bool) -> list[str]:
        """Kill a conversion after this share of its time and convert again; what went wrong."""
        shutil.rmtree(self.room)
        self.room.mkdir()
        if over_older:
            finished(self.older, self.target, self.format)
        process = convert(self.source, self.target, self.format)
        time.sleep(share * self.seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed = process.returncode == -signal.SIGKILL
        state = {self.right: "new", self.before: "older", "": "nothing"}.get(content(self.target))
        parts = len([p for p in self.room.iterdir() if p != self.target])
        self.left[f"{state}, {'killed' if killed else 'had ended'}, parts {parts}"] += 1
        problems = [] if state else [f"{self.format}: half a target after {share:.2f} of the time"]
        finished(self.source, self.target, self.format)
        if content(self.target) != self.right:
            problems.append(f"{self.format}: other bytes after a kill at {share:.2f}")
        beside = [p.name for p in self.room.iterdir() if p != self.target]
        if beside:
            problems.append(f"{self.format}: left beside the target: {', '.join(beside)}")
        return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--layouts", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formats", default=",".join(TARGETS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    wrong: list[str] = []
    result: dict[str, Any] = {"kills": 0, "layouts": given.layouts, "seed": given.seed}
    try:
        source = write(layouts(given.layouts, given.seed), folder / "source.jsonl")
        older = write(layouts(given.layouts // 4, given.seed + 1), folder / "older.jsonl")
        names = given.formats.split(",")
        trials = {name: Trial(name, folder, source, older) for name in names}
        for number in range(given.kills):
            trial = trials[names[number % len(names)]]
            share = (number // len(names) + 0.5) / (given.kills / len(names))
            wrong += trial.kill(share, over_older=number // len(names) % 2 == 0)
            result["kills"] += 1
        result["left"] = {name: dict(trial.left) for name, trial in trials.items()}
        result["wrong"] = wrong
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if given.out:
        write_text(given.out, json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

"""Pages a second, and the memory that they take.

    python bench/pages_speed.py --count 400 --workers 2 --out bench/results/pages_speed.jsonl

Runs the command as a user does, in a folder that is removed afterwards. `processor` is the time of
all its processes; on a machine that others use, too, it says what the pages cost, where the pages
a second (`wall`) say what was left over. The goal is 25 pages of 1,000 pixels a second on 2 cores.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def measure(count: int, workers: int, style: str, height: int) -> dict[str, float | int | str]:
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "layoutdm", "pages", "--count", str(count), "--workers",
             str(workers), "--style", style, "--height", str(height), "--format", "coco,yolo",
             "--out", f"{folder}/set", "--no-progress"],
            check=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "count": count,
        "workers": workers,
        "style": style,
        "height": height,
        "wall_seconds": round(wall, 1),
        "processor_seconds": round(processor, 1),
        "pages_a_second": round(count / wall, 1),
        "processor_ms_a_page": round(1000 * processor / count, 1),
        "largest_process_mb": round(after.ru_maxrss / 1024),
        "kb_a_page": round(size / count / 1000),
        "load_at_the_end": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--style", default="varied")
    parser.add_argument("--height", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    for _ in range(options.rounds):
        found = measure(options.count, options.workers, options.style, options.height)
        print(json.dumps(found), flush=True)
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()

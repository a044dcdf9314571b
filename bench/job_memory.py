"""Peak memory of large jobs: does it grow with the number of layouts?

    python bench/job_memory.py --counts 10000,100000

Runs `layoutdm generate` as a process for each count and appends a line each to
bench/results/job_memory.jsonl: formats, count, peak resident memory in MiB, minutes. One step a
layout, since steps change the time and not the memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "job_memory.jsonl"


def peak(model: str, formats: str, count: int) -> dict[str, object]:
    """One job in a folder of its own, and what the system says about its memory."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "layoutdm", "generate", "--model", model, "--steps", "1"]
        command += ["--count", str(count), "--format", formats, "--out", out, "--threads", "1"]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"the job of {count} layouts ended with {process.returncode}")
        minutes = (time.perf_counter() - started) / 60
    mebibytes = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return {
        "model": model, "formats": formats, "count": count,
        "peak_mib": round(mebibytes, 1), "minutes": round(minutes, 2),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="publaynet")
    parser.add_argument("--formats", default="jsonl,coco,yolo,parquet")
    parser.add_argument("--counts", default="10000,100000")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for count in map(int, options.counts.split(",")):
        row = peak(options.model, options.formats, count)
        print(row, flush=True)
        with options.out.open("a") as file:
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()

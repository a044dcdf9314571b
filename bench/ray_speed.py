"""Ray: two workers against one, and what it costs against the plain command; the same bytes.

    python bench/ray_speed.py --count 50000 --out bench/results/ray_speed.json

Each way is the command as a user types it, in a process of its own, on one thread a worker. The
clusters have one or two nodes of one processor each; starting them is not part of the time, as a
cluster is there already. Needs as many free cores as workers: on a busy machine the figures say
little, since Ray's workers run at a lower priority than others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAYS = ("plain", "ray, one worker", "ray, two workers")


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """The address of a cluster with so many nodes of one processor."""
    from ray.cluster_utils import Cluster

    node: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 200 * 2**20}
    head = {**node, "include_dashboard": False}
    started: Any = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(workers - 1):
        started.add_node(**node)
    try:
        yield str(started.address)
    finally:
        started.shutdown()


def measure(count: int, more: list[str]) -> dict[str, Any]:
    """Seconds of the whole command, and what it made."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "layoutdm", "generate", "--model", "publaynet", "--count",
             str(count), "--threads", "1", "--out", f"{folder}/set", "--no-progress", *more],
            check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        made = hashlib.sha256((Path(folder) / "set/layouts.jsonl").read_bytes()).hexdigest()
    return {
        "seconds": round(seconds, 1),
        "layouts_a_second": round(count / seconds, 1),
        "sha256": made[:16],
        "load_at_the_end": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found: dict[str, Any] = {"count": options.count, "cores": os.cpu_count()}
    for workers, way in enumerate(WAYS):
        if workers:
            with cluster(workers) as address:
                found[way] = measure(options.count, ["--ray", address])
        else:
            found[way] = measure(options.count, [])
        print(way, json.dumps(found[way]), flush=True)
    found["same_bytes"] = len({found[way]["sha256"] for way in WAYS}) == 1
    found["two_against_one"] = round(found[WAYS[1]]["seconds"] / found[WAYS[2]]["seconds"], 2)
    found["one_against_plain"] = round(found[WAYS[1]]["seconds"] / found[WAYS[0]]["seconds"], 2)
    print(json.dumps(found, indent=1))
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

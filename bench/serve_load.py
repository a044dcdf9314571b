"""Many clients at the same time against one: what drawing together is worth, and what it costs.

    python bench/serve_load.py --clients 200 --seconds 60

A real server process on loopback. First one client asks for one layout after the other (the loop
of single calls), then many clients do the same at once, then the one client again, so that other
work on the machine shows in both. Every answer is checked to be the one that was asked for, some
against `Model.generate`. Writes bench/results/serve_load.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

import layoutdm

OUT = Path(__file__).parent / "results" / "serve_load.json"
LABELS = (
    "Toolbar", "Icon", "Text", "Image", "Text", "Text", "Text Button", "Icon", "List Item",
    "Text Button",
)  # fmt: skip
SPEC = {"elements": [{"label": label} for label in LABELS]}
CHECKED = 20  # answers that are compared with Model.generate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--alone", type=float, default=15.0, help="seconds of each single loop")
    parser.add_argument("--model", default="rico25")
    parser.add_argument("--threads", type=int, help="of the server's network (all cores)")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = start(arguments, Path(folder))
        try:
            record = asyncio.run(measure(server, arguments))
        finally:
            server.terminate()
            record_end = server.wait(60)
    record["stopped_with"] = record_end
    arguments.out.parent.mkdir(exist_ok=True)
    arguments.out.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


def start(arguments: argparse.Namespace, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "layoutdm", "serve", "--port", "0"]
    command += ["--model", arguments.model]
    if arguments.threads:
        command += ["--threads", str(arguments.threads)]
    with (folder / "log").open("w") as log:
        return subprocess.Popen(
            [*command, "--jobs", str(folder / "jobs")],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


async def measure(server: subprocess.Popen[str], arguments: argparse.Namespace) -> dict[str, Any]:
    assert server.stdout is not None
    address = server.stdout.readline().split()[2]
    seeds = count()
    answers: dict[int, Any] = {}
    limits = httpx2.Limits(max_connections=arguments.clients + 1)
    async with httpx2.AsyncClient(base_url=address, limits=limits, timeout=120) as http:
        await ask(http, next(seeds), answers)
        before = os.getloadavg()[0]
        alone = await load(http, 1, arguments.alone, seeds, answers, server.pid)
        resident = [memory(server.pid)]
        watching = asyncio.create_task(watch(server.pid, resident))
        together = await load(
            http, arguments.clients, arguments.seconds, seeds, answers, server.pid
        )
        watching.cancel()
        again = await load(http, 1, arguments.alone, seeds, answers, server.pid)
    wrong = compare(answers, arguments.model)
    single = (alone["layouts"] + again["layouts"]) / (alone["seconds"] + again["seconds"])
    third = max(1, len(resident) // 3)
    return {
        "command": "python bench/serve_load.py " + " ".join(sys.argv[1:]),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "load_average_before": round(before, 2),
        "load_average_after": [round(value, 2) for value in os.getloadavg()],
        "clients": arguments.clients,
        "alone": [alone, again],
        "together": together,
        "single_per_second": round(single, 1),
        "times_faster": round(together["per_second"] / single, 2),
        "times_less_work": round(
            (alone["processor_ms_a_layout"] + again["processor_ms_a_layout"])
            / (2 * together["processor_ms_a_layout"]),
            2,
        ),
        "asked": next(seeds),
        "answered": len(answers),
        "compared_with_generate": CHECKED,
        "different_from_generate": wrong,
        "resident_mib_first_third": round(float(np.mean(resident[:third])), 1),
        "resident_mib_last_third": round(float(np.mean(resident[-third:])), 1),
        "resident_mib_most": round(max(resident), 1),
    }


async def load(
    http: httpx2.AsyncClient,
    clients: int,
    seconds: float,
    seeds: Any,
    answers: dict[int, Any],
    pid: int,
) -> dict[str, Any]:
    """Clients that ask again as soon as they are answered, for so long."""
    times: list[float] = []
    worked = processor(pid)
    began = time.perf_counter()

    async def client() -> None:
        while time.perf_counter() - began < seconds:
            asked = time.perf_counter()
            await ask(http, next(seeds), answers)
            times.append(time.perf_counter() - asked)

    await asyncio.gather(*(client() for _ in range(clients)))
    took = time.perf_counter() - began
    worked = processor(pid) - worked
    p50, p99 = np.percentile(times, [50, 99])
    return {
        "layouts": len(times),
        "seconds": round(took, 2),
        "per_second": round(len(times) / took, 1),
        "p50_ms": round(1000 * p50),
        "p99_ms": round(1000 * p99),
        "processor_ms_a_layout": round(1000 * worked / len(times), 1),
    }


async def ask(http: httpx2.AsyncClient, seed: int, answers: dict[int, Any]) -> None:
    response = await http.post("/v1/generate", json={"spec": SPEC, "count": 1, "seed": seed})
    response.raise_for_status()
    (result,) = response.json()["results"]
    if result["id"] != f"{seed}-0" or seed in answers:
        raise SystemExit(f"seed {seed} was answered with {result['id']}")
    answers[seed] = result


async def watch(pid: int, resident: list[float]) -> None:
    while True:
        await asyncio.sleep(0.5)
        resident.append(memory(pid))


def processor(pid: int) -> float:
    """Seconds that the processors have worked for a process; other programs do not count."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Resident memory in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def compare(answers: dict[int, Any], name: str) -> int:
    """How many of some answers differ from a call of the model itself."""
    model = layoutdm.load(name)
    chosen = np.linspace(0, len(answers) - 1, CHECKED).astype(int).tolist()
    return sum(
        model.generate(SPEC, count=1, seed=seed)[0].as_dict() != answers[seed] for seed in chosen
    )


if __name__ == "__main__":
    main()

"""Bodies made to hurt a server: how long each answer takes, and what it costs in memory.

    python bench/serve_hostile.py

Starts a real server process whose limit on bodies is raised far beyond the usual one, so that every
body is read and looked at, sends each a few times, and writes bench/results/serve_hostile.json.
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
from typing import Any

import httpx2

OUT = Path(__file__).parent / "results" / "serve_hostile.json"
JSON = {"Content-Type": "application/json"}
BODY_BYTES = 16 * 2**20
TIMES = 3


def bodies() -> dict[str, bytes]:
    """Name and bytes of each; all are meant for `/v1/generate` and `/v1/check`."""
    twins = [{"name": f"e{i}", "label": "Text"} for i in range(12)]
    equal = [{"of": "e1", "is": "below", "to": "e0"}] * 100_000
    words = ["".join("ab"[(i >> k) & 1] for k in range(16)) * 4 for i in range(6_000)]
    return {
        "deep lists": b'{"spec":' + b"[" * 1_000_000,
        "deep objects": b'{"a":' * 500_000,
        "deep but closed": b"[" * 900 + b"]" * 900,
        "deep in a field": b'{"spec":{"elements":' + b"[" * 400 + b"]" * 400 + b"}}",
        "huge list of numbers": b'{"spec":{"elements":[' + b"0," * 2_000_000 + b"0]}}",
        "huge list of lists": b'{"spec":{"elements":[' + b"[]," * 1_000_000 + b"0]}}",
        "huge text": b'{"spec":{"elements":[{"label":"' + b"a" * 8_000_000 + b'"}]}}',
        "NaN": b'{"spec":{"elements":[{"x":NaN}]}}',
        "infinite": b'{"count":1e999}',
        "a number of a million digits": b'{"count":' + b"9" * 1_000_000 + b"}",
        "four thousand digits": b'{"count":' + b"9" * 4_000 + b"}",
        "keys twice by the ten thousand": b"{" + b'"count":1,' * 50_000 + b'"count":1}',
        "different keys, each twice": (
            b"{" + b",".join(b'"k%d":1' % (i // 2) for i in range(100_000)) + b"}"
        ),
        "many objects with a key twice": b"[" + b'{"a":1,"a":1},' * 200_000 + b"0]",
        "unknown keys by the ten thousand": json.dumps(
            {"spec": {f"k{i}": 1 for i in range(50_000)}}
        ).encode(),
        "100,000 equal relations": json.dumps(
            {"spec": {"elements": twins, "relations": equal}}
        ).encode(),
        "2,000 equal relations": json.dumps(
            {"spec": {"elements": twins, "relations": equal[:2_000]}, "count": 1}
        ).encode(),
        "similar unknown names": json.dumps(
            {
                "spec": {
                    "elements": [{"name": word, "label": word} for word in words[:100]],
                    "relations": [
                        {"of": word, "is": "below", "to": word + "a"} for word in words[200:2_200]
                    ],
                    "reading_order": words[3_000:5_000],
                }
            }
        ).encode(),
        "long list of labels": json.dumps(
            {"spec": {"elements": [{"label": words[:200]} for _ in range(100)]}}
        ).encode(),
        "half a character": b'{"model":"\\ud800"}',
        "not UTF-8": b'{"model":"\xff\xfe"}',
        "a null byte": b'{"model":"\\u0000"}',
        "a text": b'"/dev/zero"',
        "nothing": b"",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="rico25")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "layoutdm", "serve", "--port", "0"]
        command += ["--model", arguments.model, "--jobs", f"{folder}/jobs"]
        command += ["--limit", f"body_bytes={BODY_BYTES}"]
        with Path(folder, "log").open("w") as log:
            server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            record = measure(server)
        finally:
            server.terminate()
            server.wait(60)
    record["machine"] = f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
    arguments.out.parent.mkdir(exist_ok=True)
    arguments.out.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


def measure(server: subprocess.Popen[str]) -> dict[str, Any]:
    assert server.stdout is not None
    address = server.stdout.readline().split()[2]
    rows: list[dict[str, Any]] = []
    with httpx2.Client(base_url=address, timeout=60) as http:
        http.post("/v1/generate", json={"count": 1})
        first = peak(server.pid)
        for name, body in bodies().items():
            for path in ("/v1/generate", "/v1/check"):
                seconds, status, worked = [], 0, processor(server.pid)
                for _ in range(TIMES):
                    began = time.perf_counter()
                    status = http.post(path, content=body, headers=JSON).status_code
                    seconds.append(round(time.perf_counter() - began, 3))
                worked = round((processor(server.pid) - worked) / TIMES, 3)
                row = {"body": name, "bytes": len(body), "path": path, "status": status}
                rows.append({**row, "seconds_least": min(seconds), "processor_seconds": worked})
    slowest = max(rows, key=lambda row: row["processor_seconds"])
    return {
        "bodies": rows,
        "slowest": slowest,
        "peak_mib_before": first,
        "peak_mib_after": peak(server.pid),
    }


def processor(pid: int) -> float:
    """Seconds that the processors have worked for a process; other programs do not count."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak(pid: int) -> float:
    """The most memory that the process ever held, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return round(int(line.split()[1]) / 1024, 1)
    raise SystemExit("this system does not tell the peak memory of a process")


if __name__ == "__main__":
    main()

"""Damaged files for every reader: only our own errors, no file over 2 s, at most 300 MB.

    python bench/fuzz_files.py --files 50000 --seed 0 --out bench/results/fuzz_files.json

Each file is a good one of some format, damaged in one to four ways (bytes flipped, cut, repeated or
taken from another format, numbers and texts replaced by absurd ones, trees changed, packed again),
and read with or without its format given, strictly or with bad records left out. What can be read
is written to another format. File n of a seed is always the same file. Every thousand files run in
a process of their own, so that its memory can be told; times are of the processor.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import io
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from layoutdm import Layout, LayoutdmError
from layoutdm.formats import READ, Problems, read, write

SLICE = 1000
SECONDS, MEGABYTES = 2.0, 300
Files = dict[str, bytes]  # relative name to content; one file has the name ""

NUMBERS = (
    b"1e999", b"-1e999", b"NaN", b"-Infinity", b"0", b"-0.0", b"-1", b"5e-324", b"1e308", b"1e-400",
    b"9" * 5000, b"1.0001", b"1.00015", b"9223372036854775808", b"-9223372036854775809", b"0x10",
    b"1_000", b"1e", b".", b"true", b"null", b'"1"', b"[]", b"{}",
)  # fmt: skip
TEXTS = (
    b"", b"\\ud800", b"\\u0000", b"\xe2\x80\x8b", b"\xff\xfe", b"=1+1", b"'", b'\\"', b"\n", b"\r",
    "漢".encode() * 100, b"a" * 20_000, b"../../etc/passwd", b"\x00", b"&amp;", b"]]>", b"<", b"#",
    b"\xef\xbb\xbf", b"\\", b"names", b"labels", b"boxes", b"__proto__", b",", b";", b"\t",
)  # fmt: skip
NAMES = (
    "a.jsonl", "a.json", "a.csv", "a.tsv", "a.xml", "a.parquet", "a.zip", "a.txt", "a", "a.gz",
    "a.jsonl.gz", "a.json.gz", "a.csv.gz",
)  # fmt: skip


def layouts(rng: random.Random) -> list[Layout]:
    found = []
    for number in range(rng.randint(1, 4)):
        boxes = []
        for _ in range(rng.randint(0, 5)):
            width, height = rng.uniform(0.01, 1), rng.uniform(0.01, 1)
            x, y = rng.uniform(width / 2, 1 - width / 2), rng.uniform(height / 2, 1 - height / 2)
            boxes.append([x, y, width, height])
        labels = [rng.choice(("text", "title", "Image", "a b", "漢")) for _ in boxes]
        metadata = {"file_name": "scan.jpg"} if rng.random() < 0.2 else {}
        sides = {"width": rng.choice((1, 600, 1440.5)), "height": rng.choice((1, 800, 2560))}
        found.append(Layout.create(labels, boxes, **sides, id=f"p{number}", metadata=metadata))
    return found


def good(format: str, rng: random.Random, folder: Path) -> Files:
    """The files of a good data set of this format."""
    if format == "rico":
        return _rico(rng)
    source = "coco" if format == "publaynet" else format
    path = write(layouts(rng), folder / "good", source)
    if path.is_file():
        return {"": path.read_bytes()}
    files = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
    return {str(p.relative_to(path)): p.read_bytes() for p in files}


def _rico(rng: random.Random) -> Files:
    screens = {}
    for number in range(rng.randint(1, 3)):
        child = {"bounds": [10, 10, 100, 50], "componentLabel": "Text", "children": []}
        tree = {"bounds": [0, 0, 1440, 2560], "children": [child] * rng.randint(0, 3)}
        screens[f"{number}.json"] = json.dumps(tree).encode()
    if rng.random() < 0.5:
        return screens
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice((0, 8, 12, 14))) as archive:
        for name, text in screens.items():
            archive.writestr(zipfile.ZipInfo(f"semantic_annotations/{name}"), text)
    return {"": packed.getvalue()}


# Damage ----------------------------------------------------------------------------------------


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 8, 64, 512)))


def flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def drop(data: bytes, rng: random.Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:start] + data[stop:]


def cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def repeat(data: bytes, rng: random.Random) -> bytes:
    start, stop = _span(data, rng)
    times = rng.choice((2, 10, 1000, 20_000))
    return data[:start] + data[start:stop] * min(times, 200_000 // (stop - start + 1)) + data[stop:]


def insert(data: bytes, rng: random.Random) -> bytes:
    start, _ = _span(data, rng)
    deep = rng.choice((b"[", b'{"a":', b"(", b"<a>")) * rng.choice((1, 900, 5000))
    return data[:start] + rng.choice((rng.randbytes(8), deep, rng.choice(TEXTS))) + data[start:]


def _token(data: bytes, rng: random.Random, kind: bytes, new: bytes) -> bytes:
    """Replace a run of characters of this kind by something else."""
    places = [i for i, c in enumerate(data) if c in kind]
    if not places:
        return data
    start = stop = rng.choice(places)
    while start and data[start - 1] in kind:
        start -= 1
    while stop < len(data) and data[stop] in kind:
        stop += 1
    return data[:start] + new + data[stop:]


def number(data: bytes, rng: random.Random) -> bytes:
    return _token(data, rng, b"0123456789.", rng.choice(NUMBERS))


def text(data: bytes, rng: random.Random) -> bytes:
    letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
    return _token(data, rng, letters, rng.choice(TEXTS))


def tree(data: bytes, rng: random.Random) -> bytes:
    """Replace, delete or copy a part of a JSON tree; of a file of lines, in its first line."""
    try:
        line, end, rest = (data, b"", b"") if b"\n]" in data else data.partition(b"\n")
        root = json.loads(line)
        places = list(_places(root)) if isinstance(root, (dict, list)) else []
        if not places:
            return data
        holder, key = rng.choice(places)
        odd: tuple[Any, ...] = (
            None,
            True,
            -1,
            0,
            1e300,
            "",
            "x",
            [],
            {},
            [[]],
            [None] * 5,
            {"a": 1},
            2**70,
        )
        other, name = rng.choice(places)
        choice = rng.randrange(3)
        if choice == 0:
            holder[key] = rng.choice(odd)
        elif choice == 1:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(other[name])
        return json.dumps(root).encode() + end + rest
    except (ValueError, RecursionError, KeyError, IndexError):
        return data


def _places(node: Any) -> Any:
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(items):
        yield node, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def pack(data: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.15:  # far more than it looks
        start, stop = _span(data, rng)
        data = data[:stop] + data[start:stop] * (3_000_000 // (stop - start + 1)) + data[stop:]
    return gzip.compress(data, rng.choice((1, 9)))


DAMAGE: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    flip, drop, cut, repeat, insert, number, number, text, text, tree, tree, pack,
)  # fmt: skip


def damaged(index: int, seed: int, folder: Path) -> tuple[Path, str]:
    """File number `index` of this seed on the disk, and the format that it once had."""
    rng = random.Random(f"{seed} {index}")
    format = rng.choice(READ)
    files = good(format, rng, folder)
    if rng.random() < 0.05:  # the head of one format, the tail of another
        other = good(rng.choice(READ), rng, folder / "other")
        name = rng.choice(sorted(files))
        files[name] = cut(files[name], rng) + cut(next(iter(other.values())), rng)
    for _ in range(rng.randint(1, 4)):
        name = rng.choice(sorted(files))
        files[name] = rng.choice(DAMAGE)(files[name], rng)
        if len(files) > 1 and rng.random() < 0.03:
            del files[name]
    target = folder / "bad"
    if set(files) == {""}:
        target.mkdir(parents=True, exist_ok=True)
        path = target / rng.choice(NAMES)
        path.write_bytes(files[""])
        return path, format
    for name, data in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(data)
    target.mkdir(exist_ok=True)
    return target, format


def use(path: Path, format: str, index: int, folder: Path) -> str:
    """Read the file as a user might, and write what came out; how it ended."""
    rng = random.Random(f"use {index}")
    given = format if rng.random() < 0.5 else None
    problems = Problems(skip=rng.random() < 0.5)
    try:
        found: list[Layout] = []
        for layout in read(path, given, problems):
            if len(found) < 20:
                found.append(layout)
    except LayoutdmError as error:
        assert 0 < len(str(error)) < 3000, "a message should be a sentence"
        return "refused"
    if found:
        kind = rng.choice(("jsonl", "csv", "coco", "labelstudio", "yolo", "voc", "svg", "html"))
        try:
            write(found, folder / "again", kind)
        except LayoutdmError:
            return "read, not writable"
    return "read" if not problems.count else "read in part"


# Running ---------------------------------------------------------------------------------------


def run_slice(start: int, stop: int, seed: int) -> dict[str, Any]:
    """All files of a slice in this process."""
    ends: Counter[str] = Counter()
    failures, slowest, slow = [], 0.0, -1
    for index in range(start, stop):
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        try:
            path, format = damaged(index, seed, folder)
            before = time.process_time()
            try:
                ends[use(path, format, index, folder)] += 1
            except Exception:
                failures.append({"file": index, "error": traceback.format_exc()[-1500:]})
            seconds = time.process_time() - before
            if seconds > slowest:
                slowest, slow = seconds, index
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {
        "ends": dict(ends),
        "failures": failures,
        "slowest_seconds": round(slowest, 3),
        "slowest_file": slow,
        "peak_mb": peak,
    }


def in_a_process(start: int, stop: int, seed: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--slice", f"{start}:{stop}", "--seed", str(seed)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    if run.returncode:
        error = f"the process ended with {run.returncode}: {run.stderr[-1500:]}"
        return {"failures": [{"file": f"{start} to {stop}", "error": error}]}
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--slice", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help="JSON file; earlier slices in it are kept")
    given = parser.parse_args()
    if given.slice:
        start, stop = map(int, given.slice.split(":"))
        print(json.dumps(run_slice(start, stop, given.seed)))
        return
    total: dict[str, Any] = {"seed": given.seed, "files": 0, "ends": {}, "failures": []}
    total |= {"slowest_seconds": 0.0, "slowest_file": -1, "peak_mb": 0}
    if given.out and given.out.exists():
        total = json.loads(given.out.read_text())
    end = given.first + given.files
    slices = [(start, min(start + SLICE, end)) for start in range(given.first, end, SLICE)]
    pool = ThreadPoolExecutor(given.processes)
    results = pool.map(lambda each: in_a_process(each[0], each[1], given.seed), slices)
    for (start, stop), found in zip(slices, results, strict=True):
        total["files"] += stop - start
        total["ends"] = dict(Counter(total["ends"]) + Counter(found.get("ends", {})))
        total["failures"] += found["failures"]
        if found.get("slowest_seconds", 0) > total["slowest_seconds"]:
            total |= {key: found[key] for key in ("slowest_seconds", "slowest_file")}
        total["peak_mb"] = max(total["peak_mb"], found.get("peak_mb", 0))
        if given.out:
            given.out.parent.mkdir(parents=True, exist_ok=True)
            given.out.write_text(json.dumps(total, indent=1) + "\n")
        print(f"{stop}: {json.dumps({k: v for k, v in total.items() if k != 'failures'})}")
    for failure in total["failures"]:
        print(f"file {failure['file']}:\n{failure['error']}", file=sys.stderr)
    bad = total["failures"] or total["slowest_seconds"] > SECONDS or total["peak_mb"] > MEGABYTES
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

"""Convert a COCO file of PubLayNet's size and shape, and measure time and memory.

    python bench/convert_scale.py                 # 335,703 pages, about 1.7 GB, some minutes
    python bench/convert_scale.py --pages 5000    # a quick look

The file is synthetic: as many pages, annotations and polygon points as the original train file,
with annotations in an order unlike that of the pages. It is made in a temporary folder, converted
to .jsonl.gz by the `layoutdm` program as a process of its own, and deleted. The figures go to
bench/results/convert_scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PAGES = 335_703
ELEMENTS_PER_PAGE = 9.71  # 3,263,046 annotations in the original train file
NAMES = ("text", "title", "list", "table", "figure")
LIMIT_MIB = 2048
RESULT = Path(__file__).parent / "results" / "convert_scale.md"


@dataclass(frozen=True)
class Measured:
    """What one conversion took."""

    pages: int
    annotations: int
    source_bytes: int
    target_bytes: int
    seconds: float
    cpu_seconds: float
    peak_mib: float


def make(path: Path, pages: int, seed: int = 0) -> int:
    """Write the file; returns how many annotations it has."""
    rng = np.random.default_rng(seed)
    polygons = [_polygon(rng) for _ in range(2000)]
    counts = rng.poisson(ELEMENTS_PER_PAGE, pages)
    owners = np.repeat(np.arange(pages), counts)
    # Blocks of pages in random order: neighbours in the file are not neighbours in the list.
    owners = owners[np.argsort(rng.permutation(pages)[owners], kind="stable")]
    total = len(owners)
    left, top = rng.uniform(20, 300, total).round(2), rng.uniform(20, 400, total).round(2)
    width, height = rng.uniform(5, 290, total).round(2), rng.uniform(5, 380, total).round(2)
    category, polygon = rng.integers(1, 6, total), rng.integers(0, len(polygons), total)
    with path.open("w") as file:
        file.write('{"info": {"description": "synthetic"}, "licenses": [], "images": [')
        for i in range(pages):
            image = {"file_name": f"PMC{i:07d}_00001.jpg", "width": 612, "height": 792, "id": i}
            file.write(("" if i == 0 else ", ") + json.dumps(image))
        file.write('], "annotations": [')
        columns = (owners, left, top, width, height, category, polygon)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for i, (owner, x, y, w, h, c, p) in enumerate(rows):
            file.write(
                f'{"" if i == 0 else ", "}{{"segmentation": {polygons[p]}, "area": {w * h:.6f}, '
                f'"iscrowd": 0, "image_id": {owner}, "bbox": [{x}, {y}, {w}, {h}], '
                f'"category_id": {c}, "id": {i}}}'
            )
        categories = [{"supercategory": "", "id": i + 1, "name": n} for i, n in enumerate(NAMES)]
        file.write('], "categories": ' + json.dumps(categories) + "}")
    return total


def _polygon(rng: np.random.Generator) -> str:
    points = 2 * int(rng.integers(4, 45))
    return json.dumps([rng.uniform(20, 600, points).round(2).tolist()])


def convert(source: Path, target: Path, pages: int, annotations: int) -> Measured:
    """Run the program once; its peak memory is what the operating system counted."""
    command = [sys.executable, "-m", "layoutdm", "convert", str(source), str(target), "--json"]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        summary = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"the conversion failed with exit code {process.returncode}")
    found = json.loads(summary)
    if (found["layouts"], found["elements"]) != (pages, annotations):
        raise SystemExit(f"expected {pages} pages and {annotations} annotations, got {summary}")
    return Measured(
        pages,
        annotations,
        source.stat().st_size,
        target.stat().st_size,
        seconds,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1024,  # kilobytes on Linux
    )


def report(measured: Measured, load: float) -> str:
    """The figures as a page."""
    m = measured
    return f"""# Converting a COCO file of PubLayNet's size

`python bench/convert_scale.py --pages {m.pages}`, COCO to .jsonl.gz, one process, one pass.

| figure | value |
|---|---|
| pages | {m.pages:,} |
| annotations with polygons | {m.annotations:,} |
| source | {m.source_bytes / 1e9:.2f} GB |
| result | {m.target_bytes / 1e6:.0f} MB |
| peak memory | {m.peak_mib:,.0f} MiB (limit {LIMIT_MIB:,} MiB) |
| wall time | {m.seconds / 60:.1f} minutes |
| processor time | {m.cpu_seconds / 60:.1f} minutes |

Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}. When the
conversion began the machine had a load of {load:.1f}; where that is far above zero other programs
took turns on the cores, and processor time is the fairer figure.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "train.json"
        print(f"making a file of {arguments.pages:,} pages ...", file=sys.stderr)
        annotations = make(source, arguments.pages)
        print(f"converting {source.stat().st_size / 1e9:.2f} GB ...", file=sys.stderr)
        load = os.getloadavg()[0]
        measured = convert(source, Path(folder) / "out.jsonl.gz", arguments.pages, annotations)
    page = report(measured, load)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(page)
    print(page)
    if measured.peak_mib >= LIMIT_MIB:
        raise SystemExit(f"peak memory is {measured.peak_mib:,.0f} MiB, above the limit")


if __name__ == "__main__":
    main()

"""Build the wheel, install it into empty environments, and run the README's commands there.

    python bench/wheel.py

Uses every Python from 3.11 on that it finds (on the path, or of pyenv). The environments get the
run half alone, so commands that need an extra must end with the sentence that says which. Files
that the README's commands read are made from the embedded sample; counts of thousands become 64.
Writes bench/results/wheel.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results" / "wheel.json"
VERSIONS = ("3.11", "3.12", "3.13")
NEEDS_EXTRA = ("train", "fit-features", "evaluate", "push", "pull", "serve", "studio")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def build(folder: Path) -> Path:
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.whl"))


def pythons() -> Iterator[tuple[str, str]]:
    """(version, program) of each that can be had and really has that version."""
    for version in VERSIONS:
        found = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
        on_path = shutil.which(f"python{version}")
        for program in (*map(str, found), *([on_path] if on_path else [])):
            code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
            done = subprocess.run([program, "-c", code], capture_output=True, text=True)
            if done.stdout.strip() == version:
                yield version, program
                break


def commands(readme: Path) -> list[str]:
    """The `layoutdm` commands of the README's shell blocks, without their comments."""
    blocks = re.findall(r"```sh\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    lines = (line.split("   #")[0].strip() for block in blocks for line in block.splitlines())
    found = [line for line in lines if line.startswith("layoutdm ")]
    return [re.sub(r"--count \d{4,}", "--count 64", line) for line in found]


def make_files(folder: Path, program: Path) -> None:
    """What the commands read, by the names that the README uses."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    # Training cannot run here; a model stands for what it would have made.
    shutil.copytree(ROOT / "src" / "layoutdm" / "weights" / "rico25", folder / "my_model")
    for target in ("instances.json", "posters.json", "made.jsonl", "real.jsonl", "half.json",
                   "annotations/train.jsonl"):  # fmt: skip
        (folder / target).parent.mkdir(exist_ok=True)
        run(program, f"convert sample.jsonl.gz {target}", folder)


def run(program: Path, words: str, folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [str(program), *shlex.split(words)], cwd=folder, env=ENVIRONMENT, capture_output=True,
        text=True, timeout=600,
    )  # fmt: skip
    return {
        "command": f"layoutdm {words}",
        "code": done.returncode,
        "said": (done.stderr.strip().splitlines() or [""])[-1][:200],
    }


def right(row: dict[str, Any]) -> bool:
    """Code 0 (or 3: wishes missed); or the one sentence about an extra that is not there."""
    if row["command"].split()[1] in NEEDS_EXTRA and row["code"] == 1:
        return "pip install" in row["said"]
    return row["code"] in (0, 3)


def try_one(program: str, wheel: Path, work: Path) -> dict[str, Any]:
    work.mkdir()
    environment = work / "environment"
    subprocess.run([program, "-m", "venv", str(environment)], check=True, env=ENVIRONMENT)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet",
           "--disable-pip-version-check", str(wheel)]  # fmt: skip
    done = subprocess.run(pip, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode:
        return {"installed": False, "said": done.stderr.strip().splitlines()[-1][:300]}
    folder = work / "files"
    folder.mkdir()
    shutil.copy(ROOT / "src" / "layoutdm" / "data" / "sample.jsonl.gz", folder)
    layoutdm = environment / "bin" / "layoutdm"
    make_files(folder, layoutdm)
    rows = []
    for line in commands(ROOT / "README.md"):
        row = run(layoutdm, line.removeprefix("layoutdm "), folder)
        rows.append(row | {"right": right(row)})
        print(row, flush=True)
    return {"installed": True, "right": all(row["right"] for row in rows), "commands": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--python", help="only this version, such as 3.12")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as text:
        work = Path(text)
        wheel = build(work / "dist")
        results: dict[str, Any] = {
            "wheel": wheel.name,
            "megabytes": round(wheel.stat().st_size / 1e6, 1),
            "pythons": {},
        }
        for version, program in pythons():
            if options.python in (None, version):
                results["pythons"][version] = try_one(program, wheel, work / version)
        for version in VERSIONS:
            results["pythons"].setdefault(version, {"installed": False, "said": "cannot be had"})
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    tried = [one for one in results["pythons"].values() if one["installed"]]
    raise SystemExit(0 if tried and all(one["right"] for one in tried) else 1)


if __name__ == "__main__":
    main()

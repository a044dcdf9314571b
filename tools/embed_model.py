"""Put a trained model into the package: its files, with the aliases and sampling chosen for it.

    python tools/embed_model.py ../runs/rico25 rico25

tools/embedded/NAME.json holds what no training can know: other names of the labels, and the
sampling that was chosen on val. The model card, README.md, is kept by hand.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

HERE = Path(__file__).resolve().parent
WEIGHTS = HERE.parent / "src" / "layoutdm" / "weights"
FILES = ("model.onnx", "labels.npz", "training.json", "curves.png")


def embed(run: Path, name: str) -> Path:
    """Write WEIGHTS/NAME from a model folder."""
    own = json.loads((HERE / "embedded" / f"{name}.json").read_text(encoding="utf-8"))
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))
    unknown = sorted(set(own["aliases"].values()) - set(config["labels"]))
    if unknown:
        raise SystemExit(f"{name}.json has aliases of labels that {run} lacks: {unknown}")
    folder = WEIGHTS / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        shutil.copyfile(run / file, folder / file)
    text = json.dumps(config | own, indent=1, ensure_ascii=False) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("run", type=Path, help="folder that `layoutdm train` wrote")
    parser.add_argument("name", choices=("rico25", "publaynet"))
    given = parser.parse_args()
    print(embed(given.run, given.name))


if __name__ == "__main__":
    main()

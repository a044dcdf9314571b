"""How much of the tail a system draws from: top-p chosen on the val split, alike for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from layoutdm import metrics
from layoutdm.data import Dataset
from layoutdm.layout import Layout
from layoutdm.model import Model
from layoutdm.model.store import load
from layoutdm.spec import Condition, Spec

TOP_P = (1.0, 0.95, 0.9)
LAYOUTS = 300  # made for each choice
SAMPLING = "sampling.json"  # beside the model: what each choice scored

Notice = Callable[[str], None]


def choose_sampling(folder: Path, dataset: Dataset, notice: Notice = lambda text: None) -> float:
    """The top-p with the lowest FID on val, without a condition where the system can, else given
    labels; written into the model's config.json. Systems without top-p are left as they are.
    """
    record = json.loads((folder / "config.json").read_text())
    if (folder / SAMPLING).exists():
        return float(json.loads((folder / SAMPLING).read_text())["top_p"])
    model, network = load(folder, threads=1), metrics.features_for(dataset.labels)
    has_top_p = "top_p" in {field.name for field in fields(model.generator.options)}
    val = list(dataset.splits.get("val", ()))[:LAYOUTS]
    if not has_top_p or network is None or len(val) < 10:
        return 1.0
    free = model.generator.refuses(_condition(model, Spec())) is None
    if not free and model.generator.refuses(_condition(model, _labels(val[0]))) is not None:
        return 1.0  # neither from nothing nor from labels: RUITE
    real = network.extract(val)
    scores = {}
    for top_p in TOP_P:
        specs = [Spec() if free else _labels(layout) for layout in val]
        made = model.generate_many(specs, seed=1, top_p=top_p)
        full = [result.layout for result in made if len(result.layout)]
        scores[top_p] = metrics.fid(network.extract(full), real)
        notice(f"{folder.name}: top-p {top_p} has FID {scores[top_p]:.2f} on val")
    best = min(scores, key=lambda top_p: scores[top_p])
    sampling = dict(record.get("sampling") or {})
    sampling["default"] = {**sampling.get("default", {}), "top_p": best}
    record["sampling"] = sampling
    _write(folder / "config.json", record)
    _write(folder / SAMPLING, {"top_p": best, "fid_on_val": {str(k): v for k, v in scores.items()}})
    return best


def _labels(layout: Layout) -> Spec:
    return Spec.from_layout(layout, "c")


def _condition(model: Model, spec: Spec) -> Condition:
    return Condition.from_spec(spec, model.labels, model.max_elements)


def _write(path: Path, record: object) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(record, indent=1) + "\n")
    part.replace(path)

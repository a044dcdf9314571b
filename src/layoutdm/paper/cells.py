"""A cell of a table: layouts that one system makes for one task, kept, and their scores.

>>> Cell("layoutdm-paper", "unconditional", (("steps", 20),)).name
'layoutdm-paper.unconditional.steps=20'
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm import metrics
from layoutdm.formats.jsonl import dumps, from_record
from layoutdm.layout import Layout
from layoutdm.model import Model
from layoutdm.relations import CANVAS, CANVAS_NAME, CANVAS_NAMES, ELEMENT_NAMES
from layoutdm.spec import About, Spec

INPUT = "input"  # the "system" that returns the noisy draft as it is
CHUNK = 128  # layouts between two writes: what an interruption can cost
SAMPLES = 1000  # of unconditional generation, as in the paper
FEW = {"clg-lo": 200}  # systems that take seconds a layout are judged on the first few
SMALLEST = 1e-3

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Cell:
    """`options` are the generator's, `request` those of the task (see `spec.tasks`)."""

    system: str
    task: str
    options: tuple[tuple[str, Any], ...] = ()
    request: tuple[tuple[str, Any], ...] = ()
    seed: int = 0
    first: int | None = None  # only so many layouts: for pictures

    @property
    def name(self) -> str:
        parts = [f"{key}={value}" for key, value in (*self.options, *self.request)]
        parts += [f"seed={self.seed}"] if self.seed else []
        return ".".join([self.system, self.task, *parts])


@dataclass(frozen=True)
class Bench:
    """What all cells of one data set share."""

    name: str
    reference: Sequence[Layout]  # the test split
    labels: tuple[str, ...]
    out: Path
    network: metrics.FeatureNetwork | None
    limit: int | None = None  # of layouts in a cell, the same for all

    @cached_property
    def features(self) -> NDArray[np.float64]:
        """Of the whole test split, made once for all cells."""
        assert self.network is not None
        return self.network.extract(list(self.reference))

    def layouts_of(self, cell: Cell) -> Path:
        return self.out / "layouts" / f"{cell.name}.jsonl.gz"

    def scores_of(self, cell: Cell) -> Path:
        return self.out / "scores" / f"{cell.name}.json"

    def count(self, cell: Cell) -> int:
        most = SAMPLES if cell.task == "unconditional" else len(self.reference)
        return min(most, FEW.get(cell.system, most), self.limit or most, cell.first or most)

    def requests(self, cell: Cell) -> Iterator[tuple[int, Spec]]:
        """The i-th request is made from the i-th test layout, with the seed i."""
        for index in range(self.count(cell)):
            if cell.task == "unconditional":
                yield index, Spec()
            else:
                layout = self.reference[index]
                yield index, Spec.from_layout(layout, cell.task, seed=index, **dict(cell.request))


def generate(
    cell: Cell, bench: Bench, model: Model | None, notice: Notice = lambda text: None
) -> tuple[list[Layout], float]:
    """All layouts of a cell and the processor time they took; those made before are kept."""
    path = bench.layouts_of(cell)
    clock = path.with_name(f"{cell.name}.seconds.json")
    made = read_layouts(path)
    seconds = float(json.loads(clock.read_text())) if clock.exists() and made else 0.0
    total = bench.count(cell)
    if len(made) < total:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_layouts(path, made)
        pairs = islice(bench.requests(cell), len(made), None)
        results = _results(cell, pairs, model)
        while len(made) < total:
            begun = time.process_time()
            part = list(islice(results, CHUNK))
            seconds += time.process_time() - begun
            with path.open("ab") as stream:
                stream.write(_packed(part))
            clock.write_text(json.dumps(seconds))
            made += part
            notice(f"{cell.name}: {len(made)} of {total} layouts")
    return made[:total], seconds


def _results(
    cell: Cell, pairs: Iterator[tuple[int, Spec]], model: Model | None
) -> Iterator[Layout]:
    if model is None:
        for _, spec in pairs:
            yield draft_of(spec)
        return
    for result in model.stream_many(pairs, cell.seed, **dict(cell.options)):
        yield replace(result.layout, id="")


def draft_of(spec: Spec) -> Layout:
    """The noisy values of a draft, moved onto the canvas: what "noisy input" means."""
    boxes = []
    for element in spec.elements:
        fields = (element.x, element.y, element.width, element.height)
        x, y, w, h = (value.about if isinstance(value, About) else value or 0.5 for value in fields)
        w, h = min(max(w, SMALLEST), 1.0), min(max(h, SMALLEST), 1.0)
        boxes.append([min(max(x, w / 2), 1 - w / 2), min(max(y, h / 2), 1 - h / 2), w, h])
    return Layout.create([str(element.label) for element in spec.elements], boxes)


def _packed(layouts: Sequence[Layout]) -> bytes:
    """A gzip file of its own: files that follow each other are one."""
    text = "".join(dumps(_rounded(layout)) + "\n" for layout in layouts)
    return gzip.compress(text.encode(), mtime=0)


def _rounded(layout: Layout) -> Layout:
    return replace(layout, boxes=np.asarray(layout.boxes, dtype=np.float64).round(5))


def write_layouts(path: Path, layouts: Sequence[Layout]) -> None:
    part = path.with_name(path.name + ".part")
    part.write_bytes(_packed(layouts) if layouts else b"")
    part.replace(path)


def read_layouts(path: Path) -> list[Layout]:
    """All whole lines; what an interruption has cut off is left out."""
    found: list[Layout] = []
    if path.exists():
        try:
            with gzip.open(path, "rt") as lines:
                for line in lines:
                    found.append(from_record(json.loads(line)))
        except (OSError, EOFError, ValueError):
            return found
    return found


def score(cell: Cell, bench: Bench, made: Sequence[Layout], seconds: float) -> dict[str, Any]:
    """The figures of a cell; null where a metric needs what is not there."""
    reference = bench.reference if cell.task == "unconditional" else bench.reference[: len(made)]
    full = [layout for layout in made if len(layout)]
    others = {label for layout in full for label in layout.labels} - set(bench.labels)
    labels = (*bench.labels, *sorted(others))  # a shipped model may know more of them
    packed, real = metrics.pack(full, labels), metrics.pack(reference, labels)
    found: dict[str, Any] = {
        "alignment": metrics.alignment(packed.bbox, packed.mask),
        "overlap": metrics.overlap(packed.bbox, packed.mask),
        "max_iou": metrics.max_iou(packed, real, workers=1),
        "docsim": None, "violation": None, "fid": None, "density": None, "coverage": None,
    }  # fmt: skip
    if cell.task != "unconditional":
        paired = metrics.pack(made, labels)
        found["docsim"] = metrics.docsim(paired, real)
        if cell.task == "relation":
            asked = [asked_relations(spec) for _, spec in bench.requests(cell)]
            edges = metrics.relation_edges(asked)
            found["violation"] = metrics.violation(paired.bbox, paired.mask, edges)
    if bench.network is not None and len(full) > 1:
        features = bench.network.extract(full)
        against = bench.features[: len(reference)]
        found["fid"] = metrics.fid(features, against)
        if min(len(features), len(against)) > 5:
            near = metrics.prdc(features, against)
            found["density"], found["coverage"] = near.density, near.coverage
    return {
        "cell": cell.name, "system": cell.system, "task": cell.task,
        "options": dict(cell.options), "request": dict(cell.request), "layouts": len(made),
        "empty": len(made) - len(full), "seconds": round(seconds, 2),
        "ms_per_layout": round(1000 * seconds / max(len(made), 1), 2), "scores": found,
    }  # fmt: skip


def asked_relations(spec: Spec) -> list[tuple[int, int, int]]:
    """(of, is, to) by number of the listed elements, -1 for the canvas."""
    place = {element.name: row for row, element in enumerate(spec.elements) if element.name}
    rows = []
    for relation in spec.relations:
        canvas = relation.to == CANVAS_NAME
        names = CANVAS_NAMES if canvas else ELEMENT_NAMES
        to = CANVAS if canvas else place[relation.to]
        rows.append((place[relation.of], int(names[relation.is_]), to))
    return rows

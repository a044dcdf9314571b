"""Sample sheets: what went in, what came out, and the real layout, one example a column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.evaluate.plan import TITLES
from layoutdm.evaluate.reading import mend
from layoutdm.layout import FIELDS, Layout
from layoutdm.spec import Spec
from layoutdm.spec.model import About

EXAMPLES = 8
WIDEST = 30  # letters of a line of words
INK, QUIET = "#22262b", "#6b7280"


def sample_sheet(
    task: str,
    examples: Sequence[tuple[Spec, Layout, Layout]],
    path: Path,
    title: str = "",
) -> Path:
    """Write a picture of (request, result, real) triples."""
    from matplotlib.figure import Figure

    from layoutdm.pictures.png import to_image

    rows = ("Input", "Result", "Real") if task != "unconditional" else ("Result",)
    shape = examples[0][2]
    proportion = min(max(shape.height / shape.width, 0.5), 2.2) if shape.width else 1.4
    if shape.width == shape.height == 1:
        proportion = 1.4
    figure = Figure(
        figsize=(1.75 * len(examples), 1.75 * proportion * len(rows) + 0.5),
        layout="constrained",
        facecolor="white",
    )
    figure.suptitle(f"{TITLES[task]}{title}", x=0.01, ha="left", fontsize=12, color=INK)
    grid: Any = figure.subplots(len(rows), len(examples), squeeze=False)
    for column, (spec, result, real) in enumerate(examples):
        for row, kind in enumerate(rows):
            axes = grid[row][column]
            axes.set_axis_off()
            if column == 0:
                axes.set_title(kind, loc="left", fontsize=10, color=QUIET)
            layout = {"Input": drawn_input(spec, real), "Result": result, "Real": real}[kind]
            if isinstance(layout, str):
                words = axes.text(
                    0.02, 0.98, layout, va="top", fontsize=6.5, color=INK, linespacing=1.45,
                    transform=axes.transAxes,
                )  # fmt: skip
                words.set_in_layout(False)  # all columns stay equally wide
                continue
            sized = Layout.create(layout.labels, layout.boxes, width=1.0, height=proportion)
            axes.imshow(np.asarray(to_image(sized, height=420, legend=False)), aspect="auto")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    return path


def drawn_input(spec: Spec, real: Layout) -> Layout | str:
    """What a request says, as a picture where it has places, as words where it has not."""
    placed, labels = [], []
    for element in spec.elements:
        values = [getattr(element, name) for name in FIELDS]
        plain = [v.about if isinstance(v, About) else v for v in values]
        if any(value is None for value in plain) or not isinstance(element.label, str):
            return _words(spec)
        placed.append([float(value) for value in plain])
        labels.append(element.label)
    if not placed:
        return "nothing"
    # Noise may push a draft over the edge; it is drawn as far as it can be seen.
    boxes, good, _ = mend(np.array(placed))
    kept = [label for label, keep in zip(labels, good, strict=True) if keep]
    return Layout.create(kept, boxes[good], width=real.width, height=real.height)


def _words(spec: Spec) -> str:
    def one(element: Any) -> str:
        sizes = [element.fixed(name) for name in ("width", "height")]
        if None in sizes:
            return str(element.label)
        return f"{element.label} {sizes[0]:.2f} x {sizes[1]:.2f}"

    counted = Counter(one(element) for element in spec.elements)
    lines = [name if count == 1 else f"{count} x {name}" for name, count in counted.items()]
    if spec.relations:
        names = {element.name: str(element.label) for element in spec.elements}
        lines = [f"{len(spec.elements)} elements", f"{len(spec.relations)} relations:"]
        lines += [
            f"{names[r.of]} {r.is_.replace('_', ' ')} {names.get(r.to, r.to)}"
            for r in spec.relations
        ]
    if len(lines) > 16:
        lines = [*lines[:15], f"and {len(lines) - 15} more"]
    return "\n".join(line if len(line) <= WIDEST else line[: WIDEST - 1] + "…" for line in lines)

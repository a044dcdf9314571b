"""Sheets of samples: the same requests answered by every system, beside the real layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from layoutdm.layout import Layout
from layoutdm.paper import table1, table2, table3
from layoutdm.paper.cells import INPUT, Bench, Cell, draft_of
from layoutdm.paper.plots import save
from layoutdm.paper.results import NAMES, TITLES, Results
from layoutdm.spec import Spec

NAME, TITLE = "samples", "Samples of all systems side by side"
TASKS = ("unconditional", "c", "cwh", "completion", "refinement")
EXAMPLES = 2  # requests a sheet
SEEDS = (0, 1, 2)  # three samples of each
FIRST = 16  # test layouts among which the requests are looked for
INK = "#22262b"

Column = tuple[str, Sequence[Layout | str]]


def cells(data: str) -> list[Cell]:
    """Those of the tables, and two more samples of the first requests."""
    plain = _plain(data)
    more = [Cell(c.system, c.task, seed=s, first=FIRST) for c in plain for s in SEEDS[1:]]
    return [*plain, *(cell for cell in more if cell.system != INPUT)]


def _plain(data: str) -> list[Cell]:
    found = {c.name: c for c in (*table2.cells(data), *table1.cells(data), *table3.cells(data))}
    return [cell for cell in found.values() if not cell.options]


def write(results: Results, out: Path) -> list[Path]:
    written = []
    for data in results.data:
        for task in TASKS:
            columns = _columns(results, data, task)
            if len(columns) > 2:  # more than the input and the real layouts
                path = out / f"{NAME}_{data}_{task}.png"
                title = f"{data}, {TITLES[task]}"
                written.append(_sheet(columns, results.benches[data], title, path))
    return written


def _columns(results: Results, data: str, task: str) -> list[Column]:
    bench = results.benches[data]
    reference = bench.reference[: min(bench.limit or FIRST, FIRST)]
    rows = _rows(reference)
    asked = dict(bench.requests(Cell("", task, first=len(reference))))
    inputs = [_input(asked[i], task) if not s else "" for i in rows for s in SEEDS]
    columns: list[Column] = [("Input", inputs)]
    for cell in _plain(data):
        if cell.task != task or cell.system == INPUT:
            continue
        names = [Cell(cell.system, task, seed=seed).name for seed in SEEDS]
        made = [results.layouts.get((data, name), ()) for name in names]
        if all(len(part) > max(rows) for part in made):
            samples = [part[i] for i in rows for part in made]
            columns.append((NAMES[cell.system].strip("*"), samples))
    real = [reference[i] if not s else "" for i in rows for s in SEEDS]
    return [*columns, *([] if task == "unconditional" else [("Real", real)])]


def _rows(reference: Sequence[Layout]) -> list[int]:
    """The first requests of middling length: neither trivial nor crowded."""
    middling = [i for i, layout in enumerate(reference) if 6 <= len(layout) <= 14]
    return (middling or list(range(len(reference))))[:EXAMPLES]


def _input(spec: Spec, task: str) -> Layout | str:
    """What was given: boxes, or words."""
    if task in ("completion", "refinement"):
        return draft_of(spec)
    counts = Counter(str(element.label) for element in spec.elements)
    sized = ", with sizes" if task == "cwh" else ""
    words = [f"{count} {label}" for label, count in counts.most_common()]
    return "\n".join(words) + sized if words else "nothing"


def _sheet(columns: list[Column], bench: Bench, title: str, path: Path) -> Path:
    from matplotlib.figure import Figure

    rows, first = len(columns[0][1]), bench.reference[0]
    tall = min(max(first.height / first.width, 0.7), 1.8)
    size = (1.35 * len(columns), 1.35 * tall * rows + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, len(columns), squeeze=False)
    for column, (name, parts) in enumerate(columns):
        for row, part in enumerate(parts):
            axis = axes[row][column]
            if isinstance(part, str):
                axis.axis("off")
                axis.text(0.5, 0.5, part, ha="center", va="center", fontsize=6, color=INK)
            else:
                _draw(axis, part, bench.labels, tall)
            if row == 0:
                axis.set_title(name, fontsize=6.5, color=INK)
    figure.suptitle(title, fontsize=9, color=INK)
    _legend(figure, columns, bench.labels)
    return save(figure, path)


def _draw(axis: Any, layout: Layout, labels: Sequence[str], tall: float) -> None:
    """Boxes in the colours of their labels, large ones below."""
    from matplotlib.patches import Rectangle

    axis.set_xlim(0, 1)
    axis.set_ylim(1, 0)
    axis.set_box_aspect(tall)
    axis.set_xticks([])
    axis.set_yticks([])
    for element in sorted(layout, key=lambda element: -element.area):
        colour = _colour(element.label, labels)
        left, top, _, _ = element.corners
        box = Rectangle((left, top), element.width, element.height, linewidth=0.6)
        box.set_facecolor((*colour, 0.35))
        box.set_edgecolor(colour)
        axis.add_patch(box)


def _colour(label: str, labels: Sequence[str]) -> tuple[float, float, float]:
    """One for each label; labels that only a shipped model has are grey."""
    from matplotlib import colormaps

    if label not in labels:
        return (0.4, 0.4, 0.4)
    number = labels.index(label)
    red, green, blue, _ = colormaps["tab20" if number < 20 else "Set2"](number % 20)
    return (red, green, blue)


def _legend(figure: Any, columns: list[Column], labels: Sequence[str]) -> None:
    """The colours of the labels that are on the sheet."""
    from matplotlib.patches import Patch

    shown = {
        label for _, parts in columns for p in parts if isinstance(p, Layout) for label in p.labels
    }
    handles = [
        Patch(facecolor=(*_colour(label, labels), 0.35), edgecolor=_colour(label, labels))
        for label in sorted(shown)
    ]
    figure.legend(
        handles, sorted(shown), loc="outside lower center", ncols=min(len(columns), 8),
        fontsize=7, frameon=False,
    )  # fmt: skip

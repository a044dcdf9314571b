"""The plots of an evaluation: density against coverage, FID against steps and violations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from layoutdm.evaluate.plan import TITLES
from layoutdm.evaluate.table import distinct_rows, floor_value

INK, QUIET, GRID = "#22262b", "#6b7280", "#e5e7eb"
COLOURS = {
    "unconditional": "#2563a8",
    "c": "#c2571a",
    "cwh": "#2f7d4f",
    "completion": "#8a4fa3",
    "refinement": "#b0892b",
    "relation": "#b33a4a",
}


def draw_all(results: Mapping[str, Any], folder: Path) -> list[Path]:
    """Every plot that the results have figures for."""
    drawn = []
    for name, draw in (
        ("density_coverage.png", _density_coverage),
        ("fid_steps.png", _fid_steps),
        ("fid_violation.png", _fid_violation),
    ):
        figure = draw(results)
        if figure is not None:
            path = folder / name
            figure.savefig(path, dpi=150)
            drawn.append(path)
    return drawn


def _axes(title: str, across: str, up: str) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.4, 4.4), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", color=INK, fontsize=12, pad=10)
    axes.set_xlabel(across, color=INK)
    axes.set_ylabel(up, color=INK)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=QUIET, length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return figure, axes


def _known(row: Mapping[str, Any], *names: str) -> bool:
    return all(row[name]["mean"] is not None for name in names)


def _steps(row: Mapping[str, Any], results: Mapping[str, Any]) -> int | None:
    steps: int | None = row["options"].get("steps") or results.get("own_steps", {}).get(row["task"])
    return steps


def _note(row: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    others = {name: value for name, value in row["options"].items() if name != "steps"}
    if others:
        return ", ".join(f"{name}={value}" for name, value in sorted(others.items()))
    return str(_steps(row, results) or "")


def _by_task(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    tasks: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        tasks.setdefault(row["task"], []).append(row)
    return tasks


def _trail(
    axes: Any, points: Sequence[tuple[float, float]], names: Sequence[str], task: str
) -> None:
    """Points of one task, joined in order; names only where there are several."""
    across, up = zip(*points, strict=True)
    axes.plot(across, up, color=COLOURS[task], linewidth=1.1, alpha=0.45)
    axes.scatter(across, up, s=46, color=COLOURS[task], zorder=3, label=TITLES[task])
    for point, name in zip(points, names, strict=True):
        if len(points) > 1:
            axes.annotate(
                name, point, (0, 7), textcoords="offset points", ha="center", fontsize=8,
                color=COLOURS[task],
            )  # fmt: skip


def _legend(figure: Any) -> None:
    figure.legend(loc="outside right upper", frameon=False, fontsize=9, labelcolor=INK)


def _density_coverage(results: Mapping[str, Any]) -> Any:
    rows = [row for row in distinct_rows(results) if _known(row, "density", "coverage")]
    if not rows:
        return None
    figure, axes = _axes(
        "Fidelity and variety (numbers are steps)", "Coverage (variety)", "Density (fidelity)"
    )
    for task, members in _by_task(rows).items():
        points = [(row["coverage"]["mean"], row["density"]["mean"]) for row in members]
        _trail(axes, points, [_note(row, results) for row in members], task)
    if results["floor"]:
        x, y = (floor_value(results["floor"], "c", name) for name in ("coverage", "density"))
        if x is not None and y is not None:
            axes.scatter([x], [y], marker="*", s=170, color=INK, zorder=4, label="Real data")
    axes.margins(0.1)
    _legend(figure)
    return figure


def _fid_steps(results: Mapping[str, Any]) -> Any:
    lines: dict[str, list[tuple[int, float, float]]] = {}
    for row in distinct_rows(results):
        steps = _steps(row, results)
        if steps and _known(row, "fid") and set(row["options"]) <= {"steps"}:
            fid = row["fid"]
            lines.setdefault(row["task"], []).append((steps, fid["mean"], fid["std"] or 0.0))
    if max(map(len, lines.values()), default=0) < 2:  # one number of steps makes no line
        return None
    figure, axes = _axes("FID and the number of steps", "Steps", "FID (lower is better)")
    for task, points in lines.items():
        counts, values, spread = zip(*sorted(points), strict=True)
        axes.errorbar(
            counts, values, yerr=spread, color=COLOURS[task], marker="o", markersize=5,
            linewidth=1.6, capsize=2, label=TITLES[task],
        )  # fmt: skip
    ticks = sorted({point[0] for points in lines.values() for point in points})
    axes.set_xscale("log")
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    if results["floor"]:
        parts = {"unconditional"} & set(lines) or {"c"}
        value = floor_value(results["floor"], parts.pop(), "fid")
        if value is not None:
            axes.axhline(value, color=INK, linewidth=1.2, linestyle=(0, (4, 3)), label="Real data")
    axes.set_ylim(bottom=0)
    _legend(figure)
    return figure


def _fid_violation(results: Mapping[str, Any]) -> Any:
    rows = [
        row
        for row in results["summary"]
        if row["task"] == "relation" and _known(row, "fid", "violation")
    ]
    if not rows:
        return None
    figure, axes = _axes(
        "Relations: quality and obedience (numbers are steps)",
        "Violated relations (%)",
        "FID (lower is better)",
    )
    rows.sort(key=lambda row: row["violation"]["mean"])
    points = [(100 * row["violation"]["mean"], row["fid"]["mean"]) for row in rows]
    _trail(axes, points, [_note(row, results) for row in rows], "relation")
    if results["floor"]:
        value = floor_value(results["floor"], "relation", "fid")
        if value is not None:
            axes.scatter([0.0], [value], marker="*", s=170, color=INK, label="Real data", zorder=4)
    widest = max([x for x, _ in points] + [1.0])
    axes.set_xlim(-0.04 * widest, 1.08 * widest)
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= 1.08 * widest])
    axes.set_ylim(bottom=0)
    _legend(figure)
    return figure

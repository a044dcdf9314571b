"""The plots of an evaluation: density against coverage, FID against steps and violations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layoutdm.evaluate.plan import TITLES
from layoutdm.evaluate.table import floor_value

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

    figure = Figure(figsize=(6.4, 4.4), layout="constrained", facecolor="white")
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
    steps: int | None = row["steps"] or results.get("own_steps", {}).get(row["task"])
    return steps


def _note(row: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    if row["strength"] is not None:
        return f"strength {row['strength']:g}"
    steps = _steps(row, results)
    return f"{steps} steps" if steps else ""


def _point(axes: Any, x: float, y: float, task: str, text: str, first: bool) -> None:
    axes.scatter(
        [x], [y], s=46, color=COLOURS[task], zorder=3, label=TITLES[task] if first else None
    )
    axes.annotate(text, (x, y), (6, 4), textcoords="offset points", fontsize=8, color=QUIET)


def _density_coverage(results: Mapping[str, Any]) -> Any:
    rows = [row for row in results["summary"] if _known(row, "density", "coverage")]
    if not rows:
        return None
    figure, axes = _axes("Fidelity and variety", "Coverage (variety)", "Density (fidelity)")
    seen: set[str] = set()
    for row in rows:
        x, y = row["coverage"]["mean"], row["density"]["mean"]
        _point(axes, x, y, row["task"], _note(row, results), row["task"] not in seen)
        seen.add(row["task"])
    if results["floor"]:
        x, y = (floor_value(results["floor"], "c", name) for name in ("coverage", "density"))
        if x is not None and y is not None:
            axes.scatter([x], [y], marker="*", s=170, color=INK, zorder=4, label="Real data")
    axes.margins(0.12)
    axes.legend(frameon=False, fontsize=9, labelcolor=INK)
    return figure


def _fid_steps(results: Mapping[str, Any]) -> Any:
    lines: dict[str, list[tuple[int, float, float]]] = {}
    for row in results["summary"]:
        steps = _steps(row, results)
        if steps and _known(row, "fid") and row["strength"] is None:
            fid = row["fid"]
            lines.setdefault(row["task"], []).append((steps, fid["mean"], fid["std"] or 0.0))
    if not lines:
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
    axes.legend(frameon=False, fontsize=9, labelcolor=INK)
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
        "Relations: quality and obedience", "Violated relations (%)", "FID (lower is better)"
    )
    rows.sort(key=lambda row: row["violation"]["mean"])
    points = [(100 * row["violation"]["mean"], row["fid"]["mean"]) for row in rows]
    axes.plot(*zip(*points, strict=True), color=COLOURS["relation"], linewidth=1.2, alpha=0.5)
    for (x, y), row in zip(points, rows, strict=True):
        _point(axes, x, y, "relation", _note(row, results), row is rows[0])
    if results["floor"]:
        value = floor_value(results["floor"], "relation", "fid")
        if value is not None:
            axes.scatter([0.0], [value], marker="*", s=170, color=INK, label="Real data", zorder=4)
    axes.set_xlim(left=-1)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=9, labelcolor=INK)
    return figure

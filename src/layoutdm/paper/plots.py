"""What the figures share: one look, one colour a system."""

from __future__ import annotations

from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any

from layoutdm.atomic import write_bytes

INK, QUIET, GRID = "#22262b", "#6b7280", "#e5e7eb"
COLOURS = {
    "layoutdm": "#b33a4a", "layoutdm-paper": "#2563a8", "vqdiffusion": "#5aa0d8",
    "layouttrans": "#c2571a", "layouttrans-fixed": "#e09a5e", "maskgit": "#2f7d4f",
    "blt": "#8a4fa3", "blt-original": "#bd8ad0", "bart": "#b0892b", "layoutgan++": "#4b5563",
    "layoutvae": "#9ca3af", "ndn-none": "#0f766e", "ndn-partial": "#0f766e", "clg-lo": "#4b5563",
    "diffusionlm": "#5eead4", "ruite": "#be185d", "input": "#d1d5db",
}  # fmt: skip


MARKERS = dict(zip(COLOURS, cycle("oosDDv^^<<>PXXhdp"), strict=False))  # for eyes without colours


def panels(titles: list[str], across: str, up: str) -> tuple[Any, list[Any]]:
    """A figure with one panel a title, two in a row."""
    from matplotlib.figure import Figure

    columns = min(len(titles), 2)
    rows = -(-len(titles) // columns)
    figure = Figure(figsize=(4.6 * columns, 3.5 * rows + 0.8), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axis in axes[len(titles) :]:
        axis.axis("off")
    axes = axes[: len(titles)]
    for number, (axis, title) in enumerate(zip(axes, titles, strict=True)):
        axis.set_title(title, color=INK, fontsize=10)
        axis.set_xlabel(across, color=INK, fontsize=9)
        if number % columns == 0:
            axis.set_ylabel(up, color=INK, fontsize=9)
        axis.grid(color=GRID, linewidth=0.6)
        axis.tick_params(colors=QUIET, labelsize=8)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    return figure, axes


def log_scale(axis: Any) -> None:
    """Across, with plain numbers at 1, 2 and 5 of each power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))


def line(axis: Any, system: str, name: str, points: list[tuple[float, float]]) -> None:
    """The points of one system, joined in their order."""
    x, y = zip(*points, strict=True)
    colour = COLOURS.get(system, INK)
    axis.plot(
        x, y, f"{MARKERS.get(system, 'o')}-", color=colour, label=name, markersize=5, linewidth=1.2
    )


def finish(figure: Any, axes: list[Any], path: Path) -> list[Path]:
    """Write with one legend; nothing where no panel has points."""
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if not handles:
        return []
    figure.legend(
        list(handles.values()), list(handles), loc="outside lower center",
        ncols=min(len(handles), 4), fontsize=8, frameon=False,
    )  # fmt: skip
    return [save(figure, path)]


def save(figure: Any, path: Path) -> Path:
    """Write a figure in one go: another process may write the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = BytesIO()
    figure.savefig(picture, dpi=130, format="png")
    write_bytes(path, picture.getvalue())
    return path

"""The plots of the statistics page, each a piece of inline SVG.

>>> bar(1, 2, "#0072b2").startswith("<svg")
True
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np

from layoutdm.data.statistics import HEAT_COLUMNS, HEAT_ROWS, Counts

HEAT_LEVELS = 8


def canvas_ratio(canvases: Mapping[tuple[float, float], int]) -> float:
    """Height over width of the commonest canvas, kept within what a small map can show."""
    if not canvases:
        return 1.0
    width, height = next(iter(canvases))
    return float(np.clip(height / width, 0.4, 2.2))


def bar(count: int, most: int, fill: str) -> str:
    """A horizontal bar that fills its cell when count equals most."""
    share = 100 * count / most if most else 0
    width = max(share, 0.4) if count else 0
    return (
        '<svg class="bar" preserveAspectRatio="none" viewBox="0 0 100 12">'
        f'<rect class="tint" width="{width:.2f}" height="12" style="--tint:{fill}"/></svg>'
    )


def mean_box(width: float, height: float, ratio: float, fill: str) -> str:
    """A canvas with one box of the mean size in its middle."""
    wide, high = 100.0, 100 * ratio
    w, h = wide * min(width, 1), high * min(height, 1)
    return (
        f'<svg class="mean" viewBox="-2 -2 {wide + 4:g} {high + 4:.4g}" '
        f'style="aspect-ratio:{(wide + 4) / (high + 4):.4f}">'
        f"<title>{width:.3f} × {height:.3f}</title>"
        f'<rect width="{wide:g}" height="{high:.4g}" fill="var(--cell)" stroke="var(--line)" '
        f'stroke-width="3"/><rect x="{(wide - w) / 2:.4g}" y="{(high - h) / 2:.4g}" '
        f'width="{w:.4g}" height="{h:.4g}" class="tint" style="--tint:{fill}"/></svg>'
    )


def heat_map(heat: Counts, ratio: float, fill: str, label: str) -> str:
    """The grid in steps of opacity, one path for each step, so that a page of maps stays small."""
    levels = heat_levels(heat)
    paths = []
    for level in range(1, HEAT_LEVELS + 1):
        runs = "".join(
            f"M{start} {row}h{length}v1h-{length}z"
            for row, cells in enumerate(levels == level)
            for start, length in _runs(cells)
        )
        if runs:
            paths.append(f'<path d="{runs}" opacity="{_opacity(level):.2f}"/>')
    return (
        f'<svg viewBox="0 0 {HEAT_COLUMNS} {HEAT_ROWS}" preserveAspectRatio="none" role="img" '
        f'style="aspect-ratio:{1 / ratio:.4f};border-radius:6px" shape-rendering="crispEdges">'
        f"<title>{escape(label)}</title>"
        f'<rect width="{HEAT_COLUMNS}" height="{HEAT_ROWS}" fill="var(--cell)"/>'
        f'<g class="tint" style="--tint:{fill}">{"".join(paths)}</g></svg>'
    )


def heat_levels(heat: Counts) -> Counts:
    """Counts as steps 0 (none) to HEAT_LEVELS (full), by square root.

    The fullest hundredth of the cells in use are all full. A label that sits in one place most
    of the time would otherwise show that one cell only.
    """
    used = heat[heat > 0]
    full = float(np.quantile(used, 0.99)) if used.size else 1.0
    share = np.sqrt(np.minimum(heat / full, 1))
    steps: Counts = np.ceil(share * HEAT_LEVELS).astype(np.int64)
    return steps


def _opacity(level: int) -> float:
    return 0.08 + 0.92 * (level - 1) / (HEAT_LEVELS - 1)


def _runs(cells: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    """(start, length) of each unbroken stretch."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], cells, [False]]).astype(np.int8)))
    return [(int(a), int(b - a)) for a, b in edges.reshape(-1, 2)]


def columns(lengths: Mapping[int, int], mean: float) -> str:
    """Layouts by number of elements, with a line at the mean."""
    if not lengths:
        return ""
    first, last = min(lengths), max(lengths)
    width, height, left, bottom = 960, 260, 52, 26
    step = (width - left) / (last - first + 1)
    tick = nice_step(max(lengths.values()))
    top = tick * -(-max(lengths.values()) // tick)
    plot = height - bottom - 14

    def y(count: float) -> float:
        return 14 + plot * (1 - count / top)

    grid = "".join(
        f'<path d="M{left} {y(n):.1f}H{width}" stroke="var(--line)"/>'
        f'<text x="{left - 10}" y="{y(n) + 4:.1f}" text-anchor="end">{n:,}</text>'
        for n in range(0, top + 1, tick)
    )
    gap, corner = min(3.0, step * 0.2), min(3.0, step / 4)
    bars = "".join(
        f'<rect x="{left + (n - first) * step + gap / 2:.2f}" y="{y(count):.2f}" '
        f'width="{step - gap:.2f}" height="{max(y(0) - y(count), 1):.2f}" rx="{corner:.1f}">'
        f"<title>{n} elements: {count:,} layouts</title></rect>"
        for n, count in lengths.items()
    )
    every = max(1, nice_step(last - first + 1, 30))
    names = "".join(
        f'<text x="{left + (n - first + 0.5) * step:.1f}" y="{height - 6}" '
        f'text-anchor="middle">{n}</text>'
        for n in range(first, last + 1)
        if every == 1 or n % every == 0
    )
    at = left + (mean - first + 0.5) * step
    marker = (
        f'<path d="M{at:.1f} 4V{y(0):.1f}" stroke="var(--ink)" stroke-dasharray="3 4"/>'
        f'<text x="{at + 6:.1f}" y="12" style="fill:var(--ink)">mean {mean:.1f}</text>'
    )
    return (
        f'<svg class="columns" viewBox="0 0 {width} {height}" role="img">'
        "<title>Elements per layout</title>"
        f'{grid}<g class="tint" style="--tint:#0072b2">{bars}</g>{names}{marker}</svg>'
    )


def nice_step(highest: int, most: int = 5) -> int:
    """A step of 1, 2 or 5 times a power of ten that reaches `highest` in at most `most` steps.

    >>> nice_step(1206), nice_step(7), nice_step(25, 30)
    (500, 2, 1)
    """
    power = 1
    while True:
        for factor in (1, 2, 5):
            if highest <= factor * power * most:
                return factor * power
        power *= 10

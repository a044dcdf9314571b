"""A score sheet for people: one row a metric, and what to know about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

from layoutdm.evaluate.score import METRICS

TITLES = {
    "fid": ("FID", "lower"),
    "precision": ("Precision", "higher"),
    "recall": ("Recall", "higher"),
    "density": ("Density", "higher"),
    "coverage": ("Coverage", "higher"),
    "max_iou": ("Maximum IoU", "higher"),
    "docsim": ("DocSim", "higher"),
    "ltsim": ("LTSim", "higher"),
    "alignment": ("Alignment x100", "lower"),
    "overlap": ("Overlap", "near the real"),
    "average_iou": ("Average IoU", "near the real"),
    "violation": ("Violation", "lower"),
}


def show(sheet: dict[str, Any], console: Console) -> None:
    """Print the metrics, then the counts, the feature network and all notes."""
    has_floor = any("floor" in sheet[name] for name in METRICS)
    has_published = any("published" in sheet[name] for name in METRICS)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric")
    table.add_column("value", justify="right")
    table.add_column("95 % interval", justify="right")
    if has_floor:
        table.add_column("floor", justify="right")
    if has_published:
        table.add_column("released code", justify="right")
    table.add_column("better")
    notes: dict[str, list[str]] = {}
    for name in METRICS:
        found, (title, better) = sheet[name], TITLES[name]
        note = found.get("reason") or found.get("note") or found.get("of")
        if note:
            notes.setdefault(note, []).append(title)
        interval = found.get("interval")
        row = [title, figure(found["value"]), " – ".join(map(figure, interval or []))]
        if has_floor:
            row.append(figure(found.get("floor")))
        if has_published:
            row.append(figure(found["published"]) if "published" in found else "")
        table.add_row(*row, better)
    for row, note in _further(sheet, has_floor=has_floor, has_published=has_published):
        table.add_row(*row)
        if note:
            notes.setdefault(note, []).append(row[0])
    console.print(table)
    console.print()
    for note, titles in notes.items():
        console.print(f"{', '.join(titles)}: {note}", highlight=False, soft_wrap=True)
    _counts(sheet, console)


REPEATS = {
    "edges": "Equal left edges",
    "gaps": "Equal gaps",
    "sizes": "Equal sizes",
    "rows_overlap": "Rows that overlap",
}


def _further(
    sheet: dict[str, Any], *, has_floor: bool, has_published: bool
) -> Iterator[tuple[list[str], str]]:
    """Rows of regularity and of the classifier, each with its note."""
    found = [(REPEATS[name], part) for name, part in sheet.get("regularity", {}).items()]
    if "c2st" in sheet:
        found.append(("C2ST (AUC)", sheet["c2st"]))
    for title, part in found:
        interval = " – ".join(map(figure, part.get("interval", [])))
        row = [title, figure(part["value"]), interval]
        if has_floor:
            row.append(figure(part.get("floor")))
        if has_published:
            row.append("")
        real = part.get("reference")
        better = f"near the real {figure(real)}" if title in REPEATS.values() else "near 0.5"
        note = part.get("reason") or part.get("note") or ""
        if "floor_interval" in part:
            low, high = part["floor_interval"]
            note += f"; real against real {figure(part['floor'])} ({low:.3f} to {high:.3f})"
        yield [*row, better], note


def figure(value: float | None) -> str:
    """Four digits that count; a dash for no value.

    >>> figure(0.03456), figure(12.3456), figure(None)
    ('0.0346', '12.35', '–')
    """
    if value is None:
        return "–"
    return (
        f"{value:.2f}"
        if abs(value) >= 10
        else f"{value:.3f}"
        if abs(value) >= 1
        else (f"{value:.4f}")
    )


def _counts(sheet: dict[str, Any], console: Console) -> None:
    for role in ("generated", "reference", "floor"):
        counts = sheet["counts"].get(role)
        if counts is None:
            continue
        parts = [f"{counts['layouts']:,} layouts, {counts['elements']:,} elements"]
        for key, text in (
            ("empty", "empty layouts, left out"),
            ("invalid_layouts", "invalid layouts, left out"),
            ("invalid_elements", "invalid elements, left out"),
            ("cut_elements", "elements cut at the canvas"),
            ("too_long", "layouts longer than any the feature network has seen"),
        ):
            if counts.get(key):
                parts.append(f"{counts[key]:,} {text}")
        if counts.get("scored", counts["layouts"]) < counts["layouts"]:
            parts.append(f"{counts['scored']:,} of them drawn for scoring")
        console.print(f"{role:<10} {'; '.join(parts)}", highlight=False, soft_wrap=True)
    network = sheet["features"]
    if network["name"]:
        console.print(
            f"{'features':<10} {network['name']}, hash {network['hash']}", highlight=False
        )
    for warning in sheet["counts"].get("warnings", ()):
        console.print(f"warning: {warning}", highlight=False, soft_wrap=True, style="yellow")

"""The curves of a run as a picture: training loss and validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

INK, ACCENT, PALE = "#22303c", "#c8553d", "#9db4c0"


def save_curves(metrics: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Draw metrics.jsonl's lines; the best bound is marked."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    train = [line for line in metrics if line["kind"] == "train"]
    val = [line for line in metrics if line["kind"] == "validation"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), constrained_layout=True)
    steps, losses = [line["step"] for line in train], [line["loss"] for line in train]
    left.plot(steps, losses, color=PALE, linewidth=0.8)
    left.plot(steps, _smooth(losses), color=INK, linewidth=1.6)
    left.set_title("training loss", loc="left", fontsize=10, color=INK)
    left.set_ylim(*_range(losses))
    bounds = [line["bound"] for line in val]
    right.plot([line["step"] for line in val], bounds, color=INK, linewidth=1.6, marker=".")
    right.set_title("validation, nats per layout", loc="left", fontsize=10, color=INK)
    if bounds:
        best = min(range(len(bounds)), key=lambda i: bounds[i])
        right.plot(val[best]["step"], bounds[best], "o", color=ACCENT)
        right.annotate(
            f"{bounds[best]:.2f}", (val[best]["step"], bounds[best]),
            textcoords="offset points", xytext=(0, 9), ha="center", color=ACCENT, fontsize=9,
        )  # fmt: skip
        right.set_ylim(*_range(bounds))
    for axis in (left, right):
        axis.set_xlabel("step", fontsize=9, color=INK)
        axis.tick_params(labelsize=8, colors=INK)
        axis.grid(alpha=0.25)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def _smooth(values: Sequence[float]) -> list[float]:
    """Mean over a window around each value, which does not lag behind the curve."""
    half = max(1, len(values) // 40)
    windows = (values[max(0, i - half) : i + half + 1] for i in range(len(values)))
    return [sum(window) / len(window) for window in windows]


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Limits that leave out the first steep fall, which would flatten everything after it."""
    if len(values) < 2:
        return (0.0, 1.0) if not values else (values[0] * 0.9, values[0] * 1.1 + 1e-9)
    ordered = sorted(values)
    low, high = ordered[0], ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    margin = 0.12 * (high - low) + 1e-9
    return low - margin, high + margin

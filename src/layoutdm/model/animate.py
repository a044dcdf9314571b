"""The way from noise to a layout as an animated picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from layoutdm.errors import LayoutdmError
from layoutdm.generator import Frame
from layoutdm.layout import Layout
from layoutdm.model.result import Result
from layoutdm.pictures import palette, scene
from layoutdm.pictures.drawing import CANVAS, HAIRLINE, QUIET_INK, Drawing, Item, Rect, Words
from layoutdm.pictures.png import paint

GAP = 24
UNDECIDED = "#9aa3ad"
FIRST_MS, FRAME_MS, LAST_MS = 600, 90, 2500


def animate(results: Sequence[Result], path: Path, height: int = 640, frames: int = 60) -> Path:
    """Write a GIF of results with traces, side by side; it ends on the finished layouts."""
    if path.suffix.lower() != ".gif":
        raise LayoutdmError(f"{path}: an animation is a .gif file")
    length = len(results[0].trace)
    shown = np.unique(np.linspace(0, length - 1, min(frames, length)).round().astype(int))
    pictures = [_page([_partial(r.trace[i], r.layout, height) for r in results]) for i in shown]
    pictures.append(_page([_whole(result.layout, height) for result in results]))
    times = [FIRST_MS, *[FRAME_MS] * (len(pictures) - 2), LAST_MS]
    # One palette for all frames, taken from the last: colours must not flicker.
    colours = pictures[-1].quantize(255)
    indexed = [picture.quantize(palette=colours, dither=Image.Dither.NONE) for picture in pictures]
    indexed[0].save(
        path, format="GIF", save_all=True, append_images=indexed[1:], duration=times, loop=0
    )
    return path


def _page(drawings: Sequence[Drawing]) -> Image.Image:
    items: list[Item] = []
    left = float(GAP)
    for drawing in drawings:
        items += drawing.moved(left, GAP).items
        left += drawing.width + GAP
    tallest = max(drawing.height for drawing in drawings)
    return paint(Drawing(left, tallest + 2 * GAP, tuple(items)))


def _size(layout: Layout, height: int) -> tuple[int, int]:
    return max(60, round(height * layout.width / layout.height)), height


def _whole(layout: Layout, height: int) -> Drawing:
    wide, high = _size(layout, height)
    return scene.picture(layout, wide, high)


def _partial(frame: Frame, layout: Layout, height: int) -> Drawing:
    """What is decided so far: an undecided place or size spans the whole canvas, faintly."""
    wide, high = _size(layout, height)
    font = scene.font_size(wide, high)
    scheme = palette.scheme(layout.labels)
    items: list[Item] = [Rect(0, 0, wide, high, CANVAS, stroke=HAIRLINE, stroke_width=1.0)]
    for label, box in zip(frame.labels, frame.boxes, strict=True):
        decided = np.isfinite(box)
        if not decided.any():
            continue
        colour = scheme.colour(label) if label else UNDECIDED
        share = float(decided.mean())
        left, right = _span(box[0], box[2])
        top, bottom = _span(box[1], box[3])
        where = (left * wide, top * high, (right - left) * wide, (bottom - top) * high)
        if decided.all():
            area = float(box[2] * box[3])
            edge = scheme.edge(label) if label else UNDECIDED
            items.append(
                Rect(*where, colour, opacity=scene.opacity(area), stroke=edge,
                     stroke_width=max(1.0, font / 10), radius=2)
            )  # fmt: skip
            if label and where[3] > 1.4 * font and where[2] > 4 * font:
                at = (where[0] + 0.5 * font, where[1] + 1.2 * font)
                items.append(Words(*at, label, font, scheme.ink(label)))
        else:
            items.append(Rect(*where, colour, opacity=0.05 * share))
    items.append(
        Words(0.6 * font, high - 0.8 * font, f"noise level {frame.level}", font, QUIET_INK)
    )
    return Drawing(wide, high, tuple(items))


def _span(centre: float, size: float) -> tuple[float, float]:
    if not (np.isfinite(centre) and np.isfinite(size)):
        return 0.0, 1.0
    return max(0.0, centre - size / 2), min(1.0, centre + size / 2)

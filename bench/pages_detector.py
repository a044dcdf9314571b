"""Proof of use: a small detector learns from our pages, and is asked about real layouts.

    python bench/pages_detector.py DATA --out bench/results/pages_detector.json

Three training sets of the same number of pages, rendered alike: layouts of the model, the same
elements packed into pages at random (a shelf packing), and, for comparison, real layouts of the
training set. The question is put with real layouts of the validation set, rendered with other
seeds. All pages are drawn by our renderer, so this shows what the *layouts* are worth, not what
rendered pages are worth for photographs of real ones.

DATA is a folder with train.jsonl.gz and val.jsonl.gz of PubLayNet layouts.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from layoutdm import Layout, load
from layoutdm.pages import Look, render

HEIGHT, WIDTH, STRIDE = 192, 160, 8
LABELS = ("text", "title", "list", "table", "figure")
BATCH = 8
KEPT = ("pages", "questions", "steps", "seeds")  # options that the report names

Example = tuple[NDArray[np.uint8], list[tuple[int, float, float, float, float]]]


# Layouts ------------------------------------------------------------------------------------------


def real(path: Path, count: int) -> list[Layout]:
    found = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            r = json.loads(line)
            found.append(
                Layout.create(r["labels"], r["boxes"], width=r["width"], height=r["height"])
            )
            if len(found) == count:
                break
    return found


def packed(layouts: Sequence[Layout], seed: int) -> list[Layout]:
    """The same elements, shuffled over all pages and packed on shelves from the top."""
    random = Random(seed)
    elements = [(e.label, e.width, e.height) for layout in layouts for e in layout]
    random.shuffle(elements)
    pages: list[list[tuple[str, list[float]]]] = []
    page: list[tuple[str, list[float]]] = []
    x = y = shelf = 0.05
    for label, width, height in elements:
        width, height = min(width, 0.9), min(height, 0.9)
        if x + width > 0.95:
            x, y = 0.05, shelf + 0.012
        if y + height > 0.95:
            pages.append(page)
            page, x, y, shelf = [], 0.05, 0.05, 0.05
        page.append((label, [x + width / 2, y + height / 2, width, height]))
        x, shelf = x + width + 0.02, max(shelf, y + height)
    pages.append(page)
    shape = layouts[0]
    every = [
        Layout.create([p[0] for p in some], [p[1] for p in some], width=shape.width,
                      height=shape.height)
        for some in pages
        if some
    ]  # fmt: skip
    return (every * (1 + len(layouts) // len(every)))[: len(layouts)]


def drawn(layouts: Sequence[Layout], seed: int) -> list[Example]:
    """Pages in grey at the detector's size, with boxes as (class, left, top, right, bottom)."""
    look = Look(height=512, style="varied")
    found = []
    for index, layout in enumerate(layouts):
        page = render(layout, seed, index, look)
        grey = page.image.convert("L").resize((WIDTH, HEIGHT), 1)
        sx, sy = WIDTH / page.image.width, HEIGHT / page.image.height
        boxes = [
            (LABELS.index(b.label), b.box[0] * sx, b.box[1] * sy, b.box[2] * sx, b.box[3] * sy)
            for b in page.truth.blocks
        ]
        found.append((np.asarray(grey), boxes))
    return found


# The detector -------------------------------------------------------------------------------------


def block(inner: int, outer: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU()
    )


class Detector(nn.Module):
    """Where a centre is (one map a class) and how far its box reaches; 0.7 million weights."""

    def __init__(self) -> None:
        super().__init__()
        self.fine = nn.Sequential(
            block(1, 16, 2), block(16, 32, 2), block(32, 64, 2), block(64, 64)
        )
        self.middle = nn.Sequential(block(64, 96, 2), block(96, 96))
        self.coarse = nn.Sequential(block(96, 128, 2), block(128, 128), block(128, 128))
        self.up = nn.ModuleList([nn.Conv2d(128, 96, 1), nn.Conv2d(96, 64, 1)])
        self.head = nn.Sequential(block(64, 64), nn.Conv2d(64, len(LABELS) + 4, 1))
        nn.init.constant_(self.head[1].bias[: len(LABELS)], -4.0)  # type: ignore[index]

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        fine = self.fine(x)
        middle = self.middle(fine)
        coarse = self.coarse(middle)
        middle = middle + F.interpolate(self.up[0](coarse), scale_factor=2)
        fine = fine + F.interpolate(self.up[1](middle), scale_factor=2)
        out = self.head(fine)
        return out[:, : len(LABELS)], out[:, len(LABELS) :]


def targets(
    boxes: Sequence[tuple[int, float, float, float, float]],
) -> tuple[Tensor, Tensor, Tensor]:
    rows, columns = HEIGHT // STRIDE, WIDTH // STRIDE
    heat = torch.zeros(len(LABELS), rows, columns)
    reach, known = torch.zeros(4, rows, columns), torch.zeros(rows, columns)
    ys, xs = torch.arange(rows)[:, None] + 0.5, torch.arange(columns)[None] + 0.5
    for label, left, top, right, bottom in sorted(
        boxes, key=lambda b: -(b[3] - b[1]) * (b[4] - b[2])
    ):
        cx, cy = (left + right) / 2 / STRIDE, (top + bottom) / 2 / STRIDE
        i, j = min(int(cy), rows - 1), min(int(cx), columns - 1)
        sx, sy = max((right - left) / STRIDE / 8, 0.5), max((bottom - top) / STRIDE / 8, 0.5)
        bell = torch.exp(-((xs - cx) ** 2) / (2 * sx**2) - (ys - cy) ** 2 / (2 * sy**2))
        heat[label] = torch.maximum(heat[label], bell)
        heat[label, i, j] = 1.0
        near = bell > 0.6
        near[i, j] = True
        across, down = (xs * STRIDE).expand(rows, columns), (ys * STRIDE).expand(rows, columns)
        sides = torch.stack([across - left, down - top, right - across, bottom - down])
        reach[:, near] = sides[:, near] / 32
        known[near] = 1.0
    return heat, reach, known


def learn(examples: Sequence[Example], steps: int, seed: int) -> Detector:
    torch.manual_seed(seed)
    model = Detector()
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=1e-4)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps)
    ready = [targets(boxes) for _, boxes in examples]
    random = Random(seed)
    for _ in range(steps):
        chosen = [random.randrange(len(examples)) for _ in range(BATCH)]
        images = torch.stack([torch.from_numpy(examples[i][0].copy()) for i in chosen])
        x = 1 - images[:, None].float() / 255
        heat, reach, known = (torch.stack([ready[i][k] for i in chosen]) for k in range(3))
        found, sides = model(x)
        chance = torch.sigmoid(found).clamp(1e-4, 1 - 1e-4)
        hit = heat == 1
        gain = ((1 - chance) ** 2 * chance.log() * hit).sum()
        loss_far = ((1 - heat) ** 4 * chance**2 * (1 - chance).log() * ~hit).sum()
        loss = -(gain + loss_far) / hit.sum()
        loss = loss + ((sides - reach).abs() * known[:, None]).sum() / known.sum().clamp(1)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        plan.step()
    return model.eval()


@torch.no_grad()
def detect(model: Detector, image: NDArray[np.uint8]) -> list[tuple[int, float, list[float]]]:
    """Peaks of the maps: class, score, box as left, top, width, height."""
    x = 1 - torch.from_numpy(image.copy())[None, None].float() / 255
    heat, sides = model(x)
    chance = torch.sigmoid(heat)[0]
    peak = chance * (F.max_pool2d(chance[None], 3, 1, 1)[0] == chance)
    values, places = peak.flatten().topk(60)
    rows, columns = peak.shape[1:]
    found = []
    for value, place in zip(values.tolist(), places.tolist(), strict=True):
        if value < 0.02:
            break
        label, at = divmod(place, rows * columns)
        i, j = divmod(at, columns)
        left, top, right, bottom = (sides[0, :, i, j] * 32).tolist()
        cx, cy = (j + 0.5) * STRIDE, (i + 0.5) * STRIDE
        box = [cx - left, cy - top, max(left + right, 1.0), max(top + bottom, 1.0)]
        found.append((label, value, box))
    return _distinct(found)


def _distinct(found: list[tuple[int, float, list[float]]]) -> list[tuple[int, float, list[float]]]:
    kept: list[tuple[int, float, list[float]]] = []
    for item in found:
        if all(_iou(item[2], other[2]) < 0.5 for other in kept if other[0] == item[0]):
            kept.append(item)
    return kept


def _iou(a: list[float], b: list[float]) -> float:
    wide = max(0.0, min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0]))
    tall = max(0.0, min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1]))
    return wide * tall / (a[2] * a[3] + b[2] * b[3] - wide * tall)


def score(model: Detector, examples: Sequence[Example]) -> dict[str, float]:
    """COCO's average precision, by pycocotools."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    images: list[dict[str, Any]] = []
    truth: list[dict[str, Any]] = []
    guesses: list[dict[str, Any]] = []
    for number, (image, boxes) in enumerate(examples, start=1):
        images.append({"id": number, "width": WIDTH, "height": HEIGHT})
        for label, left, top, right, bottom in boxes:
            wide, tall = right - left, bottom - top
            entry = {"id": len(truth) + 1, "image_id": number, "category_id": label + 1}
            truth.append(
                {**entry, "bbox": [left, top, wide, tall], "area": wide * tall, "iscrowd": 0}
            )
        for label, value, box in detect(model, image):
            guesses.append({"image_id": number, "category_id": label + 1, "bbox": box,
                            "score": value})  # fmt: skip
    categories = [{"id": i + 1, "name": name} for i, name in enumerate(LABELS)]
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {"images": images, "annotations": truth, "categories": categories}
        coco.createIndex()
        result = COCOeval(coco, coco.loadRes(guesses), "bbox")
        result.evaluate()
        result.accumulate()
        result.summarize()
    return {"mAP": round(float(result.stats[0]), 4), "AP50": round(float(result.stats[1]), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--questions", type=int, default=120)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = load("publaynet", threads=1)
    ours = [result.layout for result in model.generate(None, options.pages, seed=77)]
    sets = {
        "model": drawn(ours, 1),
        "bin packing": drawn(packed(ours, 5), 1),
        "real": drawn(real(options.data / "train.jsonl.gz", options.pages), 1),
    }
    questions = drawn(real(options.data / "val.jsonl.gz", options.questions), 2)
    report: dict[str, Any] = {"options": {k: getattr(options, k) for k in KEPT}, "runs": []}
    for seed in range(options.seeds):
        for name, examples in sets.items():
            start = time.process_time()
            found = score(learn(examples, options.steps, seed), questions)
            seconds = round(time.process_time() - start)
            print(f"{name:12} seed {seed}: {found} {seconds} s of processor time", flush=True)
            report["runs"].append({"set": name, "seed": seed, "seconds": seconds, **found})
            if options.out:  # after each run, so that a stopped bench leaves what it measured
                options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()

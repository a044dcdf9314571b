"""Which top-p a model samples best with: measured, on layouts drawn from nothing.

A low top-p leaves out what is rare, whether it is a mistake or not; a high one draws the mistakes
of a network that has not learned enough. Which of the two matters more depends on data and budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion import Schedule
from layoutdm.generator.config import LayoutDMConfig
from layoutdm.generator.layoutdm import LayoutDM
from layoutdm.generator.options import LayoutDMOptions
from layoutdm.plan.labels import LabelModel
from layoutdm.spec import Condition, Spec
from layoutdm.terms.apart import Apart
from layoutdm.train.apart import shared_room
from layoutdm.train.corpus import Corpus
from layoutdm.train.denoiser import TorchDenoiser
from layoutdm.train.networks import Network

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

USUAL = 0.95  # what did well on Rico and PubLayNet; others must be clearly better
OTHERS = (0.9, 0.8, 1.0)
CLEARLY = 0.9  # of the usual one's distance
LAYOUTS = 96  # drawn with each
REAL = 1_000  # layouts to compare with, at most
QUANTILES = np.linspace(0.005, 0.995, 100)


@dataclass(frozen=True, eq=False)
class Boxes:
    """box (n, S, 4) and which of them are elements, (n, S)."""

    box: Floats
    mask: Bools


def choose_top_p(
    network: Network, labels: LabelModel | None, apart: Apart, schedule: Schedule, train: Corpus,
    *, steps: int, seed: int = 0, seconds: float | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> float:  # fmt: skip
    """The value whose layouts are nearest to the data; the usual one if time is short."""
    begun = time.monotonic()
    denoiser = TorchDenoiser(network)
    config = LayoutDMConfig(
        train.tokenizer, schedule, denoiser.traits, network.config.to_dict(), apart=apart
    )
    generator = LayoutDM(config, denoiser, labels)
    real = of_corpus(train)
    found: dict[float, float] = {}
    for top_p in (USUAL, *OTHERS):
        spent = time.monotonic() - begun
        if seconds is not None and found and spent * (1 + 1 / len(found)) > seconds:
            break
        made = drawn(generator, LayoutDMOptions(steps=steps, top_p=top_p), seed)
        found[top_p] = distance(made, real)
    best = min(found, key=lambda top_p: found[top_p])
    chosen = best if found[best] < CLEARLY * found[USUAL] else USUAL
    told = ", ".join(f"{top_p:g}: {value:.3f}" for top_p, value in found.items())
    progress(f"sampling: top-p {chosen:g} (distance from the data by top-p {told})")
    return chosen


def drawn(generator: LayoutDM, options: LayoutDMOptions, seed: int) -> Boxes:
    """Layouts from nothing."""
    most = generator.max_elements
    nothing = Condition.from_spec(Spec.parse({}), generator.labels, most)
    streams = [np.random.default_rng([seed, i]) for i in range(LAYOUTS)]
    made = generator.draw([nothing] * LAYOUTS, options, streams)
    return Boxes(np.where(made.mask[..., None], made.box, 0.0), made.mask)


def of_corpus(corpus: Corpus) -> Boxes:
    """Layouts of the data, evenly chosen, rounded to bins as the drawn ones are."""
    chosen = np.linspace(0, len(corpus) - 1, min(len(corpus), REAL)).astype(np.int64)
    slots = np.arange(int(corpus.counts.max()))
    mask = slots < corpus.counts[chosen][:, None]
    source = np.where(mask, corpus.starts[chosen][:, None] + slots, 0)
    box = corpus.tokenizer.bins.decode(corpus.tokens[source][..., 1:])
    return Boxes(np.where(mask[..., None], box, 0.0), mask)


def distance(made: Boxes, real: Boxes) -> float:
    """Mean distance of distributions, in standard deviations of the real ones.

    Of x, y, width, height of elements, of what elements share with another, and of how far the
    nearest left edge is: how far quantiles lie apart (Wasserstein's distance in one dimension).
    """
    pairs = [(made.box[made.mask][:, a], real.box[real.mask][:, a]) for a in range(4)]
    pairs += zip(_beside_others(made), _beside_others(real), strict=True)
    return float(np.mean([_apart(*pair) for pair in pairs]))


def _beside_others(boxes: Boxes) -> tuple[Floats, Floats]:
    """Of each element: the most that it shares with another, and how far its left edge is off."""
    shared, off = [], []
    for box, mask in zip(boxes.box, boxes.mask, strict=True):
        own = box[mask]
        if len(own) < 2:
            continue
        itself = np.eye(len(own), dtype=bool)
        shared.append(np.where(itself, 0.0, shared_room(own)).max(axis=1))
        left = own[:, 0] - own[:, 2] / 2
        off.append(np.where(itself, np.inf, np.abs(left[:, None] - left)).min(axis=1))
    nothing = np.zeros(0)
    return np.concatenate([nothing, *shared]), np.concatenate([nothing, *off])


def _apart(one: Floats, other: Floats) -> float:
    if not len(one) or not len(other):
        return 0.0
    gap = np.abs(np.quantile(one, QUANTILES) - np.quantile(other, QUANTILES)).mean()
    return float(gap / max(other.std(), 1e-6))

"""LayoutGAN++: noise and labels in, boxes out, in one pass (Kikuchi et al., ACM MM 2021).

A transformer without positions turns a random vector and the label of each element into its box.
It learns against a discriminator that also has to rebuild the real layout from one vector. Where
sizes are given (the LayoutDM paper's adaptation to C+S->P, whose code is not public), a branch of
the network reads them, and only places are its own. One model does both tasks.

At published size it is trained as its authors do (Adam, 1e-5, 200,000 steps), at compact size with
a recipe for short runs (`learn/layoutgan.py`). Val layouts are sorted as train layouts are, and the
weights that are kept have the highest Maximum IoU on val.

A box's centre lies on the canvas by construction, its edges may not; `Model` moves such boxes in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.baselines.common import (
    Common,
    System,
    batches,
    labels_only,
    put_boxes,
    read_common,
    refusal,
)
from layoutdm.baselines.session import Network, Session
from layoutdm.generator.protocol import Drawn, Options, empty
from layoutdm.spec import Condition

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GENERATOR, DISCRIMINATOR = "generator.onnx", "discriminator.onnx"
LATENT = 4  # random numbers an element


@dataclass(frozen=True)
class LayoutGANOptions(Options):
    """There is nothing to choose."""


@dataclass(frozen=True, eq=False)
class LayoutGAN(System):
    common: Common
    network: Network
    name: str = "layoutgan++"
    options: type[LayoutGANOptions] = LayoutGANOptions

    def usual(self, task: str) -> LayoutGANOptions:
        return self.common.options(LayoutGANOptions(), task)

    def refuses(self, condition: Condition) -> str | None:
        return refusal(self.name, condition) or labels_only(self.name, condition)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: LayoutGANOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        drawn = empty(len(conditions), self.max_elements)
        for group in batches([len(condition) for condition in conditions]):
            slots = max(len(conditions[i]) for i in group)
            latent = np.zeros((len(group), slots, LATENT))
            for row, i in enumerate(group):
                n = len(conditions[i])
                latent[row, :n] = streams[i].standard_normal((n, LATENT))
            asked = [conditions[i] for i in group]
            (boxes,) = self.network(latent=latent.astype(np.float32), **inputs(asked, slots))
            for i, own in zip(group, boxes.astype(np.float64), strict=True):
                condition = conditions[i]
                n = len(condition)
                put_boxes(drawn, i, condition.label_choices.argmax(axis=1), own[:n], condition)
        return drawn


def inputs(conditions: Sequence[Condition], slots: int) -> dict[str, NDArray[Any]]:
    """Labels, which slots hold elements, and sizes where both width and height are given."""
    size = len(conditions)
    labels, valid = np.zeros((size, slots), np.int64), np.zeros((size, slots), bool)
    sizes, given = np.zeros((size, slots, 2), np.float32), np.zeros((size, slots), np.float32)
    for row, condition in enumerate(conditions):
        n = len(condition)
        labels[row, :n] = condition.label_choices.argmax(axis=1)
        valid[row, :n] = True
        known = np.asarray(np.isfinite(condition.fixed[:, 2:]).all(axis=1))
        sizes[row, :n] = np.where(known[:, None], np.nan_to_num(condition.fixed[:, 2:]), 0.0)
        given[row, :n] = known
    return {"labels": labels, "valid": valid, "sizes": sizes, "given": given}


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> LayoutGAN:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    return LayoutGAN(common, Session(folder / GENERATOR, threads))

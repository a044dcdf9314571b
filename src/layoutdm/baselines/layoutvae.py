"""LayoutVAE: counts of labels, then boxes one after the other (Jyothi et al., ICCV 2019).

BBoxVAE draws the box of each element from a latent vector, given the counts of all labels, the
element's label and an LSTM's summary of the elements before it. CountVAE draws how often each
label of a set occurs: Poisson(rate) + 1. The paper's tables know the counts, so CountVAE is used
where a request lists labels and allows `more`: each listed label then occurs at least as often
as it is listed.

Elements are decided by label, those of one label from the left; listed ones of the same label in
their own order. Where sizes are given (the LayoutDM paper's adaptation) a network of their own
reads them, and only places are drawn. A box is the mean that the decoder gives, without the noise
(0.02) that the bound assumes. The authors released no code. Of public re-implementations
not copied: noise on boxes that is uniform, hence biased; sigma in the place of its square; counts
so far that are sampled while learning; an LSTM that starts at the second element.
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

BOXES, COUNTS = "boxes.onnx", "counts.onnx"
LATENT = 32


@dataclass(frozen=True)
class LayoutVAEOptions(Options):
    """There is nothing to choose."""


@dataclass(frozen=True, eq=False)
class LayoutVAE(System):
    """`network` makes the next box, `counting` the rate of the next label; see `learn`."""

    common: Common
    network: Network
    counting: Network
    width: int  # of the LSTM's state
    name: str = "layoutvae"
    options: type[LayoutVAEOptions] = LayoutVAEOptions

    def usual(self, task: str) -> LayoutVAEOptions:
        return self.common.options(LayoutVAEOptions(), task)

    def refuses(self, condition: Condition) -> str | None:
        reason = refusal(self.name, condition)
        if reason is not None:
            return reason
        placed = np.isfinite(condition.fixed[:, :2]).any()
        labelled = (condition.label_choices.sum(axis=1) == 1).all()
        if condition.more and len(condition) and labelled and not placed:
            return None  # a set of labels, whose counts are drawn
        return labels_only(self.name, condition)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: LayoutVAEOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        drawn = empty(len(conditions), self.max_elements)
        labels = [self._labels(c, s) for c, s in zip(conditions, streams, strict=True)]
        for group in batches([len(own) for own in labels]):
            for i, boxes in zip(
                group, self._boxes(group, labels, conditions, streams), strict=True
            ):
                put_boxes(drawn, i, labels[i], boxes, conditions[i])
        return drawn

    def _labels(self, condition: Condition, stream: np.random.Generator) -> Ints:
        """Listed labels, and those that CountVAE adds where there may be more."""
        listed = np.asarray(condition.label_choices.argmax(axis=1), dtype=np.int64)
        if not condition.more:
            return listed
        count = len(self.labels)
        given = np.bincount(listed, minlength=count)
        members = (given > 0).astype(np.float32)[None]
        so_far = np.zeros((1, count), np.float32)
        for label in np.flatnonzero(given):
            noise = stream.standard_normal((1, LATENT)).astype(np.float32)
            asked = np.array([label], np.int64)
            (rate,) = self.counting(members=members, label=asked, so_far=so_far, noise=noise)
            number = 1 + int(stream.poisson(float(np.exp(np.clip(rate.reshape(-1)[0], -20, 5)))))
            so_far[0, label] = max(number, given[label])
        extra = np.repeat(np.arange(count), so_far[0].astype(np.int64) - given)
        room = condition.max_elements - len(listed)
        lacking = condition.min_elements - len(listed) - len(extra)
        if lacking > 0:  # as often as the set's own labels would come next
            extra = np.concatenate([extra, np.resize(np.flatnonzero(given), lacking)])
        return np.concatenate([listed, extra[:room]]).astype(np.int64)

    def _boxes(
        self,
        group: Sequence[int],
        labels: Sequence[Ints],
        conditions: Sequence[Condition],
        streams: Sequence[np.random.Generator],
    ) -> list[Floats]:
        """(n, 4) centre boxes of each layout of the group, in the order of its labels."""
        size, count = len(group), len(self.labels)
        counts = np.array([np.bincount(labels[i], minlength=count) for i in group], np.float32)
        order = [np.argsort(labels[i], kind="stable") for i in group]
        found = [np.zeros((len(labels[i]), 4)) for i in group]
        before = np.zeros((size, count + 4), np.float32)
        hidden, cell = np.zeros((2, size, self.width), np.float32)
        longest = max(len(own) for own in order)
        for step in range(longest):
            going = [row for row in range(size) if step < len(order[row])]
            label, noise = np.zeros(size, np.int64), np.zeros((size, LATENT), np.float32)
            sizes, given = np.zeros((size, 2), np.float32), np.zeros(size, np.float32)
            for row in going:
                i, element = group[row], int(order[row][step])
                label[row] = labels[i][element]
                noise[row] = streams[i].standard_normal(LATENT)
                known = given_size(conditions[i], element)
                if known is not None:
                    sizes[row], given[row] = known, 1.0
            boxes, hidden, cell = self.network(
                counts=counts, label=label, before=before, hidden=hidden, cell=cell, noise=noise,
                sizes=sizes, given=given,
            )  # fmt: skip
            before[:] = 0.0
            before[np.arange(size), label] = 1.0
            before[:, count:] = boxes
            for row in going:
                left, top, width, height = boxes[row].astype(np.float64)
                centre = (left + width / 2, top + height / 2, width, height)
                found[row][int(order[row][step])] = centre
        return found


def given_size(condition: Condition, element: int) -> Floats | None:
    """Width and height of an element, where both are given."""
    if element >= len(condition) or not np.isfinite(condition.fixed[element, 2:]).all():
        return None
    return condition.fixed[element, 2:]


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> LayoutVAE:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    boxes = Session(folder / BOXES, threads)
    width = int(boxes.inputs["hidden"][1])
    return LayoutVAE(common, boxes, Session(folder / COUNTS, threads), width)

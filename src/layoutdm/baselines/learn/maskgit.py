"""The learn half of MaskGIT*: fill a random share of the tokens, drawn along a cosine."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from layoutdm.baselines.learn.packed import Ints, Packed, shuffled
from layoutdm.baselines.learn.system import Recipe, SystemLearner, write_onnx
from layoutdm.baselines.learn.transformer import SequenceNetwork, Size
from layoutdm.baselines.maskgit import FILE
from layoutdm.baselines.vocabulary import PLACE_FIRST, Vocabulary
from layoutdm.train.learner import Batch

SMOOTHING = 0.1  # of the targets, as published
NOT_ASKED = -100  # targets that take no part in the loss


class MaskGITLearner(SystemLearner):
    recipe: ClassVar[Recipe] = Recipe()
    bucketed: ClassVar[bool] = False  # PAD is a word: every layout has all slots
    smoothing: ClassVar[float] = SMOOTHING

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.tokenizer.sizes, PLACE_FIRST, True, ("pad", "mask"))

    def build(self, size: Size) -> nn.Module:
        return SequenceNetwork(self.vocabulary.size, 5 * self.tokenizer.max_elements, size)

    def make(self, packed: Packed, layouts: Ints, rng: np.random.Generator) -> Batch:
        order = shuffled(packed, layouts, rng)
        found = packed.gather(layouts, order, self.tokenizer.max_elements)
        flat = self.vocabulary.flatten(found.tokens)
        return self.with_masks(flat, self.choose(flat, rng))

    def choose(self, flat: Ints, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which tokens are masked: floor(cos(pi r / 2) N) of N, r uniform."""
        size, length = flat.shape
        share = np.maximum(np.cos(np.pi / 2 * rng.random(size)), 1e-6)
        number = np.floor(share * length)
        rank = np.argsort(np.argsort(rng.random(flat.shape), axis=1), axis=1)
        return np.asarray(rank < number[:, None])

    def with_masks(self, flat: Ints, masked: np.ndarray[Any, np.dtype[np.bool_]]) -> Batch:
        tokens = np.where(masked, self.vocabulary.special("mask"), flat)
        targets = np.where(masked, flat, NOT_ASKED)
        return {"tokens": torch.from_numpy(tokens), "targets": torch.from_numpy(targets)}

    def loss_of(self, module: nn.Module, batch: Batch) -> Tensor:
        scores = module(batch["tokens"]).float().flatten(0, 1)
        targets = batch["targets"].flatten()
        total = F.cross_entropy(
            scores, targets, ignore_index=NOT_ASKED, label_smoothing=self.smoothing,
            reduction="sum",
        )  # fmt: skip
        return total / (targets != NOT_ASKED).sum().clamp(min=1)

    def files(self, module: nn.Module, folder: Path) -> dict[str, Any]:
        length = 5 * self.tokenizer.max_elements
        inputs = {"tokens": torch.zeros(2, length, dtype=torch.long)}
        free = {"tokens": {0: "batch"}, "scores": {0: "batch"}}
        write_onnx(module, folder / FILE, inputs, ("scores",), free)
        return {"vocabulary": self.vocabulary.to_dict()}

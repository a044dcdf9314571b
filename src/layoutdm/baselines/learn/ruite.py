"""The learn half of RUITE: noisy tokens in, clean tokens out."""

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
from layoutdm.baselines.ruite import FILE
from layoutdm.baselines.vocabulary import PLACE_FIRST, Vocabulary
from layoutdm.train.learner import Batch

NOISE = 0.1  # standard deviation on all four values, as in the task; not clipped


class RuiteLearner(SystemLearner):
    recipe: ClassVar[Recipe] = Recipe()

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.tokenizer.sizes, PLACE_FIRST, True, ("pad",))

    def build(self, size: Size) -> nn.Module:
        return SequenceNetwork(self.vocabulary.size, 5 * self.tokenizer.max_elements, size)

    def make(self, packed: Packed, layouts: Ints, rng: np.random.Generator) -> Batch:
        found = packed.gather(layouts, shuffled(packed, layouts, rng))
        noisy = found.boxes + NOISE * rng.standard_normal(found.boxes.shape)
        draft = found.tokens.copy()
        ids = self.tokenizer.bins.encode(noisy)
        np.copyto(draft[..., 1:], ids, where=found.present[..., None])
        return {
            "tokens": torch.from_numpy(self.vocabulary.flatten(draft)),
            "valid": torch.from_numpy(np.repeat(found.present, 5, axis=1)),
            "targets": torch.from_numpy(self.vocabulary.flatten(found.tokens)),
        }

    def loss_of(self, module: nn.Module, batch: Batch) -> Tensor:
        scores = module(batch["tokens"], batch["valid"]).float()
        pad = self.vocabulary.pad
        return F.cross_entropy(scores.flatten(0, 1), batch["targets"].flatten(), ignore_index=pad)

    def files(self, module: nn.Module, folder: Path) -> dict[str, Any]:
        inputs = {
            "tokens": torch.zeros(2, 10, dtype=torch.long),
            "valid": torch.ones(2, 10, dtype=torch.bool),
        }
        two = {0: "batch", 1: "length"}
        free = {"tokens": two, "valid": two, "scores": two}
        write_onnx(module, folder / FILE, inputs, ("scores",), free)
        return {"vocabulary": self.vocabulary.to_dict()}

"""The learn half of LayoutTrans: next-token prediction with a causal transformer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from layoutdm.baselines.layouttrans import FILE
from layoutdm.baselines.learn.packed import Ints, Packed, shuffled, top_left
from layoutdm.baselines.learn.system import Recipe, SystemLearner, write_onnx
from layoutdm.baselines.learn.transformer import SequenceNetwork, Size, StepNetwork
from layoutdm.baselines.vocabulary import SIZE_FIRST, Vocabulary
from layoutdm.train.learner import Batch

SMOOTHING = 0.1  # of the targets, as published


class LayoutTransLearner(SystemLearner):
    recipe: ClassVar[Recipe] = Recipe()

    @property
    def vocabulary(self) -> Vocabulary:
        # Sizes before places: a place is chosen knowing its element's size, given or drawn.
        return Vocabulary(self.tokenizer.sizes, SIZE_FIRST, True, ("pad", "bos", "eos"))

    def build(self, size: Size) -> nn.Module:
        positions = 5 * self.tokenizer.max_elements + 1  # BOS comes first
        return SequenceNetwork(self.vocabulary.size, positions, size, causal=True)

    def make(self, packed: Packed, layouts: Ints, rng: np.random.Generator) -> Batch:
        fixed = self.name == "layouttrans-fixed"
        order = top_left(packed, layouts) if fixed else shuffled(packed, layouts, rng)
        found, words = packed.gather(layouts, order), self.vocabulary
        flat = words.flatten(found.tokens)
        ends = np.concatenate([flat, np.full((len(flat), 1), words.pad)], axis=1)
        ends[np.arange(len(flat)), 5 * found.present.sum(axis=1)] = words.special("eos")
        begins = np.concatenate([np.full((len(flat), 1), words.special("bos")), flat], axis=1)
        return {"read": torch.from_numpy(begins), "write": torch.from_numpy(ends)}

    def loss_of(self, module: nn.Module, batch: Batch) -> Tensor:
        scores = module(batch["read"])
        return F.cross_entropy(
            scores.flatten(0, 1), batch["write"].flatten(), ignore_index=self.vocabulary.pad,
            label_smoothing=SMOOTHING,
        )  # fmt: skip

    def files(self, module: nn.Module, folder: Path) -> dict[str, Any]:
        assert isinstance(module, SequenceNetwork)
        size = self.setup.shape
        kept = torch.zeros(size.layers, 2, size.heads, 3, size.width // size.heads)
        inputs = {
            "tokens": torch.zeros(2, dtype=torch.long), "position": torch.tensor([3]),
            "keys": kept, "values": kept.clone(),
        }  # fmt: skip
        cache = {1: "batch", 3: "so_far"}
        longer = {1: "batch", 3: "longer"}
        free = {
            "tokens": {0: "batch"}, "keys": cache, "values": cache, "scores": {0: "batch"},
            "new_keys": longer, "new_values": longer,
        }  # fmt: skip
        outputs = ("scores", "new_keys", "new_values")
        write_onnx(StepNetwork(module), folder / FILE, inputs, outputs, free)
        return {"vocabulary": self.vocabulary.to_dict()}

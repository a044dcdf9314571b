"""The learn half of BLT, as compared and as its authors released it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from layoutdm.baselines.blt import FILE, GROUPS
from layoutdm.baselines.learn.maskgit import NOT_ASKED, MaskGITLearner
from layoutdm.baselines.learn.packed import Floats, Ints, Packed, shuffled
from layoutdm.baselines.learn.system import Recipe, SystemLearner, write_onnx
from layoutdm.baselines.learn.transformer import PostNormBlock, Size, initialise
from layoutdm.baselines.vocabulary import SIZE_FIRST, Vocabulary
from layoutdm.tokens import Bins
from layoutdm.train.learner import Batch
from layoutdm.train.settings import Optimiser

Bools = NDArray[np.bool_]
LABELS, SIZES, PLACES = range(3)  # of GROUPS


def lowest(chances: Floats, inside: Bools, number: Ints) -> Bools:
    """The `number` (B,) tokens with the lowest chances among those inside."""
    rank = np.argsort(np.argsort(np.where(inside, chances, 2.0), axis=1), axis=1)
    return np.asarray(inside & (rank < number[:, None]))


class BLTLearner(MaskGITLearner):
    """As compared: tokens of one group are masked, all else is visible."""

    smoothing: ClassVar[float] = 0.0

    def choose(self, flat: Ints, rng: np.random.Generator) -> Bools:
        size, length = flat.shape
        modality = np.array(self.vocabulary.order)[np.arange(length) % 5]
        members = np.array([np.isin(modality, group) for group in GROUPS])
        inside = members[rng.integers(0, 3, size)]
        number = 1 + np.floor(rng.random(size) * inside.sum(axis=1)).astype(np.int64)
        return lowest(rng.random(flat.shape), inside, number)


class BLTOriginalLearner(SystemLearner):
    """As released: in two fifths of training the later groups are hidden, as when decoding."""

    recipe: ClassVar[Recipe] = Recipe(
        bins="even",  # k / 31: values are rounded to it, and sizes are never 0
        # Its rate rises for 4,000 steps to this peak and then falls with the root of the step;
        # here it stays, which the trainer can do.
        optimiser=Optimiser(
            learning_rate=7.9e-5, warm_up=4000, weight_decay=0.01, schedule="constant", average=0.0
        ),
    )

    @classmethod
    def fit_bins(cls, boxes: Floats) -> Bins:
        steps = np.arange(cls.recipe.bin_count) / (cls.recipe.bin_count - 1)
        return Bins("even", (steps, steps.copy(), steps[1:].copy(), steps[1:].copy()))

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.tokenizer.sizes, SIZE_FIRST, False, ("pad", "mask"))

    def build(self, size: Size) -> nn.Module:
        return OriginalNetwork(self.vocabulary.size, self.tokenizer.max_elements, size)

    def make(self, packed: Packed, layouts: Ints, rng: np.random.Generator) -> Batch:
        found = packed.gather(layouts, shuffled(packed, layouts, rng))
        words = self.vocabulary
        flat = words.flatten(found.tokens)
        valid = np.repeat(found.present, 5, axis=1)
        hidden, asked = choose_groups(flat.shape, valid, words, rng)
        return {
            "tokens": torch.from_numpy(np.where(hidden | asked, words.special("mask"), flat)),
            "targets": torch.from_numpy(np.where(asked, flat, NOT_ASKED)),
            "valid": torch.from_numpy(valid),
            "elements": torch.from_numpy(found.present.sum(axis=1)),
        }

    def loss_of(self, module: nn.Module, batch: Batch) -> Tensor:
        scores = module(batch["tokens"], batch["valid"], batch["elements"]).float()
        targets = batch["targets"].flatten()
        return F.cross_entropy(scores.flatten(0, 1), targets, ignore_index=NOT_ASKED)

    def files(self, module: nn.Module, folder: Path) -> dict[str, Any]:
        inputs = {
            "tokens": torch.zeros(2, 10, dtype=torch.long),
            "valid": torch.ones(2, 10, dtype=torch.bool),
            "elements": torch.full((2,), 2),
        }
        two = {0: "batch", 1: "length"}
        free = {"tokens": two, "valid": two, "elements": {0: "batch"}, "scores": two}
        write_onnx(module, folder / FILE, inputs, ("scores",), free)
        return {"vocabulary": self.vocabulary.to_dict()}


def choose_groups(
    shape: tuple[int, ...], valid: Bools, vocabulary: Vocabulary, rng: np.random.Generator
) -> tuple[Bools, Bools]:
    """What is hidden and what is asked for.

    With u uniform: below 0.2 labels are asked for and all else is hidden; below 0.4 sizes, with
    places hidden; then places, sizes, labels, a fifth each, with all else visible. Of the group
    ceil((1 - v) n) tokens are asked for, v uniform.
    """
    size, length = shape
    modality = np.array(vocabulary.order)[np.arange(length) % 5]
    members = np.array([np.isin(modality, group) for group in GROUPS])
    kind = np.floor(5 * rng.random(size)).astype(np.int64)
    group = np.array([LABELS, SIZES, PLACES, SIZES, LABELS])[kind]
    inside = members[group] & valid
    number = np.ceil((1 - rng.random(size)) * inside.sum(axis=1)).astype(np.int64)
    asked = lowest(rng.random(shape), inside, number)
    nothing = np.zeros(length, dtype=bool)
    later = np.array([members[SIZES] | members[PLACES], members[PLACES], nothing, nothing, nothing])
    return later[kind] & valid, asked


class OriginalNetwork(nn.Module):
    """BERT layers on token + element + number of elements, with tied output weights."""

    def __init__(self, vocabulary: int, elements: int, size: Size) -> None:
        super().__init__()
        width = size.width
        self.embed = nn.Embedding(vocabulary, width)
        self.element = nn.Embedding(elements, width)
        self.number = nn.Embedding(elements + 1, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(size.dropout)
        self.blocks = nn.ModuleList(PostNormBlock(size, nn.GELU) for _ in range(size.layers))
        self.head = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        self.apply(initialise)

    def forward(self, tokens: Tensor, valid: Tensor, elements: Tensor) -> Tensor:
        at = torch.arange(tokens.shape[1], device=tokens.device) // 5
        x = self.embed(tokens) + self.element(at) + self.number(elements)[:, None]
        x = self.dropout(self.norm(x))
        for block in self.blocks:
            x = block(x, valid[:, None, None, :])
        scores: Tensor = self.head(x) @ self.embed.weight.T + self.bias
        return scores

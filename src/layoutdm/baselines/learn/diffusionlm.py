"""The learn half of Diffusion-LM: predict clean embeddings, and learn the embeddings as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from layoutdm.baselines.diffusionlm import FILE, LAST, TABLES, log_snr, scales
from layoutdm.baselines.learn.packed import Ints, Packed, shuffled
from layoutdm.baselines.learn.system import Recipe, SystemLearner, write_onnx
from layoutdm.baselines.learn.transformer import Attention, Size, feed_forward, initialise
from layoutdm.baselines.vocabulary import PLACE_FIRST, Vocabulary
from layoutdm.train.learner import Batch
from layoutdm.train.settings import Optimiser

VECTOR = 16  # numbers a token; 64 and 128 were tried as well
STEPS = 100  # below time 1 / STEPS the target is the embedding itself


class DiffusionLMLearner(SystemLearner):
    recipe: ClassVar[Recipe] = Recipe(
        compact=Size(dropout=0.0),  # inside blocks; inputs have 0.1, as released
        published=Size(464, 4, 8, 1856, dropout=0.0),  # 29/32 of 512, for AdaLN's parameters
        # Five times the other systems' rate, halved when the loss stops falling, as published.
        optimiser=Optimiser(learning_rate=5e-4, schedule="plateau", warm_up=0, average=0.0),
    )
    bucketed: ClassVar[bool] = False  # PAD is a word

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.tokenizer.sizes, PLACE_FIRST, False, ("pad", "mask"))

    def build(self, size: Size) -> nn.Module:
        return DiffusionLMNetwork(self.vocabulary.size, 5 * self.tokenizer.max_elements, size)

    def make(self, packed: Packed, layouts: Ints, rng: np.random.Generator) -> Batch:
        order = shuffled(packed, layouts, rng)
        found = packed.gather(layouts, order, self.tokenizer.max_elements)
        flat = self.vocabulary.flatten(found.tokens)
        time = LAST * rng.random(len(flat))
        log = log_snr(time)
        alpha, sigma = scales(log)
        noise = rng.standard_normal((2, *flat.shape, VECTOR))
        arrays = {"time": time, "log_snr": log, "alpha": alpha, "sigma": sigma}
        return {
            "flat": torch.from_numpy(flat),
            "first": torch.from_numpy(noise[0]).float(),
            "noise": torch.from_numpy(noise[1]).float(),
            **{name: torch.from_numpy(value).float() for name, value in arrays.items()},
        }

    def loss_of(self, module: nn.Module, batch: Batch) -> Tensor:
        """Prediction, what is left of the signal at the end, and rounding; all with weight 1."""
        assert isinstance(module, DiffusionLMNetwork)
        words = module.words(batch["flat"])
        clean = words + float(scales(log_snr(0.0))[1]) * batch["first"]
        wide = {name: batch[name][:, None, None] for name in ("alpha", "sigma", "time")}
        noisy = wide["alpha"] * clean + wide["sigma"] * batch["noise"]
        found = module(noisy, batch["log_snr"]).float()
        target = torch.where(wide["time"] < 1 / STEPS, words, clean)
        predicted = ((found - target) ** 2).mean(dim=(1, 2))
        left = (float(scales(log_snr(LAST))[0]) * clean).square().mean(dim=(1, 2))
        scores = module.rounding(found).float()
        rounded = F.cross_entropy(scores.flatten(0, 1), batch["flat"].flatten(), reduction="none")
        loss: Tensor = predicted + left + rounded.view(batch["flat"].shape).mean(dim=1)
        return loss

    def files(self, module: nn.Module, folder: Path) -> dict[str, Any]:
        assert isinstance(module, DiffusionLMNetwork)
        length = 5 * self.tokenizer.max_elements
        inputs = {"vectors": torch.zeros(2, length, VECTOR), "log_snr": torch.zeros(2)}
        free = {name: {0: "batch"} for name in (*inputs, "clean")}
        write_onnx(module, folder / FILE, inputs, ("clean",), free)
        rounding = module.rounding
        tables = {"words": module.words.weight, "weight": rounding.weight, "bias": rounding.bias}
        with (folder / TABLES).open("wb") as stream:
            np.savez(stream, **{k: v.detach().cpu().numpy() for k, v in tables.items()})  # type: ignore[arg-type]
        return {"vocabulary": self.vocabulary.to_dict()}


class _Norm(nn.Module):
    """LayerNorm whose scale and shift come from the log-SNR."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, width // 2), nn.ReLU(), nn.Linear(width // 2, width))
        self.project = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(width, elementwise_affine=False)

    def forward(self, x: Tensor, log: Tensor) -> Tensor:
        scale, shift = self.project(F.silu(self.time(log[:, None])))[:, None].chunk(2, dim=-1)
        normed: Tensor = self.norm(x) * (1 + scale) + shift
        return normed


class _Block(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.norm1, self.norm2 = _Norm(size.width), nn.LayerNorm(size.width)
        self.attention = Attention(size.width, size.heads)
        self.feedforward = feed_forward(size.width, size.feedforward)
        self.dropout = nn.Dropout(size.dropout)

    def forward(self, x: Tensor, log: Tensor) -> Tensor:
        x = x + self.dropout(self.attention(self.norm1(x, log)))
        out: Tensor = x + self.dropout(self.feedforward(self.norm2(x)))
        return out


class DiffusionLMNetwork(nn.Module):
    """Noisy vectors and their log-SNR to clean vectors."""

    def __init__(self, vocabulary: int, positions: int, size: Size) -> None:
        super().__init__()
        width = size.width
        # The second half of its input is for self-conditioning, which is off: zeros.
        self.read = nn.Linear(2 * VECTOR, width)
        self.position = nn.Embedding(positions, width)
        self.dropout = nn.Dropout(0.1)
        self.blocks = nn.ModuleList(_Block(size) for _ in range(size.layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VECTOR, bias=False)
        self.words, self.rounding = nn.Embedding(vocabulary, VECTOR), nn.Linear(VECTOR, vocabulary)
        self.apply(initialise)
        nn.init.uniform_(self.position.weight)
        nn.init.trunc_normal_(self.words.weight, std=1.0, a=-2.0, b=2.0)
        with torch.no_grad():
            self.rounding.weight.copy_(self.words.weight)

    def forward(self, vectors: Tensor, log_snr: Tensor) -> Tensor:
        at = torch.arange(vectors.shape[1], device=vectors.device)
        both = torch.cat([torch.zeros_like(vectors), vectors], dim=-1)
        x = self.dropout(self.read(both) + self.position(at))
        for block in self.blocks:
            x = block(x, log_snr)
        clean: Tensor = self.head(self.norm(x))
        return clean

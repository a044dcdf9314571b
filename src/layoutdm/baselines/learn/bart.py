"""The learn half of BART: holes in the encoder's tokens, the whole layout from the decoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from layoutdm.baselines.bart import DECODER, ENCODER
from layoutdm.baselines.learn.packed import Ints, Packed, shuffled
from layoutdm.baselines.learn.system import Recipe, SystemLearner, write_onnx
from layoutdm.baselines.learn.transformer import Attention, Block, Size, feed_forward, initialise
from layoutdm.baselines.vocabulary import SIZE_FIRST, Vocabulary
from layoutdm.train.learner import Batch


class BartLearner(SystemLearner):
    recipe: ClassVar[Recipe] = Recipe(
        published=Size(336, 4, 8, 1344)  # 21/32: two stacks with the parameters of one
    )
    bucketed: ClassVar[bool] = False  # the length must not leak, so every layout has all slots

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.tokenizer.sizes, SIZE_FIRST, True, ("pad", "bos", "eos", "mask"))

    def build(self, size: Size) -> nn.Module:
        return BartNetwork(self.vocabulary.size, 5 * self.tokenizer.max_elements + 1, size)

    def make(self, packed: Packed, layouts: Ints, rng: np.random.Generator) -> Batch:
        words = self.vocabulary
        order = shuffled(packed, layouts, rng)
        found = packed.gather(layouts, order, self.tokenizer.max_elements)
        flat = words.flatten(found.tokens)
        size, length = flat.shape
        ends = np.concatenate([flat, np.full((size, 1), words.pad)], axis=1)
        ends[np.arange(size), 5 * found.present.sum(axis=1)] = words.special("eos")
        begins = np.concatenate([np.full((size, 1), words.special("bos")), flat], axis=1)
        whole = np.concatenate([begins[:, :1], ends[:, :-1]], axis=1)
        # Any of the 126 tokens may be hidden: BOS, EOS and PAD as well.
        number = np.floor((length + 1) * rng.random(size))
        rank = np.argsort(np.argsort(rng.random(whole.shape), axis=1), axis=1)
        holes = np.where(rank < number[:, None], words.special("mask"), whole)
        return {
            "holes": torch.from_numpy(holes), "read": torch.from_numpy(begins),
            "write": torch.from_numpy(ends),
        }  # fmt: skip

    def loss_of(self, module: nn.Module, batch: Batch) -> Tensor:
        scores = module(batch["holes"], batch["read"]).float()
        pad = self.vocabulary.pad
        return F.cross_entropy(scores.flatten(0, 1), batch["write"].flatten(), ignore_index=pad)

    def files(self, module: nn.Module, folder: Path) -> dict[str, Any]:
        assert isinstance(module, BartNetwork)
        size, length = self.setup.shape, 5 * self.tokenizer.max_elements + 1
        seen, batch = {1: "batch"}, {0: "batch"}
        tokens = torch.zeros(2, length, dtype=torch.long)
        memory = {"memory_keys": seen, "memory_values": seen}
        free = {"tokens": batch, **memory}
        write_onnx(_Reading(module), folder / ENCODER, {"tokens": tokens}, tuple(memory), free)
        with torch.no_grad():
            keys, values = _Reading(module)(tokens)
        kept = torch.zeros(size.layers, 2, size.heads, 3, size.width // size.heads)
        inputs = {
            "tokens": torch.zeros(2, dtype=torch.long), "position": torch.tensor([3]),
            "keys": kept, "values": kept.clone(), "memory_keys": keys, "memory_values": values,
        }  # fmt: skip
        cache, longer = {1: "batch", 3: "so_far"}, {1: "batch", 3: "longer"}
        free = {
            "tokens": batch, "keys": cache, "values": cache, **memory, "scores": batch,
            "new_keys": longer, "new_values": longer,
        }  # fmt: skip
        outputs = ("scores", "new_keys", "new_values")
        write_onnx(_Writing(module), folder / DECODER, inputs, outputs, free)
        return {"vocabulary": self.vocabulary.to_dict()}


class DecoderBlock(nn.Module):
    """Attention to earlier tokens and to the memory, feed-forward; a norm before each."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.attention = Attention(size.width, size.heads)
        self.looking = Attention(size.width, size.heads)
        self.feedforward = feed_forward(size.width, size.feedforward)
        self.norms = nn.ModuleList(nn.LayerNorm(size.width) for _ in range(3))
        self.dropout = nn.Dropout(size.dropout)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        x = x + self.dropout(self.attention(self.norms[0](x), causal=True))
        return self._rest(x, keys, values)

    def step(
        self, x: Tensor, kept: tuple[Tensor, Tensor], memory: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor, Tensor]:
        mixed, keys, values = self.attention.step(self.norms[0](x), *kept)
        return self._rest(x + mixed, *memory), keys, values

    def _rest(self, x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        x = x + self.dropout(self.looking.look(self.norms[1](x), keys, values))
        out: Tensor = x + self.dropout(self.feedforward(self.norms[2](x)))
        return out


class BartNetwork(nn.Module):
    """No padding mask anywhere: the encoder must find out the length from what it sees."""

    def __init__(self, vocabulary: int, positions: int, size: Size) -> None:
        super().__init__()
        width = size.width
        self.embed = nn.ModuleList(nn.Embedding(vocabulary, width) for _ in range(2))
        self.position = nn.ModuleList(nn.Embedding(positions, width) for _ in range(2))
        self.dropout = nn.Dropout(size.dropout)
        self.encoder = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.decoder = nn.ModuleList(DecoderBlock(size) for _ in range(size.layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.apply(initialise)
        for table in self.position.parameters():
            nn.init.uniform_(table)

    def read(self, holes: Tensor) -> Tensor:
        at = torch.arange(holes.shape[1], device=holes.device)
        x: Tensor = self.dropout(self.embed[0](holes) + self.position[0](at))
        for block in self.encoder:
            x = block(x)
        return x

    def forward(self, holes: Tensor, read: Tensor) -> Tensor:
        memory = self.read(holes)
        at = torch.arange(read.shape[1], device=read.device)
        x = self.embed[1](read) + self.position[1](at)  # without dropout, as published
        for block in self.decoder:
            x = block(x, *block.looking.memory(memory))  # type: ignore[union-attr, operator]
        scores: Tensor = self.head(self.norm(x))
        return scores


class _Reading(nn.Module):
    """The encoder, and what each decoder block looks at, for export."""

    def __init__(self, network: BartNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        memory = self.network.read(tokens)
        found = [block.looking.memory(memory) for block in self.network.decoder]  # type: ignore[union-attr, operator]
        return torch.stack([k for k, _ in found]), torch.stack([v for _, v in found])


class _Writing(nn.Module):
    """One more token of the decoder, for export."""

    def __init__(self, network: BartNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, tokens: Tensor, position: Tensor, keys: Tensor, values: Tensor,
        memory_keys: Tensor, memory_values: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
        net = self.network
        x = net.embed[1](tokens)[:, None] + net.position[1](position)
        kept = []
        for layer, block in enumerate(net.decoder):
            own, memory = (keys[layer], values[layer]), (memory_keys[layer], memory_values[layer])
            x, *new = block.step(x, own, memory)  # type: ignore[operator]
            kept.append(new)
        scores = net.head(net.norm(x))[:, 0]
        return scores, torch.stack([k for k, _ in kept]), torch.stack([v for _, v in kept])

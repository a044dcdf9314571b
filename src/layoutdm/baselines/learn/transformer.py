"""Transformer blocks that the systems share, in the sizes that they are compared at."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from layoutdm.train.networks.attention import attend


@dataclass(frozen=True)
class Size:
    """How large a transformer is."""

    width: int = 256
    layers: int = 4
    heads: int = 8
    feedforward: int = 1024
    dropout: float = 0.1
    # The released code adds attention to the normalised input, which loses the identity path;
    # True repeats that. It is a slip, not a part of any system, so it is off.
    published_block: bool = False


COMPACT = Size()  # one size for all, small enough to train every system on a CPU
PUBLISHED = Size(512, 4, 8, 2048)


class Attention(nn.Module):
    """Multi-head attention over its own sequence, over earlier tokens, or over a memory."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project_in = nn.Linear(width, 3 * width)
        self.project_out = nn.Linear(width, width)
        nn.init.xavier_uniform_(self.project_in.weight)
        for projection in (self.project_in, self.project_out):  # as torch's own attention begins
            nn.init.zeros_(projection.bias)

    def forward(self, x: Tensor, visible: Tensor | None = None, causal: bool = False) -> Tensor:
        """visible: a boolean that broadcasts to (B, heads, N, N)."""
        query, key, value = (self._split(part) for part in self.project_in(x).chunk(3, dim=-1))
        return self._joined(attend(query, key, value, visible, causal))

    def step(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """One more token, (B, 1, width), after those whose keys and values are kept."""
        query, key, value = (self._split(part) for part in self.project_in(x).chunk(3, dim=-1))
        keys, values = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
        return self._joined(attend(query, keys, values, None)), keys, values

    def memory(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of a memory, to attend to with `look`."""
        width = memory.shape[-1]
        weight, bias = self.project_in.weight[width:], self.project_in.bias[width:]
        key, value = F.linear(memory, weight, bias).chunk(2, dim=-1)
        return self._split(key), self._split(value)

    def look(self, x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Attention of x to the keys and values of a memory."""
        width = x.shape[-1]
        query = F.linear(x, self.project_in.weight[:width], self.project_in.bias[:width])
        return self._joined(attend(self._split(query), keys, values, None))

    def _split(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def _joined(self, mixed: Tensor) -> Tensor:
        batch, heads, length, size = mixed.shape
        flat = mixed.transpose(1, 2).reshape(batch, length, heads * size)
        out: Tensor = self.project_out(flat)
        return out


def feed_forward(width: int, inner: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))


class Block(nn.Module):
    """Self-attention and feed-forward, each with its norm before it."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.published = size.published_block
        self.norm1, self.norm2 = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.attention = Attention(size.width, size.heads)
        self.feedforward = feed_forward(size.width, size.feedforward)
        self.dropout = nn.Dropout(size.dropout)

    def forward(self, x: Tensor, visible: Tensor | None = None, causal: bool = False) -> Tensor:
        normed = self.norm1(x)
        return self._rest(x, normed, self.attention(normed, visible, causal))

    def step(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        normed = self.norm1(x)
        mixed, keys, values = self.attention.step(normed, keys, values)
        return self._rest(x, normed, mixed), keys, values

    def _rest(self, x: Tensor, normed: Tensor, mixed: Tensor) -> Tensor:
        x = (normed if self.published else x) + self.dropout(mixed)
        out: Tensor = x + self.dropout(self.feedforward(self.norm2(x)))
        return out


class PostNormBlock(nn.Module):
    """Self-attention and feed-forward, each with its norm after it."""

    def __init__(self, size: Size, activation: type[nn.Module]) -> None:
        super().__init__()
        self.attention = Attention(size.width, size.heads)
        self.norm1, self.norm2 = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.feedforward = nn.Sequential(
            nn.Linear(size.width, size.feedforward),
            activation(),
            nn.Linear(size.feedforward, size.width),
        )
        self.dropout = nn.Dropout(size.dropout)

    def forward(self, x: Tensor, visible: Tensor) -> Tensor:
        x = self.norm1(x + self.dropout(self.attention(x, visible)))
        out: Tensor = self.norm2(x + self.dropout(self.feedforward(x)))
        return out


class SequenceNetwork(nn.Module):
    """Tokens to scores of tokens: embeddings, learned positions, blocks, a head."""

    def __init__(self, vocabulary: int, positions: int, size: Size, causal: bool = False) -> None:
        super().__init__()
        self.causal = causal
        self.embed = nn.Embedding(vocabulary, size.width)
        self.position = nn.Embedding(positions, size.width)
        self.dropout = nn.Dropout(size.dropout)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, vocabulary, bias=False)
        self.apply(initialise)
        nn.init.uniform_(self.position.weight)  # as published: not around zero

    def forward(self, tokens: Tensor, valid: Tensor | None = None) -> Tensor:
        """(B, N) ids to (B, N, vocabulary); `valid` (B, N) hides what only fills up."""
        at = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.dropout(self.embed(tokens) + self.position(at))
        visible = None if valid is None else valid[:, None, None, :]
        for block in self.blocks:
            x = block(x, visible, self.causal)
        scores: Tensor = self.head(self.norm(x))
        return scores


class StepNetwork(nn.Module):
    """A causal SequenceNetwork that reads one token a call, for export."""

    def __init__(self, network: SequenceNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, tokens: Tensor, position: Tensor, keys: Tensor, values: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """tokens (B,), position (1,), keys and values (layers, B, heads, so far, size)."""
        net = self.network
        x = net.embed(tokens)[:, None] + net.position(position)
        kept = []
        for layer, block in enumerate(net.blocks):
            x, *own = block.step(x, keys[layer], values[layer])  # type: ignore[operator]
            kept.append(own)
        scores = net.head(net.norm(x))[:, 0]
        return scores, torch.stack([k for k, _ in kept]), torch.stack([v for _, v in kept])


def initialise(module: nn.Module) -> None:
    """N(0, 0.02) on linear and embedding weights, zero biases; attention's input stays Xavier."""
    if isinstance(module, Attention):
        nn.init.xavier_uniform_(module.project_in.weight)
    elif isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)


def parameters(module: nn.Module) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in module.parameters())

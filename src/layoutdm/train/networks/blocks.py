"""Transformer blocks with optional time conditioning, and the initialisation they share."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from layoutdm.train.networks.attention import attend_few
from layoutdm.train.networks.config import NetworkConfig


class AdaptiveNorm(nn.Module):
    """LayerNorm whose scale and shift come from the noise level (AdaLN)."""

    def __init__(self, width: int, steps: int) -> None:
        super().__init__()
        self.table = nn.Embedding(steps, width)
        self.project = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(width, elementwise_affine=False)

    def forward(self, x: Tensor, level: Tensor | None) -> Tensor:
        assert level is not None, "a time-conditioned network needs the noise level"
        scale, shift = self.project(F.silu(self.table(level - 1)))[:, None].chunk(2, dim=-1)
        normed: Tensor = self.norm(x) * (1 + scale) + shift
        return normed


class PlainNorm(nn.LayerNorm):
    """LayerNorm that takes and ignores a noise level."""

    def forward(self, x: Tensor, level: Tensor | None = None) -> Tensor:
        return super().forward(x)


class Attention(nn.Module):
    """Multi-head self-attention; `visible` (B, 1, 1, S) hides slots that are only filling."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project_in = nn.Linear(width, 3 * width)
        self.project_out = nn.Linear(width, width)

    def forward(self, x: Tensor, visible: Tensor | None, wanted: Tensor | None = None) -> Tensor:
        """wanted (B, A): the places of the sequence that look at all others; None: all look."""
        if wanted is not None:
            return self._from(x, visible, wanted)
        batch, length, width = x.shape
        split = self.project_in(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = attend_few(query, key, value, visible)
        out: Tensor = self.project_out(mixed.transpose(1, 2).reshape(batch, length, width))
        return out

    def _from(self, x: Tensor, visible: Tensor | None, wanted: Tensor) -> Tensor:
        batch, length, width = x.shape
        each = width // self.heads
        weight, bias = self.project_in.weight, self.project_in.bias
        some = take_places(x, wanted)
        query = F.linear(some, weight[:width], bias[:width]).view(batch, -1, self.heads, each)
        both = F.linear(x, weight[width:], bias[width:]).view(batch, length, 2, self.heads, each)
        key, value = both.permute(2, 0, 3, 1, 4)
        mixed = attend_few(query.transpose(1, 2), key, value, visible)
        out: Tensor = self.project_out(mixed.transpose(1, 2).reshape(batch, -1, width))
        return out


class SharedDropout(nn.Module):
    """Dropout of whole features of a layout: one mask for all its places, drawn in no time."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self.share:
            return x
        kept = torch.rand(len(x), 1, x.shape[2], device=x.device) >= self.share
        return x * (kept / (1 - self.share)).to(x.dtype)


class Block(nn.Module):
    """Self-attention and feed-forward, pre-norm; or the published variant of the residual.

    The published code adds attention to the normalised input, which loses the identity path;
    `block="published"` reproduces that.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        width = config.width
        adaptive = config.time == "adaln"
        self.published = config.block == "published"
        self.norm1 = AdaptiveNorm(width, config.steps) if adaptive else PlainNorm(width)
        self.attention = Attention(width, config.heads)
        self.norm2 = nn.LayerNorm(width)
        # The published network uses ReLU; GELU trains a little better for the element network.
        activation: nn.Module = nn.ReLU() if config.kind == "paper" else nn.GELU(approximate="tanh")
        self.feedforward = nn.Sequential(
            nn.Linear(width, config.feedforward),
            activation,
            nn.Linear(config.feedforward, width),
        )
        shared = config.kind == "element"
        self.dropout = SharedDropout(config.dropout) if shared else nn.Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        level: Tensor | None,
        visible: Tensor | None,
        wanted: Tensor | None = None,
    ) -> Tensor:
        """wanted (B, A): the places whose values are asked for; None: all."""
        normed = self.norm1(x, level)
        base = normed if self.published else x
        if wanted is not None:
            base = take_places(base, wanted)
        x = base + self.dropout(self.attention(normed, visible, wanted))
        out: Tensor = x + self.dropout(self.feedforward(self.norm2(x)))
        return out


def initialise(module: nn.Module) -> None:
    """N(0, 0.02) on linear and embedding weights, zero biases, unit norms: worth two FID points."""
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=0.02)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)


def take_places(x: Tensor, wanted: Tensor) -> Tensor:
    """(B, A, width) of (B, S, width): these places of each row."""
    return x.gather(1, wanted[..., None].expand(-1, -1, x.shape[-1]))


def attention_visibility(valid: Tensor | None) -> Tensor | None:
    """(B, S) valid slots to the (B, 1, 1, S) boolean that attention takes."""
    return None if valid is None else valid[:, None, None, :].to(torch.bool)

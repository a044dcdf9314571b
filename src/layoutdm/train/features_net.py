"""The network behind FID: an autoencoder of layouts that also tells real from noisy ones.

>>> network = FeatureAutoencoder(FeatureShape(classes=25))
>>> network.parameter_count()
2925598

The encoder reads a *set* of labelled boxes (it has no positions, so the order of elements does
not matter) through one extra token, whose output is the feature. The decoder and the real/noisy
head only exist to teach the encoder; they are dropped on export.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class FeatureShape:
    """Sizes of the network; the defaults are those of the published feature network."""

    classes: int
    width: int = 256
    heads: int = 4
    feedforward: int = 128
    layers: int = 4
    dropout: float = 0.1
    max_elements: int = 25


@dataclass(frozen=True)
class FeatureOutput:
    """What one pass returns: the feature, the noisy logit, and the reconstruction."""

    feature: Tensor  # (batch, width)
    noisy: Tensor  # (batch,)
    labels: Tensor  # (batch, elements, classes), logits
    boxes: Tensor  # (batch, elements, 4), in 0..1


class Block(nn.Module):
    """A post-norm transformer layer, written out so that unpadded batches need no mask at all."""

    def __init__(self, shape: FeatureShape) -> None:
        super().__init__()
        width = shape.width
        self.heads, self.dropout = shape.heads, shape.dropout
        self.attention_in = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.norm1 = nn.LayerNorm(width)
        self.feedforward_in = nn.Linear(width, shape.feedforward)
        self.feedforward_out = nn.Linear(shape.feedforward, width)
        self.norm2 = nn.LayerNorm(width)
        # Same start as torch's own attention: Xavier for the stacked projection, zero biases.
        nn.init.xavier_uniform_(self.attention_in.weight)
        nn.init.zeros_(self.attention_in.bias)
        nn.init.zeros_(self.attention_out.bias)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        x = self.norm1(x + self._drop(self._attend(x, mask)))
        hidden = self._drop(F.relu(self.feedforward_in(x)))
        x = x + self._drop(self.feedforward_out(hidden))
        out: Tensor = self.norm2(x)
        return out

    def _attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        batch, length, width = x.shape
        stacked = self.attention_in(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = stacked.permute(2, 0, 3, 1, 4)
        dropout = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, mask, dropout)
        out: Tensor = self.attention_out(mixed.transpose(1, 2).reshape(batch, length, width))
        return out

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)


class Encoder(nn.Module):
    """Boxes and labels to one feature a layout."""

    def __init__(self, shape: FeatureShape) -> None:
        super().__init__()
        width = shape.width
        self.box = nn.Linear(4, width)
        self.label = nn.Embedding(shape.classes, width)
        self.join = nn.Linear(2 * width, width)
        self.token = nn.Parameter(torch.rand(1, 1, width))
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))

    def forward(self, boxes: Tensor, labels: Tensor, mask: Tensor | None) -> Tensor:
        x = F.relu(self.join(torch.cat([self.box(boxes), self.label(labels)], dim=-1)))
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1)
        if mask is not None:
            mask = F.pad(mask, (1, 0), value=True)[:, None, None, :]
        for block in self.blocks:
            x = block(x, mask)
        return x[:, 0]


class Decoder(nn.Module):
    """One feature back to boxes and labels; position i stands for the i-th element in reading
    order (top, then left)."""

    def __init__(self, shape: FeatureShape) -> None:
        super().__init__()
        width = shape.width
        self.position = nn.Parameter(torch.rand(shape.max_elements, width))
        self.join = nn.Linear(2 * width, width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.label = nn.Linear(width, shape.classes)
        self.box = nn.Linear(width, 4)

    def forward(self, feature: Tensor, length: int, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        batch = len(feature)
        x = feature[:, None].expand(-1, length, -1)
        position = self.position[None, :length].expand(batch, -1, -1)
        x = F.relu(self.join(torch.cat([x, position], dim=-1)))
        if mask is not None:
            mask = mask[:, None, None, :]
        for block in self.blocks:
            x = block(x, mask)
        return self.label(x), torch.sigmoid(self.box(x))


class FeatureAutoencoder(nn.Module):
    """Encoder, real/noisy head and decoder."""

    def __init__(self, shape: FeatureShape) -> None:
        super().__init__()
        self.shape = shape
        self.encoder = Encoder(shape)
        self.noisy = nn.Linear(shape.width, 1)
        self.decoder = Decoder(shape)

    def forward(self, boxes: Tensor, labels: Tensor, mask: Tensor | None = None) -> FeatureOutput:
        """`mask` is True where an element is real; None says that nothing is padded."""
        feature = self.encoder(boxes, labels, mask)
        logits, rebuilt = self.decoder(feature, boxes.shape[1], mask)
        return FeatureOutput(feature, self.noisy(feature)[:, 0], logits, rebuilt)

    def parameter_count(self) -> int:
        return sum(p.numel() for p in self.parameters())


@dataclass(frozen=True)
class FeatureLoss:
    """The three terms; `total` is what is minimised and what checkpoints are chosen by."""

    total: Tensor
    noisy: Tensor
    label: Tensor
    box: Tensor


def feature_loss(
    output: FeatureOutput,
    boxes: Tensor,
    labels: Tensor,
    mask: Tensor,
    noisy: Tensor,
    box_weight: float = 10.0,
) -> FeatureLoss:
    """Is it noisy, what are the labels, where are the boxes (squared error summed over the four
    coordinates, mean over elements)."""
    noisy_loss = F.binary_cross_entropy_with_logits(output.noisy, noisy)
    label_loss = F.cross_entropy(output.labels[mask], labels[mask])
    box_loss = (output.boxes[mask] - boxes[mask]).square().sum(-1).mean()
    total = noisy_loss + label_loss + box_weight * box_loss
    return FeatureLoss(total, noisy_loss, label_loss, box_loss)

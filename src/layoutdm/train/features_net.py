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


@dataclass(frozen=True)
class Places:
    """Where the valid entries of a padded batch stand.

    Layers work on the valid entries alone, one row each: only attention needs the padded form.
    Random batches of layouts of all lengths then cost no more than batches of one length.
    """

    index: Tensor  # (valid,), places in the flattened (batch * length)
    mask: Tensor  # (batch, length), True where valid

    @classmethod
    def of(cls, mask: Tensor) -> Places:
        return cls(torch.nonzero(mask.reshape(-1))[:, 0], mask)

    def pad(self, rows: Tensor) -> Tensor:
        """(valid, width) to (batch, length, width), zeros elsewhere."""
        batch, length = self.mask.shape
        padded = rows.new_zeros(batch * length, rows.shape[-1]).index_copy(0, self.index, rows)
        return padded.view(batch, length, -1)

    def take(self, padded: Tensor) -> Tensor:
        """(batch, length, width) to (valid, width)."""
        return padded.reshape(self.mask.numel(), -1).index_select(0, self.index)


class Block(nn.Module):
    """A post-norm transformer layer over the valid rows of a batch."""

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

    def forward(self, x: Tensor, places: Places) -> Tensor:
        x = self.norm1(x + self._drop(self._attend(x, places)))
        hidden = self._drop(F.relu(self.feedforward_in(x)))
        out: Tensor = self.norm2(x + self._drop(self.feedforward_out(hidden)))
        return out

    def _attend(self, x: Tensor, places: Places) -> Tensor:
        (batch, length), width = places.mask.shape, x.shape[-1]
        stacked = places.pad(self.attention_in(x))
        stacked = stacked.view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = stacked.permute(2, 0, 3, 1, 4)
        dropout = self.dropout if self.training else 0.0
        mask = places.mask[:, None, None, :]
        mixed = F.scaled_dot_product_attention(query, key, value, mask, dropout)
        out: Tensor = self.attention_out(places.take(mixed.transpose(1, 2)))
        return out

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training) if self.dropout else x


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

    def forward(self, boxes: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
        """Padded boxes (batch, elements, 4), labels and mask to features (batch, width)."""
        elements = torch.cat([self.box(boxes[mask]), self.label(labels[mask])], dim=-1)
        elements = F.relu(self.join(elements))
        places = Places.of(F.pad(mask, (1, 0), value=True))
        is_token = places.index % places.mask.shape[1] == 0
        first = torch.nonzero(is_token)[:, 0]
        x = elements.new_zeros(len(places.index), elements.shape[-1])
        x = x.index_copy(0, first, self.token[0].expand(len(mask), -1))
        x = x.index_copy(0, torch.nonzero(~is_token)[:, 0], elements)
        for block in self.blocks:
            x = block(x, places)
        return x.index_select(0, first)


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

    def forward(self, feature: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        places = Places.of(mask)
        row, position = places.index // mask.shape[1], places.index % mask.shape[1]
        x = torch.cat([feature[row], self.position[position]], dim=-1)
        x = F.relu(self.join(x))
        for block in self.blocks:
            x = block(x, places)
        return places.pad(self.label(x)), places.pad(torch.sigmoid(self.box(x)))


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
        if mask is None:
            mask = torch.ones(labels.shape, dtype=torch.bool)
        feature = self.encoder(boxes, labels, mask)
        logits, rebuilt = self.decoder(feature, mask)
        return FeatureOutput(feature, self.noisy(feature)[:, 0], logits, rebuilt)

    def set_dropout(self, share: float) -> None:
        """Change the dropout of all layers."""
        for block in self.modules():
            if isinstance(block, Block):
                block.dropout = share

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

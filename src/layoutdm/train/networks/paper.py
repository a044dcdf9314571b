"""The paper's network: one token per attribute, 12.4 million parameters."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from layoutdm.train.networks.blocks import Block, attention_visibility, initialise
from layoutdm.train.networks.config import NetworkConfig
from layoutdm.train.networks.interface import Prediction, Query


def paper_config(sizes: tuple[int, int, int, int, int], **changes: object) -> NetworkConfig:
    """The released sizes: width 464, feed-forward 1856 (the paper's text says 512 and 2048)."""
    settings: dict[str, object] = {
        "kind": "paper",
        "width": 464,
        "feedforward": 1856,
        "layers": 4,
        "heads": 8,
        "time": "adaln",
        "number": False,
        "about_levels": 0,
    }
    return NetworkConfig(sizes=sizes, **{**settings, **changes})  # type: ignore[arg-type]


class PaperNetwork(nn.Module):
    offsets: Tensor
    pad: Tensor

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        width, slots = config.width, config.max_elements
        values = sum(config.sizes)
        self.vocabulary = values + 2
        self.embed = nn.Embedding(self.vocabulary, width)
        if config.positions == "decoupled":
            self.element_position = nn.Embedding(slots, width)
            self.attribute_position = nn.Embedding(5, width)
        else:
            self.flat_position = nn.Embedding(slots * 5, width)
        # The published code drops 0.1 of the embeddings whatever the block dropout is.
        self.dropout = nn.Dropout(0.1)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, self.vocabulary, bias=False)
        starts = np.concatenate([[0], np.cumsum(config.sizes)[:-1]])
        self.register_buffer("offsets", torch.tensor(starts), persistent=False)
        self.register_buffer("pad", torch.tensor(config.sizes), persistent=False)
        self.apply(initialise)

    def flat_tokens(self, tokens: Tensor) -> Tensor:
        """Modality-local ids to the flat vocabulary, PAD and MASK last."""
        special = tokens - self.pad
        return torch.where(special < 0, tokens + self.offsets, self.vocabulary - 2 + special)

    def positions(self, slots: int, device: torch.device) -> Tensor:
        index = torch.arange(slots, device=device)
        if self.config.positions == "flat":
            table: Tensor = self.flat_position.weight[: slots * 5]
            return table
        attribute = self.attribute_position.weight
        joined: Tensor = self.element_position(index)[:, None] + attribute
        return joined.reshape(slots * 5, -1)

    def flat_logits(self, query: Query) -> Tensor:
        """(B, S, 5, vocabulary) scores over all tokens: what joint diffusion works with."""
        batch, slots, _ = query.tokens.shape
        x = self.embed(self.flat_tokens(query.tokens).reshape(batch, slots * 5))
        x = self.dropout(x + self.positions(slots, x.device))
        valid = query.valid
        if valid is not None:
            valid = valid.repeat_interleave(5, dim=1)
        for block in self.blocks:
            x = block(x, query.level, attention_visibility(valid))
        scores: Tensor = self.head(self.norm(x))
        return scores.view(batch, slots, 5, self.vocabulary)

    def forward(self, query: Query) -> Prediction:
        flat = self.flat_logits(query)[..., :-1].float()  # MASK is never a prediction
        if self.config.normalise == "vocabulary":
            flat = torch.log_softmax(flat, dim=-1)
        parts = []
        for m, size in enumerate(self.config.sizes):
            start = int(self.offsets[m])
            own = torch.cat([flat[:, :, m, start : start + size], flat[:, :, m, -1:]], dim=-1)
            whole = self.config.normalise == "vocabulary"
            parts.append(own if whole else torch.log_softmax(own, dim=-1))
        return Prediction(tuple(parts))

"""One token per element: five embeddings joined, five heads. Small, and fast on a CPU.

The number of elements is one more variable. A first token carries it: from the elements that are
known, the network predicts how many there are in all; slots beyond that number are then left out
of the sequence, which halves the work compared with carrying empty slots along.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from layoutdm.train.networks.blocks import Block, attention_visibility, initialise
from layoutdm.train.networks.config import NetworkConfig
from layoutdm.train.networks.interface import Prediction, Query


class ElementNetwork(nn.Module):
    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.embed = nn.ModuleList(nn.Embedding(size + 2, width) for size in config.sizes)
        self.position = nn.Embedding(config.max_elements + 1, width)
        self.about = nn.ModuleList(
            nn.Embedding(config.about_levels * size + 1, width)
            for size in config.sizes[1:]
            if config.about_levels
        )
        self.first = nn.Embedding(1, width)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(width)
        self.splits = [size + 1 for size in config.sizes]
        self.heads = nn.Linear(width, sum(self.splits))
        self.number = nn.Linear(width, config.max_elements)
        self.apply(initialise)

    def forward(self, query: Query) -> Prediction:
        tokens = query.tokens
        x = sum(table(tokens[..., m]) for m, table in enumerate(self.embed))
        if query.position is not None:
            x = x + self.position(query.position)
        if query.about is not None:
            for attribute, table in enumerate(self.about):
                x = x + table(query.about[..., attribute])
        first = self.first.weight.expand(len(tokens), 1, -1)
        x = self.dropout(torch.cat([first, x], dim=1))
        visible = attention_visibility(query.valid)
        if visible is not None:
            visible = torch.cat([torch.ones_like(visible[..., :1]), visible], dim=-1)
        for block in self.blocks:
            x = block(x, query.level, visible)
        x = self.norm(x)
        logits = self.heads(x[:, 1:]).split(self.splits, dim=-1)
        number: Tensor = torch.log_softmax(self.number(x[:, 0]), dim=-1)
        return Prediction(tuple(torch.log_softmax(part, dim=-1) for part in logits), number)

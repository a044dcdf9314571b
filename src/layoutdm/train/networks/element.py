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
from layoutdm.train.networks.edges import edge_tables
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
        self.edge = nn.ModuleList(
            nn.Embedding(config.edges + 1, width) for _ in range(4 if config.edges else 0)
        )
        if config.edges:
            self.edge_heads = nn.Linear(width, 4 * config.edges)
            for k, table in enumerate(edge_tables(config.centres, config.edges)):
                self.register_buffer(f"places{k}", torch.from_numpy(table).long(), persistent=False)
        self.apply(initialise)

    def forward(self, query: Query) -> Prediction:
        tokens = query.tokens
        x = sum(table(tokens[..., m]) for m, table in enumerate(self.embed))
        if query.position is not None:
            x = x + self.position(query.position)
        if query.about is not None:
            for attribute, table in enumerate(self.about):
                x = x + table(query.about[..., attribute])
        for k, table in enumerate(self.edge):
            places = self.get_buffer(f"places{k}")
            x = x + table(places[tokens[..., 3 + k // 2], tokens[..., 1 + k // 2]])
        first = self.first.weight.expand(len(tokens), 1, -1)
        x = self.dropout(torch.cat([first, x], dim=1))
        visible = attention_visibility(query.valid)
        if visible is not None:
            visible = torch.cat([torch.ones_like(visible[..., :1]), visible], dim=-1)
        for block in self.blocks:
            x = block(x, query.level, visible)
        x = self.norm(x)
        logits = list(self.heads(x[:, 1:]).split(self.splits, dim=-1))
        if self.edge:
            self._add_edges(logits, x[:, 1:], tokens)
        number: Tensor = torch.log_softmax(self.number(x[:, 0]), dim=-1)
        return Prediction(tuple(torch.log_softmax(part, dim=-1) for part in logits), number)

    def _add_edges(self, logits: list[Tensor], x: Tensor, tokens: Tensor) -> None:
        """Where one of centre and size is known, the other's values score as their edges do."""
        scores = self.edge_heads(x).unflatten(-1, (4, self.config.edges))
        scores = nn.functional.pad(scores, (0, 1))  # a score of 0 where there is no edge
        for k in range(4):
            places = self.get_buffer(f"places{k}")
            centre, size = 1 + k // 2, 3 + k // 2
            for target, table, known in ((centre, places, size), (size, places.T, centre)):
                at = table[tokens[..., known]][..., : self.splits[target]]
                logits[target] = logits[target] + torch.gather(scores[..., k, :], -1, at)

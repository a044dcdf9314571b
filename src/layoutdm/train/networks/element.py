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

COVER = 3.0  # lets the weights of covered lines, which start at 0, grow in fewer steps


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
        if config.space:
            # How much it costs (or helps) to cover a line of an element: by the labels of both,
            # and more or less by what the network knows of this element.
            states = config.sizes[0] + 2
            self.cover = nn.Parameter(torch.zeros(states, states))
            self.cover_more = nn.Linear(width, 2)
            nn.init.zeros_(self.cover_more.weight)

    def forward(self, query: Query) -> Prediction:
        tokens = query.tokens
        x = sum(table(tokens[..., m]) for m, table in enumerate(self.embed))
        if query.position is not None:
            x = x + self.position(query.position)
        if query.about is not None:
            for attribute, table in enumerate(self.about):
                x = x + table(query.about[..., attribute])
        edges = self._edges(tokens)
        for table, places in zip(self.edge, edges, strict=True):
            x = x + table(places)
        first = self.first.weight.expand(len(tokens), 1, -1)
        x = self.dropout(torch.cat([first, x], dim=1))
        visible = attention_visibility(query.valid)
        if visible is not None:
            visible = torch.cat([torch.ones_like(visible[..., :1]), visible], dim=-1)
        for block in self.blocks:
            x = block(x, query.level, visible)
        x = self.norm(x)
        logits = list(self.heads(x[:, 1:]).split(self.splits, dim=-1))
        if edges:
            scores = self._edge_scores(x[:, 1:], tokens, edges, query.valid)
            self._add_edges(logits, scores, tokens)
        number: Tensor = torch.log_softmax(self.number(x[:, 0]), dim=-1)
        return Prediction(tuple(torch.log_softmax(part, dim=-1) for part in logits), number)

    def _edges(self, tokens: Tensor) -> list[Tensor]:
        """Lines of the left, right, top and bottom edges, (B, S) each."""
        return [
            self.get_buffer(f"places{k}")[tokens[..., 3 + k // 2], tokens[..., 1 + k // 2]]
            for k in range(len(self.edge))
        ]

    def _edge_scores(
        self, x: Tensor, tokens: Tensor, edges: list[Tensor], valid: Tensor | None
    ) -> list[Tensor]:
        """(B, S, lines + 1) for each edge; the last is 0, for no edge."""
        lines = self.config.edges
        scores = list(self.edge_heads(x).unflatten(-1, (4, lines)).unbind(-2))
        if self.config.space:
            more = 1 + self.cover_more(x)
            for axis, covered in enumerate(self._covered(tokens, edges, valid)):
                change = COVER * more[..., axis : axis + 1] * covered
                scores[2 * axis] = scores[2 * axis] - change
                scores[2 * axis + 1] = scores[2 * axis + 1] + change
        return [nn.functional.pad(score, (0, 1)) for score in scores]

    def _covered(self, tokens: Tensor, edges: list[Tensor], valid: Tensor | None) -> list[Tensor]:
        """For x and y: what of the other elements lies before each line, weighted, (B, S, lines).

        The difference between two lines is what a box between them would cover. An element counts
        as far as it shares the other axis with this one; unknown extents share nothing.
        """
        labels = tokens[..., 0]
        weight = self.cover[labels[:, :, None], labels[:, None, :]]
        slots = labels.shape[1]
        weight = weight * (1 - torch.eye(slots, device=labels.device))
        if valid is not None:
            weight = weight * valid[:, None, :]
        lines = torch.arange(self.config.edges, device=labels.device)
        sums = []
        for axis in range(2):
            low, high = edges[2 - 2 * axis], edges[3 - 2 * axis]  # of the other axis
            shared = torch.minimum(high[:, :, None], high[:, None, :]) - torch.maximum(
                low[:, :, None], low[:, None, :]
            )
            share = shared.clamp(min=0) / (high - low).clamp(min=1)[:, :, None]
            start, end = edges[2 * axis][..., None], edges[2 * axis + 1][..., None]
            inside = ((lines >= start) & (lines < end)).float()
            taken = (weight * share) @ inside
            sums.append(torch.cumsum(taken, dim=-1) - taken)
        return sums

    def _add_edges(self, logits: list[Tensor], scores: list[Tensor], tokens: Tensor) -> None:
        """Where one of centre and size is known, the other's values score as their edges do."""
        for k in range(4):
            places = self.get_buffer(f"places{k}")
            centre, size = 1 + k // 2, 3 + k // 2
            for target, table, known in ((centre, places, size), (size, places.T, centre)):
                at = table[tokens[..., known]][..., : self.splits[target]]
                logits[target] = logits[target] + torch.gather(scores[k], -1, at)

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

AHEAD = 8.0  # as COVER: tables that start at 0 grow in fewer steps
AHEAD_NONE = 0.01  # stands for a label of which none is left
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
        if config.ahead:  # a row for each label and how often it is still to come
            rows = config.sizes[0] * (config.max_elements + 1)
            self.ahead = nn.Embedding(rows, width)
            self.ahead_labels = nn.Embedding(rows, config.sizes[0])
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(width)
        self.splits = [size + 1 for size in config.sizes]
        self.heads = nn.Linear(width, sum(self.splits))
        self.number = nn.Linear(width, config.max_elements)
        self.edge = nn.ModuleList(
            nn.Embedding(config.edges + 2, width) for _ in range(4 if config.edges else 0)
        )
        if config.edges:
            self.edge_heads = nn.Linear(width, 4 * (config.edges + 1))
            for k, table in enumerate(edge_tables(config.centres, config.edges)):
                self.register_buffer(f"places{k}", torch.from_numpy(table).long(), persistent=False)
        self.apply(initialise)
        if config.ahead:
            nn.init.zeros_(self.ahead.weight)
            nn.init.zeros_(self.ahead_labels.weight)
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
        ahead = self._ahead(query) if self.config.ahead else None
        if ahead is not None:
            first = first + AHEAD * self.ahead(self._ahead_rows(ahead)).sum(dim=1, keepdim=True)
        x = self.dropout(torch.cat([first, x], dim=1))
        visible = attention_visibility(query.valid)
        if visible is not None:
            visible = torch.cat([torch.ones_like(visible[..., :1]), visible], dim=-1)
        for block in self.blocks:
            x = block(x, query.level, visible)
        x = self.norm(x)
        logits = list(self.heads(x[:, 1:]).split(self.splits, dim=-1))
        if ahead is not None:
            logits[0] = logits[0] + nn.functional.pad(self._label_scores(ahead), (0, 1))[:, None]
        if edges:
            self._add_edges(logits, x[:, 1:], tokens, edges, query.valid)
        number: Tensor = torch.log_softmax(self.number(x[:, 0]), dim=-1)
        return Prediction(tuple(torch.log_softmax(part, dim=-1) for part in logits), number)

    def _ahead(self, query: Query) -> Tensor:
        if query.ahead is not None:
            return query.ahead
        return query.tokens.new_zeros(len(query.tokens), self.config.sizes[0])

    def _ahead_rows(self, ahead: Tensor) -> Tensor:
        starts = torch.arange(self.config.sizes[0], device=ahead.device)
        return starts * (self.config.max_elements + 1) + ahead

    def _label_scores(self, ahead: Tensor) -> Tensor:
        """What is added to the scores of labels, (B, labels): 0 where nothing is known ahead.

        They begin with how many of each are left, and learn the rest.
        """
        counts = ahead.float()
        learned = AHEAD * self.ahead_labels(self._ahead_rows(ahead)).sum(dim=1)
        known = counts.sum(dim=1, keepdim=True).clamp(max=1.0)
        scores: Tensor = known * (counts.clamp(min=AHEAD_NONE).log() + learned)
        return scores

    def _edges(self, tokens: Tensor) -> list[Tensor]:
        """Lines of the left, right, top and bottom edges, (B, S) each."""
        return [
            self.get_buffer(f"places{k}")[tokens[..., 3 + k // 2], tokens[..., 1 + k // 2]]
            for k in range(len(self.edge))
        ]

    def _covered(self, tokens: Tensor, edges: list[Tensor], valid: Tensor | None) -> list[Tensor]:
        """For each edge: what of other elements lies before its places, weighted; (B, S, places).

        Negative for left and top, so that the sum of both edges is what a box between them covers.
        An element counts as far as it shares the other axis with this one; unknown extents share
        nothing. A box covers nothing outside the canvas, and nothing without edges.
        """
        labels = tokens[..., 0]
        weight = self.cover[labels[:, :, None], labels[:, None, :]]
        slots = labels.shape[1]
        weight = weight * (1 - torch.eye(slots, device=labels.device))
        if valid is not None:
            weight = weight * valid[:, None, :]
        count = self.config.edges
        lines = torch.arange(count, device=labels.device)
        # Boxes that begin outside the canvas cover it from its first line.
        edges = [e if k % 2 else torch.where(e == count, 0, e) for k, e in enumerate(edges)]
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
            through = torch.cumsum(taken, dim=-1)
            nothing = torch.zeros_like(through[..., :1])
            sums.append(-torch.cat([through - taken, nothing, nothing], dim=-1))
            sums.append(torch.cat([through - taken, through[..., -1:], nothing], dim=-1))
        return sums

    def _add_edges(
        self,
        logits: list[Tensor],
        x: Tensor,
        tokens: Tensor,
        edges: list[Tensor],
        valid: Tensor | None,
    ) -> None:
        """Where one of centre and size is known, the other's values score as their edges do."""
        scores = self.edge_heads(x).unflatten(-1, (4, self.config.edges + 1))
        scores = nn.functional.pad(scores, (0, 1))  # a score of 0 where there is no edge
        covered = []
        if self.config.space:
            more = COVER * (1 + self.cover_more(x))
            sums = self._covered(tokens, edges, valid)
            covered = [more[..., k // 2, None] * sums[k] for k in range(4)]
        for target in range(1, 5):
            axis, partner = (target - 1) % 2, (target + 1) % 4 + 1
            places = []
            for k in (2 * axis, 2 * axis + 1):
                table = self.get_buffer(f"places{k}")
                table = table if target < 3 else table.T
                places.append(table[tokens[..., partner]][..., : self.splits[target]])
                logits[target] = logits[target] + scores[..., k, :].gather(-1, places[-1])
            if covered:
                start, end = covered[2 * axis], covered[2 * axis + 1]
                cost = start.gather(-1, places[0]) + end.gather(-1, places[1])
                # Bounded: where no place is free, the rest decides.
                most = self.config.cover_most
                logits[target] = logits[target] + most * torch.tanh(cost / most)

"""One token per element: five embeddings joined, five heads. Small, and fast on a CPU.

The number of elements is one more variable. A first token carries it: from the elements that are
known, the network predicts how many there are in all; slots beyond that number are then left out
of the sequence, which halves the work compared with carrying empty slots along.

Only the elements that are asked about are predicted: the last block and the heads compute no
others, in training as in sampling.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from layoutdm.boxes import shared_length
from layoutdm.train.networks.blocks import (
    Block,
    SharedDropout,
    attention_visibility,
    initialise,
)
from layoutdm.train.networks.config import NetworkConfig
from layoutdm.train.networks.edges import edge_tables
from layoutdm.train.networks.interface import Prediction, Query
from layoutdm.train.networks.repeats import Repeats

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
        self.dropout = SharedDropout(config.dropout)
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
        if config.repeats:
            self.repeat = Repeats(config.sizes[0] + 2, width, config.edges)
        self.apply(initialise)
        if config.repeats:
            self.repeat.begin()
        if config.space:
            # How much it costs (or helps) to cover a line of an element: by the labels of both,
            # and more or less by what the network knows of this element.
            states = config.sizes[0] + 2
            self.cover = nn.Parameter(torch.zeros(states, states))
            self.cover_more = nn.Linear(width, 2)
            nn.init.zeros_(self.cover_more.weight)

    @torch.no_grad()
    def expect_numbers(self, counts: NDArray[np.int64]) -> None:
        """Begin with the shares of these numbers of elements, where nothing else is known."""
        seen = np.bincount(counts, minlength=self.config.max_elements + 1)[1:] + 0.5
        self.number.bias.copy_(torch.from_numpy(np.log(seen / seen.sum())))

    def forward(self, query: Query) -> Prediction:
        tokens = query.tokens
        size, slots, _ = tokens.shape
        asked = query.asked
        if asked is None:
            asked = torch.arange(slots, device=tokens.device).expand(size, slots)
        edges = self._edges(tokens)
        first = self.first.weight.expand(size, 1, -1)
        x = self.dropout(torch.cat([first, self._embedded(query, edges)], dim=1))
        visible = attention_visibility(query.valid)
        if visible is not None:
            visible = torch.cat([torch.ones_like(visible[..., :1]), visible], dim=-1)
        *body, last = self.blocks
        for block in body:
            x = block(x, query.level, visible)
        wanted = nn.functional.pad(asked + 1, (1, 0))  # the first token, and those asked about
        x = self.norm(last(x, query.level, visible, wanted))
        number: Tensor = torch.log_softmax(self.number(x[:, 0]).float(), dim=-1)
        logits = self._logits(x[:, 1:], tokens, edges, query.valid, asked)
        return Prediction(tuple(torch.log_softmax(part, dim=-1) for part in logits), number)

    def _embedded(self, query: Query, edges: list[Tensor]) -> Tensor:
        """One vector an element: all its embeddings, looked up and added in one operation."""
        tables: list[nn.Module] = list(self.embed)
        ids = [query.tokens[..., m] for m in range(5)]
        if query.position is not None:
            tables.append(self.position)
            ids.append(query.position)
        if query.about is not None:
            tables += list(self.about)
            ids += [query.about[..., a] for a in range(4)]
        tables += list(self.edge)
        ids += edges
        weights: list[Tensor] = [table.get_parameter("weight") for table in tables]
        starts, total = [], 0
        for weight in weights:
            starts.append(total)
            total += len(weight)
        index = torch.stack(ids, dim=-1) + torch.tensor(starts, device=query.tokens.device)
        flat = nn.functional.embedding_bag(index.flatten(0, 1), torch.cat(weights), mode="sum")
        return flat.view(*index.shape[:2], -1)

    def _edges(self, tokens: Tensor) -> list[Tensor]:
        """Lines of the left, right, top and bottom edges, (B, S) each."""
        return [
            self.get_buffer(f"places{k}")[tokens[..., 3 + k // 2], tokens[..., 1 + k // 2]]
            for k in range(len(self.edge))
        ]

    def _logits(
        self, x: Tensor, tokens: Tensor, edges: list[Tensor], valid: Tensor | None, asked: Tensor
    ) -> list[Tensor]:
        """Scores of the values of each modality, (B, A, values + 1)."""
        logits = list(self.heads(x).float().split(self.splits, dim=-1))
        if not edges:
            return logits
        scores = self.edge_heads(x).float().unflatten(-1, (4, self.config.edges + 1))
        with torch.autocast(x.device.type, enabled=False):
            mine = tokens.gather(1, asked[..., None].expand(-1, -1, 5))
            slot = torch.arange(tokens.shape[1], device=tokens.device)
            others = (asked[..., None] != slot).float()
            if valid is not None:
                others = others * valid[:, None, :]
            if self.config.repeats:
                values, lines = self.repeat(
                    x.float(), tokens, edges, others, asked, self.config.sizes
                )
                logits = [logits[0], *(a + b for a, b in zip(logits[1:], values, strict=True))]
                scores = scores + nn.functional.pad(torch.stack(lines, dim=2), (0, 1))
            scores = nn.functional.pad(scores, (0, 1))  # a score of 0 where there is no edge
            covered: list[Tensor] = []
            if self.config.space:
                more = COVER * (1 + self.cover_more(x.float()))
                sums = self._covered(mine, tokens, edges, others, asked)
                covered = [more[..., k // 2, None] * sums[k] for k in range(4)]
            self._add_edges(logits, mine, scores, covered)
        return logits

    def _covered(
        self, mine: Tensor, tokens: Tensor, edges: list[Tensor], others: Tensor, asked: Tensor
    ) -> list[Tensor]:
        """For each edge: what of other elements lies before its places, weighted; (B, A, places).

        Negative for left and top, so that the sum of both edges is what a box between them covers.
        An element counts as far as it shares the other axis with this one; unknown extents share
        nothing. A box covers nothing outside the canvas, and nothing without edges.
        """
        weight = self.cover[mine[:, :, None, 0], tokens[:, None, :, 0]] * others
        count = self.config.edges
        lines = torch.arange(count + 1, device=tokens.device)
        # Boxes that begin outside the canvas cover it from its first line.
        edges = [e if k % 2 else torch.where(e == count, 0, e) for k, e in enumerate(edges)]
        own = [edge.gather(1, asked) for edge in edges]
        sums = []
        for axis in range(2):
            k = 2 - 2 * axis  # of the other axis
            shared = shared_length(
                own[k][:, :, None], own[k + 1][:, :, None], edges[k][:, None, :],
                edges[k + 1][:, None, :],
            )  # fmt: skip
            share = shared / (own[k + 1] - own[k]).clamp(min=1)[:, :, None]
            start, end = edges[2 * axis][..., None], edges[2 * axis + 1][..., None]
            extent = (end - start).clamp(min=0)
            within = torch.minimum((lines - start).clamp(min=0), extent).float()
            before = (weight * share) @ within  # at each line, and behind the last
            sums.append(-nn.functional.pad(before[..., :-1], (0, 2)))
            sums.append(nn.functional.pad(before, (0, 1)))
        return sums

    def _add_edges(
        self, logits: list[Tensor], mine: Tensor, scores: Tensor, covered: list[Tensor]
    ) -> None:
        """Where one of centre and size is known, the other's values score as their edges do."""
        for target in range(1, 5):
            axis, partner = (target - 1) % 2, (target + 1) % 4 + 1
            places = []
            for k in (2 * axis, 2 * axis + 1):
                table = self.get_buffer(f"places{k}")
                table = table if target < 3 else table.T
                places.append(table[mine[..., partner]][..., : self.splits[target]])
                logits[target] = logits[target] + scores[..., k, :].gather(-1, places[-1])
            if covered:
                start, end = covered[2 * axis], covered[2 * axis + 1]
                cost = start.gather(-1, places[0]) + end.gather(-1, places[1])
                # Bounded: where no place is free, the rest decides.
                most = self.config.cover_most
                logits[target] = logits[target] + most * torch.tanh(cost / most)

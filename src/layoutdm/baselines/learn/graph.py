"""Graph layers: messages along pairs of nodes, as in scene graph networks (Johnson et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from layoutdm.baselines.learn.layoutvae import divergence, drawn
from layoutdm.baselines.learn.transformer import Size
from layoutdm.baselines.ndn import LATENT


@dataclass(frozen=True, eq=False)
class Graphs:
    """B graphs of up to N nodes and the pairs of all, (P,) first and second."""

    labels: Tensor  # (B, N)
    valid: Tensor  # (B, N)
    first: Tensor
    second: Tensor

    @property
    def there(self) -> Tensor:
        """(B, P, 1): pairs of which both nodes exist."""
        both = self.valid[:, self.first] & self.valid[:, self.second]
        return both[..., None].float()

    def gathered(self, at_first: Tensor, at_second: Tensor) -> Tensor:
        """(B, N, width): the mean of the messages that each node gets from its pairs."""
        node = torch.arange(self.labels.shape[1], device=self.labels.device)[:, None]
        one = (node == self.first[None]).to(at_first.dtype)
        other = (node == self.second[None]).to(at_first.dtype)
        there = self.there.to(at_first.dtype)
        total = one @ (at_first * there) + other @ (at_second * there)
        degree = (one + other) @ there
        mean: Tensor = total / degree.clamp(min=1)
        return mean

    def mean(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """(B, width): of all nodes and pairs."""
        valid, there = self.valid[..., None].to(nodes.dtype), self.there.to(nodes.dtype)
        total = (nodes * valid).sum(dim=1) + (edges * there).sum(dim=1)
        mean: Tensor = total / (valid.sum(dim=1) + there.sum(dim=1))
        return mean


def _part(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.LayerNorm(outputs), nn.ReLU())


def dense(*widths: int) -> nn.Sequential:
    """Linear layers of these widths with ReLU between them, and none at the end."""
    parts: list[nn.Module] = []
    for before, after in pairwise(widths):
        parts += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


class GraphLayer(nn.Module):
    """(first node, pair, second node) to messages and a new pair; nodes from their messages."""

    def __init__(self, start: int, inner: int, end: int) -> None:
        super().__init__()
        self.inner, self.end = inner, end
        self.message = nn.Sequential(_part(3 * start, inner), _part(inner, 2 * inner + end))
        self.node = nn.Sequential(_part(inner, inner), _part(inner, end))

    def forward(self, graphs: Graphs, nodes: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
        triples = torch.cat([nodes[:, graphs.first], edges, nodes[:, graphs.second]], dim=-1)
        found = self.message(triples)
        at_first, pair, at_second = found.split([self.inner, self.end, self.inner], dim=-1)
        return self.node(graphs.gathered(at_first, at_second)), pair


class RelationNetwork(nn.Module):
    """Relations of one kind: from those that are known and a latent vector a node to all."""

    def __init__(self, labels: int, relations: int, size: Size) -> None:
        super().__init__()
        width, inner, half = size.width, size.feedforward, size.width // 2
        self.label, self.relation = (
            nn.Embedding(labels + 1, half),
            nn.Embedding(relations + 1, half),
        )
        shapes = [(half, inner), (width, inner), (width, inner)]
        self.reading = nn.ModuleList(
            [*(GraphLayer(start, mid, width) for start, mid in shapes),
             GraphLayer(width, width, LATENT)]
        )  # fmt: skip
        self.mean, self.log_variance = nn.Linear(LATENT, LATENT), nn.Linear(LATENT, LATENT)
        self.join = nn.Linear(half + LATENT, half)
        self.telling = nn.ModuleList(
            GraphLayer(start, mid, width) for start, mid in [*shapes, (width, width)]
        )
        self.head = dense(width, inner, relations)

    def forward(self, graphs: Graphs, known: Tensor, noise: Tensor) -> Tensor:
        """(B, P, relations) scores; ids of known relations begin at 1, 0 is unknown."""
        nodes = self.join(torch.cat([self.label(graphs.labels), noise], dim=-1))
        edges = self.relation(known)
        for layer in self.telling:
            nodes, edges = layer(graphs, nodes, edges)
        scores: Tensor = self.head(edges)
        return scores

    def loss(
        self, graphs: Graphs, truth: Tensor, known: Tensor, noise: Tensor, kl: float
    ) -> Tensor:
        """(B,): cross entropy of the relations, and the divergence of the latents."""
        nodes, edges = self.label(graphs.labels), self.relation(truth)
        for layer in self.reading:
            nodes, edges = layer(graphs, nodes, edges)
        posterior = self.mean(nodes), self.log_variance(nodes)
        scores = self(graphs, known, drawn(posterior, noise)).float()
        there = graphs.there[..., 0]
        target = (truth - 1).clamp(min=0)
        missed = F.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none")
        cross = (missed.view(target.shape) * there).sum(dim=1) / there.sum(dim=1).clamp(min=1)
        zero = torch.zeros_like(posterior[0])
        valid = graphs.valid.float()
        apart = (divergence(posterior, (zero, zero)) * valid).sum(dim=1) / valid.sum(dim=1)
        return cross + kl * apart

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
    initialise,
    take_places,
)
from layoutdm.train.networks.config import NetworkConfig
from layoutdm.train.networks.edges import edge_tables
from layoutdm.train.networks.interface import Lesson, Prediction, Query
from layoutdm.train.networks.repeats import Elements, Repeats
from layoutdm.train.networks.sight import among, joined
from layoutdm.train.networks.waves import waves

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
        if config.edges:
            self._begin_with_waves()
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
    def _begin_with_waves(self) -> None:
        """Embeddings and scores of values and lines that are near each other begin alike."""
        config, row = self.config, self.splits[0]
        for a, centres in enumerate(config.centres):
            values = torch.tensor(centres)
            tables = [(self.embed[1 + a].get_parameter("weight"), 0), (self.heads.weight, row)]
            tables += [
                (self.about[a].get_parameter("weight"), 1 + level * len(values))
                for level in range(config.about_levels)
            ]
            for table, start in tables:
                table[start : start + len(values)] = waves(values, config.width)
            row += self.splits[1 + a]
        lines = torch.linspace(0, 1, config.edges)
        for k, edge in enumerate(self.edge):
            edge.get_parameter("weight")[: len(lines)] = waves(lines, config.width)
            start = k * (config.edges + 1)
            self.edge_heads.weight[start : start + len(lines)] = waves(lines, config.width)

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
        slot = torch.arange(slots, device=tokens.device)
        others = asked[..., None] != slot
        wanted = nn.functional.pad(asked + 1, (1, 0))  # the first token, and those asked about
        sees = visible = None
        if self.config.in_turn:
            valid = torch.ones_like(tokens[..., 0]).bool() if query.valid is None else query.valid
            whole = valid & self._whole(tokens)
            turn = slot.expand(size, slots) if query.turn is None else query.turn
            sees = among(whole, valid & ~whole, turn)
            visible = joined(sees, others & valid[:, None], valid)
            x = torch.cat([x, take_places(x, asked + 1)], dim=1)
            later = 1 + slots + torch.arange(asked.shape[1], device=tokens.device)
            wanted = nn.functional.pad(later, (1, 0)).expand(size, -1)
            others = others & whole[:, None]
        elif query.valid is not None:
            visible = nn.functional.pad(query.valid, (1, 0), value=True)[:, None, None]
            others = others & query.valid[:, None]
        x = self._through(x, query.level, visible, wanted)
        number: Tensor = torch.log_softmax(self.number(x[:, 0]).float(), dim=-1)
        mine = take_places(tokens, asked)
        logits = self._logits(
            x[:, 1:], (mine, self._edges(mine)), (tokens, edges), others.float(), sees
        )
        return Prediction(tuple(torch.log_softmax(part, dim=-1) for part in logits), number)

    def learn(self, lesson: Lesson) -> tuple[Tensor, ...]:
        """log p of each modality of all elements at their turns, (B, S, K + 1).

        The same as `forward` says of each of these states, in one pass for all of them.
        """
        valid, turn = lesson.valid, lesson.turn
        given = valid & self._whole(lesson.listed)
        unfinished, nobody = valid & ~given, torch.zeros_like(valid)
        sees = among(
            torch.cat([valid, nobody], dim=1),
            torch.cat([nobody, unfinished], dim=1),
            torch.cat([turn, turn], dim=1),
        )
        earlier = (turn[:, None, :] < turn[:, :, None]) & valid[:, None]
        later = (turn[:, None, :] > turn[:, :, None]) & unfinished[:, None]
        visible = joined(sees, torch.cat([earlier, later], dim=2))
        three = torch.cat([lesson.clean, lesson.listed, lesson.begun], dim=1)
        about, position = lesson.about, lesson.position
        query = Query(
            three,
            about=None if about is None else torch.cat([about] * 3, dim=1),
            position=None if position is None else torch.cat([position] * 3, dim=1),
        )
        edges = self._edges(three)
        slots = valid.shape[1]
        wanted = torch.arange(2 * slots, 3 * slots, device=three.device).expand(len(three), -1)
        x = self._through(self.dropout(self._embedded(query, edges)), None, visible, wanted)
        logits = self._logits(
            x,
            (lesson.begun, [part[:, 2 * slots :] for part in edges]),
            (lesson.clean, [part[:, :slots] for part in edges]),
            earlier.float(),
            sees[:, :slots, :slots],
        )
        return tuple(torch.log_softmax(part, dim=-1) for part in logits)

    def _whole(self, tokens: Tensor) -> Tensor:
        """(B, S): whether all of an element is decided."""
        return (tokens < torch.tensor(self.config.sizes, device=tokens.device)).all(dim=-1)

    def _through(
        self, x: Tensor, level: Tensor | None, visible: Tensor | None, wanted: Tensor
    ) -> Tensor:
        """All blocks and the last norm; the last block computes the wanted places alone."""
        *body, last = self.blocks
        for block in body:
            x = block(x, level, visible)
        if visible is not None and visible.shape[2] > 1:
            visible = visible[:, :, wanted[0]]
        out: Tensor = self.norm(last(x, level, visible, wanted))
        return out

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
        self, x: Tensor, mine: Elements, all_: Elements, others: Tensor, sees: Tensor | None
    ) -> list[Tensor]:
        """Scores of the values of each modality, (B, A, values + 1).

        x (B, A, width): what the network knows of the asked elements. mine, all_: asked elements
        and those they are compared with. others (B, A, N): with whom each. sees: see `Repeats`.
        """
        logits = list(self.heads(x).float().split(self.splits, dim=-1))
        if not self.config.edges:
            return logits
        scores = self.edge_heads(x).float().unflatten(-1, (4, self.config.edges + 1))
        with torch.autocast(x.device.type, enabled=False):
            if self.config.repeats:
                values, lines = self.repeat(x.float(), mine, all_, others, sees, self.config.sizes)
                logits = [logits[0], *(a + b for a, b in zip(logits[1:], values, strict=True))]
                scores = scores + nn.functional.pad(torch.stack(lines, dim=2), (0, 1))
            scores = nn.functional.pad(scores, (0, 1))  # a score of 0 where there is no edge
            covered: list[Tensor] = []
            if self.config.space:
                more = COVER * (1 + self.cover_more(x.float()))
                sums = self._covered(mine, all_, others)
                covered = [more[..., k // 2, None] * sums[k] for k in range(4)]
            self._add_edges(logits, mine[0], scores, covered)
        return logits

    def _covered(self, mine: Elements, all_: Elements, others: Tensor) -> list[Tensor]:
        """For each edge: what of other elements lies before its places, weighted; (B, A, places).

        Negative for left and top, so that the sum of both edges is what a box between them covers.
        An element counts as far as it shares the other axis with this one; unknown extents share
        nothing. A box covers nothing outside the canvas, and nothing without edges.
        """
        weight = self.cover[mine[0][:, :, None, 0], all_[0][:, None, :, 0]] * others
        count = self.config.edges
        lines = torch.arange(count + 1, device=others.device)
        # Boxes that begin outside the canvas cover it from its first line.
        own, edges = (
            [e if k % 2 else torch.where(e == count, 0, e) for k, e in enumerate(part)]
            for part in (mine[1], all_[1])
        )
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

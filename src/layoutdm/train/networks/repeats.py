"""Scores of values by what of other elements they would repeat: sizes, centres, edges, gaps.

What makes a screen look designed is that things repeat: rows of one height, at one distance, with
one left edge. To see this in tokens a network would have to compare and subtract. Here that is
done for it: each value of an attribute is scored by the elements of which it would repeat
something, with one learned weight for each pair of labels (list items repeat each other's height,
icons do not repeat that of the text beside them), more or less by what the network knows.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

SCALE = 3.0  # lets the weights, which start at 0, grow in fewer steps
MOST = 8.0  # nats at most: ten rows that agree should not forbid an eleventh to differ
SAME, EDGES, GAPS, LENGTHS = 4, 8, 2, 2  # numbers of tables of each kind
FAR = 1 << 20  # lines: further than any

Extent = tuple[Tensor, Tensor]  # starts and ends
Elements = tuple[Tensor, list[Tensor]]  # tokens (B, N, 5), lines of the four edges (B, N)


class Repeats(nn.Module):
    """`tables` holds a row for each pair of labels; its columns are the kinds of repeating.

    same: x, y, width, height equal. edges: left, right, top, bottom on the start or the end of
    another. gaps: so far after the end of another as one element is after the one before it, on
    both axes; lengths: whose gaps these are.
    """

    def __init__(self, states: int, width: int, lines: int) -> None:
        super().__init__()
        self.states, self.lines = states, lines
        self.near: Tensor
        self.register_buffer("near", near_lines(lines), persistent=False)
        self.tables = nn.Parameter(torch.zeros(states * states, SAME + EDGES + GAPS + LENGTHS))
        self.more = nn.Linear(width, SAME + 4 + GAPS)

    def begin(self) -> None:
        """All weights 0, but each gap counts for what it is."""
        nn.init.zeros_(self.tables)
        nn.init.constant_(self.tables[:, -LENGTHS:], 1 / SCALE)
        nn.init.zeros_(self.more.weight)
        nn.init.zeros_(self.more.bias)

    def forward(
        self,
        x: Tensor,
        mine: Elements,
        all_: Elements,
        others: Tensor,
        sees: Tensor | None,
        sizes: tuple[int, ...],
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Scores of values of x, y, width, height, (B, A, values + 1); of lines, (B, A, lines).

        x (B, A, width): what the network knows of the asked elements, `mine`. others (B, A, N):
        who counts. sees (B, N, N): whose gaps reach to whom; None: to all.
        """
        (asked, own), (tokens, edges) = mine, all_
        labels = tokens[..., 0]
        pair = asked[..., 0][:, :, None] * self.states + labels[:, None, :]
        weights = SCALE * nn.functional.embedding(pair, self.tables) * others[..., None]
        parts = torch.split(weights.permute(3, 0, 1, 2), [SAME, EDGES, GAPS, LENGTHS])
        same, on_edges, gaps, lengths = parts
        more = 1 + self.more(x).float()
        values = [
            _bounded(more[..., a, None] * (same[a] @ _one_hot(tokens[..., 1 + a], sizes[1 + a])))
            for a in range(4)
        ]
        found = []
        for axis in range(2):
            start, end = edges[2 * axis : 2 * axis + 2]
            both = self.near[torch.cat([start, end], dim=1)]
            kinds = on_edges[4 * axis : 4 * axis + 4]
            for side in range(2):
                k = 2 * axis + side
                score = torch.cat([kinds[2 * side], kinds[2 * side + 1]], dim=2) @ both
                score = more[..., SAME + k, None] * score
                if not side:
                    across = (edges[2 - 2 * axis], edges[3 - 2 * axis])
                    gap = smallest_gaps(labels, (start, end), across, self.lines, sees)
                    mine_across = (own[2 - 2 * axis], own[3 - 2 * axis])
                    beside = share_column(mine_across, across, self.lines)
                    beside = beside | (mine_across[0] >= self.lines)[:, :, None]
                    again = repeated_gaps(gap, end, gaps[axis] * beside, lengths[axis], self.lines)
                    score = score + more[..., SAME + 4 + axis, None] * again
                found.append(_bounded(score))
        return [nn.functional.pad(part, (0, 1)) for part in values], found


def repeated_gaps(gap: Tensor, end: Tensor, weight: Tensor, lengths: Tensor, lines: int) -> Tensor:
    """(B, A, lines): how well each start repeats a gap behind the end of another element.

    gap (B, N): see `smallest_gaps`; end (B, N). weight, lengths (B, A, N): behind whom, and whose
    gaps. A gap counts half for the lines beside it.
    """
    beside = torch.tensor([-1, 0, 1], device=gap.device)
    length = gap[:, None, :, None] + beside
    at = end[:, :, None, None] + length
    right = (length >= 0) & (length < lines) & (gap < lines)[:, None, :, None] & (at < lines)
    place = torch.where(right, at, lines).flatten(1)
    share = 1 - 0.5 * beside.abs()
    pairs = weight[..., :, None] * lengths[..., None, :]
    score = (pairs[..., None] * share).flatten(2)
    asks = weight.shape[1]
    total = torch.zeros(len(gap), asks, lines + 1, device=gap.device)
    return total.scatter_add(2, place[:, None].expand(-1, asks, -1), score)[..., :lines]


def smallest_gaps(
    labels: Tensor, along: Extent, across: Extent, lines: int, sees: Tensor | None = None
) -> Tensor:
    """(B, S): lines from each element back to the next of its label before it.

    along, across: starts and ends on this axis and on the other. sees (B, S, S): to whom they are
    measured; None: to all. `lines`, which is no line, where there is none.
    """
    start, end = along
    gap = start[:, :, None] - end[:, None, :]
    known = (start < lines) & (end < lines)
    alike = labels[:, :, None] == labels[:, None, :]
    beside = share_column(across, across, lines)
    right = alike & beside & known[:, :, None] & known[:, None, :] & (gap >= 0)
    if sees is not None:
        right = right & sees
    return torch.where(right, gap, lines).amin(dim=2)


def share_column(one: Extent, other: Extent, lines: int) -> Tensor:
    """(B, A, S): whether two extents share at least half of the narrower one."""
    (low, high), (lows, highs) = one, other
    known = (torch.maximum(low, high) < lines)[:, :, None]
    known = known & (torch.maximum(lows, highs) < lines)[:, None]
    shared = torch.minimum(high[:, :, None], highs[:, None]) - torch.maximum(
        low[:, :, None], lows[:, None]
    )
    narrower = torch.minimum((high - low)[:, :, None], (highs - lows)[:, None])
    return known & (2 * shared >= narrower)


def _one_hot(index: Tensor, count: int) -> Tensor:
    """(B, S, count); all 0 where the index is none of them."""
    return (index[..., None] == torch.arange(count, device=index.device)).float()


def near_lines(lines: int) -> Tensor:
    """(lines + 2, lines): 1 at a line and a half beside it; all 0 for the two that are no line.

    Values are rounded to bins, so edges that are equal in the data may be a line apart.
    """
    at = torch.arange(lines + 2)[:, None]
    near = (1 - 0.5 * (torch.arange(lines) - at).abs()).clamp(min=0)
    return torch.where(at < lines, near, 0.0)


def _bounded(score: Tensor) -> Tensor:
    return MOST * torch.tanh(score / MOST)

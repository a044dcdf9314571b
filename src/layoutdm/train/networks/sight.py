"""Who sees whom in a network that learns in turn.

A sampler that decides one element after the other meets states in which some elements are whole
and the others are known as far as the request lists them. If a whole element sees only those whose
turn came before its own, and an open one only open ones whose turn comes after, then what the
network knows of each is the same in all states of a layout: one pass can learn from all of them.
The element in turn sees everything, through a place of its own at the end of the sequence.
"""

from __future__ import annotations

import torch
from torch import Tensor


def among(whole: Tensor, unfinished: Tensor, turn: Tensor) -> Tensor:
    """(B, N, N): which of the others each element sees; itself is left out."""
    earlier = turn[:, None, :] < turn[:, :, None]
    later = turn[:, None, :] > turn[:, :, None]
    both_whole = whole[:, :, None] & whole[:, None, :]
    both_open = unfinished[:, :, None] & unfinished[:, None, :]
    return (both_whole & earlier) | (both_open & later)


def joined(sees: Tensor, looks: Tensor, valid: Tensor | None = None) -> Tensor:
    """(B, 1, n, n) of the whole sequence: elements, then those that are asked about.

    sees (B, N, N), looks (B, A, N): what elements and asked ones see of elements. Each sees itself
    as well. valid (B, N): a first token comes before all, which sees these and is seen by none.
    """
    rows = torch.cat([sees, looks], dim=1)
    front = 0
    if valid is not None:
        rows, front = torch.cat([valid[:, None], rows], dim=1), 1
    found = torch.nn.functional.pad(rows, (front, looks.shape[1]))
    itself = torch.eye(found.shape[1], dtype=torch.bool, device=found.device)
    return (found | itself)[:, None]

"""Attention of all our transformers, in the form that is fastest where it runs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

SHORT = 40  # places: up to here two products of matrices are faster than the fused kernel


def attend(
    query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None, causal: bool = False
) -> Tensor:
    """Scaled dot-product attention. visible: a boolean that broadcasts to (B, heads, N, N).

    In bfloat16 on a CPU it is written out: the fused kernel takes three to six times as long there.
    """
    if key.dtype == torch.bfloat16 and key.device.type == "cpu":
        if causal:
            visible = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool).tril()
        return _in_half(query, key, value, visible)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=visible, is_causal=causal)


def attend_few(query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None) -> Tensor:
    """The same for sequences that are mostly short, written out where they are."""
    half = key.dtype == torch.bfloat16 and key.device.type == "cpu"
    if half or key.shape[2] > SHORT:
        return attend(query, key, value, visible)
    scores = query @ key.transpose(2, 3) * query.shape[3] ** -0.5
    if visible is not None:
        scores = scores.masked_fill(~visible, -torch.inf)
    return torch.softmax(scores, dim=-1).to(value.dtype) @ value


def _in_half(query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None) -> Tensor:
    """All of it in bfloat16: autocast would make single precision of the largest tensors."""
    with torch.autocast("cpu", enabled=False):
        scores = (query * query.shape[3] ** -0.5).to(key.dtype) @ key.transpose(2, 3)
        if visible is not None:
            hidden = torch.zeros(visible.shape, dtype=scores.dtype)
            scores = scores + hidden.masked_fill_(~visible, -torch.inf)
        return torch.softmax(scores, dim=-1) @ value

"""Start from an existing model on other labels: what both know keeps its weights.

Bins, positions and the body of the network are the base model's. A label that both have keeps its
row of the embedding and of the output; a new label starts from the mean of the base's labels.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from layoutdm.tokens import Tokenizer
from layoutdm.train.export import LoadedModel
from layoutdm.train.networks import Network, NetworkConfig, build

LABEL_NOISE = 0.01  # new labels must differ a little, or they would stay the same for ever


def wider(base: LoadedModel, tokenizer: Tokenizer, dropout: float) -> NetworkConfig:
    """The base network's shape with room for these labels; dropout is this training's own."""
    element = base.network.config.kind == "element"
    return replace(
        base.network.config, sizes=tokenizer.sizes, dropout=dropout, ordered=element,
        in_turn=element,
    )  # fmt: skip


def adapt(base: LoadedModel, tokenizer: Tokenizer, dropout: float) -> Network:
    """The base network with rows for these labels; bins and slots must be the base's."""
    old = base.network.config
    network = build(wider(base, tokenizer, dropout))
    assert isinstance(network, nn.Module)
    assert isinstance(base.network, nn.Module)
    state = dict(base.network.state_dict())
    known, labels = base.tokenizer.labels, tokenizer.labels
    tables: tuple[str, ...] = ("embed.0.weight", "heads.weight", "heads.bias")
    if old.kind == "paper":
        tables = ("embed.weight", "head.weight")
    for name in tables:
        state[name] = label_rows(state[name], known, labels)
    if old.space:
        state["cover"] = label_pairs(state["cover"][..., None], known, labels)[..., 0]
    if old.repeats:
        states = len(known) + 2
        pairs = state["repeat.tables"].view(states, states, -1)
        state["repeat.tables"] = label_pairs(pairs, known, labels).flatten(0, 1)
    network.load_state_dict(state)
    return network


def label_pairs(table: Tensor, known: tuple[str, ...], labels: tuple[str, ...]) -> Tensor:
    """A table (labels, labels, n) whose first rows and columns belong to the labels."""
    for _ in range(2):  # rows, then columns
        flat = label_rows(table.flatten(1), known, labels)
        table = flat.view(len(flat), *table.shape[1:]).transpose(0, 1).contiguous()
    return table


def label_rows(table: Tensor, known: tuple[str, ...], labels: tuple[str, ...]) -> Tensor:
    """A table whose first rows belong to the labels: rows by name, all further rows as they are."""
    rows, rest = table[: len(known)], table[len(known) :]
    mean = rows.mean(dim=0)
    generator = torch.Generator().manual_seed(0)
    made = []
    for label in labels:
        if label in known:
            made.append(rows[known.index(label)])
        else:
            noise = torch.randn(mean.shape, generator=generator)
            made.append(mean + LABEL_NOISE * noise)
    return torch.cat([torch.stack(made), rest])

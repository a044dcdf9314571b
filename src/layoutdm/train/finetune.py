"""Start from an existing model on other labels: what both know keeps its weights.

Bins, positions and the body of the network are the base model's. A label that both have keeps its
row of the embedding and of the output; a new label starts from the mean of the base's labels.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from layoutdm.tokens import Tokenizer
from layoutdm.train.config import TrainConfig
from layoutdm.train.export import LoadedModel
from layoutdm.train.networks import Network, NetworkConfig, build

LABEL_NOISE = 0.01  # new labels must differ a little, or they would stay the same for ever


def wider(base: LoadedModel, tokenizer: Tokenizer, config: TrainConfig) -> NetworkConfig:
    """The base network's shape with room for these labels.

    Dropout is this training's own, so may be the most that covering costs, and it may teach the
    network to read what is ahead.
    """
    old = base.network.config
    ahead = old.ahead or config.ordered_tasks
    most = old.cover_most if config.cover_most is None else config.cover_most
    return replace(old, sizes=tokenizer.sizes, dropout=config.dropout, ahead=ahead, cover_most=most)


def adapt(base: LoadedModel, tokenizer: Tokenizer, config: TrainConfig) -> Network:
    """The base network with rows for these labels; bins and slots must be the base's."""
    old = base.network.config
    shape = wider(base, tokenizer, config)
    network = build(shape)
    assert isinstance(network, nn.Module)
    assert isinstance(base.network, nn.Module)
    state = dict(base.network.state_dict())
    known, labels = base.tokenizer.labels, tokenizer.labels
    tables: tuple[str, ...] = ("embed.0.weight", "heads.weight", "heads.bias")
    if old.kind == "paper":
        tables = ("embed.weight", "head.weight")
    for name in tables:
        state[name] = label_rows(state[name], known, labels)
    if old.space:  # rows and columns are labels
        rows = label_rows(state["cover"], known, labels)
        state["cover"] = label_rows(rows.T, known, labels).T.contiguous()
    if old.ahead:  # blocks of rows for each label, and in the second a column for each
        blocks = state["ahead.weight"].view(len(known), -1)
        state["ahead.weight"] = label_rows(blocks, known, labels).view(-1, old.width)
        columns = label_rows(state["ahead_labels.weight"].T.contiguous(), known, labels).T
        blocks = columns.reshape(len(known), -1)
        state["ahead_labels.weight"] = label_rows(blocks, known, labels).view(-1, len(labels))
    elif shape.ahead:  # tables of zeros: they say nothing yet
        state |= {k: v for k, v in network.state_dict().items() if k.startswith("ahead")}
    network.load_state_dict(state)
    return network


def mean_weights(base: LoadedModel, tuned: Network, adapted: Network, share: float) -> Network:
    """Between a network and the base that it was tuned from: this share of the base's weights.

    adapted: the base with the labels of the tuned network. The most that covering costs is a number
    like the weights, so it is their mean, too.
    """
    most = share * base.network.config.cover_most + (1 - share) * tuned.config.cover_most
    mixed = build(replace(tuned.config, cover_most=most))
    assert isinstance(mixed, nn.Module)
    assert isinstance(tuned, nn.Module)
    assert isinstance(adapted, nn.Module)
    old, own = adapted.state_dict(), tuned.state_dict()
    mixed.load_state_dict({name: torch.lerp(own[name], old[name], share) for name in own})
    mixed.eval()
    return mixed


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

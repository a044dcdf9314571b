"""A denoiser that asks a torch network directly: for evaluation while training, and comparison."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from layoutdm.diffusion.network import Array, Ints, Prediction, Query, Traits, only_asked
from layoutdm.generator.config import read_traits
from layoutdm.train.networks import Network
from layoutdm.train.networks import Query as TorchQuery


class TorchDenoiser:
    """Answers queries with a network of the learn half, without gradients."""

    def __init__(self, network: Network, device: str | torch.device = "cpu") -> None:
        self._network = network
        self._device = torch.device(device)
        if isinstance(network, nn.Module):
            network.eval().to(self._device)
        self._traits = read_traits(network.config.to_dict())

    @property
    def traits(self) -> Traits:
        return self._traits

    @torch.inference_mode()
    def __call__(self, query: Query) -> Prediction:
        config = self._network.config
        about = position = asked = turn = None
        if config.kind == "element":  # the exported file always reads these, 0 meaning nothing
            position = _or_zeros(query.position, query.valid.shape)
            asked, turn = query.asked, query.turn
            if config.about_levels:
                about = _or_zeros(query.about, (*query.valid.shape, 4))
        answer = self._network(
            TorchQuery(
                tokens=self._tensor(query.tokens),
                level=self._tensor(query.level) if config.time == "adaln" else None,
                valid=None if query.valid.all() else self._tensor(query.valid),
                about=None if about is None else self._tensor(about),
                position=None if position is None else self._tensor(position),
                asked=None if asked is None else self._tensor(asked),
                turn=None if turn is None else self._tensor(turn),
            )
        )
        number = None if answer.number is None else answer.number.float().cpu().numpy()
        found = (part.float().cpu().numpy() for part in answer.log_probs)
        left = query.asked if asked is None else None  # what the network has not chosen itself
        return Prediction(tuple(only_asked(part, left) for part in found), number)

    def _tensor(self, array: Array) -> Tensor:
        return torch.as_tensor(array, device=self._device)


def _or_zeros(array: Ints | None, shape: tuple[int, ...]) -> Ints:
    return np.zeros(shape, dtype=np.int64) if array is None else array

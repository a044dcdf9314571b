"""Elements on top of each other whose labels keep apart in the data: on a screen text and text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from layoutdm import Layout
from layoutdm.generator.config import LayoutDMConfig
from layoutdm.generator.layoutdm import LayoutDM
from layoutdm.model import Model
from layoutdm.tokens import Tokenizer
from layoutdm.train.apart import labels_apart, shared_room
from layoutdm.train.corpus import pack

MORE = 0.25  # of the smaller element: what counts as on top


def config_of(model: Model) -> LayoutDMConfig:
    """The config of a model of ours."""
    assert isinstance(model.generator, LayoutDM), "the bench is for LayoutDM"
    return model.generator.config


class KeepingApart:
    """Which labels keep apart, learned from layouts; see `labels_apart`."""

    def __init__(self, train: Sequence[Layout], tokenizer: Tokenizer) -> None:
        fitting = [layout for layout in train if 0 < len(layout) <= tokenizer.max_elements]
        self.tokenizer = tokenizer
        self.apart: NDArray[np.bool_] = labels_apart(pack(fitting, tokenizer))

    def broken(self, layout: Layout, more: float = MORE) -> bool:
        """Whether two elements whose labels keep apart share more than this."""
        labels = self.tokenizer.label_ids(list(layout.labels))
        pairs = self.apart[labels[:, None], labels]
        np.fill_diagonal(pairs, False)
        return bool((pairs & (shared_room(np.asarray(layout.boxes)) > more)).any())

    def share(self, layouts: Sequence[Layout], more: float = MORE) -> float:
        """Of these layouts, those with elements on top of each other."""
        return float(np.mean([self.broken(layout, more) for layout in layouts]))

"""Vectors that are alike as far as the values that they stand for are near each other.

One bin of 256 is seen seldom, its neighbours together often. A network that begins with random
vectors has to learn who its neighbours are; one that begins with waves of the value knows it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

SLOWEST, FASTEST = 0.25, 64.0  # waves over the canvas: the fastest tells neighbours of 256 bins
SCALE = 0.02  # of all weights at the start, see `initialise`


def waves(values: Tensor, width: int) -> Tensor:
    """(n, width) for values of 0 to 1: a cosine for each column, of its own length and phase.

    >>> vectors = waves(torch.tensor([0.5, 0.502, 0.9]), 1024)
    >>> near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    >>> bool(near > 2 * far.abs())
    True
    """
    length = torch.empty(width).uniform_(math.log(SLOWEST), math.log(FASTEST)).exp()
    return (
        SCALE
        * math.sqrt(2)
        * torch.cos(2 * math.pi * (values[:, None] * length + torch.rand(width)))
    )

"""The permutations that the paper's splits were drawn with, without the library that drew them.

>>> permutation(5, seed=0).tolist()
[4, 0, 1, 3, 2]

The published splits come from a torch CPU generator: a Mersenne twister whose 32-bit outputs
drive a forward Fisher-Yates shuffle by remainder. numpy holds the same twister, so the result is
equal bit for bit and needs no torch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutdm.errors import LayoutdmError

# From here on torch draws 64 bits a swap; no data set of layouts comes near.
LARGEST = (2**32 - 1) // 20


def permutation(count: int, seed: int = 0) -> NDArray[np.int64]:
    """What torch.randperm(count) gives after manual_seed(seed), on the CPU."""
    if count >= LARGEST:
        raise LayoutdmError(f"cannot shuffle {count} items; at most {LARGEST - 1} are supported")
    order = list(range(count))
    if count > 1:
        # The legacy class on purpose: its seeding is the twister's own and its stream is frozen.
        twister = np.random.RandomState(seed % 2**32)
        draws = twister.randint(0, 2**32, size=count - 1, dtype=np.uint32).astype(np.int64)
        remaining = np.arange(count, 1, -1, dtype=np.int64)
        targets = (draws % remaining + np.arange(count - 1)).tolist()
        for place, target in enumerate(targets):
            order[place], order[target] = order[target], order[place]
    return np.array(order, dtype=np.int64)

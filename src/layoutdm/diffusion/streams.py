"""Random numbers: every layout has a stream of its own, so that its neighbours do not matter.

>>> float(stream(seed=0, index=7).random()) == float(stream(seed=0, index=7).random())
True
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from layoutdm.errors import LayoutdmError

Floats = NDArray[np.float64]

BLOCK = 16  # steps drawn at a time; part of the result: changing it changes every layout


def stream(seed: int, index: int, attempt: int = 0) -> np.random.Generator:
    """The stream of layout `index` of a job; further attempts at it start at other places."""
    if not 0 <= seed < 2**64:
        raise LayoutdmError(f"seed must be a whole number from 0 to 2^64 - 1, got {seed}")
    # Philox is a keyed function of a counter: streams of different keys are independent.
    key = np.array([seed, index], dtype=np.uint64)
    counter = np.array([0, 0, 0, attempt], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


class Uniforms:
    """Rows of uniform numbers in [0, 1), one row a layout, as many as its own slots need.

    A layout's numbers depend on its stream and its own number of tokens only, never on how far
    the batch is filled up; what fills up is 0.5.
    """

    def __init__(
        self, streams: Sequence[np.random.Generator], tokens: Sequence[int], width: int
    ) -> None:
        self._streams = streams
        self._tokens = tokens
        self._block = np.full((BLOCK, len(streams), width), 0.5)
        self._used = BLOCK

    def next(self) -> Floats:
        """(layouts, width); valid until the next call."""
        if self._used == BLOCK:
            for row, (generator, count) in enumerate(zip(self._streams, self._tokens, strict=True)):
                self._block[:, row, :count] = generator.random((BLOCK, count))
            self._used = 0
        self._used += 1
        numbers: Floats = self._block[self._used - 1]
        return numbers

"""The number of elements, drawn first: from p(number | the listed elements)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from layoutdm.diffusion.draw import draw
from layoutdm.diffusion.network import Denoiser, Ints, Query
from layoutdm.errors import LayoutdmError
from layoutdm.plan.batch import encode_all
from layoutdm.spec import Condition
from layoutdm.tokens import Tokenizer

LOG_FLOOR = -70.0
TOGETHER = 64  # conditions that the network is asked about in one call


def draw_numbers(
    denoiser: Denoiser,
    tokenizer: Tokenizer,
    level: int,
    conditions: Sequence[Condition],
    streams: Sequence[np.random.Generator],
) -> list[int]:
    """How many elements each layout has, within its condition's bounds.

    A stream is used only where the bounds leave a choice.
    """
    numbers = [condition.max_elements for condition in conditions]
    free = [i for i, one in enumerate(conditions) if one.min_elements < one.max_elements]
    free.sort(key=lambda i: len(conditions[i]))
    for start in range(0, len(free), TOGETHER):
        chosen = free[start : start + TOGETHER]
        some = [conditions[i] for i in chosen]
        uniform = np.array([streams[i].random() for i in chosen])
        drawn = _draw(denoiser, tokenizer, level, some, uniform)
        for i, number in zip(chosen, drawn.tolist(), strict=True):
            numbers[i] = number
    return numbers


def _draw(
    denoiser: Denoiser,
    tokenizer: Tokenizer,
    level: int,
    conditions: Sequence[Condition],
    uniform: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> Ints:
    tokens, valid = _listed(conditions, tokenizer)
    query = Query(tokens, np.full(len(tokens), level, dtype=np.int64), valid)
    predicted = denoiser(query).number
    if predicted is None:
        raise LayoutdmError("the model predicts no number of elements; its file is damaged")
    numbers = np.arange(1, predicted.shape[1] + 1)
    low = np.array([[condition.min_elements] for condition in conditions])
    high = np.array([[condition.max_elements] for condition in conditions])
    log = np.maximum(predicted, LOG_FLOOR, dtype=np.float64)
    log[(numbers < low) | (numbers > high)] = -np.inf
    return 1 + draw(np.exp(log - log.max(axis=1, keepdims=True)), uniform)


def _listed(
    conditions: Sequence[Condition], tokenizer: Tokenizer
) -> tuple[Ints, np.ndarray[tuple[int, int], np.dtype[np.bool_]]]:
    """The listed elements alone, (B, S, 5) tokens and (B, S) valid slots, at least one slot."""
    encoded = encode_all(conditions, tokenizer)
    slots = max(1, *(len(item.tokens) for item in encoded))
    tokens = np.tile(tokenizer.pad, (len(encoded), slots, 1))
    valid = np.zeros((len(encoded), slots), dtype=bool)
    for row, item in enumerate(encoded):
        tokens[row, : len(item.tokens)] = item.tokens
        valid[row, : len(item.tokens)] = True
    return tokens, valid

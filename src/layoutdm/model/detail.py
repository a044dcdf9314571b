"""Where values lie inside their bins: a second, small network draws it.

A model with few bins per attribute can be learned well, but rows of text then lie half a row off
and on top of each other, though the tokens are right. A detail network knows labels and bins of
all elements, and draws finer values inside these bins, one element after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from layoutdm.boxes import reading_order
from layoutdm.diffusion.known import Known
from layoutdm.diffusion.network import Bools, Denoiser, Ints
from layoutdm.diffusion.sampler import Sampler
from layoutdm.diffusion.settings import Settings
from layoutdm.errors import LayoutdmError
from layoutdm.model.config import ModelConfig
from layoutdm.tokens import Bins, cells

Floats = NDArray[np.float64]


def belongs(detail: ModelConfig, model: ModelConfig) -> bool:
    """Whether a detail network was trained for this model's labels, bins and slots."""
    return (
        detail.cells is not None
        and detail.cells.counts == model.tokenizer.bins.counts
        and all(map(np.allclose, detail.cells.centres, model.tokenizer.bins.centres))
        and detail.labels == model.labels
        and detail.max_elements == model.max_elements
        and model.traits.number_first  # slots that turn out empty have no bins
    )


class Detail:
    """A detail network and its bins, for a model with `coarse` bins."""

    def __init__(self, config: ModelConfig, denoiser: Denoiser, coarse: Bins) -> None:
        self.fine, self.coarse = config.tokenizer.bins, coarse
        self.mask = config.tokenizer.mask
        self.cells = cells(self.fine, coarse)
        if any(len(np.unique(own)) < coarse.counts[a] for a, own in enumerate(self.cells)):
            raise LayoutdmError(
                "the detail network has no finer values for some of the model's bins; "
                "it should be trained with --detail-of this model"
            )
        settings = Settings.from_dict(config.sampling_of("default"))
        self.sampler = Sampler(denoiser, config.schedule, settings)

    def boxes(
        self, tokens: Ints, valid: Bools, fixed: Floats, streams: Sequence[np.random.Generator]
    ) -> Floats:
        """Boxes (B, S, 4) of these (B, S, 5) tokens of the model.

        fixed (B, S, 4): values that are known to the last digit, NaN elsewhere. They come back as
        the nearest finer values; whoever fixed them has the digits.
        """
        made = self.sampler.run(self._known(tokens, valid, fixed), streams)
        return self.fine.decode(np.where(valid[..., None], made[..., 1:], 0))

    def _known(self, tokens: Ints, valid: Bools, fixed: Floats) -> Known:
        bins = np.where(valid[..., None], tokens[..., 1:], 0)
        given = np.isfinite(fixed) & valid[..., None]
        nearest = self.fine.encode(np.nan_to_num(fixed))
        own = np.stack([self.cells[a][nearest[..., a]] for a in range(4)], axis=-1)
        bins = np.where(given, own, bins)
        known = tokens.copy()
        known[..., 1:] = np.where(given, nearest, self.mask[1:])
        # Slots that only fill up hold the model's PAD, which is none of the finer ids.
        known = np.where(valid[..., None], known, self.mask - 1)
        ranks = np.zeros(valid.shape, dtype=np.int64)
        for row, count in enumerate(valid.sum(axis=1)):
            order = reading_order(self.coarse.decode(bins[row, :count]))
            ranks[row, order] = np.arange(count)
        slots = np.arange(valid.shape[1])
        return Known(
            tokens=known,
            fixed=np.concatenate([np.ones_like(given[..., :1]), given | ~valid[..., None]], axis=2),
            valid=valid,
            values=tuple(self.cells[a] == bins[..., a, None] for a in range(4)),
            about=np.where(valid[..., None], 1 + bins, 0),
            position=np.where(valid, 1 + ranks, 0),
            turns=np.where(valid, ranks, slots),
        )

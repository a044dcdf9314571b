"""BLT: labels, then sizes, then places, filled in parallel steps (Kong et al., ECCV 2022).

A bidirectional transformer learns to fill masked tokens of one group (labels, sizes or places)
while all else is visible, and decodes the groups in that order. `blt` is what the LayoutDM paper
compared; `blt-original` is what its authors released:

- `blt`: the groups not yet decoded are MASK at first, a state that training never shows; the paper
  names this as the reason of its poor results. A step keeps the highest raw scores, and the number
  that stays masked falls evenly. PAD is a word of the vocabulary, as in the paper's row for
  completion (its other rows are without; here one model does all).
- `blt-original`: half of training shows later groups as MASK. Each attribute has its own words,
  positions are only the element's index and the number of elements. Labels and sizes are drawn
  from the five likeliest at temperature 1.5, places are the likeliest; of those still masked a
  falling share stays so, by probability. In completion the number of elements is drawn.
  Otherwise than there: elements are shuffled anew for every batch (theirs: sorted, or shuffled
  once), up to 25 (22), the three groups have as many steps each (a number each), and at published
  size the rate stays at its peak (falls with the root of the step).

As compared, PAD could be drawn for an element that was asked for, which then went missing; that is
not copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.baselines.choosing import TokenOptions, pick, whole
from layoutdm.baselines.common import Common, System, read_common, refusal, understood
from layoutdm.baselines.filling import Canvas, Ints, draw_all
from layoutdm.baselines.session import Network, Session
from layoutdm.baselines.vocabulary import Vocabulary
from layoutdm.diffusion.streams import Uniforms
from layoutdm.errors import LayoutdmError
from layoutdm.generator.protocol import Drawn
from layoutdm.spec import Condition

FILE = "model.onnx"
GROUPS = ((0,), (3, 4), (1, 2))  # modalities: label; width, height; x, y
TOP_K = 5


@dataclass(frozen=True)
class BLTOptions(TokenOptions):
    """`steps` of all three groups together."""

    steps: int = 99

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("steps", self.steps, 3, 10_000)
        if self.steps % 3:
            raise LayoutdmError(f"steps must be a multiple of 3, got {self.steps}")


@dataclass(frozen=True)
class BLTOriginalOptions(BLTOptions):
    temperature: float = 1.5  # of labels and sizes
    top_k: int = TOP_K
    steps: int = 12

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("top_k", self.top_k, 1, 1_000_000)


@dataclass(frozen=True, eq=False)
class BLT(System):
    common: Common
    network: Network
    vocabulary: Vocabulary
    name: str = "blt"

    @property
    def original(self) -> bool:
        return self.name == "blt-original"

    @property
    def options(self) -> type[BLTOptions]:
        return BLTOriginalOptions if self.original else BLTOptions

    def usual(self, task: str) -> BLTOptions:
        return self.common.options(self.options(), task)

    def refuses(self, condition: Condition) -> str | None:
        return refusal(self.name, condition)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: BLTOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        def fill(canvas: Canvas, numbers: Uniforms) -> None:
            for group in GROUPS:
                fill_group(self.network, canvas, group, options, numbers)

        pad = not self.original
        return draw_all(conditions, streams, self.common, self.vocabulary, fill, pad=pad)


def fill_group(
    network: Network,
    canvas: Canvas,
    group: tuple[int, ...],
    options: BLTOptions,
    numbers: Uniforms,
) -> None:
    """Fill the tokens of one group in a third of the steps."""
    inside = np.isin(canvas.modality, group)
    unknown = (canvas.masked & inside).sum(axis=1)
    length, steps = canvas.tokens.shape[1], options.steps // 3
    original = isinstance(options, BLTOriginalOptions)
    for step in range(steps):
        uniform = numbers.next()[:, :length]
        open_ = canvas.masked & inside
        masked = open_.sum(axis=1)
        if original:
            leave = np.ceil(masked * (steps - step - 1) / steps).astype(np.int64)
        else:
            leave = np.minimum(unknown * (steps - step - 1) // steps, masked)
        if (leave >= masked).all():
            continue
        scores = np.asarray(canvas.ask(network), dtype=np.float64)
        if isinstance(options, BLTOriginalOptions):
            chosen, confidence = _original(scores, canvas, group, options, uniform)
        else:
            chosen, _ = pick(scores, canvas.allowed, uniform, options.temperature, options.top_p)
            confidence = np.take_along_axis(scores, chosen[..., None], axis=-1)[..., 0]
        canvas.keep(chosen, confidence, open_, leave)


def _original(
    scores: NDArray[np.float64],
    canvas: Canvas,
    group: tuple[int, ...],
    options: BLTOriginalOptions,
    uniform: NDArray[np.float64],
) -> tuple[Ints, NDArray[np.float64]]:
    """Places: the likeliest. Labels and sizes: one of the likeliest few. Sure is what is likely."""
    own = np.where(canvas.allowed, scores, -np.inf)
    if group == GROUPS[2]:
        chosen = own.argmax(axis=-1)
    else:
        edge = np.sort(own, axis=-1)[..., -min(options.top_k, own.shape[-1]), None]
        few = canvas.allowed & (own >= edge)
        chosen, _ = pick(scores, few, uniform, options.temperature, options.top_p)
    likely = np.exp(own - own.max(axis=-1, keepdims=True))
    likely /= likely.sum(axis=-1, keepdims=True)
    return chosen, np.take_along_axis(likely, chosen[..., None], axis=-1)[..., 0]


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> BLT:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    vocabulary = understood(folder, lambda: Vocabulary.from_dict(record["vocabulary"]))
    return BLT(common, Session(folder / FILE, threads), vocabulary, str(record["generator"]))

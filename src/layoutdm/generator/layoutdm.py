"""LayoutDM as a generator: plan, denoiser, terms and a sampler put together.

number of elements -> labels and reading order -> [network -> terms -> draw] x steps -> boxes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.diffusion.element import ElementSampler
from layoutdm.diffusion.grid import grid
from layoutdm.diffusion.network import Denoiser, Ints
from layoutdm.diffusion.plain import PlainSampler
from layoutdm.diffusion.streams import Uniforms
from layoutdm.errors import LayoutdmError
from layoutdm.generator.cells import meet_sizes
from layoutdm.generator.config import LayoutDMConfig
from layoutdm.generator.label_file import FILE as LABELS
from layoutdm.generator.label_file import read as read_labels
from layoutdm.generator.onnx import FILE, OnnxDenoiser
from layoutdm.generator.options import LayoutDMOptions
from layoutdm.generator.protocol import Drawn, Frame, empty
from layoutdm.plan import Batch, LabelModel, begin, draw_numbers, set_order
from layoutdm.settle import pins
from layoutdm.spec import Condition
from layoutdm.terms import (
    Allowed,
    Apart,
    KeepApart,
    LeaveRoom,
    Near,
    OnCanvas,
    Possible,
    Related,
    Term,
)  # fmt: skip
from layoutdm.terms.energies import Relaxation

BATCH = 64  # layouts that are sampled together
ENOUGH = 8  # layouts in a batch, from where on a new batch costs less than filling up slots
WASTE = 0.15  # filled up slots, as a share of the real ones, that a batch may have


@dataclass(frozen=True, eq=False)
class LayoutDM:
    """Modality-wise discrete diffusion, conditioned by what is fixed and by terms."""

    config: LayoutDMConfig
    denoiser: Denoiser
    label_model: LabelModel | None = None
    fingerprint: str = ""
    terms: Sequence[Term] = ()  # further terms, after the usual ones
    sampler_type: type[ElementSampler] = ElementSampler  # where elements are decided one by one
    name: str = "layoutdm"
    options: type[LayoutDMOptions] = LayoutDMOptions

    @property
    def labels(self) -> tuple[str, ...]:
        return self.config.labels

    @property
    def max_elements(self) -> int:
        return self.config.max_elements

    @property
    def canvas(self) -> tuple[float, float]:
        return self.config.canvas

    @property
    def aliases(self) -> Mapping[str, str]:
        return self.config.aliases

    @property
    def apart(self) -> Apart | None:
        return self.config.apart

    def usual(self, task: str) -> LayoutDMOptions:
        return LayoutDMOptions().replaced(**self.config.sampling_of(task))

    def refuses(self, condition: Condition) -> str | None:
        """Nothing: whatever a request mixes can be drawn."""
        return None

    def check(self, options: LayoutDMOptions) -> None:
        """Raise where options, each right by itself, do not fit each other or this model."""
        config, levels = self.config, self.config.schedule.steps
        grid(levels, options.steps or levels, published=options.published)
        if self.sampler_of(options) != "element":
            return
        if config.traits.draws_pad or not config.schedule.only_masks:
            raise LayoutdmError(
                "sampler=element needs a network that knows the number of elements and a schedule "
                "that only masks; this model has sampler=plain"
            )
        if options.published or options.remask:
            raise LayoutdmError("published and remask belong to sampler=plain; set it as well")

    def draw(
        self,
        conditions: Sequence[Condition],
        options: LayoutDMOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        drawn = empty(len(conditions), self.max_elements)
        for group, batch, uniforms in self._batches(conditions, options, streams):
            tokens = self._sampler(batch, options).run(batch, uniforms)
            self._decode(drawn, group, batch, tokens)
        return drawn

    def trace(
        self,
        conditions: Sequence[Condition],
        options: LayoutDMOptions,
        streams: Sequence[np.random.Generator],
    ) -> list[tuple[Frame, ...]]:
        """Every state on the way of the layouts that `draw` makes of the same streams."""
        frames: list[tuple[Frame, ...]] = [()] * len(conditions)
        for group, batch, uniforms in self._batches(conditions, options, streams):
            for level, tokens in self._sampler(batch, options).walk(batch, uniforms):
                for row, i in enumerate(group):
                    own = tokens[row][batch.valid[row]]
                    frames[i] = (*frames[i], self._frame(level, own))
        return frames

    def _batches(
        self,
        conditions: Sequence[Condition],
        options: LayoutDMOptions,
        streams: Sequence[np.random.Generator],
    ) -> Iterator[tuple[list[int], Batch, Uniforms]]:
        """Planned batches of like size, the indices of their conditions, and their numbers."""
        config, traits = self.config, self.config.traits
        numbers: list[int] | None = None
        if traits.number_first:
            numbers = draw_numbers(
                self.denoiser, config.tokenizer, config.schedule.steps, conditions, streams
            )
        sizes = numbers or [config.max_elements] * len(conditions)
        for group in like_sized(sizes, [condition.guided for condition in conditions]):
            counts = [numbers[i] for i in group] if numbers else None
            batch = begin([conditions[i] for i in group], counts, config.tokenizer, traits)
            width = 5 * batch.tokens.shape[1]
            own = [streams[i] for i in group]
            uniforms = Uniforms(own, (5 * batch.counts).tolist(), width)
            if traits.number_first and self.sampler_of(options) == "element":
                first = uniforms.next() if self.label_model else np.zeros((len(group), width))
                first = first.reshape(batch.tokens.shape)[..., 0]
                model = self.label_model if traits.ordered else None
                batch = set_order(batch, model, first, options.label_top_p, ranked=traits.ordered)
            yield group, batch, uniforms

    def sampler_of(self, options: LayoutDMOptions) -> str:
        """Which sampler these options mean."""
        if options.sampler is not None:
            return options.sampler
        plain = self.config.traits.draws_pad or options.published or options.remask
        return "plain" if plain or not self.config.schedule.only_masks else "element"

    def _sampler(self, batch: Batch, options: LayoutDMOptions) -> PlainSampler | ElementSampler:
        self.check(options)
        config, in_turn = self.config, self.sampler_of(options) == "element"
        centres = config.tokenizer.bins.centres
        terms = (*usual_terms(batch, config, options, in_turn=in_turn), *self.terms)
        labels = options.top_p if options.published else options.label_top_p
        if not in_turn:
            return PlainSampler(
                self.denoiser, config.schedule, terms, options.steps, options.published,
                options.temperature, (labels, options.top_p), options.remask, centres,
            )  # fmt: skip
        return self.sampler_type(
            self.denoiser, config.schedule, terms, options.steps, options.temperature,
            (labels, options.top_p), centres,
        )  # fmt: skip

    def _decode(self, drawn: Drawn, group: Sequence[int], batch: Batch, tokens: Ints) -> None:
        """Put the elements of a batch into the arrays of all; invalid ones are left out."""
        for row, i in enumerate(group):
            decoded = self.config.tokenizer.decode(tokens[row][batch.valid[row]])
            boxes, n = decoded.boxes, len(decoded.labels)
            condition, given = batch.conditions[row], np.isfinite(batch.boxes[row, :n])
            boxes[given] = batch.boxes[row, :n][given]
            if condition.guided:
                boxes = meet_sizes(boxes, given, condition, self.config.tokenizer.bins)
            drawn.label[i, :n], drawn.box[i, :n] = decoded.labels, boxes
            drawn.mask[i, :n] = True

    def _frame(self, level: int, tokens: Ints) -> Frame:
        tokenizer = self.config.tokenizer
        tokens = tokens[~(tokens == tokenizer.pad).any(axis=1)]
        decided = tokens < tokenizer.pad
        named = zip(tokens[:, 0], decided[:, 0], strict=True)
        labels = tuple(tokenizer.labels[label] if known else None for label, known in named)
        boxes = tokenizer.bins.decode(np.where(decided, tokens, 0)[:, 1:])
        return Frame(level, labels, np.where(decided[:, 1:], boxes, np.nan))


def usual_terms(
    batch: Batch, config: LayoutDMConfig, options: LayoutDMOptions, *, in_turn: bool
) -> list[Term]:
    """The terms that a batch needs, in their order: what is ruled out, wished, kept apart.

    in_turn: sizes are decided before places, and boxes one after the other.
    """
    bins, conditions = config.tokenizer.bins, batch.conditions
    terms: list[Term] = []
    if config.traits.draws_pad or not batch.fixed[:, :, 0].all():
        terms.append(Allowed(batch))
    if not options.published:
        terms.append(OnCanvas(bins))
    if options.relations == "hold" and any(pins(one) for one in conditions):
        terms.append(Possible(batch, bins, in_turn=in_turn))
    if any(np.isfinite(condition.about).any() for condition in conditions):
        terms.append(Near(batch, bins.centres))
    if options.relation_strength and any(condition.guided for condition in conditions):
        form: Relaxation = "box" if options.relations == "published" else "bins"
        strength = options.relation_strength
        terms.append(Related(batch, bins.centres, strength, form, move_sizes=not in_turn))
    # A network that draws PAD would lose elements for which no place is free.
    apart = None if config.traits.draws_pad or options.published else config.apart
    if apart is not None and options.keep_apart:
        terms.append(KeepApart(batch, apart, bins.centres))
        if in_turn:
            terms.append(LeaveRoom(batch, apart, bins.centres))
    return terms


def like_sized(sizes: Sequence[int], kinds: Sequence[bool]) -> Iterator[list[int]]:
    """Groups of indices: at most BATCH of one kind and of like size.

    kinds: whether the network must predict all elements of a layout in every step.

    >>> list(like_sized([3, 9, 3], [False, False, True]))
    [[0, 1], [2]]
    """
    group: list[int] = []
    slots = 0  # that hold elements
    for i in sorted(range(len(sizes)), key=lambda i: (kinds[i], sizes[i])):
        if group:
            filled = sizes[i] * len(group) - slots
            wasteful = len(group) >= ENOUGH and filled > WASTE * slots
            if len(group) == BATCH or wasteful or kinds[i] != kinds[group[0]]:
                yield group
                group, slots = [], 0
        group.append(i)
        slots += sizes[i]
    if group:
        yield group


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> LayoutDM:
    """The generator of a model folder; `record` is its config.json."""
    config = LayoutDMConfig.from_dict(record, str(folder / "config.json"))
    denoiser = OnnxDenoiser(folder / FILE, config.traits, threads)
    return LayoutDM(config, denoiser, _label_model(folder, config), fingerprint)


def _label_model(folder: Path, config: LayoutDMConfig) -> LabelModel | None:
    """The label network, unless config.json says that the file belongs to another model."""
    if config.label_network is False:
        return None
    found = read_labels(folder / LABELS, len(config.labels))
    if found is None and config.label_network:
        raise LayoutdmError(
            f"{folder}: no {LABELS} there, but config.json says that the model has a label "
            f"network; copy the file, or set label_network to false"
        )
    return found

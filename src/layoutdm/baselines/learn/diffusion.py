"""The learn half of LayoutDM as published, its ablations, and VQDiffusion*.

They differ in three choices: whether the five modalities are diffused apart or as one joint
vocabulary, whether positions are element + attribute or one flat table, and the bins.

| name | diffusion | positions | bins |
|---|---|---|---|
| layoutdm-paper | modality-wise | decoupled | k-means |
| layoutdm-paper-joint | joint | decoupled | k-means |
| layoutdm-paper-flat | modality-wise | flat | k-means |
| layoutdm-paper-uniform | modality-wise | decoupled | even |
| layoutdm-paper-percentile | modality-wise | decoupled | percentiles |
| vqdiffusion | joint | flat | even |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from layoutdm.baselines.learn.packed import Ints, Packed, shuffled
from layoutdm.baselines.learn.system import Recipe, Setup, SystemLearner, write_onnx
from layoutdm.baselines.learn.transformer import Size
from layoutdm.baselines.vocabulary import PLACE_FIRST, Vocabulary
from layoutdm.baselines.vqdiffusion import FILE
from layoutdm.diffusion.process import corrupt, posterior
from layoutdm.diffusion.schedule import Mass, Schedule
from layoutdm.train.learner import Batch, Moment, Notes
from layoutdm.train.networks import NetworkConfig, PaperNetwork
from layoutdm.train.settings import Optimiser
from layoutdm.train.times import Times, stratified

AUXILIARY = 0.1  # its weight; times 2 - t / T, as in the released code
TINY = 1e-30


class PaperLearner(SystemLearner):
    """LayoutDM as published: modality-wise, decoupled positions, k-means bins."""

    recipe: ClassVar[Recipe] = Recipe(
        bins="kmeans",
        compact=Size(dropout=0.0),  # inside blocks; embeddings have 0.1, as released
        published=Size(464, 4, 8, 1856, dropout=0.0),  # 29/32 of 512, for AdaLN's parameters
        # Five times the other systems' rate, halved when the loss stops falling, as published.
        optimiser=Optimiser(learning_rate=5e-4, schedule="plateau", warm_up=0, average=0.0),
    )
    bucketed: ClassVar[bool] = False  # PAD is a state of every token
    joint: ClassVar[bool] = False
    positions: ClassVar[str] = "decoupled"

    def __init__(self, setup: Setup) -> None:
        self.schedule = Schedule()
        self.times = Times("importance", self.schedule.steps)
        super().__init__(setup)

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.tokenizer.sizes, PLACE_FIRST, False, ("pad", "mask"))

    def build(self, size: Size) -> nn.Module:
        return PaperNetwork(self.config(size))

    def config(self, size: Size) -> NetworkConfig:
        return NetworkConfig(
            sizes=self.tokenizer.sizes, kind="paper", max_elements=self.tokenizer.max_elements,
            width=size.width, layers=size.layers, heads=size.heads, feedforward=size.feedforward,
            dropout=size.dropout, time="adaln", steps=self.schedule.steps,
            positions=self.positions, normalise="vocabulary", number=False,
            block="published" if size.published_block else "prenorm",
        )  # fmt: skip

    def batch(self, layouts: Ints, rng: np.random.Generator, moment: Moment) -> Batch:
        batch = dict(self.make(self.train, layouts, rng))
        level, weight = self.times.draw(len(layouts), rng)
        batch["level"], batch["weight"] = torch.from_numpy(level), torch.from_numpy(weight).float()
        return batch

    def make(self, packed: Packed, layouts: Ints, rng: np.random.Generator) -> Batch:
        order = shuffled(packed, layouts, rng)
        found = packed.gather(layouts, order, self.tokenizer.max_elements)
        flat = self.vocabulary.flatten(found.tokens)
        return {
            "flat": torch.from_numpy(flat),
            "noise": torch.from_numpy(rng.random((len(flat), 2, flat.shape[1]))),
            "level": torch.from_numpy(stratified(len(flat), self.schedule.steps, rng)),
            "weight": torch.ones(len(flat)),
        }

    def loss(self, batch: Batch, moment: Moment, turn: str) -> tuple[Tensor, Notes]:
        variational, loss = self._terms(self.module, batch)
        return loss.mean(), {"level": batch["level"], "size": variational.detach()}

    def loss_of(self, module: nn.Module, batch: Batch) -> Tensor:
        """The bound per token without the auxiliary term: what validation compares."""
        return self._terms(module, batch)[0] * self.schedule.steps

    def _terms(self, module: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """(B,) variational terms per token, and what is minimised."""
        clean, level = batch["flat"], batch["level"]
        spaces = spaces_of(self.vocabulary, joint=self.joint)
        masses = _masses(self.schedule, level)
        noisy = to_noisy(clean, masses[1], batch["noise"], spaces)
        log_p0 = torch.log_softmax(flat_scores(module, noisy, level)[..., :-1].float(), dim=-1)
        kl, cross = compare(log_p0, clean, noisy, masses, spaces)
        factor = AUXILIARY * (2 - (level - 1) / self.schedule.steps)
        return kl, (kl + factor * cross) * batch["weight"]

    def took(self, notes: Notes, total: Callable[[Tensor], Tensor]) -> None:
        self.times.update(notes["level"], notes["size"], total)

    def state(self) -> Mapping[str, Tensor]:
        return {"history": self.times.history, "seen": self.times.seen}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        self.times.history, self.times.seen = tensors["history"], tensors["seen"]

    def files(self, module: nn.Module, folder: Path) -> dict[str, Any]:
        slots = self.tokenizer.max_elements
        level = torch.tensor([3, 50])
        batch = {0: "batch"}
        record: dict[str, Any] = {
            "schedule": self.schedule.to_dict(), "vocabulary": self.vocabulary.to_dict(),
            "network": self.config(self.setup.shape).to_dict(),
        }  # fmt: skip
        if self.joint:
            inputs = {"tokens": torch.zeros(2, 5 * slots, dtype=torch.long), "level": level}
            free = dict.fromkeys(("tokens", "level", "log_p0"), batch)
            write_onnx(_Joint(module), folder / FILE, inputs, ("log_p0",), free)
            return record
        inputs = {"tokens": torch.zeros(2, slots, 5, dtype=torch.long), "level": level}
        outputs = ("label", "x", "y", "width", "height")
        free = dict.fromkeys(("tokens", "level", *outputs), batch)
        write_onnx(_Apart(module, self.vocabulary), folder / FILE, inputs, outputs, free)
        # The paper's sampler and its gradient of expected boxes; nothing that came after it.
        sampling = {"sampler": "plain", "keep_apart": False, "relations": "published"}
        return {**record, "sampling": {"default": sampling, "relation": RELATIONS}}


RELATIONS = {"relation_strength": 418.5}  # the released 3e6, divided by its 14 costs and batch 512


class JointLearner(PaperLearner):
    """LayoutDM without modality-wise diffusion."""

    joint: ClassVar[bool] = True


class FlatLearner(PaperLearner):
    """LayoutDM without decoupled positions."""

    positions: ClassVar[str] = "flat"


class UniformLearner(PaperLearner):
    """LayoutDM with even bins."""

    recipe: ClassVar[Recipe] = Recipe(
        "uniform", compact=PaperLearner.recipe.compact, published=PaperLearner.recipe.published,
        optimiser=PaperLearner.recipe.optimiser,
    )  # fmt: skip


class PercentileLearner(PaperLearner):
    """LayoutDM with bins of equally many values."""

    recipe: ClassVar[Recipe] = Recipe(
        "percentile", compact=PaperLearner.recipe.compact, published=PaperLearner.recipe.published,
        optimiser=PaperLearner.recipe.optimiser,
    )  # fmt: skip


class VQDiffusionLearner(UniformLearner):
    joint: ClassVar[bool] = True
    positions: ClassVar[str] = "flat"


def flat_scores(module: nn.Module, flat: Tensor, level: Tensor) -> Tensor:
    """(B, N, vocabulary) scores for any words in any places."""
    assert isinstance(module, PaperNetwork)
    slots = flat.shape[1] // 5
    x = module.dropout(module.embed(flat) + module.positions(slots, flat.device))
    for block in module.blocks:
        x = block(x, level, None)
    scores: Tensor = module.head(module.norm(x))
    return scores


def spaces_of(vocabulary: Vocabulary, *, joint: bool) -> list[tuple[slice, Tensor]]:
    """Which tokens of a sequence share a space of words, and the words of each, PAD last."""
    words = vocabulary.size - 1
    if joint:
        return [(slice(None), torch.arange(words))]
    spaces = []
    for place, modality in enumerate(vocabulary.order):
        start = int(vocabulary.starts[modality])
        own = torch.arange(start, start + vocabulary.sizes[modality])
        spaces.append((slice(place, None, 5), torch.cat([own, torch.tensor([vocabulary.pad])])))
    return spaces


def to_noisy(
    clean: Tensor, at_t: Mass, noise: Tensor, spaces: list[tuple[slice, Tensor]]
) -> Tensor:
    """z_t of flat tokens; what is replaced stays within its space."""
    noisy = clean.clone()
    mask = int(max(int(words.max()) for _, words in spaces)) + 1
    masses = Mass(*(part[:, None] for part in at_t))
    for place, words in spaces:
        local = torch.searchsorted(words.to(clean), clean[:, place].contiguous())
        first, second = noise[:, 0, place], noise[:, 1, place]
        drawn = corrupt(local, masses, len(words), first, second)
        lookup = torch.cat([words, torch.tensor([mask])]).to(clean)
        noisy[:, place] = lookup[drawn]
    return noisy


def compare(
    log_p0: Tensor,
    clean: Tensor,
    noisy: Tensor,
    masses: tuple[Mass, Mass, Mass],
    spaces: list[tuple[slice, Tensor]],
) -> tuple[Tensor, Tensor]:
    """KL(q(z_s | z_t, z_0) || p(z_s | z_t)) and -log p(z_0 | z_t), means over tokens, (B,) each."""
    wide = tuple(Mass(*(part[:, None, None] for part in mass)) for mass in masses)
    kl = torch.zeros(len(clean), device=clean.device)
    for place, words in spaces:
        own = log_p0[:, place][..., words.to(clean)] if len(spaces) > 1 else log_p0
        local = torch.searchsorted(words.to(clean), clean[:, place].contiguous())
        now = torch.searchsorted(words.to(clean), noisy[:, place].contiguous())
        truth = nn.functional.one_hot(local, len(words)).to(own)
        true_step = posterior(truth, now, *wide)
        model_step = posterior(own.exp(), now, *wide)
        ratio = true_step.clamp(min=TINY).log() - model_step.clamp(min=TINY).log()
        kl = kl + (true_step * ratio).sum(dim=(1, 2))
    cross = -torch.gather(log_p0, 2, clean[..., None])[..., 0]
    return kl / clean.shape[1], cross.mean(dim=1)


def _masses(schedule: Schedule, level: Tensor) -> tuple[Mass, Mass, Mass]:
    at = level.cpu().numpy()
    found = (schedule.level(at - 1), schedule.level(at), schedule.between(at - 1, at))
    one, two, three = (  # tensors broadcast like arrays
        Mass(*(torch.from_numpy(np.asarray(part)).float().to(level.device) for part in mass))  # type: ignore[arg-type]
        for mass in found
    )
    return one, two, three


class _Joint(nn.Module):
    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, tokens: Tensor, level: Tensor) -> Tensor:
        return torch.log_softmax(flat_scores(self.network, tokens, level)[..., :-1], dim=-1)


class _Apart(nn.Module):
    """Local ids in, log p(z_0) of each modality out, as `OnnxDenoiser` wants it."""

    def __init__(self, network: nn.Module, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.network, self.vocabulary = network, vocabulary

    def forward(self, tokens: Tensor, level: Tensor) -> tuple[Tensor, ...]:
        assert isinstance(self.network, PaperNetwork)
        size, slots = tokens.shape[0], tokens.shape[1]
        flat = self.network.flat_tokens(tokens).reshape(size, slots * 5)
        log_p0 = torch.log_softmax(flat_scores(self.network, flat, level)[..., :-1], dim=-1)
        parts = []
        for modality in range(5):
            start, count = int(self.vocabulary.starts[modality]), self.vocabulary.sizes[modality]
            here = log_p0[:, modality::5]
            parts.append(torch.cat([here[..., start : start + count], here[..., -1:]], dim=-1))
        return tuple(parts)

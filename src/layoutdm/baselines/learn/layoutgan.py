"""The learn half of LayoutGAN++ (and of CLG-LO, which searches its latent space).

Written from the paper and published facts; the authors' code, which has another licence, is not
used.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional as F

from layoutdm.baselines.clg import WEIGHTS
from layoutdm.baselines.layoutgan import DISCRIMINATOR, GENERATOR, LATENT
from layoutdm.baselines.learn.packed import Ints, Packed, top_left
from layoutdm.baselines.learn.system import VALIDATION_SEED, Recipe, SystemLearner, write_onnx
from layoutdm.baselines.learn.transformer import PostNormBlock, Size
from layoutdm.metrics.max_iou import max_iou
from layoutdm.train.learner import Batch, Moment, Notes, Turn, Validated
from layoutdm.train.settings import Optimiser

BOX_WEIGHT = 10.0  # of the rebuilt boxes in the discriminator's loss
VALIDATED = 512  # layouts whose boxes are compared with the real ones

ADAM = Optimiser(
    learning_rate=1e-5,  # as published, for 200,000 steps
    betas=(0.9, 0.999),
    weight_decay=0.0,
    clip=0.0,
    warm_up=0,
    schedule="constant",
    average=0.0,
)


# For a fiftieth of the steps, at thirty times the rate. There Adam's usual momentum carries the two
# networks past each other: noise stops to matter, and elements of one label all get the same box.
# So: no momentum, a rate that falls, and the mean of the weights, around which they circle.
SHORT = replace(
    ADAM, learning_rate=3e-4, betas=(0.0, 0.9), schedule="cosine", warm_up=50, average=0.05
)


class LayoutGANLearner(SystemLearner):
    recipe: ClassVar[Recipe] = Recipe(optimiser=ADAM, short=SHORT)

    def build(self, size: Size) -> nn.Module:
        labels, slots = len(self.tokenizer.labels), self.tokenizer.max_elements
        return nn.ModuleDict(
            {"generator": Generator(labels, size), "judge": Discriminator(labels, slots, size)}
        )

    def counted(self, module: nn.Module) -> nn.Module:
        return module["generator"]  # type: ignore[index, no-any-return]

    def turns(self) -> tuple[Turn, ...]:
        generator, judge = self.module["generator"], self.module["judge"]  # type: ignore[index]
        return Turn("generator", generator), Turn("judge", judge)

    def make(self, packed: Packed, layouts: Ints, rng: np.random.Generator) -> Batch:
        found = packed.gather(layouts, top_left(packed, layouts))
        given = rng.random(len(layouts)) < 0.5  # half of the layouts come with their sizes
        given = given[:, None] & found.present
        return {
            "latent": torch.from_numpy(rng.standard_normal((*found.present.shape, LATENT))).float(),
            "labels": torch.from_numpy(np.where(found.present, found.tokens[..., 0], 0)),
            "valid": torch.from_numpy(found.present),
            "boxes": torch.from_numpy(found.boxes).float(),
            "given": torch.from_numpy(given).float(),
        }

    def loss(self, batch: Batch, moment: Moment, turn: str) -> tuple[Tensor, Notes]:
        judge: nn.Module = self.module["judge"]  # type: ignore[index]
        labels, valid = batch["labels"], batch["valid"]
        if turn == "generator":
            fake = _boxes(self.module, batch)
            self._fake = fake.detach()  # the discriminator is shown the same ones
            return F.softplus(-judge(fake, labels, valid).float()).mean(), {}
        fooled = F.softplus(judge(self._fake, labels, valid).float()).mean()
        logit, scores, boxes = judge.rebuild(batch["boxes"], labels, valid)  # type: ignore[operator]
        seen = F.softplus(-logit.float()).mean()
        named = F.cross_entropy(scores.float()[valid], labels[valid])
        placed = F.mse_loss(boxes.float()[valid], batch["boxes"][valid])
        return fooled + seen + named + BOX_WEIGHT * placed, {}

    def loss_of(self, module: nn.Module, batch: Batch) -> Tensor:
        judge: nn.Module = module["judge"]  # type: ignore[index]
        fake = _boxes(module, batch)
        return F.softplus(-judge(fake, batch["labels"], batch["valid"]).float())

    @torch.no_grad()
    def validate(self, module: nn.Module, effort: int) -> Validated:
        """1 - Maximum IoU with the val split: what its authors select by."""
        chosen = np.arange(min(len(self.val), max(64, min(effort, VALIDATED))))
        rng = np.random.default_rng(VALIDATION_SEED)
        batch = dict(self.make(self.val, chosen, rng))
        batch["given"] = torch.zeros_like(batch["given"])
        device = next(module.parameters()).device
        fake = _boxes(module, {k: v.to(device) for k, v in batch.items()}).cpu().double().numpy()
        labels, valid = batch["labels"].numpy(), batch["valid"].numpy()
        real = batch["boxes"].double().numpy()
        score = max_iou((fake, labels, valid), (real, labels, valid), workers=1)
        return Validated(1 - score, {"max_iou": score})

    def files(self, module: nn.Module, folder: Path) -> dict[str, Any]:
        assert isinstance(module, nn.ModuleDict)
        two = {0: "batch", 1: "slots"}
        labels, valid = torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3, dtype=torch.bool)
        inputs = {
            "latent": torch.zeros(2, 3, LATENT), "labels": labels, "valid": valid,
            "sizes": torch.zeros(2, 3, 2), "given": torch.zeros(2, 3),
        }  # fmt: skip
        free = dict.fromkeys([*inputs, "boxes"], two)
        write_onnx(module["generator"], folder / GENERATOR, inputs, ("boxes",), free)
        inputs = {"boxes": torch.zeros(2, 3, 4), "labels": labels, "valid": valid}
        free = {**dict.fromkeys(inputs, two), "logit": {0: "batch"}}
        write_onnx(module["judge"], folder / DISCRIMINATOR, inputs, ("logit",), free)
        weights = {key: value.detach().cpu() for key, value in module.state_dict().items()}
        save_file(weights, folder / WEIGHTS)
        size = self.setup.shape
        shape = {"width": size.width, "layers": size.layers, "heads": size.heads}
        return {"network": {**shape, "feedforward": size.feedforward}}


def _boxes(module: nn.Module, batch: Batch) -> Tensor:
    given = batch["given"]
    sizes = batch["boxes"][..., 2:] * given[..., None]
    generator: nn.Module = module["generator"]  # type: ignore[index]
    boxes: Tensor = generator(batch["latent"], batch["labels"], batch["valid"], sizes, given)
    return boxes


class Generator(nn.Module):
    """No positions: elements are a set."""

    def __init__(self, labels: int, size: Size) -> None:
        super().__init__()
        half = size.width // 2
        self.latent, self.label = nn.Linear(LATENT, half), nn.Embedding(labels, half)
        self.size = nn.Linear(2, half)
        self.join = nn.Linear(3 * half, size.width)
        self.blocks = nn.ModuleList(PostNormBlock(size, nn.ReLU) for _ in range(size.layers))
        self.out = nn.Linear(size.width, 4)

    def forward(
        self, latent: Tensor, labels: Tensor, valid: Tensor, sizes: Tensor, given: Tensor
    ) -> Tensor:
        """(B, S, 4) boxes; sizes that are given come out as they are."""
        known = given[..., None]
        x = torch.cat([self.latent(latent), self.label(labels), self.size(sizes) * known], dim=-1)
        x = torch.relu(self.join(x))
        for block in self.blocks:
            x = block(x, valid[:, None, None, :])
        boxes = torch.sigmoid(self.out(x).float())
        return torch.cat([boxes[..., :2], torch.where(known > 0, sizes, boxes[..., 2:])], dim=-1)


class Discriminator(nn.Module):
    """Judges a layout from one vector, from which it also rebuilds it."""

    def __init__(self, labels: int, slots: int, size: Size) -> None:
        super().__init__()
        width = size.width
        self.box, self.label = nn.Linear(4, width), nn.Embedding(labels, width)
        self.join = nn.Linear(2 * width, width)
        self.token = nn.Parameter(torch.rand(1, 1, width))
        self.blocks = nn.ModuleList(PostNormBlock(size, nn.ReLU) for _ in range(size.layers))
        self.logit = nn.Linear(width, 1)
        self.position = nn.Parameter(torch.rand(slots, width))
        self.spread = nn.Linear(2 * width, width)
        self.rebuilding = nn.ModuleList(PostNormBlock(size, nn.ReLU) for _ in range(size.layers))
        self.label_out, self.box_out = nn.Linear(width, labels), nn.Linear(width, 4)

    def forward(self, boxes: Tensor, labels: Tensor, valid: Tensor) -> Tensor:
        """(B,) logits of being real."""
        logit: Tensor = self.logit(self._vector(boxes, labels, valid))[:, 0]
        return logit

    def rebuild(
        self, boxes: Tensor, labels: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Logits, and scores of labels and boxes of the layout as the vector remembers it."""
        vector = self._vector(boxes, labels, valid)
        size, slots = labels.shape
        each = vector[:, None].expand(-1, slots, -1)
        place = self.position[:slots].expand(size, -1, -1)
        x = torch.relu(self.spread(torch.cat([each, place], dim=-1)))
        for block in self.rebuilding:
            x = block(x, valid[:, None, None, :])
        return self.logit(vector)[:, 0], self.label_out(x), torch.sigmoid(self.box_out(x))

    def _vector(self, boxes: Tensor, labels: Tensor, valid: Tensor) -> Tensor:
        x = torch.relu(self.join(torch.cat([self.box(boxes), self.label(labels)], dim=-1)))
        token = self.token.to(x.dtype).expand(x.shape[0], -1, -1)
        x = torch.cat([token, x], dim=1)
        visible = torch.cat([torch.ones_like(valid[:, :1]), valid], dim=1)[:, None, None, :]
        for block in self.blocks:
            x = block(x, visible)
        return x[:, 0]

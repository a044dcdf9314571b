"""The inner search of CLG-LO along the gradient, with torch: `inner=adam`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from layoutdm.baselines.clg import KINDS, Floats, Goal, Search, kind_of
from layoutdm.baselines.layoutgan import LATENT, inputs
from layoutdm.baselines.learn.layoutgan import Discriminator, Generator
from layoutdm.baselines.learn.transformer import Size
from layoutdm.relations import CANVAS
from layoutdm.relations.hinges import relation_hinges
from layoutdm.spec import Condition

RATE = 0.01


def descent(weights: Path, condition: Condition, iterations: int) -> Search:
    """A search for one condition: Adam on the latents, from where the last round ended."""
    generator, judge = _networks(weights)
    asked = {
        name: torch.from_numpy(value) for name, value in inputs([condition], len(condition)).items()
    }
    missed = _Missed(condition)

    def search(goal: Goal, start: Floats) -> Floats:
        latent = torch.tensor(start.reshape(1, -1, LATENT), dtype=torch.float32, requires_grad=True)
        optimiser = torch.optim.Adam([latent], lr=RATE)
        multipliers = torch.from_numpy(goal.weights).float()
        known = torch.from_numpy(np.isfinite(condition.fixed))
        fixed = torch.from_numpy(np.nan_to_num(condition.fixed)).float()
        for _ in range(iterations):
            found = generator(
                latent, asked["labels"], asked["valid"], asked["sizes"], asked["given"]
            )
            boxes = torch.where(known, fixed, found[0])
            real = torch.sigmoid(judge(boxes[None], asked["labels"], asked["valid"])[0])
            lost = torch.relu(-real - goal.realism)
            h = missed(boxes)
            loss = lost + (multipliers * h).sum() + goal.penalty / 2 * (h**2).sum()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        return np.asarray(latent.detach().double().numpy().reshape(-1))

    return search


class _Missed:
    """The sums of hinges of one condition, one for each kind of relation, for tensors."""

    def __init__(self, condition: Condition) -> None:
        of, code, to = condition.relations.T
        kind = [kind_of(int(c), int(t)) for c, t in zip(code, to, strict=True)]
        hinges = relation_hinges(np.array(kind), of, code, np.where(to == CANVAS, CANVAS, to))
        self._at = torch.from_numpy(hinges.at.astype(np.int64))
        self._weights = torch.from_numpy(hinges.weights).float()
        self._constant = torch.from_numpy(np.array(hinges.constant)).float()
        self._owner = torch.from_numpy(hinges.owner.astype(np.int64))

    def __call__(self, boxes: Tensor) -> Tensor:
        x, y, width, height = boxes.unbind(dim=-1)
        zero = torch.zeros_like(x)
        measured = torch.stack(
            [x - width / 2, y - height / 2, x + width / 2, y + height / 2, y, width * height,
             zero, zero, x, width, height], dim=-1,  # the order of relations.measures
        ).flatten()  # fmt: skip
        both = measured[self._at] * self._weights
        values = torch.relu(both[0] + both[1] + self._constant)
        return torch.zeros(KINDS).index_add(0, self._owner, values)


def _networks(weights: Path) -> tuple[nn.Module, nn.Module]:
    record: dict[str, Any] = json.loads((weights.parent / "config.json").read_text())
    size = Size(**record["network"], dropout=0.0)
    labels, slots = len(record["labels"]), int(record["max_elements"])
    both = nn.ModuleDict(
        {"generator": Generator(labels, size), "judge": Discriminator(labels, slots, size)}
    )
    both.load_state_dict(load_file(weights))
    both.eval().requires_grad_(False)
    return both["generator"], both["judge"]

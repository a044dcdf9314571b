"""The model card: what the model was trained on, with what budget, and how good it became."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layoutdm.train.config import TASKS, TrainConfig


@dataclass(frozen=True)
class Facts:
    """All that the card tells."""

    data: str
    split_note: str
    train: int
    val: int
    elements: int
    labels: tuple[str, ...]
    bin_error: Mapping[str, float]
    parameters: int
    steps: int
    epochs: float
    minutes: float
    bound: float
    bits: float
    best_step: int
    base_labels: tuple[str, ...]
    config: TrainConfig


def _schedule(config: TrainConfig) -> str:
    numbers = ", ".join(f"{value:g}" for value in config.schedule_numbers)
    name = f"keep and mask {numbers}" if numbers else config.schedule
    return f"{name}, {config.schedule_steps} steps"


def model_card(facts: Facts) -> str:
    """README.md of a model folder, with the header that model hubs read."""
    config = facts.config
    errors = ", ".join(f"{name} {error:.4f}" for name, error in facts.bin_error.items())
    total = sum(config.tasks)
    tasks = ", ".join(
        f"{name.replace('_', ' and ')} {100 * share / total:.0f} %"
        for name, share in zip(TASKS, config.tasks, strict=True)
        if share > 0
    )
    shared = set(facts.base_labels) & set(facts.labels)
    origin = (
        f"Fine-tuned from a model with the labels {', '.join(facts.base_labels)}; "
        f"{len(shared)} of {len(facts.labels)} labels kept their weights.\n\n"
        if facts.base_labels
        else ""
    )
    return f"""---
library_name: layoutdm
tags:
- layout-generation
- discrete-diffusion
---

# Layouts like those of {facts.data}

A layoutdm model: it completes layouts from whatever is known about them.

```sh
layoutdm generate --model FOLDER --count 12 --out layouts --format jsonl,sheet
```

{origin}## Data

| | |
|---|---|
| data set | {facts.data} |
| layouts | {facts.train:,} train, {facts.val:,} val |
| elements | {facts.elements:,} in train, at most {config.max_elements} in a layout |
| splits | {facts.split_note} |
| labels | {", ".join(facts.labels)} |
| bins | {config.bins}, {config.bin_count} per attribute; mean error {errors} |

## Training

| | |
|---|---|
| network | {config.kind}, {facts.parameters:,} parameters |
| budget | {facts.steps:,} steps of {config.batch_size} layouts, {facts.epochs:.1f} epochs, \
{facts.minutes:.1f} minutes |
| shown as | {tasks} |
| schedule | {_schedule(config)} |
| seed | {config.seed} |

**Bound on the val split: {facts.bound:.2f} nats per layout, {facts.bits:.3f} bits per attribute**
(averaged weights of step {facts.best_step:,}; fixed noise levels and noise, so that the figure can
be compared between models with the same bins and data).

![Training loss and validation bound](curves.png)

All settings are in `training.json`.
"""

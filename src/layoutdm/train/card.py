"""The model card: what the model was trained on, with what budget, and how good it became."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdm.train.recipe import TASKS, Settings
from layoutdm.train.reporter import RunReport


@dataclass(frozen=True)
class Facts:
    """All that the card tells."""

    data: str
    split_note: str
    train: int
    val: int
    elements: int
    labels: tuple[str, ...]
    bins: str
    rare: str
    report: RunReport
    base_labels: tuple[str, ...]
    settings: Settings


def model_card(facts: Facts) -> str:
    """README.md of a model folder, with the header that model hubs read."""
    settings, report = facts.settings, facts.report
    tasks = settings.recipe.tasks
    shown = ", ".join(
        f"{name.replace('_', ' and ')} {100 * share / sum(tasks):.0f} %"
        for name, share in zip(TASKS, tasks, strict=True)
        if share > 0
    )
    rare = f"\nLabels {facts.rare}.\n" if facts.rare else ""
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
| elements | {facts.elements:,} in train, at most {settings.data.max_elements} in a layout |
| splits | {facts.split_note} |
| labels | {", ".join(facts.labels)} |
| bins | {facts.bins.removeprefix("bins: ")} |
{rare}
## Training

| | |
|---|---|
| network | {settings.network.kind}, {report.parameters:,} parameters |
| budget | {report.steps:,} steps of {settings.budget.batch_size} layouts, {report.epochs:.1f} \
epochs, {report.minutes:.1f} minutes, {report.precision} |
| shown as | {shown} |
| seed | {settings.budget.seed} |

**On the val split: {report.bound:.2f} nats per layout, {report.figures.get("bits", 0.0):.3f} bits \
per attribute** (averaged weights of step {report.best_step:,}; the same looks at the same layouts
each time, so that the figure can be compared between models with the same bins and data).

![Training loss and validation](curves.png)

All settings are in `training.json`.
"""

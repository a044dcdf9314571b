"""From a data set to a LayoutDM model folder: measure, train, finish, export, write the card.

```python
import layoutdm.data
from layoutdm.train.recipe import preset
from layoutdm.train.run import train

report = train(layoutdm.data.open("posters/"), preset("recipe", minutes=20), Path("my_model"))
report.bound
```
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import PartialState

from layoutdm.data import Dataset
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.tokens import Tokenizer, fit_bins
from layoutdm.train.card import Facts, model_card
from layoutdm.train.checkpoint import steps as checkpoint_steps
from layoutdm.train.corpus import pack
from layoutdm.train.export import LoadedModel, count_numbers, export_model
from layoutdm.train.finetune import adapt
from layoutdm.train.finishing import Finished
from layoutdm.train.folder import (
    RUN,
    Watching,
    check_folder,
    check_layouts,
    run_learner,
    train_and_val,
    unlocked,
)
from layoutdm.train.layoutdm import LayoutDMLearner, Splits
from layoutdm.train.learner import Export
from layoutdm.train.measure import (
    bins_in_words,
    canvases,
    count_labels,
    limited,
    measured_bins,
    rare_labels,
)
from layoutdm.train.networks import ElementNetwork, Network, NetworkConfig, build
from layoutdm.train.recipe import Settings
from layoutdm.train.reporter import RunReport
from layoutdm.train.start import Start, read_start, write_start
from layoutdm.train.team import on_cpu

EPOCHS = 50.0  # as published, where no budget is given


def train(
    dataset: Dataset,
    settings: Settings,
    out: Path,
    *,
    base: LoadedModel | None = None,
    resume: bool = False,
    watching: Watching | None = None,
) -> RunReport:
    """Train on a data set and write the model folder. `base` is a model to fine-tune.

    One run at a time works in a folder; nothing is written there before it is its own.
    """
    watching = watching or Watching()
    check_folder(out, resume=resume)
    with watching.lock(out):
        check_folder(out, resume=resume)  # another run may just have ended
        alone = replace(watching, lock=unlocked)
        return _train(dataset, settings, out, base, resume, alone)


def _train(
    dataset: Dataset,
    settings: Settings,
    out: Path,
    base: LoadedModel | None,
    resume: bool,
    watching: Watching,
) -> RunReport:
    begun = time.monotonic()
    notice = watching.watcher.notice
    if not settings.budget.limited:
        settings = settings.changed("budget", epochs=EPOCHS)
    start = read_start(out / RUN) if resume else None
    if base is not None and start is None:
        settings = like_base(settings, base)
    most = start.tokenizer.max_elements if start else settings.data.max_elements
    dataset, sentence = limited(dataset, most)
    layouts, val = train_and_val(dataset)
    found = check_layouts(layouts, replace(dataset, removed={}), fine_tuning=base is not None)
    for warning in [*found, sentence, rare_labels(count_labels(layouts, dataset.labels))]:
        if warning:
            notice(warning)
    if start is None:
        tokenizer = make_tokenizer(dataset, layouts, settings, base)
        network = _network(tokenizer, layouts, settings, base)
        start = Start(tokenizer, network.config, base.tokenizer.labels if base else ())
        if PartialState(cpu=on_cpu()).is_main_process:  # all find the same; one writes it down
            (out / RUN).mkdir(parents=True, exist_ok=True)
            write_start(out / RUN, start)
    else:
        if start.tokenizer.labels != dataset.labels:
            raise LayoutdmError(f"{out}: its run has other labels; give the same data")
        if start.base_labels and base is None and not checkpoint_steps(out / RUN):
            raise LayoutdmError(f"{out}: began from a model and has no checkpoint; give it again")
        network = _network(start.tokenizer, layouts, settings, base, start.network)
    notice(bins_in_words(start.tokenizer.bins, _boxes(layouts)))
    tokenizer = start.tokenizer
    data = _Known(dataset, layouts, len(val), start, settings)
    splits = Splits(pack(layouts, tokenizer), pack(val, tokenizer))
    learner = LayoutDMLearner(network, splits, settings, data.write)
    before = watching.seconds_before + time.monotonic() - begun
    return run_learner(
        learner, settings.optimiser, settings.budget, out,
        settings=settings.to_dict(), watching=replace(watching, seconds_before=before),
    )  # fmt: skip


def make_tokenizer(
    dataset: Dataset, layouts: Sequence[Layout], settings: Settings, base: LoadedModel | None
) -> Tokenizer:
    """Bins fitted to the train boxes; or the base model's, whose weights belong to its bins."""
    if base is not None:
        return Tokenizer(dataset.labels, base.tokenizer.bins, base.tokenizer.max_elements)
    data, boxes = settings.data, _boxes(layouts)
    if data.bins == "measured":
        bins = measured_bins(boxes, data.bin_count)
    else:
        bins = fit_bins(boxes, data.bins, data.bin_count)
    return Tokenizer(dataset.labels, bins, data.max_elements)


def like_base(settings: Settings, base: LoadedModel) -> Settings:
    """The run's settings with the base model's network, slots and drafts."""
    network = base.network.config
    if network.kind != settings.network.kind:
        raise LayoutdmError(
            f"the model to start from has a network of kind {network.kind!r}; "
            f"use --preset {'paper' if network.kind == 'paper' else 'recipe'}"
        )
    if network.kind == "element" and not (network.edges and network.about_levels):
        raise LayoutdmError("the model to start from has no edges or drafts; train from nothing")
    settings = settings.changed("data", max_elements=base.tokenizer.max_elements)
    settings = settings.changed("network", width=network.width, layers=network.layers)
    if network.kind == "element":
        settings = settings.changed("network", lines=network.edges, repeats=network.repeats)
        noise = tuple(base.config.get("about_noise", ())) or settings.recipe.about_noise
        settings = settings.changed("recipe", about_noise=noise)
    return settings


def _network(
    tokenizer: Tokenizer,
    layouts: Sequence[Layout],
    settings: Settings,
    base: LoadedModel | None,
    config: NetworkConfig | None = None,
) -> Network:
    """As the base is, or new; a new one begins with the data's own numbers of elements.

    A run that was killed before its first checkpoint begins here again, with the same weights.
    """
    torch.manual_seed(settings.budget.seed)
    if base is not None:
        return adapt(base, tokenizer, settings.network.dropout)
    network = build(config or settings.network_config(tokenizer))
    if isinstance(network, ElementNetwork):
        network.expect_numbers(np.array([len(layout) for layout in layouts]))
    return network


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known of the data when the model is written."""

    dataset: Dataset
    layouts: Sequence[Layout]
    val: int
    start: Start
    settings: Settings

    def write(self, finished: Finished, out: Export) -> None:
        tokenizer, network = self.start.tokenizer, finished.network
        shapes = canvases(self.layouts)
        extra: dict[str, Any] = {
            "label_counts": count_labels(self.layouts, tokenizer.labels),
            "layouts": len(self.layouts),
            "canvases": [[one.width, one.height, round(one.share, 4)] for one in shapes],
        }
        levels = self.settings.recipe.about_noise if network.config.about_levels else ()
        export_model(
            network, tokenizer, self.settings.recipe.noise_schedule(), out.folder,
            sampling=finished.sampling,
            number_histogram=count_numbers([len(one) for one in self.layouts],
                                           tokenizer.max_elements),
            canvas=(shapes[0].width, shapes[0].height),
            about_noise=levels,
            card=model_card(self._facts(out.report)),
            label_model=finished.labels,
            apart=finished.apart,
            extra=extra,
        )  # fmt: skip

    def _facts(self, report: RunReport) -> Facts:
        boxes = _boxes(self.layouts)
        return Facts(
            data=self.dataset.name,
            split_note=self.dataset.split_note,
            train=len(self.layouts),
            val=self.val,
            elements=len(boxes),
            labels=self.start.tokenizer.labels,
            bins=bins_in_words(self.start.tokenizer.bins, boxes),
            rare=rare_labels(count_labels(self.layouts, self.start.tokenizer.labels)),
            report=report,
            base_labels=self.start.base_labels,
            settings=self.settings,
        )


def _boxes(layouts: Sequence[Layout]) -> Any:
    return np.concatenate([np.asarray(layout.boxes) for layout in layouts])
